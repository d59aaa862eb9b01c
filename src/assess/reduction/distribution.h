/* SPDX-License-Identifier: BSD-3-Clause */
/* What counts in bins show about the values that were counted. */
#ifndef FLOE_ASSESS_DISTRIBUTION_H
#define FLOE_ASSESS_DISTRIBUTION_H

#include <stdint.h>

/* Shannon's, in bits; 0 for no counts at all. */
double floe_distribution_entropy(const uint64_t *count, uint32_t nbins);

/* In what follows both have the same total, which is not 0. */

/* Largest distance of the two cumulated distributions at the edges of bins. */
double floe_distribution_ks(const uint64_t *p, const uint64_t *q, uint32_t nbins);
/* The probability of a distance of d or more between two samples of n values each of one distribution: Kolmogorov's limit. */
double floe_distribution_ks_pvalue(double d, uint64_t n);

/* Kullback-Leibler divergence of p from q in nats, and of q from p to *reverse. Half a count is added to each bin, so that an
 * empty one is no infinity. */
double floe_distribution_kl(const uint64_t *p, const uint64_t *q, uint32_t nbins, double *reverse);

/* The area between the two cumulated distributions, in widths of a bin; not more than one width off. */
double floe_distribution_wasserstein(const uint64_t *p, const uint64_t *q, uint32_t nbins);

#endif
