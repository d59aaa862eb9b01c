/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding goes over the lengths of the blocks twice: the first time to learn the widths of all fields, the second time to
 * write. Decoding checks each partition by itself, and beside it only the head of its neighbours; together this shows that
 * places never go back and never leave the stream.
 */
#include "stage/index/index.h"

#include "base/bytes.h"
#include "base/try.h"

typedef unsigned long long ull;

/* Chunks of one task of a parallel loop. */
enum { TASK_CHUNKS = 8192 };

/* ---- headers ----------------------------------------------------------------------------------------------------- */

static void header_write(const floe_side_index *x, uint8_t *dst)
{
    const uint8_t bytes[8] = {(uint8_t)x->form,     (uint8_t)x->length_nbits, (uint8_t)x->offset_nbits,
                              (uint8_t)x->at_nbits, (uint8_t)x->least_nbits,  (uint8_t)x->width_nbits};
    memcpy(dst, bytes, 8);
    floe_store32(dst + 8, x->chunk);
    floe_store32(dst + 12, x->partition);
    floe_store64(dst + 16, x->nblocks);
    floe_store64(dst + 24, x->begin);
    floe_store64(dst + 32, x->end);
    floe_store64(dst + 40, x->body_nwords);
}

floe_status floe_side_index_open(const void *src, uint64_t capacity, uint64_t stream_end, floe_side_index *index,
                                 uint64_t *nbytes, floe_error *err)
{
    const uint8_t *b = src;
    FLOE_CHECK(err, capacity >= FLOE_INDEX_HEADER_NBYTES, FLOE_ERR_FORMAT, "index of %llu bytes has no header",
               (ull)capacity);
    const uint32_t chunk = floe_load32(b + 8), partition = floe_load32(b + 12);
    const floe_index_spec spec = {(floe_index_form)b[0], chunk, partition};
    FLOE_CHECK(err, floe_index_spec_is_sane(&spec) && (floe_index_has_partitions(spec.form) || partition == 0),
               FLOE_ERR_FORMAT, "index header: form %u, chunks of %u blocks, partitions of %u chunks", b[0], chunk,
               partition);
    const uint64_t nblocks = floe_load64(b + 16), begin = floe_load64(b + 24), end = floe_load64(b + 32);
    FLOE_CHECK(err, nblocks <= FLOE_INDEX_BLOCKS_MOST, FLOE_ERR_FORMAT, "index header: %llu blocks", (ull)nblocks);
    FLOE_CHECK(err, begin <= end && end <= stream_end && end >> FLOE_INDEX_PLACE_BITS == 0, FLOE_ERR_FORMAT,
               "index header: blocks from %llu to %llu, the stream ends at %llu", (ull)begin, (ull)end,
               (ull)stream_end);
    floe_side_index x = floe_index_plan(&spec, nblocks, begin);
    floe_index_header_read(b, &x);
    FLOE_CHECK(err, floe_index_widths_are_sane(&x) && floe_load16(b + 6) == 0, FLOE_ERR_FORMAT,
               "index header: impossible widths of fields");
    FLOE_CHECK(err, floe_index_body_is_sane(&x) && x.body_nwords <= (capacity - FLOE_INDEX_HEADER_NBYTES) / 4,
               FLOE_ERR_FORMAT, "index header: a body of %llu words for %llu chunks, of which %llu bytes are there",
               (ull)x.body_nwords, (ull)x.nchunks, (ull)(capacity - FLOE_INDEX_HEADER_NBYTES));
    *index = x;
    *nbytes = FLOE_INDEX_HEADER_NBYTES + 4 * x.body_nwords;
    return FLOE_OK;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

uint64_t floe_side_index_bound(const floe_index_spec *spec, uint64_t nblocks, uint32_t block_most)
{
    if (!floe_index_spec_is_sane(spec) || nblocks > FLOE_INDEX_BLOCKS_MOST)
        return 0;
    floe_side_index x = floe_index_plan(spec, nblocks, 0);
    const uint64_t chunk_most = floe_min64(spec->chunk, floe_max64(nblocks, 1)) * block_most;
    x.length_nbits = floe_index_length_nbits(chunk_most);
    if (spec->form != FLOE_INDEX_PACKED)
        return FLOE_INDEX_HEADER_NBYTES + 4 * floe_index_fixed_nwords(&x);
    x.offset_nbits = FLOE_INDEX_PLACE_BITS, x.at_nbits = FLOE_INDEX_AT_BITS;
    x.least_nbits = floe_bit_length(chunk_most), x.width_nbits = 7;
    return FLOE_INDEX_HEADER_NBYTES +
           4 * (floe_index_lengths_at(&x) +
                x.npartitions * floe_index_packed_nwords(floe_min64(x.partition, x.nchunks), x.least_nbits));
}

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

typedef struct bit_writer {
    uint8_t *dst;
    uint64_t held;
    uint32_t nheld; /* bits, less than 32 */
} bit_writer;

static void put_small(bit_writer *w, uint64_t v, uint32_t nbits) /* at most 32 */
{
    w->held |= v << w->nheld;
    w->nheld += nbits;
    if (w->nheld < 32)
        return;
    floe_store32(w->dst, (uint32_t)w->held);
    w->dst += 4;
    w->held >>= 32;
    w->nheld -= 32;
}

static void put(bit_writer *w, uint64_t v, uint32_t nbits)
{
    if (nbits > 32)
        put_small(w, (uint32_t)v, 32);
    put_small(w, nbits > 32 ? v >> 32 : v, nbits > 32 ? nbits - 32 : nbits);
}

static void put_rest(bit_writer *w)
{
    if (w->nheld)
        put_small(w, 0, 32 - w->nheld);
}

typedef struct source {
    const uint16_t *block_nbits;
    uint64_t nblocks;
    uint32_t chunk;
} source;

static uint64_t chunk_length(const source *s, uint64_t i)
{
    uint64_t sum = 0, end = floe_min64((i + 1) * s->chunk, s->nblocks);
    for (uint64_t b = i * s->chunk; b < end; b++)
        sum += s->block_nbits[b];
    return sum;
}

/* Chunks first to first + count. */
typedef struct span {
    uint64_t least, most, total;
    bool overflow;
} span;

static span span_of(const source *s, uint64_t first, uint64_t count)
{
    span r = {UINT64_MAX, 0, 0, false};
    for (uint64_t i = first; i < first + count; i++) {
        const uint64_t length = chunk_length(s, i);
        r.least = floe_min64(r.least, length);
        r.most = floe_max64(r.most, length);
        r.overflow |= !floe_add64(r.total, length, &r.total);
    }
    return r;
}

static uint64_t part_count(const floe_side_index *x, uint64_t p)
{
    const uint64_t chunks = floe_index_partition_chunks(x);
    return floe_min64(chunks, x->nchunks - p * chunks);
}

/* Fills the widths, the end and the size of the body. */
static floe_status measure(const source *s, floe_side_index *x, floe_error *err)
{
    uint64_t most = 0, words = 0;
    for (uint64_t p = 0; p < x->npartitions; p++) {
        const uint64_t count = part_count(x, p);
        const span r = span_of(s, p * floe_index_partition_chunks(x), count);
        const uint32_t width = floe_bit_length(r.most - r.least);
        x->offset_nbits = floe_bit_length(x->end - x->begin);
        x->at_nbits = floe_bit_length(words);
        x->least_nbits = (uint32_t)floe_max64(x->least_nbits, floe_bit_length(r.least));
        x->width_nbits = (uint32_t)floe_max64(x->width_nbits, floe_bit_length(width));
        words += floe_index_packed_nwords(count, width);
        most = floe_max64(most, r.most);
        FLOE_CHECK(err, !r.overflow && floe_add64(x->end, r.total, &x->end) && x->end >> FLOE_INDEX_PLACE_BITS == 0,
                   FLOE_ERR_ARGUMENT, "an index: blocks reach past 2^%d", FLOE_INDEX_PLACE_BITS);
    }
    if (x->form == FLOE_INDEX_PACKED) {
        x->body_nwords = floe_index_lengths_at(x) + words;
        return FLOE_OK;
    }
    x->offset_nbits = x->at_nbits = x->least_nbits = x->width_nbits = 0;
    x->length_nbits = floe_index_has_lengths(x->form) ? floe_index_length_nbits(most) : 0;
    x->body_nwords = floe_index_fixed_nwords(x);
    return FLOE_OK;
}

static void write_body(const source *s, const floe_side_index *x, uint8_t *body)
{
    bit_writer heads = {body, 0, 0}, lengths = {body + 4 * floe_index_lengths_at(x), 0, 0};
    const uint8_t *first_length = lengths.dst;
    const bool packed = x->form == FLOE_INDEX_PACKED;
    uint64_t place = x->begin;
    for (uint64_t p = 0; p < x->npartitions; p++) {
        const uint64_t first = p * floe_index_partition_chunks(x), count = part_count(x, p);
        const span r = span_of(s, first, count);
        const uint32_t width = packed ? floe_bit_length(r.most - r.least) : x->length_nbits;
        if (packed) {
            put(&heads, place - x->begin, x->offset_nbits);
            put(&heads, (uint64_t)(lengths.dst - first_length) / 4, x->at_nbits);
            put(&heads, r.least, x->least_nbits);
            put(&heads, width, x->width_nbits);
        } else if (x->form != FLOE_INDEX_LENGTHS) {
            put(&heads, place, 64);
        }
        const uint64_t stored = packed || x->form == FLOE_INDEX_LENGTHS ? count : count - 1;
        for (uint64_t i = first; i < first + stored; i++)
            put(&lengths, chunk_length(s, i) - (packed ? r.least : 0), width);
        if (packed)
            put_rest(&lengths);
        place += r.total;
    }
    put_rest(&heads);
    put_rest(&lengths);
}

floe_status floe_side_index_encode(const floe_index_spec *spec, const floe_index_blocks *blocks, void *dst,
                                   uint64_t capacity, uint64_t *nbytes, floe_error *err)
{
    FLOE_CHECK(err, floe_index_spec_is_sane(spec), FLOE_ERR_ARGUMENT,
               "an index of form %d, of chunks of %u blocks and partitions of %u chunks", (int)spec->form, spec->chunk,
               spec->partition);
    FLOE_CHECK(err, blocks->count <= FLOE_INDEX_BLOCKS_MOST, FLOE_ERR_ARGUMENT, "an index of %llu blocks",
               (ull)blocks->count);
    floe_side_index x = floe_index_plan(spec, blocks->count, blocks->begin);
    const source s = {blocks->nbits, blocks->count, spec->chunk};
    FLOE_TRY(measure(&s, &x, err));
    *nbytes = FLOE_INDEX_HEADER_NBYTES + 4 * x.body_nwords;
    FLOE_CHECK(err, *nbytes <= capacity, FLOE_ERR_CAPACITY, "an index of %llu bytes does not fit in %llu", (ull)*nbytes,
               (ull)capacity);
    header_write(&x, dst);
    write_body(&s, &x, (uint8_t *)dst + FLOE_INDEX_HEADER_NBYTES);
    return FLOE_OK;
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

static floe_status bad_part(const floe_side_index *x, uint64_t p, floe_index_fault fault, floe_error *err)
{
    static const char *const text[] = {[FLOE_INDEX_BAD_HEAD] = "its head does not follow from those before",
                                       [FLOE_INDEX_BAD_END] = "it begins behind its end",
                                       [FLOE_INDEX_BAD_REST] = "unused bits are not 0",
                                       [FLOE_INDEX_LONG] = "its lengths reach past its end",
                                       [FLOE_INDEX_SHORT] = "its lengths do not reach its end"};
    const floe_index_part part = floe_index_part_of(x, p);
    return floe_fail(err, FLOE_ERR_FORMAT, "index: chunks %llu to %llu: %s", (ull)part.first,
                     (ull)(part.first + part.count - 1), text[fault]);
}

typedef struct decoder {
    const floe_side_index *index;
    uint64_t *places;
    uint64_t failed[FLOE_CPU_MAX_THREADS]; /* of each worker: the first bad partition that it found */
} decoder;

static void partitions_task(void *arg, uint64_t task, uint32_t worker)
{
    decoder *d = arg;
    const floe_side_index *x = d->index;
    const uint64_t a_task = floe_max64(1, TASK_CHUNKS / floe_index_partition_chunks(x));
    const uint64_t end = floe_min64((task + 1) * a_task, x->npartitions);
    for (uint64_t p = task * a_task; p < end && p < d->failed[worker]; p++) {
        const floe_index_part part = floe_index_part_of(x, p);
        if (floe_index_part_places(x, p, &part, d->places + part.first) != FLOE_INDEX_GOOD)
            d->failed[worker] = p;
    }
}

static floe_status decode_partitions(const floe_cpu *cpu, decoder *d, floe_error *err)
{
    const floe_side_index *x = d->index;
    uint64_t bad = UINT64_MAX;
    for (uint32_t w = 0; w < cpu->threads; w++)
        d->failed[w] = UINT64_MAX;
    const uint64_t a_task = floe_max64(1, TASK_CHUNKS / floe_index_partition_chunks(x));
    floe_cpu_parallel(cpu, floe_ceil_div(x->npartitions, a_task), partitions_task, d);
    for (uint32_t w = 0; w < cpu->threads; w++)
        bad = floe_min64(bad, d->failed[w]);
    if (bad == UINT64_MAX)
        return FLOE_OK;
    const floe_index_part part = floe_index_part_of(x, bad);
    return bad_part(x, bad, floe_index_part_places(x, bad, &part, d->places + part.first), err);
}

/* Lengths alone: the sum of each run of them goes where the run's first place will be; then sums become places. */
static void sums_task(void *arg, uint64_t run, uint32_t worker)
{
    (void)worker;
    decoder *d = arg;
    const floe_index_part part = floe_index_part_of(d->index, 0);
    const uint64_t first = run * TASK_CHUNKS, end = floe_min64(first + TASK_CHUNKS, d->index->nchunks);
    uint64_t sum = 0;
    for (uint64_t i = first; i < end; i++)
        if (!floe_add64(sum, floe_index_extra(d->index, &part, i), &sum))
            sum = UINT64_MAX;
    d->places[first] = sum;
}

static void places_task(void *arg, uint64_t run, uint32_t worker)
{
    (void)worker;
    decoder *d = arg;
    const floe_index_part part = floe_index_part_of(d->index, 0);
    const uint64_t first = run * TASK_CHUNKS, end = floe_min64(first + TASK_CHUNKS, d->index->nchunks);
    uint64_t place = d->places[first];
    for (uint64_t i = first; i < end; i++) {
        d->places[i] = place;
        place += floe_index_extra(d->index, &part, i);
    }
}

static floe_status decode_lengths(const floe_cpu *cpu, decoder *d, floe_error *err)
{
    const floe_side_index *x = d->index;
    const floe_index_part part = floe_index_part_of(x, 0);
    const uint64_t nruns = floe_ceil_div(x->nchunks, TASK_CHUNKS);
    uint64_t place = x->begin;
    if (!floe_index_rests_are_zero(x, 0, &part))
        return bad_part(x, 0, FLOE_INDEX_BAD_REST, err);
    floe_cpu_parallel(cpu, nruns, sums_task, d);
    for (uint64_t run = 0; run < nruns; run++) {
        const uint64_t sum = d->places[run * TASK_CHUNKS];
        d->places[run * TASK_CHUNKS] = place;
        if (sum > x->end - place)
            return bad_part(x, 0, FLOE_INDEX_LONG, err);
        place += sum;
    }
    if (place != x->end)
        return bad_part(x, 0, FLOE_INDEX_SHORT, err);
    floe_cpu_parallel(cpu, nruns, places_task, d);
    return FLOE_OK;
}

floe_status floe_side_index_decode(const floe_cpu *cpu, const floe_side_index *x, uint64_t *places, floe_error *err)
{
    decoder d = {.index = x, .places = places};
    if (x->nchunks > 0)
        FLOE_TRY(x->form == FLOE_INDEX_LENGTHS ? decode_lengths(cpu, &d, err) : decode_partitions(cpu, &d, err));
    places[x->nchunks] = x->end;
    return FLOE_OK;
}
