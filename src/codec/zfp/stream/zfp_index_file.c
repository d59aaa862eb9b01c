/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/stream/zfp_index_file.h"

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/hd.h"
#include "base/try.h"
#include "codec/zfp/stream/zfp_index_file_math.h"

typedef unsigned long long ull;

enum { /* bytes */
       AT_VERSION = 8 * FLOE_ZFPX_AT_VERSION,
       AT_READER = AT_VERSION + 2,
       AT_SIZE = AT_VERSION + 4,
       AT_TYPE = 8 * FLOE_ZFPX_AT_TYPE,
       AT_RANK = AT_TYPE + 1,
       AT_PARAMS = 8 * FLOE_ZFPX_AT_PARAMS,
       AT_SHAPE = 8 * FLOE_ZFPX_AT_SHAPE,
       AT_STREAM = 8 * FLOE_ZFPX_AT_STREAM,
       AT_INDEX = 8 * FLOE_ZFPX_AT_INDEX,
       AT_CHECK = 8 * FLOE_ZFPX_AT_CHECK,
       TASK_PIECES = 64 /* of a checksum: a megabyte */
};

/* ---- the checksum of a stream ------------------------------------------------------------------------------------- */

typedef struct hashing {
    const uint8_t *src;
    uint64_t nbytes;
    uint64_t sum[FLOE_CPU_MAX_THREADS]; /* of each worker; sums do not depend on their order */
} hashing;

static void hash_task(void *arg, uint64_t task, uint32_t worker)
{
    hashing *h = arg;
    for (uint64_t i = task * TASK_PIECES; i < (task + 1) * TASK_PIECES; i++) {
        const uint64_t at = i * FLOE_CHECKSUM_PIECE;
        if (at >= h->nbytes)
            return;
        const uint64_t n = floe_min64(FLOE_CHECKSUM_PIECE, h->nbytes - at);
        h->sum[worker] += floe_checksum_term(floe_xxh3(h->src + at, (size_t)n), i);
    }
}

uint64_t floe_zfpx_checksum(const floe_cpu *cpu, const void *src, uint64_t nbytes)
{
    hashing h = {.src = src, .nbytes = nbytes};
    uint64_t sum = 0;
    if (nbytes == 0)
        return floe_checksum(NULL, 0);
    floe_cpu_parallel(cpu, floe_ceil_div(nbytes, (uint64_t)TASK_PIECES * FLOE_CHECKSUM_PIECE), hash_task, &h);
    for (uint32_t w = 0; w < cpu->threads; w++)
        sum += h.sum[w];
    return floe_checksum_finish(sum, nbytes);
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

uint64_t floe_zfpx_bound(const floe_zfp_array *array, const floe_zfp_params *params, const floe_index_spec *spec)
{
    const uint64_t nblocks = floe_zfp_nblocks(array->rank, array->shape);
    const uint64_t index = floe_side_index_bound(spec, nblocks, floe_zfp_block_bits(params, array->type, array->rank));
    return index ? FLOE_ZFPX_HEADER_NBYTES + index : 0;
}

static void header_write(const floe_zfpx *f, const uint8_t *index, uint64_t index_nbytes, uint8_t *dst)
{
    uint64_t words[FLOE_ZFPX_AT_CHECK];
    floe_zfpx_desc(&f->array, &f->params, words);
    words[FLOE_ZFPX_AT_STREAM] = f->stream_nbytes;
    words[FLOE_ZFPX_AT_STREAM + 1] = f->stream_checksum;
    words[FLOE_ZFPX_AT_INDEX] = index_nbytes;
    words[FLOE_ZFPX_AT_INDEX + 1] = floe_checksum(index, index_nbytes);
    for (uint32_t i = 0; i < FLOE_ZFPX_AT_CHECK; i++)
        floe_store64(dst + 8 * i, words[i]);
    floe_store64(dst + AT_CHECK, floe_xxh3(dst, FLOE_ZFPX_CHECKED_NBYTES));
}

floe_status floe_zfpx_write(const floe_zfp_coding *c, const void *src, uint64_t nbytes, const uint16_t *lengths,
                            floe_zfp_index *index, floe_error *err)
{
    uint8_t *body = (uint8_t *)index->data + FLOE_ZFPX_HEADER_NBYTES;
    const floe_index_blocks blocks = {lengths, floe_zfp_nblocks(c->array->rank, c->array->shape), c->begin};
    uint64_t body_nbytes;
    floe_zfpx f = {.array = *c->array, .params = *c->params, .stream_nbytes = nbytes};
    FLOE_CHECK(err, index->capacity >= FLOE_ZFPX_HEADER_NBYTES, FLOE_ERR_CAPACITY,
               "an index file does not fit in %llu bytes", (ull)index->capacity);
    FLOE_TRY(floe_side_index_encode(&index->spec, &blocks, body, index->capacity - FLOE_ZFPX_HEADER_NBYTES,
                                    &body_nbytes, err));
    f.stream_checksum = floe_zfpx_checksum(c->cpu, src, nbytes);
    header_write(&f, body, body_nbytes, index->data);
    index->nbytes = FLOE_ZFPX_HEADER_NBYTES + body_nbytes;
    return FLOE_OK;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static floe_status header_open(const uint8_t *b, uint64_t nbytes, floe_error *err)
{
    FLOE_CHECK(err, nbytes >= FLOE_ZFPX_HEADER_NBYTES && floe_load64(b) == FLOE_ZFPX_MAGIC, FLOE_ERR_FORMAT,
               "this is no index file of a zfp stream");
    const uint32_t version = floe_load16(b + AT_VERSION), reader = floe_load16(b + AT_READER);
    FLOE_CHECK(err, reader <= FLOE_ZFPX_VERSION, FLOE_ERR_VERSION,
               "the index file needs a reader of version %u; this floe reads up to version %d", reader,
               (int)FLOE_ZFPX_VERSION);
    FLOE_CHECK(err, floe_load64(b + AT_CHECK) == floe_xxh3(b, AT_CHECK), FLOE_ERR_CHECKSUM,
               "the index file is damaged: its checksum does not match");
    FLOE_CHECK(err, reader >= 1 && reader <= version && floe_load32(b + AT_SIZE) == FLOE_ZFPX_HEADER_NBYTES,
               FLOE_ERR_FORMAT, "the header of the index file has a wrong version or size");
    return FLOE_OK;
}

/* Type, shape and parameters, which make the number of blocks. */
static floe_status header_read(const uint8_t *b, floe_zfpx *f, floe_error *err)
{
    uint64_t zero = floe_load16(b + AT_RANK + 1) | floe_load32(b + AT_RANK + 3), nelems = 1;
    const uint32_t type = b[AT_TYPE], rank = b[AT_RANK];
    FLOE_CHECK(err, type >= FLOE_ZFP_I32 && type <= FLOE_ZFP_F64 && rank >= 1 && rank <= FLOE_MAX_RANK, FLOE_ERR_FORMAT,
               "the index file says type %u and %u axes", type, rank);
    f->array = (floe_zfp_array){.type = (floe_zfp_type)type, .rank = rank};
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++) {
        const uint64_t n = floe_load64(b + AT_SHAPE + 8 * i);
        zero |= i < rank ? 0 : n;
        FLOE_CHECK(err, i >= rank || (n > 0 && floe_mul64(nelems, n, &nelems) && nelems <= INT64_MAX / 8),
                   FLOE_ERR_FORMAT, "the index file says a shape that is empty or too large");
        f->array.shape[i] = i < rank ? n : 0;
    }
    floe_zfp_contiguous(rank, f->array.shape, f->array.stride);
    f->params = (floe_zfp_params){floe_load32(b + AT_PARAMS), floe_load32(b + AT_PARAMS + 4),
                                  floe_load32(b + AT_PARAMS + 8), (int32_t)floe_load32(b + AT_PARAMS + 12)};
    FLOE_CHECK(err, floe_zfp_params_check(&f->params, f->array.type, NULL) == FLOE_OK && zero == 0, FLOE_ERR_FORMAT,
               "the index file says parameters that zfp does not have, or its padding is not 0");
    f->stream_nbytes = floe_load64(b + AT_STREAM);
    f->stream_checksum = floe_load64(b + AT_STREAM + 8);
    return FLOE_OK;
}

/* The file's header. */
static floe_status file_read(const uint8_t *b, uint64_t nbytes, floe_zfpx *f, floe_error *err)
{
    FLOE_TRY(header_open(b, nbytes, err));
    FLOE_TRY(header_read(b, f, err));
    const uint64_t index_nbytes = floe_load64(b + AT_INDEX);
    FLOE_CHECK(err, index_nbytes == nbytes - FLOE_ZFPX_HEADER_NBYTES, FLOE_ERR_FORMAT,
               "the index file should have %llu bytes behind its header, %llu are there", (ull)index_nbytes,
               (ull)(nbytes - FLOE_ZFPX_HEADER_NBYTES));
    return FLOE_OK;
}

floe_status floe_zfpx_peek(const void *src, uint64_t nbytes, floe_zfpx *file, floe_error *err)
{
    const uint8_t *b = src, *index = b + FLOE_ZFPX_HEADER_NBYTES;
    floe_zfpx f;
    uint64_t used;
    FLOE_TRY(file_read(b, nbytes, &f, err));
    const uint64_t index_nbytes = nbytes - FLOE_ZFPX_HEADER_NBYTES;
    FLOE_TRY(floe_side_index_open(index, index_nbytes, 8 * floe_min64(f.stream_nbytes, UINT64_MAX / 8), &f.index, &used,
                                  err));
    const uint64_t nblocks = floe_zfp_nblocks(f.array.rank, f.array.shape);
    FLOE_CHECK(err, nblocks <= f.index.end - f.index.begin, FLOE_ERR_FORMAT,
               "the index is of %llu blocks in %llu bits; none is shorter than one", (ull)nblocks,
               (ull)(f.index.end - f.index.begin));
    FLOE_CHECK(err, used == index_nbytes && f.index.nblocks == nblocks && f.index.begin <= FLOE_ZFP_HEADER_LONG,
               FLOE_ERR_FORMAT, "the index is of %llu blocks from bit %llu on, the array has %llu",
               (ull)f.index.nblocks, (ull)f.index.begin, (ull)nblocks);
    *file = f;
    return FLOE_OK;
}

floe_status floe_zfpx_read(const void *src, uint64_t nbytes, floe_zfpx *file, floe_error *err)
{
    const uint8_t *b = src, *index = b + FLOE_ZFPX_HEADER_NBYTES;
    floe_zfpx f;
    FLOE_TRY(file_read(b, nbytes, &f, err));
    FLOE_CHECK(err, floe_load64(b + AT_INDEX + 8) == floe_checksum(index, nbytes - FLOE_ZFPX_HEADER_NBYTES),
               FLOE_ERR_CHECKSUM, "the index file is damaged: the checksum of its index does not match");
    return floe_zfpx_peek(src, nbytes, file, err);
}

floe_status floe_zfpx_belongs(const floe_cpu *cpu, const floe_zfpx *file, const void *stream, uint64_t nbytes,
                              floe_error *err)
{
    FLOE_CHECK(err, nbytes == file->stream_nbytes, FLOE_ERR_FORMAT,
               "the index is that of a stream of %llu bytes, this one has %llu", (ull)file->stream_nbytes, (ull)nbytes);
    FLOE_CHECK(err, floe_zfpx_checksum(cpu, stream, nbytes) == file->stream_checksum, FLOE_ERR_FORMAT,
               "the index is that of another stream, or the stream was damaged since");
    return FLOE_OK;
}
