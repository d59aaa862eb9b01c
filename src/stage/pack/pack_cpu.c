/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/pack/pack.h"

#include <string.h>

/* Where the next word of each value plane goes: planes lie one after another, as long as there are groups that wide. */
typedef struct plane_cursors {
    uint32_t at[FLOE_REAL_BITS];
    uint32_t end; /* words in all */
} plane_cursors;

static void plane_cursors_of(const floe_step *step, plane_cursors *c)
{
    uint32_t count, b = 0;
    c->end = 0;
    for (; b < FLOE_REAL_BITS && (count = FLOE_V(floe_bytes_above)(step->width, b)) != 0; b++) {
        c->at[b] = c->end;
        c->end += count;
    }
}

static void widths_range(const floe_step *step, uint32_t *least, uint32_t *most)
{
    *least = step->present ? FLOE_REAL_BITS : 0;
    *most = 0;
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
        uint32_t w = step->width[g];
        if (step->present >> g & 1)
            *least = w < *least ? w : *least;
        *most = w > *most ? w : *most;
    }
}

uint32_t FLOE_V(floe_pack_encode_step)(const floe_step *step, uint32_t *words, uint16_t *descriptor)
{
    uint32_t least, most, n = 0;
    widths_range(step, &least, &most);
    uint32_t planes = floe_bit_length(most - least), flat = step->flat == 0 ? 0 : step->flat == step->present ? 1 : 2;
    *descriptor =
        (uint16_t)(least << FLOE_PACK_LEAST_SHIFT | planes << FLOE_PACK_PLANES_SHIFT | flat << FLOE_PACK_FLAT_SHIFT);
    if (flat == 2)
        words[n++] = step->flat;
    uint8_t above[FLOE_STEP_GROUPS]; /* the least width; 0 where not present */
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
        above[g] = (uint8_t)(step->width[g] < least ? 0 : step->width[g] - least);
    FLOE_V(floe_planes_of_bytes)(above, planes, words + n);
    n += planes;
    plane_cursors c;
    plane_cursors_of(step, &c);
    uint32_t *out = words + n;
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
        uint32_t plane[FLOE_REAL_BITS];
        FLOE_V(floe_planes_of_values)(step->residual[g], step->width[g], plane);
        for (uint32_t b = 0; b < step->width[g]; b++)
            out[c.at[b]++] = plane[b];
    }
    return n + c.end;
}

/* Reads flat and widths; false when the descriptor or a width is impossible or words run out. */
static int read_head(uint16_t descriptor, const uint32_t *words, uint64_t nwords, uint32_t *used, floe_step *step)
{
    uint32_t least = descriptor >> FLOE_PACK_LEAST_SHIFT & 127, planes = descriptor >> FLOE_PACK_PLANES_SHIFT & 7;
    uint32_t flat = descriptor >> FLOE_PACK_FLAT_SHIFT & 3, n = 0;
    if (descriptor >> FLOE_PACK_USED_BITS || flat == 3 || (flat == 2) + planes > nwords)
        return 0;
    step->flat = flat == 0 ? 0 : flat == 1 ? step->present : words[n++];
    if (step->flat & ~step->present)
        return 0;
    uint8_t above[FLOE_STEP_GROUPS], present[FLOE_STEP_GROUPS];
    uint32_t most = 0, stray = 0;
    FLOE_V(floe_bytes_of_planes)(words + n, planes, above);
    FLOE_V(floe_bytes_of_planes)(&step->present, 1, present);
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
        uint32_t w = present[g] ? least + above[g] : 0;
        stray |= present[g] ? 0u : above[g];
        most = w > most ? w : most;
        step->width[g] = (uint8_t)w;
    }
    if (most > FLOE_REAL_BITS || stray)
        return 0;
    *used = n + planes;
    return 1;
}

floe_status FLOE_V(floe_pack_decode_step)(uint16_t descriptor, const uint32_t *words, uint64_t nwords, uint32_t *used,
                                          floe_step *step)
{
    uint32_t n;
    if (!read_head(descriptor, words, nwords, &n, step))
        return FLOE_ERR_FORMAT;
    plane_cursors c;
    plane_cursors_of(step, &c);
    if (c.end > nwords - n)
        return FLOE_ERR_FORMAT;
    const uint32_t *in = words + n;
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
        uint32_t plane[FLOE_REAL_BITS];
        for (uint32_t b = 0; b < step->width[g]; b++)
            plane[b] = in[c.at[b]++];
        FLOE_V(floe_values_of_planes)(plane, step->width[g], step->residual[g]);
    }
    *used = n + c.end;
    return FLOE_OK;
}
