/* SPDX-License-Identifier: BSD-3-Clause */
/* The box of the array that the tuner tries: how large it is, and where it lies. On both machines. */
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"

typedef floe_wavelet_encoder encoder;

enum {
    BOX_CELLS = 1 << 19,
    BOX_CELLS_BEST = 1 << 22,
    BOX_SHARE = 2,         /* the box has at most one in so many values of the field */
    EVEN_SHARE = 4,        /* the same where a small box has been tried in vain, of a field that looks even */
    SMALL_SHARE = 16,      /* the same of the small box, which has half as many at most, */
    SMALL_CELLS = 1 << 15, /* and so many at least */
    SMALL_BEST = 1 << 21,  /* preset best: a box of so many cells is tried by a quarter of it first */
    SHORT_AXIS = 128,      /* the slowest axis is cut last, if it has no more points */
    /* An axis is rough that takes a bit more for each value; or one more for so many values, if that is twice as much. */
    LEAST_ROUGH = 8
};

static uint64_t part_cells(const encoder *e, bool large)
{
    if (floe_wavelet_is_best(e))
        return floe_max64(floe_min64(e->ncells, BOX_CELLS_BEST), BOX_CELLS / 8) >> (large ? 0 : 2);
    return large ? floe_max64(floe_min64(e->ncells / (e->even ? EVEN_SHARE : BOX_SHARE), BOX_CELLS), BOX_CELLS / 8)
                 : floe_max64(floe_min64(e->ncells / SMALL_SHARE, BOX_CELLS / 2), SMALL_CELLS);
}

bool floe_wavelet_is_small(const encoder *e)
{
    return !floe_wavelet_is_best(e) && e->ncells / SMALL_SHARE < BOX_CELLS / 2;
}

bool floe_wavelet_has_small(const encoder *e)
{
    return floe_wavelet_is_best(e) ? part_cells(e, true) >= SMALL_BEST : e->ncells >= 4 * SMALL_CELLS;
}

/* The longest axis is halved, but for the slowest one, until the box is small enough. */
void floe_wavelet_trial_shape(const encoder *e, bool large, uint64_t part[FLOE_LATTICE_RANK])
{
    const uint64_t *shape = e->chunk.plan.shape, most = part_cells(e, large);
    const uint32_t slowest = floe_lattice_slowest(shape);
    memcpy(part, shape, FLOE_LATTICE_RANK * sizeof *part);
    while (floe_lattice_points(part) > most) {
        uint32_t longest = FLOE_LATTICE_RANK - 1;
        for (uint32_t a = FLOE_LATTICE_RANK - 1; a-- > 0;)
            if (part[a] > part[longest] && (a != slowest || part[a] > SHORT_AXIS))
                longest = a;
        part[longest] = (part[longest] + 1) / 2;
    }
}

floe_look floe_wavelet_trial_look(const encoder *e, const encoder *trial, const void *array, double center)
{
    const bool is_whole = trial->ncells == e->ncells; /* then there is one place, which may show what is rough */
    floe_look look = {.data = array,
                      .narrow = e->narrow,
                      .center = center,
                      .nboxes = 1,
                      .each = is_whole ? 0 : FLOE_LOOK_ONE,
                      .nprobes = is_whole && e->ncells < FLOE_WAVELET_FEW_CELLS ? 0 : FLOE_LOOK_ONE_PROBES,
                      .evenly = true};
    int64_t stride = 1;
    for (uint32_t a = FLOE_LOOK_RANK; a-- > 0; stride *= (int64_t)look.shape[a]) {
        look.shape[a] = e->chunk.plan.shape[a];
        look.part[a] = trial->chunk.plan.shape[a];
        look.stride[a] = stride;
    }
    look.fill = floe_codec_fill_bits(e->params);
    look.inverse = 1 / floe_codec_tuner_bound(e->params);
    return look;
}

/* Axes that are nearer to the roughest one than to the smoothest, if these differ. Those that are too short to look along may be rough. */
static uint32_t find_rough(const floe_look *look, const uint64_t *bits)
{
    const uint64_t bit = (uint64_t)floe_look_nplaces(look) * look->nprobes; /* for each probe */
    uint64_t sum[FLOE_LOOK_RANK] = {0}, least = UINT64_MAX, most = 0;
    uint32_t rough = 0;
    for (uint32_t a = 0; a < FLOE_LOOK_RANK; a++) {
        for (uint32_t i = 0; i < floe_look_nplaces(look); i++)
            sum[a] += floe_look_along(bits[i], a);
        if (floe_look_reach(look->part[a])) {
            least = floe_min64(least, sum[a]);
            most = floe_max64(most, sum[a]);
        } else if (look->part[a] > FLOE_LATTICE_ENDS) {
            rough |= 1u << a;
        }
    }
    const uint64_t apart = most > least ? most - least : 0;
    const bool differ = apart >= bit || (apart >= bit / LEAST_ROUGH && apart >= least);
    for (uint32_t a = 0; a < FLOE_LOOK_RANK; a++)
        if (differ && floe_look_reach(look->part[a]) && 2 * (sum[a] - least) > apart)
            rough |= 1u << a;
    return rough;
}

void floe_wavelet_trial_place(encoder *e, const floe_look *look, const uint64_t *bits, uint64_t lo[FLOE_LATTICE_RANK])
{
    e->rough = look->nprobes ? find_rough(look, bits) : 0;
    const floe_look_boxes boxes = floe_look_choose(look, bits);
    const uint32_t n = floe_look_nplaces(look);
    uint64_t least = UINT64_MAX, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        least = floe_min64(least, floe_look_total(bits[i]));
        sum += floe_look_total(bits[i]);
    }
    e->uneven = 8 * n * least < 5 * sum;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        lo[a] = floe_look_lo(look, boxes.place[0], a);
    e->share = boxes.share;
}
