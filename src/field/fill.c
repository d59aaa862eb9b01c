/* SPDX-License-Identifier: BSD-3-Clause */
/* Fill detection: the rule is in field.h. */
#include "field/field.h"

#include <math.h>

/* Distances are taken of 1/32 of the values, so that none overflows. */
#define SCALE 0.03125

static bool fill_is_conventional(double v)
{
    static const double list[] = {-99.0,    -999.0,  9999.0,   -9999.0,  99999.0,
                                  -99999.0, 32767.0, -32767.0, -32768.0, -2147483648.0};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (v == list[i])
            return true;
    return fabs(v) >= 1e20;
}

/* Does v stand off from all of lo..hi by more than `times` their range? */
static bool stands_off(double v, double lo, double hi, double times)
{
    double gap = v < lo ? lo * SCALE - v * SCALE : v * SCALE - hi * SCALE;
    return gap > times * (hi * SCALE - lo * SCALE);
}

/* If all values but min lay where fill needs them, low would too; the same for max and high. */
bool floe_fill_suspect(const floe_range *all, floe_dtype dtype, uint64_t candidate_bits[2], uint32_t *ncandidates)
{
    *ncandidates = 0;
    if (all->nfinite < 3 || !(all->min < all->max))
        return false;
    double candidates[2] = {all->min, all->max};
    bool possible[2] = {!(all->low < all->max) || stands_off(all->min, all->low, all->max, 10),
                        !(all->high > all->min) || stands_off(all->max, all->min, all->high, 10)};
    int first = fabs(all->max) > fabs(all->min); /* the larger magnitude first */
    for (int k = 0; k < 2; k++) {
        int side = k ^ first;
        if (possible[side])
            candidate_bits[(*ncandidates)++] = floe_value_bits(dtype, candidates[side]);
    }
    return *ncandidates > 0;
}

bool floe_fill_confirm(const floe_range *rest, double candidate)
{
    if (rest->nfill < 2 || rest->nfinite < 1 || (candidate >= rest->min && candidate <= rest->max))
        return false;
    if (fill_is_conventional(candidate))
        return stands_off(candidate, rest->min, rest->max, 10);
    return rest->min < rest->max && rest->nfill >= (rest->nfill + rest->nfinite) / 100 &&
           stands_off(candidate, rest->min, rest->max, 1000);
}
