/* SPDX-License-Identifier: BSD-3-Clause */
/* Fill detection: the rule is in field.h, its formulas in fill_math.h. */
#include "field/fill_math.h"

bool floe_fill_suspect(const floe_range *all, floe_dtype dtype, uint64_t candidate_bits[2], uint32_t *ncandidates)
{
    *ncandidates = floe_fill_candidates(all, dtype, candidate_bits);
    return *ncandidates > 0;
}

bool floe_fill_confirm(const floe_range *rest, double candidate) { return floe_fill_holds(rest, candidate); }
