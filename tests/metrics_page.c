/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes docs/metrics.md, from the table of metrics, to stdout. tools/metrics-page puts it in its place. */
#include <stdio.h>

#include <floe/floe.h>

static const char *const passes[] = {"Reduction", "Stencil", "Window", "Spectrum"};
static const char *const about[] = {
    "Each pair of values on its own.",
    "A value f of a field and its neighbours along an axis, f+ ahead and f- behind, one step of the grid away: the "
    "distance of grid\npoints is 1. The PSNR of a derivative that nothing was lost of is infinite.\n\n"
    "Derivatives and Sobolev norms of f32 fields are worked on in f32, and "
    "their\nsquares added up in f32 over groups of four, in double over groups: root mean squares are good to 1e-7 of "
    "themselves. The\ndifference of two magnitudes is good to 2e-7 of these: where errors are 1e-4 of them, their "
    "third "
    "digit may be off. Where\nthe largest error is less than 2^-17 of the largest value, all derivatives are done in "
    "double.\n\n"
    "Derivatives and norms of the decoded field by itself take as many sums once more, so they are in no group, nor in "
    "`all`: they\nmust be named. They are found at the same points as those of the original, where all pairs around "
    "count.",
    "Windows that slide over the field. Those that lie wholly inside and hold only pairs that count enter; the others "
    "are "
    "counted.\nrange is that of the original; of a constant one it is the magnitude of its value, or 1 if that is 0. "
    "Of f32 "
    "fields 1 - SSIM is\ngood to 1e-8 of itself, to 5e-6 where values vary by few units of their last place or lie "
    "beside one that stands far\noff; that of a single window, so `ssim_min` and `ssim_max_loss`, to 1e-4.",
    "Fourier transforms of the whole field, in double. Along an axis of n elements a mode has m / n cycles an element, "
    "m up to n / 2;\n|k| is the length of the vector of these over the axes. Shell s holds the modes with s - 1/2 <= "
    "|k| N < s + 1/2, up to\ns = N / 2, where N is the length of the longest axis, or 8192 if that is less. Without a "
    "window mode 0 has the power 0, as the\nmean was taken away. A ratio below 1 means detail that was lost, above "
    "1 "
    "noise that came in. It is NaN where a shell has no\nmodes, or the original no power in it: 1e-24 of that of "
    "its "
    "strongest shell, or less, which is no more than rounding leaves. A\ntransform knows no gaps: both values of a "
    "pair "
    "that does not count are taken to be their field's mean.",
};
static const char *const kinds[] = {"number", "count", "histogram", "series", "places"};
static const char *const patterns[] = {"sum", "histogram", "search", "neighbours", "window", "transform"};

static const char head[] =
    "# Metrics\n"
    "\n"
    "<!-- Written by tools/metrics-page from the table of metrics; do not edit. -->\n"
    "\n"
    "`floe_assess` (`include/floe/assess.h`) and `floe check` compare a decoded field with its original; `floe stat` "
    "reports the\n"
    "properties of one field, those marked with 1. A metric is requested by its name or by its short name; the names\n"
    "`properties`, `reduction`, `stencil`, `window`, `spectrum` stand for what applies of a group, `all` for all of "
    "them.\n"
    "\n"
    "x is a value of the original, y the decoded value at the same place, e = y - x the error; mean and sum go over "
    "the n pairs\n"
    "that count: both values finite, neither of them fill. A pair of special values that are alike (NaN and NaN, the "
    "same\n"
    "infinity, fill and fill) is equal, any other pair with one is a mismatch; both are counted and enter no sum. "
    "Where all pairs are\n"
    "such equal ones there are counts only; without a pair that counts there is else nothing to assess. Sums are\n"
    "taken in double precision, of distances from a value near the median or the mean where squares are summed; 0 / 0 "
    "of an\n"
    "error and a range is 0. Metrics of a constant field that have no meaning there, such as its skewness, are NaN.\n"
    "So is what comes of squares and higher powers that doubles cannot hold: standard deviation, RMSE, PSNR and SNR of "
    "values\n"
    "or errors below some 1e-154, skewness and kurtosis where deviations are below 1e-102 and 1e-77. Lengths of "
    "gradients "
    "are 0 there.\n"
    "\n"
    "Integers are taken as doubles: exactly, but for those of i64 beyond 2^53, which are rounded to the nearest one. "
    "There too\n"
    "the integers themselves decide which values are fill, which differ from it, and which lie outside a bound. Each "
    "error is then\n"
    "their own, rounded once: in the largest, least and mean errors, MSE, PSNR, SNR, norms, errors relative to values "
    "and to the\n"
    "range, the worst places, and the range itself. `entropy_bytes` is of their own bytes. All else is of the rounded "
    "values there:\n"
    "means, variances, correlations, histograms, distances of distributions, and the other passes.\n"
    "\n"
    "Each pass reads the two fields once, seldom again where sums have lost digits, and finds all of its metrics that "
    "are requested.\n"
    "The pattern says how it reads: sums and extremes; counts in bins; a search for places in the few pieces of "
    "the field\n"
    "where they must be; neighbours; windows; a transform.\n";

/* A formula may hold what a table would take for its own. */
static void cell(const char *text)
{
    for (; *text; text++)
        fputs(*text == '|' ? "\\|" : (char[]){*text, '\0'}, stdout);
}

static void pass_write(floe_metric_pass pass)
{
    printf("\n## %s\n\n%s\n\n", passes[pass], about[pass]);
    puts("| name | short name | what it is | unit | kind | pattern | fields |\n|---|---|---|---|---|---|---|");
    const floe_metric *m;
    for (uint32_t i = 0; (m = floe_metric_at(i)); i++)
        if (m->pass == pass) {
            printf("| `%s` | `%s` | ", m->name, m->alias);
            cell(m->formula);
            printf(" | %s | %s | %s | %u |\n", m->unit, kinds[m->kind], patterns[m->pattern], m->nfields);
        }
}

int main(void)
{
    uint32_t npasses[FLOE_PASSES] = {0};
    for (uint32_t i = 0; floe_metric_at(i); i++)
        npasses[floe_metric_at(i)->pass]++;
    fputs(head, stdout);
    for (int pass = 0; pass < FLOE_PASSES; pass++)
        if (npasses[pass])
            pass_write((floe_metric_pass)pass);
    return 0;
}
