/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/bytes.h"
#include "base/try.h"
#include "call/chunking.h"
#include "call/resolve.h"
#include "call/text.h"
#include "codec/resolve/resolve_math.h"

/* The codec parameters that a header may come to, once its values are seen: with fill and without, and lossless where
 * rel, psnr or ratio find a constant. */
enum { VARIANTS = 4 };
static uint32_t variants(const floe_header *header, floe_codec_params all[VARIANTS])
{
    uint32_t n = 0;
    for (int fill = 0; fill < 2; fill++) {
        floe_header h = *header;
        h.has_fill = fill;
        if (floe_resolve_needs_range(h.mode)) {
            all[n] = floe_resolve_codec(&h);
            all[n].mode = FLOE_BOUND_ABS;
            all[n++].bound = h.abs_bound > 0 ? h.abs_bound : 1;
            h.mode = FLOE_BOUND_LOSSLESS;
        } else if (h.mode == FLOE_BOUND_ABS) {
            h.abs_bound = h.bound;
        }
        all[n++] = floe_resolve_codec(&h);
    }
    for (uint32_t i = 0; i < n && header->mode == FLOE_BOUND_ABS; i++)
        all[i].tables = UINT16_MAX + 1; /* with a range that is known by then */
    return n;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* A thread that does chunks of its own. */
static floe_cpu lane_of(const floe_cpu *cpu)
{
    floe_cpu one = *cpu;
    one.threads = 1;
    return one;
}

/* Adds a kind of chunks. False on overflow. */
typedef bool (*size_fn)(const floe_cpu *cpu, const floe_header *h, const floe_chunk_kind *kind, floe_sizing *s);

/* payload: what counts for the stream's size. */
static bool add_records(const floe_header *h, const floe_chunk_kind *kind, uint64_t payload, floe_sizing *s)
{
    uint64_t record = floe_record_nbytes(payload), records;
    s->chunk_nelems = floe_max64(s->chunk_nelems, floe_extent_nelems(h->rank, kind->extent));
    return record && floe_mul64(record, kind->count, &records) &&
           floe_add64(s->stream_nbytes, records, &s->stream_nbytes);
}

static uint64_t most_to_read(const floe_header *h, const floe_chunk_kind *kind)
{
    const floe_codec_ops *codec = floe_codec_of(h->codec);
    const floe_codec_params lossless = {.dtype = h->dtype, .mode = FLOE_BOUND_LOSSLESS};
    return codec->most ? codec->most(h->dtype, h->rank, kind->extent) : codec->bound(&lossless, h->rank, kind->extent);
}

static bool kind_to_read(const floe_cpu *cpu, const floe_header *h, const floe_chunk_kind *kind, floe_sizing *s)
{
    if (!add_records(h, kind, floe_codec_of(h->codec)->least(h->rank, kind->extent), s))
        s->stream_nbytes = UINT64_MAX; /* which no stream has */
    const uint64_t most = most_to_read(h, kind);
    const floe_codec_ops *codec = floe_codec_of(h->codec);
    const floe_cpu one = lane_of(cpu);
    const size_t scratch = codec->decode_workspace(cpu, h->dtype, h->rank, kind->extent);
    s->payload_nbytes = floe_max64(s->payload_nbytes, most);
    s->codec_nbytes = larger(scratch, s->codec_nbytes);
    s->lane_nbytes = larger(codec->decode_workspace(&one, h->dtype, h->rank, kind->extent), s->lane_nbytes);
    return most && scratch && s->stream_nbytes != UINT64_MAX;
}

static bool kind_to_write(const floe_cpu *cpu, const floe_header *h, const floe_chunk_kind *kind, floe_sizing *s)
{
    floe_codec_params all[VARIANTS];
    uint64_t payload = 0;
    uint32_t n = variants(h, all);
    for (uint32_t i = 0; i < n; i++) {
        const floe_codec_ops *codec = floe_codec_of(all[i].codec);
        uint64_t bound = codec->bound(&all[i], h->rank, kind->extent);
        size_t scratch = cpu ? codec->workspace(cpu, &all[i], h->rank, kind->extent) : 1;
        if (bound == 0 || scratch == 0)
            return false;
        payload = floe_max64(payload, bound);
        s->codec_nbytes = larger(scratch, s->codec_nbytes);
        if (cpu) {
            const floe_cpu one = lane_of(cpu);
            s->lane_nbytes = larger(codec->workspace(&one, &all[i], h->rank, kind->extent), s->lane_nbytes);
        }
    }
    s->payload_nbytes = floe_max64(s->payload_nbytes, payload);
    return add_records(h, kind, payload, s);
}

static floe_status sizing_of(const floe_cpu *cpu, const floe_header *h, uint64_t header_nbytes, size_fn size_kind,
                             floe_sizing *s, floe_error *err)
{
    floe_chunk_kind kinds[FLOE_CHUNKING_KINDS];
    char shape[FLOE_SHAPE_TEXT];
    uint64_t index = floe_index_nbytes(floe_grid_nchunks(h));
    *s = (floe_sizing){.stream_nbytes = header_nbytes};
    bool ok = index && floe_add64(s->stream_nbytes, index, &s->stream_nbytes);
    uint32_t n = floe_chunking_kinds(h, kinds);
    for (uint32_t i = 0; i < n && ok; i++)
        ok = size_kind(cpu, h, &kinds[i], s);
    FLOE_CHECK(err, ok, FLOE_ERR_LIMIT, "a field in chunks of %s is more than the codec or the format can hold",
               floe_shape_format(h->rank, h->chunk, shape));
    return FLOE_OK;
}

floe_status floe_sizing_of(const floe_cpu *cpu, const floe_header *header, floe_sizing *sizing, floe_error *err)
{
    return sizing_of(cpu, header, floe_header_nbytes(header), kind_to_write, sizing, err);
}

floe_status floe_sizing_of_stream(const floe_cpu *cpu, const floe_header *header, uint64_t header_nbytes,
                                  floe_sizing *sizing, floe_error *err)
{
    return sizing_of(cpu, header, header_nbytes, kind_to_read, sizing, err);
}
