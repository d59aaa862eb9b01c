/* SPDX-License-Identifier: BSD-3-Clause */
/* Made-up fields and how each is compressed, for tests of the public calls on a GPU. */
#ifndef FLOE_TESTS_GPU_CASE_GPU_KIT_H
#define FLOE_TESTS_GPU_CASE_GPU_KIT_H

#include <stdio.h>

#include "synth/synth.h"
#include "tests/gpu/contexts_gpu_kit.h"

/* Bytes behind what a call may write. */
enum { GUARD = 256 };

typedef struct gpu_case {
    const char *kind;
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    const char *params;
} gpu_case;

static inline void *take(uint64_t nbytes)
{
    void *p = malloc(nbytes ? nbytes : 1);
    assert_non_null(p);
    return p;
}

/* In host memory, which the caller frees. */
static inline floe_field case_make(const gpu_case *c, floe_params *params, uint64_t *nbytes)
{
    uint64_t nelems = 1;
    for (uint32_t i = 0; i < c->rank; i++)
        nelems *= c->shape[i];
    *nbytes = nelems * floe_dtype_size(c->dtype);
    void *values = take(*nbytes);
    assert_int_equal(synth_fill(c->kind, c->dtype, c->rank, c->shape, 7, 0, nelems, values), FLOE_OK);
    assert_int_equal(floe_params_parse(params, c->params, NULL), FLOE_OK);
    return floe_field_of(values, c->dtype, c->rank, c->shape);
}

static uint64_t random_state = 1;
static inline uint64_t any(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

#endif
