/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/reduction/bins.h"

#include <string.h>

/* Room to both sides of what is there, so that a few values more do not move everything again. */
static floe_bins_frame roomy(floe_bins_frame f, uint32_t capacity)
{
    f.first -= (capacity - f.nbins) / 2;
    f.nbins = capacity;
    return f;
}

static void table_move(const floe_bins_frame *from, const floe_bins_frame *to, uint64_t *count, uint64_t *spare)
{
    memcpy(spare, count, from->nbins * sizeof *spare);
    memset(count, 0, to->nbins * sizeof *count);
    for (uint32_t i = 0; i < from->nbins; i++)
        if (spare[i])
            count[floe_bins_move(from, i, to)] += spare[i];
}

void floe_bins_cover(floe_bins *b, double low, double high)
{
    const bool empty = b->frame.nbins == 0;
    if (!empty && low >= b->low && high <= b->high)
        return;
    b->low = empty || low < b->low ? low : b->low;
    b->high = empty || high > b->high ? high : b->high;
    const floe_bins_frame least = floe_bins_frame_of(b->low, b->high, b->capacity);
    if (!empty && least.exponent == b->frame.exponent && least.first >= b->frame.first &&
        least.first + least.nbins <= b->frame.first + b->frame.nbins)
        return;
    const floe_bins_frame next = roomy(least, b->capacity);
    for (uint32_t t = 0; t < b->tables; t++) {
        uint64_t *count = b->count + (uint64_t)t * b->capacity;
        if (empty)
            memset(count, 0, b->capacity * sizeof *count);
        else
            table_move(&b->frame, &next, count, b->spare);
    }
    b->frame = next;
    b->per_width = floe_bins_power(-next.exponent);
}

void floe_bins_collect(const floe_bins *b, uint32_t table, const floe_bins_frame *frame, uint64_t *count)
{
    const uint64_t first = (uint64_t)table * b->capacity;
    for (uint32_t i = 0; i < b->frame.nbins; i++)
        if (b->count[first + i])
            count[floe_bins_move(&b->frame, i, frame)] += b->count[first + i];
}
