/* SPDX-License-Identifier: BSD-3-Clause */
/* The lifting of stage wavelet as worklets over src/prim, for tests and benches: one source, on threads and on a GPU, and the bits of
 * the stage's own code. */
#ifndef FLOE_BENCH_WAVELET_WORKLETS_H
#define FLOE_BENCH_WAVELET_WORKLETS_H

#include "prim/prim.h"
#include "stage/wavelet/wavelet_cuda.h"

typedef floe_status floe_wavelet_worklets_fn(const floe_prim *p, const floe_wavelet_dev_lift *lift, uint32_t *at,
                                             floe_error *err);
floe_wavelet_worklets_fn floe_wavelet_worklets_f32_plain, floe_wavelet_worklets_f64_plain;
floe_wavelet_worklets_fn floe_wavelet_worklets_f32_avx2, floe_wavelet_worklets_f64_avx2;

/* What floe_wavelet_lift_f32 does, where p points; lift->status is not looked at. */
static inline floe_status floe_wavelet_worklets(const floe_prim *p, bool narrow, const floe_wavelet_dev_lift *lift,
                                                uint32_t *at, floe_error *err)
{
    const floe_isa isa = p->cpu ? p->cpu->isa : FLOE_ISA_PLAIN;
    return FLOE_BY_REAL_AND_ISA(narrow, isa, floe_wavelet_worklets)(p, lift, at, err);
}

#endif
