/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at random fields, for tests on both machines. */
#ifndef FLOE_TESTS_LOOK_KIT_H
#define FLOE_TESTS_LOOK_KIT_H

#include "field/look_math.h"
#include "tests/hostile_kit.h"

enum { LOOK_CELLS = 1 << 16 };

/* Values of any pattern here and there; else quiet, or waves. values: LOOK_CELLS, of 8 bytes. */
static inline floe_look look_random(uint64_t *state, void *values)
{
    floe_look l = {.data = values, .evenly = hostile_below(state, 2), .narrow = hostile_below(state, 2)};
    const bool waves = hostile_below(state, 2), patterns = hostile_below(state, 2);
    uint64_t left = LOOK_CELLS;
    int64_t stride = 1;
    for (uint32_t a = FLOE_LOOK_RANK; a-- > 0;) {
        l.shape[a] = 1 + hostile_below(state, floe_min64(left, a % 2 ? 200 : 30));
        l.part[a] = 1 + hostile_below(state, l.shape[a]);
        l.stride[a] = stride;
        stride *= (int64_t)l.shape[a];
        left /= l.shape[a];
    }
    for (int64_t i = 0; i < stride; i++) {
        const double v = waves ? sin((double)i * 0.37) : 0;
        const bool any = patterns && hostile_below(state, 16) == 0;
        if (l.narrow)
            ((uint32_t *)values)[i] = any ? (uint32_t)hostile_random(state) : floe_bits_f32((float)v);
        else
            ((uint64_t *)values)[i] = any ? hostile_random(state) : floe_bits_f64(v);
    }
    l.log = hostile_below(state, 2);
    l.fill = l.narrow ? ((uint32_t *)values)[0] : ((uint64_t *)values)[0];
    l.center = hostile_below(state, 2) ? 0.25 : 0;
    l.inverse = pow(10, (double)hostile_below(state, 9));
    l.nboxes = 1 + (uint32_t)hostile_below(state, FLOE_LOOK_BOXES);
    l.each = 1 + (uint32_t)hostile_below(state, FLOE_LOOK_PLACES / l.nboxes - 1);
    l.nprobes = FLOE_LOOK_PROBES * (1 + (uint32_t)hostile_below(state, 3));
    return l;
}

#endif
