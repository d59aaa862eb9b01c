/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/reduction/distribution.h"

#include <math.h>

static uint64_t total_of(const uint64_t *count, uint32_t nbins)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < nbins; i++)
        total += count[i];
    return total;
}

double floe_distribution_entropy(const uint64_t *count, uint32_t nbins)
{
    const double total = (double)total_of(count, nbins);
    double sum = 0;
    for (uint32_t i = 0; i < nbins; i++)
        if (count[i])
            sum -= (double)count[i] / total * log2((double)count[i] / total);
    return sum + 0.0; /* no -0 */
}

double floe_distribution_ks(const uint64_t *p, const uint64_t *q, uint32_t nbins)
{
    uint64_t below_p = 0, below_q = 0, largest = 0;
    for (uint32_t i = 0; i < nbins; i++) {
        below_p += p[i];
        below_q += q[i];
        const uint64_t distance = below_p > below_q ? below_p - below_q : below_q - below_p;
        largest = distance > largest ? distance : largest;
    }
    return (double)largest / (double)below_p;
}

/* 2 sum_j (-1)^(j-1) exp(-2 j^2 t^2). For small t that sum needs many terms, and its other form (Jacobi's) few:
 * 1 - sqrt(2 pi) / t sum_j exp(-(2j - 1)^2 pi^2 / (8 t^2)). */
double floe_distribution_ks_pvalue(double d, uint64_t n)
{
    const double pi = 3.14159265358979323846, t = sqrt((double)n / 2) * d;
    double sum = 0;
    if (t < 1e-3)
        return 1;
    if (t < 1) {
        for (int j = 1; j <= 4; j++)
            sum += exp(-(2.0 * j - 1) * (2.0 * j - 1) * pi * pi / (8 * t * t));
        return 1 - sqrt(2 * pi) / t * sum;
    }
    for (int j = 1; j <= 5; j++)
        sum += (j % 2 ? 2 : -2) * exp(-2.0 * j * j * t * t);
    return sum;
}

double floe_distribution_kl(const uint64_t *p, const uint64_t *q, uint32_t nbins, double *reverse)
{
    const double half = 0.5, all_p = (double)total_of(p, nbins) + half * nbins,
                 all_q = (double)total_of(q, nbins) + half * nbins;
    double sum_p = 0, sum_q = 0;
    for (uint32_t i = 0; i < nbins; i++)
        if (p[i] != q[i]) {
            const double of_p = (double)p[i] + half, of_q = (double)q[i] + half, difference = log(of_p / of_q);
            sum_p += of_p / all_p * difference;
            sum_q -= of_q / all_q * difference;
        }
    *reverse = sum_q > 0 ? sum_q : 0; /* never below 0, but for rounding */
    return sum_p > 0 ? sum_p : 0;
}

double floe_distribution_wasserstein(const uint64_t *p, const uint64_t *q, uint32_t nbins)
{
    uint64_t below_p = 0, below_q = 0;
    double area = 0;
    for (uint32_t i = 0; i < nbins; i++) {
        below_p += p[i];
        below_q += q[i];
        area += (double)(below_p > below_q ? below_p - below_q : below_q - below_p);
    }
    return area / (double)below_p;
}
