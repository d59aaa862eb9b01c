/* SPDX-License-Identifier: BSD-3-Clause */
/* Places that a reduction on a GPU names, against the CPU's: worst errors, values outside a bound, pairs that do not match.
 * FLOE_GPU_TEST=small: less of it. */
#include "tests/assess_kit.h"
#include "tests/gpu/gpu_kit.h"

#include "assess/reduction/reduction_gpu_kit.h"
#include "assess/reduction/reduction_math.h"

/* Errors that are alike, exactly or but for their rounding, that grow or shrink on the way, that crowd in one place, that
 * overflow T; and few pairs that count, or none. */
enum { ALIKE, ROUNDED, RISING, FALLING, CROWDED, STEPS, HUGE_ONES, FAR_APART, FEW, NONE, SPECIALS, PLACES };

static void place_pair(int way, bool wide, uint64_t i, uint64_t n, uint64_t *seed, double v[2])
{
    const uint64_t random = kit_random(seed);
    const double huge = wide ? 1.7e308 : 3e38;
    v[0] = 1 + (double)(random % 1024) * 0x1p-10, v[1] = v[0] + 0x1p-9;
    switch (way) {
    case ROUNDED: v[0] = 1e-4 * (kit_uniform(seed) - 0.5), v[1] = v[0] + 0.1; break;
    case RISING: v[0] = 1, v[1] = 1 + (double)i * 0x1p-23; break;
    case FALLING: v[0] = 1, v[1] = 1 + (double)(n - i) * 0x1p-23; break;
    case CROWDED: v[1] = v[0] + (i > n - 10000 && random % 3 ? 0.25 : 0.125); break;
    case STEPS: v[1] = v[0] - (double)(random % 7) * 0x1p-8; break;
    case HUGE_ONES:
    case FAR_APART:
        if (way == HUGE_ONES ? random % 999 == 0 : i == 0)
            v[0] = i % 2 ? huge : -0.99 * huge, v[1] = -v[0];
        break;
    case FEW: v[0] = i % 30011 == 7 ? v[0] : NAN; break;
    case NONE: v[i % 2] = NAN; break;
    case SPECIALS:
        v[0] = random % 11 ? v[0] : NAN, v[1] = random % 13 ? v[1] : INFINITY;
        v[1] += (double)(i % 50000 == 40000);
        break;
    default: break;
    }
}

static void check_places(int way, floe_dtype dtype, bool strided, uint64_t n, floe_ctx *cpu, floe_ctx *gpu)
{
    static const double bounds[] = {0, 0x1p-9, 1e-3, 0.1};
    static const uint32_t most[] = {8, 1, FLOE_ASSESS_MAX_WORST};
    kit_pair p = kit_pair_make(PAIR_SMOOTH, dtype, 1, &n, strided, 3);
    floe_assess_options o;
    uint64_t seed = 5;
    for (uint64_t i = 0; i < n; i++) {
        double v[2];
        place_pair(way, dtype == FLOE_F64, i, n, &seed, v);
        for (int side = 0; side < 2; side++) {
            const int64_t at = (int64_t)i * p.field[side].stride[0];
            if (dtype == FLOE_F32)
                ((float *)p.field[side].data)[at] = (float)v[side];
            else
                ((double *)p.field[side].data)[at] = v[side];
        }
    }
    floe_assess_options_init(&o);
    kit_ok(cpu, floe_metric_set_parse(&o.metrics, "max_error worst_errors outside first_outside", NULL));
    for (int k = 0; k < (is_small() ? 1 : 3); k++) {
        o.worst = most[(k + way) % 3];
        o.mode = (floe_bound_mode)(FLOE_BOUND_ABS + (k + way) % 3), o.bound = bounds[(k + way) % 4];
        snprintf(kit_case, sizeof kit_case, "way %d, %s%s, %u", way, floe_dtype_name(dtype), strided ? ", strided" : "",
                 o.worst);
        check(&p, &o, 0, cpu, gpu);
    }
    kit_pair_free(&p);
}

static void places_like_the_cpu(void **state)
{
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    const uint64_t n = (is_small() ? 1 : 5) * (uint64_t)FLOE_REDUCTION_PIECE + 30001;
    for (int way = 0; way < PLACES; way++)
        for (int c = 0; c < 4; c++)
            if (!is_small() || c == way % 4)
                check_places(way, c % 2 ? FLOE_F64 : FLOE_F32, c / 2, n, cpu, gpu);
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_like_the_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
