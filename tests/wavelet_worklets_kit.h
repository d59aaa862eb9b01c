/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases for the tests of the worklets: a step of an array, by them and by stage wavelet on a CPU, forward and back. */
#ifndef FLOE_TESTS_WAVELET_WORKLETS_KIT_H
#define FLOE_TESTS_WAVELET_WORKLETS_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/wavelet/wavelet_bands.h"
#include "tests/hostile_kit.h"
#include "bench/worklets/wavelet_select.h"
#include "bench/worklets/wavelet_worklets.h"

/* Where worklets run: memory, and copies to it and from it. */
typedef struct kit_place {
    floe_prim prim;
    void *(*take)(uint64_t nbytes);
    void (*give)(void *p);
    void (*copy)(void *to, const void *from, uint64_t nbytes);
} kit_place;

typedef struct kit_step {
    bool narrow;
    uint64_t shape[FLOE_LATTICE_RANK], fine[FLOE_LATTICE_RANK];
    uint32_t naxes, axis[FLOE_LATTICE_AXES];
    floe_wavelet_bank bank;
    bool one_sided;
} kit_step;

/* What lies beside the box is as it was. */
static inline void kit_run(const kit_place *w, const kit_step *s)
{
    const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
    const floe_dtype dtype = s->narrow ? FLOE_F32 : FLOE_F64;
    const uint64_t count = floe_lattice_points(s->shape), nbytes = count * floe_dtype_size(dtype);
    floe_wavelet_plan *plan = calloc(1, sizeof *plan);
    void *host = malloc(nbytes), *got = malloc(nbytes), *lines = malloc(8 * floe_wavelet_line_reals(&cpu, s->shape));
    uint64_t state = count;
    uint32_t at = 0;
    floe_wavelet_dev_lift l = {.bank = s->bank, .one_sided = s->one_sided ? 15 : 0, .step = {.naxes = s->naxes}};
    memcpy(l.shape, s->shape, sizeof l.shape);
    memcpy(l.step.axis, s->axis, sizeof l.step.axis);
    memcpy(l.step.fine, s->fine, sizeof l.step.fine);
    floe_lattice_coarsen(&l.step);
    memcpy(plan->shape, s->shape, sizeof plan->shape);
    plan->bank = s->bank;
    plan->one_sided = l.one_sided;
    for (uint64_t i = 0; i < count; i++)
        hostile_put(dtype, host, (int64_t)i, hostile_bits(dtype, hostile_uniform(&state) - 0.5));
    for (int k = 0; k < 2; k++) {
        l.array[k] = w->take(nbytes);
        w->copy(l.array[k], host, nbytes);
    }
    const floe_wavelet_bands b = floe_wavelet_bands_of(&cpu, dtype, plan, host, lines);
    for (l.inverse = false;; l.inverse = true) {
        if (l.inverse)
            floe_wavelet_step_undo(&b, &l.step, NULL);
        else
            floe_wavelet_step_do(&b, &l.step);
        assert_int_equal(floe_wavelet_worklets(&w->prim, s->narrow, &l, &at, NULL), FLOE_OK);
        w->copy(got, l.array[at], nbytes);
        if (memcmp(got, host, nbytes) != 0)
            fail_msg("bank %d, %s, inverse %d, ends %d: %llu points along axis %u", (int)s->bank,
                     s->narrow ? "f32" : "f64", l.inverse, s->one_sided, (unsigned long long)s->fine[s->axis[0]],
                     s->axis[0]);
        if (l.inverse)
            break;
    }
    for (int k = 0; k < 2; k++)
        w->give(l.array[k]);
    free(host);
    free(got);
    free(lines);
    free(plan);
}

enum { KIT_MOST = 70 };

/* Extents 2 to 70 along an axis, in a box of a larger array; one more whose inner tiles are many. */
static inline void kit_every_extent(const kit_place *w, uint64_t step)
{
    uint64_t turn = 0;
    for (int bank = 0; bank < FLOE_WAVELET_BANKS; bank++)
        for (uint64_t n = 2; n <= KIT_MOST + step; n += step)
            for (int ends = 0; ends <= floe_wavelet_interpolates((floe_wavelet_bank)bank); ends++, turn++) {
                kit_step s = {turn / 4 % 2, {2, 3, 2, 19}, {2, 2, 1, 18}, 1, {turn % 4}, (floe_wavelet_bank)bank, ends};
                s.fine[s.axis[0]] = n <= KIT_MOST ? n : 300 + turn % 40;
                s.shape[s.axis[0]] = s.fine[s.axis[0]] + 1;
                kit_run(w, &s);
            }
}

/* 1-D to 4-D, each bank. */
static inline void kit_every_rank(const kit_place *w)
{
    static const kit_step steps[] = {
        {true, {1, 1, 1, 4001}, {1, 1, 1, 4001}, 1, {3}, 0, true},
        {false, {1, 1, 201, 35}, {1, 1, 201, 34}, 2, {2, 3}, 0, false},
        {true, {1, 19, 22, 61}, {1, 19, 22, 61}, 3, {1, 2, 3}, 0, true},
        {false, {3, 8, 17, 131}, {3, 8, 17, 131}, 3, {1, 2, 3}, 0, false},
        {true, {7, 6, 5, 13}, {7, 6, 5, 13}, 3, {0, 1, 3}, 0, true},
    };
    for (int bank = 0; bank < FLOE_WAVELET_BANKS; bank++)
        for (size_t i = 0; i < HOSTILE_COUNT(steps); i++) {
            kit_step s = steps[i];
            s.bank = (floe_wavelet_bank)bank;
            s.one_sided = s.one_sided && floe_wavelet_interpolates(s.bank);
            kit_run(w, &s);
        }
}

/* Of values of which many are equal, and of which few begin alike: what a sort of the magnitudes has in place k, and what is kept then. */
static inline void kit_select(const kit_place *w, floe_prim_type type, uint64_t n, uint64_t k)
{
    const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
    const floe_dtype dtype = type == FLOE_PRIM_F32 ? FLOE_F32 : FLOE_F64;
    const uint64_t size = floe_dtype_size(dtype);
    uint64_t state = n + k, bits = 0, found = 0, scratch, one;
    uint8_t *host = malloc(n * size), *sorted = malloc(n * size), *sign = malloc(n * size);
    floe_prim p = w->prim, on_host = {.cpu = &cpu};
    for (uint64_t i = 0; i < n; i++)
        hostile_put(dtype, host, (int64_t)i,
                    hostile_bits(dtype, (double)(hostile_below(&state, 200) + 1) *
                                            (hostile_uniform(&state) < 0.3 ? -1e-3 : i % 3) *
                                            (double)(k % 2 ? (uint64_t)1 << i % 40 : 1)));
    memcpy(sign, host, n * size);
    for (uint64_t i = 0; i < n; i++)
        sign[i * size + size - 1] &= 0x7F;
    assert_int_equal(floe_prim_workspace(&on_host, FLOE_PRIM_SORT, type, n, &scratch, NULL), FLOE_OK);
    on_host.workspace = aligned_alloc(FLOE_ARENA_ALIGN, scratch + FLOE_ARENA_ALIGN - scratch % FLOE_ARENA_ALIGN);
    on_host.workspace_nbytes = scratch;
    assert_int_equal(floe_prim_sort(&on_host, (floe_prim_array){type, sign, n}, sorted, NULL), FLOE_OK);
    memcpy(&bits, sorted + (n - k) * size, size);

    void *values = w->take(n * size), *at = w->take(sizeof found);
    p.workspace_nbytes = floe_select_workspace(&p, type, n);
    p.workspace = w->take(p.workspace_nbytes);
    w->copy(values, host, n * size);
    assert_int_equal(floe_select_largest(&p, (floe_prim_array){type, values, n}, k, at, NULL), FLOE_OK);
    w->copy(&found, at, sizeof found);
    assert_true(found == bits);
    assert_int_equal(floe_select_keep_largest(&p, type, values, n, at, NULL), FLOE_OK);
    w->copy(sorted, values, n * size);
    for (uint64_t i = 0; i < n; i++) {
        memcpy(memset(&one, 0, sizeof one), sign + i * size, size);
        memset(host + i * size, 0, one < bits ? size : 0);
    }
    assert_memory_equal(sorted, host, n * size);
    w->give(values);
    w->give(at);
    w->give(p.workspace);
    free(on_host.workspace);
    free(host);
    free(sorted);
    free(sign);
}

static inline void kit_selects(const kit_place *w)
{
    for (int wide = 0; wide < 2; wide++)
        for (uint64_t n = 1; n < 100000; n = 3 * n + 7)
            for (uint64_t k = 1; k <= n; k = 5 * k + n % 3)
                kit_select(w, wide ? FLOE_PRIM_F64 : FLOE_PRIM_F32, n, k);
}

#endif
