/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/mask/mask.h"

uint32_t floe_mask_encode(const floe_mask mask, const floe_mask parent, uint32_t nsteps, uint32_t *words)
{
    uint32_t n = 2 * nsteps;
    for (uint32_t s = 0; s < nsteps; s++) {
        uint32_t any = 0, all = 0;
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
            uint32_t bits = mask[s][g];
            if (bits == 0)
                continue;
            any |= 1u << g;
            if (bits == parent[s][g])
                all |= 1u << g;
            else
                words[n++] = bits;
        }
        words[2 * s] = any;
        words[2 * s + 1] = all;
    }
    return n;
}

bool floe_mask_decode(const uint32_t *words, uint64_t nwords, const floe_mask parent, uint32_t nsteps, floe_mask mask,
                      uint32_t *used)
{
    uint32_t n = 2 * nsteps;
    if (nwords < n)
        return false;
    for (uint32_t s = 0; s < nsteps; s++) {
        uint32_t any = words[2 * s], all = words[2 * s + 1];
        if (all & ~any)
            return false;
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
            uint32_t whole = parent[s][g];
            mask[s][g] = 0;
            if (!(any >> g & 1))
                continue;
            if (all >> g & 1) {
                mask[s][g] = whole;
            } else {
                if (n >= nwords)
                    return false;
                mask[s][g] = words[n++];
                if (mask[s][g] == whole)
                    return false;
            }
            if (mask[s][g] == 0 || mask[s][g] & ~whole)
                return false;
        }
    }
    *used = n;
    return true;
}

uint32_t floe_mask_count(const floe_mask mask, uint32_t nsteps)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < nsteps; s++)
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
            for (uint32_t rest = mask[s][g]; rest; rest &= rest - 1)
                n++;
    return n;
}
