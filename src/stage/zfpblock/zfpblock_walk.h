/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the blocks of an array in the order of the stream, and moves their values: inside src/stage/zfpblock only. */
#ifndef FLOE_STAGE_ZFPBLOCK_WALK_H
#define FLOE_STAGE_ZFPBLOCK_WALK_H

#include "stage/zfpblock/zfpblock_math.h"

/* Axes are counted from the fastest here; those above the rank have one value. Offsets are in elements and wrap (mod 2^64): a
 * box may begin many strides behind index 0, and axes of one element may have any stride. */
typedef struct zfp_walk {
    uint8_t *data;
    uint64_t origin; /* of index 0 from data: outside where a box begins later */
    uint64_t shape[FLOE_MAX_RANK], stride[FLOE_MAX_RANK];
    uint64_t corner[FLOE_MAX_RANK];                /* first value of the block */
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK]; /* what is stored */
    bool boxed;
} zfp_walk;

/* The block where the walk stands. */
typedef struct zfp_place {
    uint64_t at;                    /* its first value, from data */
    uint32_t inside[FLOE_MAX_RANK]; /* values inside the array along each axis, 1 to 4 */
    bool whole;
} zfp_place;

static inline zfp_walk zfp_walk_of(const floe_zfp_array *array, uint64_t first)
{
    zfp_walk w = {.data = array->data, .boxed = array->boxed};
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++) {
        const bool real = a < array->rank;
        w.shape[a] = real ? array->shape[array->rank - 1 - a] : 1;
        w.stride[a] = real ? (uint64_t)array->stride[array->rank - 1 - a] : 0;
        w.lo[a] = real && w.boxed ? array->lo[array->rank - 1 - a] : 0;
        w.hi[a] = real && w.boxed ? array->hi[array->rank - 1 - a] : w.shape[a];
        w.origin -= w.lo[a] * w.stride[a];
        const uint64_t count = floe_ceil_div(w.shape[a], FLOE_ZFP_SIDE);
        w.corner[a] = first % count * FLOE_ZFP_SIDE;
        first /= count;
    }
    return w;
}

FLOE_INLINE void zfp_walk_next(zfp_walk *w, uint32_t rank)
{
    for (uint32_t a = 0; a < rank; a++) {
        w->corner[a] += FLOE_ZFP_SIDE;
        if (w->corner[a] < w->shape[a])
            return;
        w->corner[a] = 0;
    }
}

FLOE_INLINE zfp_place zfp_place_of(const zfp_walk *w, uint32_t rank)
{
    zfp_place p = {.inside = {1, 1, 1, 1}, .whole = true};
    uint64_t at = w->origin;
    for (uint32_t a = 0; a < rank; a++) {
        p.inside[a] = (uint32_t)floe_min64(FLOE_ZFP_SIDE, w->shape[a] - w->corner[a]);
        p.whole &= p.inside[a] == FLOE_ZFP_SIDE;
        at += w->corner[a] * w->stride[a];
    }
    p.at = at;
    return p;
}

/* Rows of a block, x fastest: where row r of 4^(rank - 1) begins, from the block's first value, in elements. Rows that are
 * not inside are those that stand for them. */
static inline int64_t zfp_row_offset(const zfp_walk *w, const zfp_place *p, uint32_t r)
{
    return (int64_t)(floe_zfp_inside(r & 3, p->inside[1]) * w->stride[1] +
                     floe_zfp_inside(r >> 2 & 3, p->inside[2]) * w->stride[2] +
                     floe_zfp_inside(r >> 4, p->inside[3]) * w->stride[3]);
}

/* The block's bit patterns. */
FLOE_INLINE void zfp_load(const zfp_walk *w, const zfp_place *p, uint32_t rank, floe_uint *block)
{
    const uint32_t nrows = 1u << 2 * rank >> 2;
    const int64_t size = sizeof(floe_uint), step = (int64_t)w->stride[0];
    const uint8_t *first = w->data + (int64_t)p->at * size;
    if (p->whole && step == 1) {
        for (uint32_t r = 0; r < nrows; r++) {
            const uint64_t at = (r & 3) * w->stride[1] + (r >> 2 & 3) * w->stride[2] + (r >> 4) * w->stride[3];
            memcpy(block + 4 * r, first + (int64_t)at * size, 4 * sizeof *block);
        }
        return;
    }
    for (uint32_t r = 0; r < nrows; r++) {
        const uint8_t *row = first + zfp_row_offset(w, p, r) * size;
        for (uint32_t i = 0; i < FLOE_ZFP_SIDE; i++)
            memcpy(block + 4 * r + i, row + floe_zfp_inside(i, p->inside[0]) * step * size, sizeof *block);
    }
}

/* What is inside of a block, and of the box, into the array. */
static inline void zfp_store_part(const zfp_walk *w, const zfp_place *p, uint32_t rank, const floe_uint *block)
{
    uint32_t from[FLOE_MAX_RANK] = {0}, to[FLOE_MAX_RANK] = {1, 1, 1, 1};
    const uint64_t *step = w->stride;
    for (uint32_t a = 0; a < rank; a++) {
        from[a] = w->lo[a] > w->corner[a] ? (uint32_t)floe_min64(w->lo[a] - w->corner[a], FLOE_ZFP_SIDE) : 0;
        to[a] = w->hi[a] > w->corner[a] ? (uint32_t)floe_min64(w->hi[a] - w->corner[a], p->inside[a]) : 0;
    }
    for (uint32_t u = from[3]; u < to[3]; u++)
        for (uint32_t z = from[2]; z < to[2]; z++)
            for (uint32_t y = from[1]; y < to[1]; y++)
                for (uint32_t x = from[0]; x < to[0]; x++) {
                    const uint64_t at = p->at + x * step[0] + y * step[1] + z * step[2] + u * step[3];
                    memcpy(w->data + (int64_t)at * (int64_t)sizeof *block, block + 64 * u + 16 * z + 4 * y + x,
                           sizeof *block);
                }
}

FLOE_INLINE void zfp_store(const zfp_walk *w, const zfp_place *p, uint32_t rank, const floe_uint *block)
{
    const uint32_t nrows = 1u << 2 * rank >> 2;
    if (!p->whole || w->boxed || w->stride[0] != 1) {
        zfp_store_part(w, p, rank, block);
        return;
    }
    for (uint32_t r = 0; r < nrows; r++) {
        const uint64_t at = p->at + (r & 3) * w->stride[1] + (r >> 2 & 3) * w->stride[2] + (r >> 4) * w->stride[3];
        memcpy(w->data + (int64_t)at * (int64_t)sizeof *block, block + 4 * r, 4 * sizeof *block);
    }
}

#endif
