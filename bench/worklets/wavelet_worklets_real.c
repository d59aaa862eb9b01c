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
    uint64_t stride = 1, other = 3;
    uint32_t extent[3];
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0; stride *= l->shape[a]) {
        if (a == axis) {
            p.apart = (uint32_t)stride;
            p.n = (uint32_t)l->step.fine[a];
            continue;
        }
        extent[--other] = (uint32_t)l->step.fine[a];
        p.stride[other] = (uint32_t)stride;
    }
    p.count[0] = p.n - p.n / 2;
    p.count[1] = p.n / 2;
    p.extent = extent[1];
    p.nlines = extent[2];
    p.one_sided = l->one_sided >> axis & 1;
    p.nlifts = bank->nlifts;
    p.scale = (floe_real)(l->inverse ? bank->unscale : bank->scale);
    memcpy(p.lift, bank->lift, sizeof p.lift);
    for (uint32_t k = 0; k < bank->nlifts; k++)
        for (uint32_t t = 0; t < bank->lift[k].ntaps; t++)
            p.weight[k][t] = (floe_real)(l->inverse ? -bank->lift[k].weight[t] : bank->lift[k].weight[t]);
    return p;
}

/* How many indexes there are. */
static uint64_t deal(floe_worklet_pass *p, const floe_wavelet_dev_lift *l, uint32_t axis, uint32_t pairs,
                     uint32_t width)
{
    uint64_t slow = 1;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        slow *= a == axis ? 1 : l->step.fine[a];
    p->ntiles = (uint32_t)floe_ceil_div(p->count[0], pairs);
    p->ngroups = (uint32_t)floe_ceil_div(p->nlines, width);
    return slow / p->nlines * p->ntiles * p->ngroups;
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
        const bool along = pass.apart == 1;
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
