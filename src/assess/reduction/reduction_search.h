/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the field, looked for where the parts of the pieces say that they are. */
#ifndef FLOE_ASSESS_REDUCTION_SEARCH_H
#define FLOE_ASSESS_REDUCTION_SEARCH_H

#include "assess/reduction/reduction.h"

/* The worst errors, those outside the bound, special values that differ: fills places and noutside of result. */
void floe_reduction_search(floe_reduction *r, floe_reduction_result *result);

#endif
