/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/interp/gpu/interp_tune_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cuda.h"

enum { MOST_BOX_CELLS = 8 * 262144 /* more than all boxes have */ };

uint64_t floe_interp_gpu_boxes_cells(uint64_t ncells) { return floe_min64(ncells, MOST_BOX_CELLS); }

/* What both encoders need of the host: scratch of the one that tries, and the boxes. */
static uint8_t *take_scratch(floe_interp_encoder *e, floe_interp_encoder *trial, size_t boxes_nbytes, floe_arena *a)
{
    e->entropy = floe_interp_entropy_take(e->cpu, true, FLOE_INTERP_TILE_REALS * e->size, a);
    floe_interp_encoder_take(trial, a);
    trial->entropy = e->entropy;
    return floe_arena_take(a, boxes_nbytes, 1);
}

static floe_status fetch_boxes(const floe_interp_gpu_tuning *t, const floe_interp_encoder *e, const uint64_t *part,
                               uint64_t nboxes, uint8_t *boxes, floe_error *err)
{
    const uint64_t *n = e->chunk.plan.shape, cells = floe_interp_points(part);
    for (uint64_t b = 0; b < nboxes; b++) {
        floe_interp_bits_job job = {.what = FLOE_INTERP_BITS_GATHER, .row = 1, .nwords = floe_ceil_div(cells, 64)};
        int64_t at = 0;
        memcpy(job.shape, n, sizeof job.shape);
        floe_interp_trial_box(n, part, nboxes, b, job.lo);
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
            job.hi[a] = job.lo[a] + part[a];
            at += (int64_t)job.lo[a] * t->values->stride[a];
        }
        job.values = *t->values;
        job.values.data = (uint8_t *)t->values->data + at * (int64_t)e->size;
        job.size = (uint32_t)e->size;
        job.status = t->status;
        job.literals = (uint8_t *)t->boxes + b * cells * e->size;
        FLOE_CUDA(err, floe_interp_bits_cuda(&job, t->stream));
    }
    return floe_interp_gpu_fetch(boxes, t->boxes, nboxes * cells * e->size, t->stream, err);
}

static floe_status choose(const floe_interp_gpu_tuning *t, floe_interp_encoder *e, floe_interp_encoder *trial,
                          floe_error *err)
{
    const uint64_t *part = trial->chunk.plan.shape, nboxes = floe_interp_trial_count(e->ncells, part);
    const size_t nbytes = (size_t)(nboxes * floe_interp_points(part) * e->size);
    floe_arena plan = floe_arena_plan();
    take_scratch(e, trial, nbytes, &plan);
    void *memory = malloc(plan.used + FLOE_ARENA_ALIGN);
    FLOE_CHECK(err, memory, FLOE_ERR_MEMORY, "out of memory");
    floe_arena arena = floe_arena_of(
        (void *)(((uintptr_t)memory + FLOE_ARENA_ALIGN - 1) & ~(uintptr_t)(FLOE_ARENA_ALIGN - 1)), plan.used);
    uint8_t *boxes = take_scratch(e, trial, nbytes, &arena);
    const floe_status status = fetch_boxes(t, e, part, nboxes, boxes, err);
    e->boxes = boxes;
    if (status == FLOE_OK)
        floe_interp_choose(e, trial);
    free(memory);
    return status;
}

floe_status floe_interp_gpu_choose(const floe_interp_gpu_tuning *t, const uint64_t shape[FLOE_INTERP_RANK],
                                   floe_interp_chunk *chunk, floe_error *err)
{
    floe_interp_encoder e, trial;
    floe_cpu cpu;
    uint64_t part[FLOE_INTERP_RANK];
    FLOE_TRY(floe_cpu_init(&cpu, 1, FLOE_ISA_AUTO, err));
    floe_interp_encoder_begin(&e, &cpu, t->params, FLOE_INTERP_RANK, shape);
    floe_interp_trial_shape(&e, part);
    floe_interp_encoder_begin(&trial, &cpu, t->params, FLOE_INTERP_RANK, part);
    FLOE_TRY(choose(t, &e, &trial, err));
    *chunk = e.chunk;
    return FLOE_OK;
}

#endif
