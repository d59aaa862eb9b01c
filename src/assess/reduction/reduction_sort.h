/* SPDX-License-Identifier: BSD-3-Clause */
/* KS and Wasserstein distance of the values themselves: both fields sorted. */
#ifndef FLOE_ASSESS_REDUCTION_SORT_H
#define FLOE_ASSESS_REDUCTION_SORT_H

#include "assess/reduction/reduction.h"

floe_status floe_reduction_sort_nbytes(const floe_reduction *r, uint64_t *nbytes, floe_error *err);
/* Of sides that are sorted already. */
void floe_reduction_sort_compare(const floe_reduction *r, floe_reduction_result *result);
floe_status floe_reduction_sort(floe_reduction *r, floe_reduction_result *result, floe_error *err);

#endif
