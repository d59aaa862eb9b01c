/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage wavelet against its definition in long double: every bank, axis, end rule and extent, in boxes of larger arrays, by each
 * instruction set, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KIT_FAIL fail_msg
#include "stage/wavelet/wavelet.h"
#include "stage/wavelet/wavelet_banks.h"
#include "tests/codec_kit.h"

#define DTYPE (FLOE_REAL_BITS == 32 ? FLOE_F32 : FLOE_F64)
#define ULP   (FLOE_REAL_BITS == 32 ? 0x1p-23L : 0x1p-52L)

enum { MOST = 70 };

/* A line as signal, of which point i has parity i % 2; then evens before odds. */
static void define_line(const floe_wavelet_pass *p, const long double *x, long double *y)
{
    const floe_wavelet_lifting *bank = &floe_wavelet_banks[p->bank];
    const int64_t n = (int64_t)p->n[p->axis];
    long double s[MOST];
    memcpy(s, x, (size_t)n * sizeof *s);
    for (uint32_t k = 0; k < bank->nlifts; k++) {
        const floe_wavelet_lift *l = &bank->lift[k];
        for (int64_t i = l->to_odd; i < n; i += 2) {
            const int64_t from = 2 * (i / 2 + l->first) + !l->to_odd, last = from + 2 * (int64_t)(l->ntaps - 1);
            if (p->one_sided && k == 0 && (from < 0 || last >= n)) {
                int64_t first;
                double w[4] = {0};
                const uint32_t count = floe_wavelet_one_sided(i / 2, n - n / 2, &first, w);
                for (uint32_t t = 0; t < count; t++)
                    s[i] -= w[t] * s[2 * (first + t)];
                continue;
            }
            for (uint32_t t = 0; t < l->ntaps; t++)
                s[i] += l->weight[t] * s[floe_wavelet_reflect(from + 2 * (int64_t)t, n)];
        }
    }
    for (int64_t i = 0; i < n; i++)
        y[i % 2 ? n - n / 2 + i / 2 : i / 2] = i % 2 ? s[i] : s[i] * bank->scale;
}

static void run(floe_wavelet_pass p, floe_isa isa, floe_real *data, bool inverse)
{
    const floe_cpu cpu = kit_cpu(1, isa);
    void *scratch = malloc(floe_wavelet_task_reals(&p) * sizeof(floe_real));
    p.data = data;
    p.inverse = inverse;
    for (uint64_t i = floe_wavelet_ntasks(&p); i-- > 0;)
        floe_wavelet_ops_of(DTYPE, cpu.isa)->lift(&p, i, scratch);
    free(scratch);
}

static uint64_t place(const uint64_t *shape, const uint64_t *at)
{
    return ((at[0] * shape[1] + at[1]) * shape[2] + at[2]) * shape[3] + at[3];
}

static void check_line(const floe_wavelet_pass *p, const floe_real *x, const floe_real *y, const uint64_t *first)
{
    const uint64_t n = p->n[p->axis];
    long double in[MOST], want[MOST];
    uint64_t at[FLOE_LATTICE_RANK];
    memcpy(at, first, sizeof at);
    for (at[p->axis] = 0; at[p->axis] < n; at[p->axis]++)
        in[at[p->axis]] = x[place(p->shape, at)];
    define_line(p, in, want);
    for (at[p->axis] = 0; at[p->axis] < n; at[p->axis]++)
        assert_true(fabsl(y[place(p->shape, at)] - want[at[p->axis]]) <= 200 * ULP);
}

/* Some points of each line, undone: of means and details none is looked at that they do not need. */
static void some_points(floe_wavelet_pass p, const floe_real *y, const floe_real *whole, uint64_t *state)
{
    const uint64_t n = p.n[p.axis], nmeans = n - n / 2, count = p.shape[0] * p.shape[1] * p.shape[2] * p.shape[3];
    floe_real *part = malloc(count * sizeof *part);
    uint64_t step = 1;
    for (uint32_t a = 3; a > p.axis; a--)
        step *= p.shape[a];
    p.first = hostile_below(state, n);
    p.end = p.first + 1 + hostile_below(state, n - p.first);
    const floe_wavelet_span s = floe_wavelet_ops_of(DTYPE, FLOE_ISA_PLAIN)->needed(&p);
    for (uint64_t i = 0; i < count; i++) {
        const int64_t at = (int64_t)(i / step % p.shape[p.axis]), odd = at >= (int64_t)nmeans,
                      x = odd ? at - (int64_t)nmeans : at;
        part[i] = x >= s.lo[odd] && x < s.hi[odd] ? y[i] : (floe_real)NAN;
    }
    run(p, kit_cpu(1, FLOE_ISA_AVX2).isa, part, true);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at[] = {i / p.shape[3] / p.shape[2] / p.shape[1], i / p.shape[3] / p.shape[2] % p.shape[1],
                               i / p.shape[3] % p.shape[2], i % p.shape[3]};
        bool is = at[p.axis] >= p.first && at[p.axis] < p.end;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            is = is && at[a] < p.n[a];
        assert_true(!is || memcmp(&part[i], &whole[i], sizeof *part) == 0);
    }
    free(part);
}

/* Values from -1 to 1; what lies beside the box must stay. */
static void one_box(const floe_wavelet_pass *p, uint64_t seed)
{
    const uint64_t count = p->shape[0] * p->shape[1] * p->shape[2] * p->shape[3];
    floe_real *x = malloc(count * sizeof *x), *y[2];
    uint64_t at[FLOE_LATTICE_RANK], n[FLOE_LATTICE_RANK], state = seed;
    for (uint64_t i = 0; i < count; i++)
        x[i] = (floe_real)hostile_below(&state, 1 << 20) / (1 << 19) - 1;
    for (int isa = 0; isa < 2; isa++) {
        y[isa] = malloc(count * sizeof *x);
        memcpy(y[isa], x, count * sizeof *x);
        run(*p, isa ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN, y[isa], false);
    }
    assert_memory_equal(y[0], y[1], count * sizeof *x);
    memcpy(n, p->n, sizeof n);
    n[p->axis] = 1;
    for (at[0] = 0; at[0] < n[0]; at[0]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[2] = 0; at[2] < n[2]; at[2]++)
                for (at[3] = 0; at[3] < n[3]; at[3]++)
                    check_line(p, x, y[0], at);
    run(*p, FLOE_ISA_PLAIN, y[0], true);
    for (int k = 0; k < 2; k++)
        some_points(*p, y[1], y[0], &state);
    run(*p, FLOE_ISA_AVX2, y[1], true);
    assert_memory_equal(y[0], y[1], count * sizeof *x);
    for (uint64_t i = 0; i < count; i++)
        assert_true(fabs((double)(y[0][i] - x[i])) <= (double)(200 * ULP));
    for (at[0] = 0; at[0] < p->shape[0]; at[0]++) /* the last column is in no box */
        assert_true(y[0][at[0] * p->shape[1] * p->shape[2] * p->shape[3] + p->shape[3] - 1] ==
                    x[at[0] * p->shape[1] * p->shape[2] * p->shape[3] + p->shape[3] - 1]);
    for (int isa = 0; isa < 2; isa++)
        free(y[isa]);
    free(x);
}

static void every_extent(void **unused)
{
    uint64_t turn = 0;
    (void)unused;
    for (int bank = 0; bank < FLOE_WAVELET_BANKS; bank++)
        for (uint64_t n = 2; n <= MOST; n++)
            for (int one_sided = 0; one_sided <= floe_wavelet_interpolates((floe_wavelet_bank)bank);
                 one_sided++, turn++) {
                uint64_t shape[] = {2, 3, 2, 19};
                const uint32_t axis = (uint32_t)(turn % 4);
                floe_wavelet_pass p = {
                    .shape = shape, .n = {2, 2, 2, 18}, .axis = axis, .bank = (floe_wavelet_bank)bank};
                p.one_sided = one_sided;
                p.n[axis] = n;
                shape[axis] = n + 1;
                one_box(&p, turn);
            }
}

/* More columns than a task has, and lines so long that it has few. */
static void many_columns(void **unused)
{
    (void)unused;
    for (int bank = 0; bank < FLOE_WAVELET_BANKS; bank++) {
        const uint64_t shape[] = {1, 40, 3, 150};
        one_box(&(floe_wavelet_pass){.shape = shape, .n = {1, 37, 2, 149}, .axis = 1, .bank = (floe_wavelet_bank)bank},
                7);
    }
}

/* Means of a constant are that constant, details 0. */
static void constants(void **unused)
{
    (void)unused;
    for (int bank = 0; bank < FLOE_WAVELET_BANKS; bank++)
        for (uint64_t n = 4; n <= MOST; n += 3) {
            floe_real x[MOST];
            const uint64_t shape[] = {1, 1, 1, n}, nmeans = n - n / 2;
            const floe_wavelet_pass p = {.shape = shape, .n = {1, 1, 1, n}, .axis = 3, .bank = (floe_wavelet_bank)bank};
            for (uint64_t i = 0; i < n; i++)
                x[i] = 3;
            run(p, FLOE_ISA_PLAIN, x, false);
            for (uint64_t i = 0; i < n; i++)
                assert_true(fabs((double)(x[i] - (i < nmeans ? 3 : 0))) <= 40 * (double)ULP + (bank == 0 ? 1e-6 : 0));
        }
}

/* Magnitudes, also those beyond the width, and back. */
static void codes(void **unused)
{
    static const floe_real v[] = {0, 1, -1, (floe_real)0.5, (floe_real)0.6, -3, 127, 500, -500, 40000};
    floe_real back[HOSTILE_COUNT(v)];
    (void)unused;
    for (uint32_t i = 0; i < 4; i++) {
        const floe_wavelet_ops *ops =
            floe_wavelet_ops_of(DTYPE, kit_cpu(1, i / 2 ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN).isa);
        const uint32_t width = 1 + i % 2;
        int8_t records[4 * HOSTILE_COUNT(v)] = {0};
        floe_wavelet_means means = {.count = {0}};
        floe_wavelet_codes c = {
            .values = back, .codes = records, .width = width, .apart = 2, .count = HOSTILE_COUNT(v)};
        const int32_t want[] = {
            0, 1, -1, 0, 1, -3, 127, width == 1 ? 127 : 500, width == 1 ? -127 : -500, width == 1 ? 127 : 32767};
        memcpy(back, v, sizeof v);
        c.step = 1;
        c.shift[1] = 32;
        ops->encode(&c, &means);
        ops->decode(&c);
        for (uint64_t k = 0; k < HOSTILE_COUNT(v); k++)
            assert_true(back[k] == (floe_real)want[k]);
        assert_true(means.count[0] == 3 && means.count[1] == 0 && means.count[2] == 5);
        assert_true(ops->largest(v, HOSTILE_COUNT(v)) == 40000);
    }
}

/* Of a step whose inverse is infinite all codes are as large as they may be, those of 0 and -0 above it, and nothing is off. */
static void least_step(void **unused)
{
    enum { COUNT = 70 };
    (void)unused;
    for (int isa = 0; isa < 2; isa++) {
        floe_real v[COUNT] = {0, -1, (floe_real)-0.0};
        int16_t records[COUNT] = {0};
        floe_wavelet_means means = {.count = {0}};
        const floe_wavelet_codes c = {.values = v,
                                      .codes = records,
                                      .width = 2,
                                      .apart = 1,
                                      .count = COUNT,
                                      .step = FLOE_REAL_BITS == 32 ? 0x1p-140 : 0x1p-1040};
        floe_wavelet_ops_of(DTYPE, kit_cpu(1, isa ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN).isa)->encode(&c, &means);
        for (uint64_t i = 0; i < COUNT; i++)
            assert_int_equal(records[i], i == 1 ? -32767 : 32767);
        assert_true(means.count[0] == 0 && means.count[1] == 0 && means.count[2] == COUNT && means.sum[2] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_extent), cmocka_unit_test(many_columns),
                                       cmocka_unit_test(constants), cmocka_unit_test(codes),
                                       cmocka_unit_test(least_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
