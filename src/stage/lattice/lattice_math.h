/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lattices and their steps, for both compilers. A step makes a finer lattice of a coarser one: it halves the distance
 * of points along 1 to 3 axes, the other axes stay. Its cells are the points of the coarse lattice; a cell has a new point for
 * each nonempty set of the axes: its class, in which bit i shows that the coordinate along the step's i-th axis is odd.
 */
#ifndef FLOE_STAGE_LATTICE_MATH_H
#define FLOE_STAGE_LATTICE_MATH_H

#include <stdbool.h>

#include "base/grid_math.h"

enum {
    FLOE_LATTICE_RANK = 4, /* axes of every lattice, slowest first; the last is never of one point unless all are */
    FLOE_LATTICE_AXES = 3, /* of a step, at most */
    FLOE_LATTICE_CLASSES = 8
};

typedef struct floe_lattice_step {
    uint32_t naxes, axis[FLOE_LATTICE_AXES]; /* in the order of prediction */
    uint32_t width;                          /* bytes of a code */
    uint64_t fine[FLOE_LATTICE_RANK], coarse[FLOE_LATTICE_RANK];
} floe_lattice_step;

typedef struct floe_lattice_box {
    uint64_t lo[FLOE_LATTICE_RANK], hi[FLOE_LATTICE_RANK];
} floe_lattice_box;
/* Of a box its rows along the last axis, its points, and the first point of row number i. */
FLOE_HD uint64_t floe_lattice_box_rows(const floe_lattice_box *b)
{
    return (b->hi[0] - b->lo[0]) * (b->hi[1] - b->lo[1]) * (b->hi[2] - b->lo[2]);
}
FLOE_HD uint64_t floe_lattice_box_points(const floe_lattice_box *b)
{
    return floe_lattice_box_rows(b) * (b->hi[3] - b->lo[3]);
}
FLOE_HD void floe_lattice_box_row(const floe_lattice_box *b, uint64_t i, uint64_t point[FLOE_LATTICE_RANK])
{
    point[3] = b->lo[3];
    point[2] = b->lo[2] + floe_last_digit(&i, b->hi[2] - b->lo[2]);
    point[1] = b->lo[1] + floe_last_digit(&i, b->hi[1] - b->lo[1]);
    point[0] = b->lo[0] + i;
}

/* A lattice in memory: distances in elements. */
typedef struct floe_lattice_view {
    void *data;
    int64_t stride[FLOE_LATTICE_RANK];
} floe_lattice_view;

/* A contiguous one of extent n. */
FLOE_HD floe_lattice_view floe_lattice_view_lattice(void *data, const uint64_t n[FLOE_LATTICE_RANK])
{
    floe_lattice_view v;
    v.data = data;
    v.stride[3] = 1;
    for (int a = 2; a >= 0; a--)
        v.stride[a] = v.stride[a + 1] * (int64_t)n[a + 1];
    return v;
}

/* Number of a point's row, and of a point, in C order. */
FLOE_HD uint64_t floe_lattice_row(const uint64_t n[FLOE_LATTICE_RANK], const uint64_t *point)
{
    return (point[0] * n[1] + point[1]) * n[2] + point[2];
}
FLOE_HD uint64_t floe_lattice_index(const uint64_t n[FLOE_LATTICE_RANK], const uint64_t *point)
{
    return floe_lattice_row(n, point) * n[3] + point[3];
}

FLOE_HD uint64_t floe_lattice_points(const uint64_t n[FLOE_LATTICE_RANK]) { return n[0] * n[1] * n[2] * n[3]; }

/* The first axis of more than one point; the last one, where none has. */
FLOE_HD uint32_t floe_lattice_slowest(const uint64_t n[FLOE_LATTICE_RANK])
{
    uint32_t a = 0;
    while (a < FLOE_LATTICE_RANK - 1 && n[a] == 1)
        a++;
    return a;
}

/* The point of that number. Without a loop: compilers would keep arrays in memory for it. */
FLOE_HD void floe_lattice_point_of(const uint64_t n[FLOE_LATTICE_RANK], uint64_t number,
                                   uint64_t point[FLOE_LATTICE_RANK])
{
    point[3] = floe_last_digit(&number, n[3]);
    point[2] = floe_last_digit(&number, n[2]);
    point[1] = floe_last_digit(&number, n[1]);
    point[0] = number;
}

/* The next point in C order; behind the last one false, and the first. */
FLOE_HD bool floe_lattice_next_point(const uint64_t n[FLOE_LATTICE_RANK], uint64_t point[FLOE_LATTICE_RANK])
{
    for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0; point[a] = 0)
        if (++point[a] < n[a])
            return true;
    return false;
}

/* Where a point is, in elements. */
FLOE_HD int64_t floe_lattice_view_at(const floe_lattice_view *v, const uint64_t point[FLOE_LATTICE_RANK])
{
    return (int64_t)point[0] * v->stride[0] + (int64_t)point[1] * v->stride[1] + (int64_t)point[2] * v->stride[2] +
           (int64_t)point[3] * v->stride[3];
}
FLOE_HD int64_t floe_lattice_view_number(const floe_lattice_view *v, const uint64_t n[FLOE_LATTICE_RANK],
                                         uint64_t number)
{
    uint64_t point[FLOE_LATTICE_RANK];
    floe_lattice_point_of(n, number, point);
    return floe_lattice_view_at(v, point);
}

/* Where the step's i-th axis is the one given; naxes if it is none. */
FLOE_HD uint32_t floe_lattice_place(const floe_lattice_step *s, uint32_t axis)
{
    uint32_t i = 0;
    while (i < s->naxes && s->axis[i] != axis)
        i++;
    return i;
}
FLOE_HD bool floe_lattice_is_active(const floe_lattice_step *s, uint32_t axis)
{
    return floe_lattice_place(s, axis) < s->naxes;
}

FLOE_HD void floe_lattice_coarsen(floe_lattice_step *s)
{
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        s->coarse[a] = floe_lattice_is_active(s, a) ? (s->fine[a] + 1) / 2 : s->fine[a];
}

/* Takes a step off the levels that are left along each axis; false, with none taken, where one of its axes has none left. */
FLOE_HD bool floe_lattice_level_take(const floe_lattice_step *s, uint32_t left[FLOE_LATTICE_RANK])
{
    for (uint32_t k = 0; k < s->naxes; k++)
        if (left[s->axis[k]] == 0)
            return false;
    for (uint32_t k = 0; k < s->naxes; k++)
        left[s->axis[k]]--;
    return true;
}

/* Codes lie in records of 8: that of class c of cell x of a row is number (x << naxes) + c - 1 of the row. */
FLOE_HD uint64_t floe_lattice_row_records(const floe_lattice_step *s)
{
    return floe_ceil_div(s->coarse[3] << s->naxes, 8);
}
FLOE_HD uint64_t floe_lattice_nrecords(const floe_lattice_step *s)
{
    return s->coarse[0] * s->coarse[1] * s->coarse[2] * floe_lattice_row_records(s);
}

/* Codes of a step: points of the fine lattice that are not of the coarse one. */
FLOE_HD uint64_t floe_lattice_codes(const floe_lattice_step *s)
{
    return floe_lattice_points(s->fine) - floe_lattice_points(s->coarse);
}

#endif
