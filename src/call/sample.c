/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/sample.h"

#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "call/sizing.h"

enum {
    BOXES = 4, /* no more than codec interp leaves alone along an axis (FLOE_INTERP_ENDS) */
    SHARE = 8, /* values of the field for one of the sample */
    LEAST = 1 << 17,
    MOST = 1 << 20 /* values of the sample */
};

/* As near to a cube as the shape has it. */
static void box_choose(floe_sample *s, uint64_t nelems)
{
    const floe_header *h = &s->header;
    const uint64_t most = floe_min64(floe_max64(nelems / SHARE, LEAST), MOST) / BOXES;
    uint64_t lo = 1, hi = most;
    while (lo < hi) {
        const uint64_t side = (lo + hi + 1) / 2;
        uint64_t cells = 1;
        for (uint32_t i = 0; i < h->rank && cells <= most; i++)
            cells *= floe_min64(h->shape[i], side);
        if (cells <= most)
            lo = side;
        else
            hi = side - 1;
    }
    s->nboxes = BOXES;
    for (uint32_t i = 0; i < h->rank; i++)
        s->box[i] = floe_min64(h->shape[i], lo);
}

floe_sample floe_sample_of(const floe_cpu *cpu, const floe_header *header, floe_error *err)
{
    floe_sample s = {.cpu = cpu, .header = *header, .nboxes = 1, .err = err};
    const uint64_t nelems = floe_extent_nelems(header->rank, header->shape);
    memcpy(s.box, header->shape, sizeof s.box);
    if (nelems > LEAST)
        box_choose(&s, nelems);
    return s;
}

/* The sample as one field: its boxes along an axis of their own, where the codec predicts nothing along so short a one, else along the
 * slowest axis of the field. */
static floe_header header_of(const floe_sample *s, floe_codec codec)
{
    floe_header h = s->header;
    const bool stack = s->nboxes > 1 && h.rank < FLOE_MAX_RANK && floe_codec_of(codec)->stacks;
    memcpy(h.shape + stack, s->box, h.rank * sizeof *h.shape);
    h.rank += stack;
    h.shape[0] = stack ? s->nboxes : s->nboxes * s->box[0];
    memcpy(h.chunk, h.shape, sizeof h.chunk);
    h.codec = codec;
    h.nattrs = 0;
    return h;
}

floe_status floe_sample_add(floe_sample *s, floe_codec codec)
{
    const floe_header h = header_of(s, codec);
    floe_sizing sizing;
    FLOE_TRY(floe_sizing_of(s->cpu, &h, &sizing, s->err));
    s->coded_nbytes = floe_max64(s->coded_nbytes, sizing.payload_nbytes);
    s->scratch_nbytes = sizing.codec_nbytes > s->scratch_nbytes ? sizing.codec_nbytes : s->scratch_nbytes;
    return FLOE_OK;
}

uint64_t floe_sample_raw_nbytes(const floe_sample *s)
{
    return s->nboxes * floe_extent_nelems(s->header.rank, s->box) * floe_dtype_size(s->header.dtype);
}

void floe_sample_take(floe_sample *s, floe_arena *arena)
{
    s->values = floe_arena_take(arena, floe_sample_raw_nbytes(s), 1);
    s->coded = floe_arena_take(arena, s->coded_nbytes, 1);
    s->scratch = floe_arena_take(arena, s->scratch_nbytes, 1);
}

/* Along each axis another order: no two boxes share a quarter of any. */
floe_status floe_sample_load(floe_sample *s)
{
    static const uint8_t quarter[FLOE_MAX_RANK][BOXES] = {{0, 1, 2, 3}, {1, 3, 0, 2}, {2, 0, 3, 1}, {3, 2, 1, 0}};
    const floe_header *h = &s->header;
    const uint64_t each = floe_sample_raw_nbytes(s) / s->nboxes;
    for (uint64_t b = 0; b < s->nboxes; b++) {
        const floe_field box = floe_field_of(NULL, h->dtype, h->rank, s->box);
        const floe_field to = floe_field_contiguous((uint8_t *)s->values + b * each, &box);
        uint64_t lo[FLOE_MAX_RANK];
        for (uint32_t i = 0; i < h->rank; i++)
            lo[i] = (h->shape[i] - s->box[i]) / (2 * BOXES) * (2 * (uint64_t)quarter[i][b] + 1);
        FLOE_TRY(s->read(s->user, lo, &to));
    }
    return FLOE_OK;
}

floe_status floe_sample_code(const floe_sample *s, const floe_codec_params *params, uint64_t *nbytes)
{
    const floe_header h = header_of(s, params->codec);
    const floe_field layout = floe_field_of(NULL, h.dtype, h.rank, h.shape);
    const floe_field values = floe_field_contiguous(s->values, &layout);
    floe_arena scratch = floe_arena_of(s->scratch, s->scratch_nbytes);
    floe_chunk_stats stats;
    const floe_chunk_encode call = {.cpu = s->cpu,
                                    .params = params,
                                    .chunk = &values,
                                    .scratch = &scratch,
                                    .dst = s->coded,
                                    .capacity = s->coded_nbytes,
                                    .nbytes = nbytes,
                                    .stats = &stats};
    return floe_codec_of(params->codec)->encode(&call, s->err);
}

floe_status floe_sample_read_supply(void *user, const uint64_t *lo, const floe_field *to)
{
    const floe_sample_supply *from = user;
    return floe_supply_box(from->supply, lo, to, from->err);
}
