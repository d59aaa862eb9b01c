/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled for each element type and instruction set; the plain one also starts worklets on a GPU. */
#include "bench/worklets/wavelet_worklets.h"

#define FLOE_PRIM_MAP_PIECE 16 /* indexes are tiles */
#include "prim/prim_map.h"
#include "stage/wavelet/wavelet_banks.h"
#include "bench/worklets/wavelet_worklets_math.h"

#define HOST(name, job, worklet) FLOE_PRIM_MAP_HOST(name, job, worklet) /* of names that are macros */
#define DEVICE(name, job)        FLOE_PRIM_MAP_DEVICE(name, job)
#define LAUNCH(name, ...)        FLOE_PRIM_MAP_LAUNCH(name, __VA_ARGS__)

HOST(by_core, floe_worklet_pass, floe_worklet_by_core)
DEVICE(FLOE_R(floe_worklet_lanes), floe_worklet_pass)

static floe_worklet_pass pass_of(const floe_wavelet_dev_lift *l, uint32_t axis, uint32_t at)
{
    const floe_wavelet_lifting *bank = &floe_wavelet_banks[l->bank];
    floe_worklet_pass p = {.from = l->array[at], .to = l->array[!at], .inverse = l->inverse, .bank = l->bank};
    p.n = (uint32_t)l->step.fine[axis];
    p.count[0] = p.n - p.n / 2;
    p.count[1] = p.n / 2;
    p.one_sided = l->one_sided >> axis & 1;
    p.nlifts = bank->nlifts;
    p.scale = (floe_real)(l->inverse ? bank->unscale : bank->scale);
    memcpy(p.lift, bank->lift, sizeof p.lift);
    for (uint32_t k = 0; k < bank->nlifts; k++)
        for (uint32_t t = 0; t < bank->lift[k].ntaps; t++)
            p.weight[k][t] = (floe_real)(l->inverse ? -bank->lift[k].weight[t] : bank->lift[k].weight[t]);
    return p;
}

/* Tiles of so many pairs of so many lines. Returns how many indexes there are. */
static uint64_t deal(floe_worklet_pass *p, const floe_wavelet_dev_lift *l, uint32_t axis, uint32_t pairs,
                     uint32_t width)
{
    uint64_t all = 1, stride = 1;
    p->nlines = (uint32_t)l->step.fine[FLOE_LATTICE_RANK - 1];
    for (uint32_t d = 0, a; d < FLOE_LATTICE_RANK; d++, stride *= l->shape[a]) {
        const uint32_t each = d == 0 ? width : 1;
        a = FLOE_LATTICE_RANK - 1 - d;
        p->digits[d] = (uint32_t)floe_ceil_div(a == axis ? p->count[0] : l->step.fine[a], a == axis ? pairs : each);
        p->stride[d] = a == axis ? 0 : (uint32_t)stride * each;
        p->apart = a == axis ? (uint32_t)stride : p->apart;
        p->tiles = a == axis ? d : p->tiles;
        all *= p->digits[d];
    }
    return all;
}

static floe_status launch(const floe_prim *p, const floe_worklet_pass *pass, uint64_t n, floe_error *err)
{
    (void)p, (void)pass, (void)n; /* where there is no GPU backend */
    return LAUNCH(FLOE_R(floe_worklet_lanes), p, pass, n, err);
}

floe_status FLOE_V(floe_wavelet_worklets)(const floe_prim *p, const floe_wavelet_dev_lift *l, uint32_t *at,
                                          floe_error *err)
{
    for (uint32_t i = 0; i < l->step.naxes; i++, *at = !*at) {
        const uint32_t axis = l->step.axis[l->inverse ? i : l->step.naxes - 1 - i];
        floe_worklet_pass pass = pass_of(l, axis, *at);
        const bool along = axis == FLOE_LATTICE_RANK - 1;
        if (p->cpu) {
            by_core_host(p->cpu, &pass,
                         deal(&pass, l, axis, FLOE_WORKLET_CPU_PAIRS, along ? 1 : FLOE_WORKLET_CPU_WIDTH));
            continue;
        }
        FLOE_TRY(
            launch(p, &pass, deal(&pass, l, axis, along ? FLOE_WORKLET_GPU_ALONG : FLOE_WORKLET_GPU_ACROSS, 1), err));
    }
    return FLOE_OK;
}
