/* SPDX-License-Identifier: BSD-3-Clause */
/* What codec lorenzo would take of a field, by boxes of it: their whole tiles, one behind another along the slowest axis, are coded. */
#include "base/bytes.h"
#include "base/try.h"
#include "codec/lorenzo/cpu/lorenzo_chunk.h"
#include "field/dtype_math.h"
#include "field/field.h"

typedef struct estimate {
    uint64_t part[FLOE_MAX_RANK], all[FLOE_MAX_RANK], ncells; /* of a part */
    uint8_t *values, *coded, *scratch;
    uint64_t capacity;
    size_t scratch_nbytes;
} estimate;

static void take(const floe_cpu *cpu, const floe_codec_boxes *b, estimate *e, floe_arena *arena)
{
    e->ncells = floe_lorenzo_estimate_shape(b, e->part, e->all);
    e->capacity = floe_lorenzo_bound(b->params, b->rank, e->all);
    e->scratch_nbytes = floe_lorenzo_workspace(cpu, b->params, b->rank, e->all);
    e->values = floe_arena_take(arena, b->n * e->ncells, floe_dtype_size(b->params->dtype));
    e->coded = floe_arena_take(arena, e->capacity, 1);
    e->scratch = floe_arena_take(arena, e->scratch_nbytes, 1);
}

size_t floe_lorenzo_estimate_workspace(const floe_cpu *cpu, const floe_codec_boxes *boxes)
{
    estimate e;
    floe_arena plan = floe_arena_plan();
    take(cpu, boxes, &e, &plan);
    return plan.used;
}

static void gather(const floe_codec_boxes *b, const estimate *e)
{
    const uint64_t nbytes = e->ncells * floe_dtype_size(b->params->dtype);
    const uint64_t first[FLOE_MAX_RANK] = {0};
    for (uint32_t i = 0; i < b->n; i++) {
        const floe_field box = floe_codec_box(b, i), from = floe_field_box(&box, first, e->part);
        const floe_field to = floe_field_contiguous(e->values + i * nbytes, &from);
        floe_field_copy(&from, &to);
    }
}

floe_status floe_lorenzo_estimate(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_arena *arena, double *bits,
                                  floe_error *err)
{
    estimate e;
    uint64_t nbytes;
    floe_chunk_stats stats;
    take(cpu, boxes, &e, arena);
    FLOE_CHECK(err, !arena->overflow && arena->base, FLOE_ERR_MEMORY, "the workspace is too small for a sample");
    gather(boxes, &e);
    floe_arena scratch = floe_arena_of(e.scratch, e.scratch_nbytes);
    const floe_field layout = floe_field_of(NULL, boxes->params->dtype, boxes->rank, e.all),
                     all = floe_field_contiguous(e.values, &layout);
    const floe_chunk_encode call = {.cpu = cpu,
                                    .params = boxes->params,
                                    .chunk = &all,
                                    .scratch = &scratch,
                                    .dst = e.coded,
                                    .capacity = e.capacity,
                                    .nbytes = &nbytes,
                                    .stats = &stats};
    FLOE_TRY(floe_lorenzo_compress(&call, err));
    *bits = floe_lorenzo_estimate_bits(boxes, e.ncells, nbytes, floe_load32(e.coded + 8));
    return FLOE_OK;
}
