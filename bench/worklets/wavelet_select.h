/* SPDX-License-Identifier: BSD-3-Clause */
/* Which coefficients are the largest: by digits of their magnitudes, without a sort, on threads and on a GPU. */
#ifndef FLOE_BENCH_WAVELET_SELECT_H
#define FLOE_BENCH_WAVELET_SELECT_H

#include "prim/prim.h"

uint64_t floe_select_workspace(const floe_prim *p, floe_prim_type type, uint64_t n);

/* The k-th largest magnitude of n floats, by its bits, into *found, which is the backend's memory. 1 <= k <= n < 2^32 */
floe_status floe_select_largest(const floe_prim *p, floe_prim_array in, uint64_t k, uint64_t *found, floe_error *err);
/* All values that are smaller become 0. */
floe_status floe_select_keep_largest(const floe_prim *p, floe_prim_type type, void *values, uint64_t n,
                                     const uint64_t *found, floe_error *err);

/* The box 0 .. fine of an f32 array from array[at] to the other one: passes of three axes leave coefficients in turns there. */
floe_status floe_select_copy_box(const floe_prim *p, void *const array[2], uint32_t at, const uint64_t shape[4],
                                 const uint64_t fine[4], floe_error *err);

#endif
