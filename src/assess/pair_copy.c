/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/pair_copy.h"

#include <string.h>

#include "assess/pair_read.h"
#include "base/hd.h"
#include "base/try.h"
#include "field/field.h"

enum { STAGE_NELEMS = 1 << 21 }; /* 8 or 16 MB: the wait after each is nothing to that */

static uint64_t side_nbytes(const floe_pair *pair) { return floe_pair_nelems(pair) * floe_dtype_size(pair->dtype); }

void floe_pair_copy_of(const floe_pair *host, floe_pair *copy)
{
    int64_t step = 1;
    *copy = *host;
    copy->place = FLOE_DEVICE;
    for (uint32_t a = FLOE_MAX_RANK; a-- > 0; step *= (int64_t)host->shape[a])
        copy->original_stride[a] = copy->decoded_stride[a] = step;
}

void floe_pair_copy_take(floe_pair *copy, floe_arena *arena)
{
    const void *const planned = (const void *)(uintptr_t)FLOE_ARENA_ALIGN;
    const void *original = floe_arena_take(arena, side_nbytes(copy), 1);
    copy->original = original ? original : planned;
    if (!copy->decoded)
        return;
    const void *decoded = floe_arena_take(arena, side_nbytes(copy), 1);
    copy->decoded = decoded ? decoded : planned;
}

uint64_t floe_pair_stage_nbytes(const floe_pair *host)
{
    return floe_pair_is_dense(host) ? 0 : floe_min64(STAGE_NELEMS, floe_pair_nelems(host)) * sizeof(double);
}

#ifdef FLOE_HAVE_CUDA_BUILD

/* n values from number `first` on, as they follow one another. */
static void stage_fill(const floe_pair *alone, uint64_t first, uint64_t n, uint8_t *stage)
{
    const size_t size = floe_dtype_size(alone->dtype);
    floe_pair_buffer buffer;
    for (uint64_t i = 0; i < n; i += FLOE_PAIR_BLOCK) {
        const uint32_t m = (uint32_t)floe_min64(FLOE_PAIR_BLOCK, n - i);
        const void *values, *same;
        floe_pair_read(alone, false, first + i, m, &buffer, &values, &same);
        memcpy(stage + i * size, values, m * size);
    }
}

static floe_status side_copy(const floe_cuda *cuda, const floe_pair *alone, const void *to, uint8_t *stage,
                             floe_error *err)
{
    const uint64_t n = floe_pair_nelems(alone), size = floe_dtype_size(alone->dtype);
    if (floe_pair_is_dense(alone))
        return floe_cuda_copy(cuda, (void *)(uintptr_t)to, alone->original, n * size, err);
    for (uint64_t first = 0; first < n; first += STAGE_NELEMS) {
        const uint64_t m = floe_min64(STAGE_NELEMS, n - first);
        stage_fill(alone, first, m, stage);
        FLOE_TRY(floe_cuda_copy(cuda, (uint8_t *)(uintptr_t)to + first * size, stage, m * size, err));
        FLOE_TRY(floe_cuda_wait(cuda, err)); /* the stage may be pinned memory */
    }
    return FLOE_OK;
}

floe_status floe_pair_copy(const floe_cuda *cuda, const floe_pair *host, const floe_pair *copy, void *stage,
                           floe_error *err)
{
    floe_pair alone = *host;
    alone.decoded = NULL;
    FLOE_TRY(side_copy(cuda, &alone, copy->original, stage, err));
    if (!host->decoded)
        return FLOE_OK;
    alone.original = host->decoded;
    memcpy(alone.original_stride, host->decoded_stride, sizeof alone.original_stride);
    return side_copy(cuda, &alone, copy->decoded, stage, err);
}

#else

floe_status floe_pair_copy(const floe_cuda *cuda, const floe_pair *host, const floe_pair *copy, void *stage,
                           floe_error *err)
{
    (void)cuda, (void)host, (void)copy, (void)stage;
    return floe_fail(err, FLOE_ERR_DEVICE, "this build of floe has no CUDA, it runs on the CPU only");
}

#endif
