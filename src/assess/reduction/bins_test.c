/* SPDX-License-Identifier: BSD-3-Clause */
/* Bins of any range: as narrow as may be, whatever the order in which values come. And what counts in bins show. */
#include "tests/api_kit.h"

#include "assess/reduction/bins.h"
#include "assess/reduction/distribution.h"

enum { MOST = 64, NVALUES = 300 };

static double hostile(uint64_t *seed)
{
    static const double some[] = {0,       -0.0,     1,   -1,         0x1p-1074, -0x1p-1022,
                                  1.7e308, -1.7e308, 1e6, 1e6 + 1e-3, 1e-30,     3.5};
    const double u = kit_uniform(seed) - 0.5;
    switch (kit_random(seed) % 4) {
    case 0: return some[kit_random(seed) % KIT_COUNT(some)];
    case 1: return ldexp(u, (int)(kit_random(seed) % 600) - 300);
    default: return u;
    }
}

/* v in widths of 2^exponent, rounded down, even where v / 2^exponent is too small for a double. */
static double index_of(double v, int exponent)
{
    const double widths = ldexp(v, -exponent);
    return widths == 0 && v < 0 ? -1 : floor(widths);
}

static double nbins_of(double low, double high, int exponent)
{
    return index_of(high, exponent) - index_of(low, exponent) + 1;
}

static void add(floe_bins *b, uint32_t table, double v)
{
    floe_bins_cover(b, v, v);
    b->count[table * b->capacity + (uint64_t)(floe_bins_index(v, b->per_width) - b->frame.first)]++;
}

static void frames_are_as_narrow_as_may_be(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const double a = hostile(&seed), b = hostile(&seed), low = a < b ? a : b, high = a < b ? b : a;
        const double largest = fmax(fabs(low), fabs(high));
        const floe_bins_frame f = floe_bins_frame_of(low, high, MOST);
        assert_in_range(f.nbins, 1, MOST);
        if (largest == 0)
            continue;
        assert_true((double)f.first == index_of(low, f.exponent));
        assert_true(nbins_of(low, high, f.exponent) == f.nbins);
        if (f.exponent > FLOE_BINS_LEAST_EXPONENT && f.exponent - 1 >= ilogb(largest) - FLOE_BINS_BITS)
            assert_true(nbins_of(low, high, f.exponent - 1) > MOST);
    }
}

/* Values in one order, and dealt out to two tables of bins in another. */
static void any_order_gives_the_same_counts(void **state)
{
    uint64_t seed = 2, counts[3][2 * MOST], spare[MOST];
    double v[NVALUES];
    (void)state;
    for (int trial = 0; trial < 500; trial++) {
        floe_bins bins[3];
        for (int i = 0; i < 3; i++)
            bins[i] = (floe_bins){.capacity = MOST, .tables = 2, .count = counts[i], .spare = spare};
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < NVALUES; i++) {
            v[i] = trial % 3 == 0 && i < NVALUES / 2 ? 0 : trial % 2 ? hostile(&seed) : kit_uniform(&seed);
            low = fmin(low, v[i]), high = fmax(high, v[i]);
        }
        for (int i = 0; i < NVALUES; i++) {
            const double other = v[NVALUES - 1 - i];
            add(&bins[0], (uint32_t)(v[i] > 0.5), v[i]);
            add(&bins[1 + i % 2], (uint32_t)(other > 0.5), other);
        }
        const floe_bins_frame frame = floe_bins_frame_of(low, high, MOST);
        for (uint32_t table = 0; table < 2; table++) {
            uint64_t one[MOST] = {0}, two[MOST] = {0}, plain[MOST] = {0};
            floe_bins_collect(&bins[0], table, &frame, one);
            floe_bins_collect(&bins[1], table, &frame, two);
            floe_bins_collect(&bins[2], table, &frame, two);
            for (int i = 0; i < NVALUES; i++)
                if ((v[i] > 0.5) == table)
                    plain[floe_bins_index(v[i], floe_bins_power(-frame.exponent)) - frame.first]++;
            assert_memory_equal(one, plain, sizeof plain);
            assert_memory_equal(two, plain, sizeof plain);
        }
    }
}

static void logarithmic_bins(void **state)
{
    (void)state;
    assert_int_equal(floe_log_bins_bits(64), 0);
    assert_int_equal(floe_log_bins_bits(127), 0);
    assert_int_equal(floe_log_bins_bits(1024), 4);
    for (uint32_t nbits = 0; nbits <= 6; nbits++) {
        const uint32_t last = (64u << nbits) - 1;
        assert_int_equal(floe_log_bins_f64(0, nbits), 0);
        assert_int_equal(floe_log_bins_f32(0, nbits), 0);
        assert_int_equal(floe_log_bins_f64(0x1p-48, nbits), 0);
        assert_int_equal(floe_log_bins_f64(nextafter(0x1p-47, 0), nbits), (1u << nbits) - 1);
        assert_int_equal(floe_log_bins_f64(0x1p-47, nbits), 1u << nbits);
        assert_int_equal(floe_log_bins_f32(0x1p-47f, nbits), 1u << nbits);
        assert_int_equal(floe_log_bins_f64(1, nbits), 48u << nbits);
        assert_int_equal(floe_log_bins_f64(nextafter(0x1p16, 0), nbits), last);
        assert_int_equal(floe_log_bins_f64(0x1p16, nbits), last);
        assert_int_equal(floe_log_bins_f64(INFINITY, nbits), last);
        assert_int_equal(floe_log_bins_f32(INFINITY, nbits), last);
    }
}

/* Both forms of the series where they meet, and values of the distribution from printed tables. */
static void kolmogorov(void **state)
{
    (void)state;
    const uint64_t n = 200000000;
    const double unit = 1 / sqrt((double)n / 2);
    assert_true(fabs(floe_distribution_ks_pvalue(0.999999999 * unit, n) - floe_distribution_ks_pvalue(unit, n)) < 1e-8);
    assert_true(fabs(floe_distribution_ks_pvalue(1.3580986 * unit, n) - 0.05) < 1e-7);
    assert_true(fabs(floe_distribution_ks_pvalue(1.6276236 * unit, n) - 0.01) < 1e-7);
    assert_true(fabs(floe_distribution_ks_pvalue(0.5 * unit, n) - 0.9639452436648751) < 1e-12);
    assert_true(floe_distribution_ks_pvalue(0, n) == 1);
    assert_true(floe_distribution_ks_pvalue(1, n) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_are_as_narrow_as_may_be),
                                       cmocka_unit_test(any_order_gives_the_same_counts),
                                       cmocka_unit_test(logarithmic_bins), cmocka_unit_test(kolmogorov)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
