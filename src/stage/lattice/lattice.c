/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/lattice/lattice.h"

enum {
    TURNED_MOST = 48, /* points of an axis that is turned; */
    TURNED_TIMES = 3, /* the one before has so many times as many, */
    TURNED_ALONE = 8  /* unless it has no more than this, and half of the longest */
};

/* The axes of more than one point, the last one first. */
static uint32_t axes_left(uint32_t rank, const uint64_t *extent, uint32_t *left)
{
    uint32_t n = 0;
    for (uint32_t a = rank; a-- > 0;)
        if (extent[a] != 1)
            left[n++] = a;
    return n;
}

/* An axis as long as the one before is mostly one of space, as that is. */
uint32_t floe_lattice_turns_of(uint32_t rank, const uint64_t *extent)
{
    uint32_t left[FLOE_MAX_RANK], turns = 0;
    const uint32_t n = axes_left(rank, extent, left);
    uint64_t longest = 0;
    for (uint32_t i = 0; i < n; i++)
        longest = floe_max64(longest, extent[left[i]]);
    for (; turns + 1 < n; turns++) {
        const uint64_t points = extent[left[turns]], before = extent[left[turns + 1]];
        if (points <= TURNED_ALONE ? 2 * points > longest : points > TURNED_MOST || TURNED_TIMES * points > before)
            break;
    }
    return turns;
}

bool floe_lattice_turns_read(const void *src, uint64_t nbytes, uint64_t at, uint32_t rank, const uint64_t *extent,
                             uint32_t *turns)
{
    *turns = nbytes > at ? ((const uint8_t *)src)[at] : 0;
    return *turns == 0 || *turns == floe_lattice_turns_of(rank, extent);
}

void floe_lattice_axes_of(uint32_t rank, const uint64_t *extent, uint32_t turns, uint32_t *axis)
{
    uint32_t left[FLOE_MAX_RANK];
    const uint32_t n = axes_left(rank, extent, left), first = turns < n ? turns : 0,
                   last = first + (n - first > 2 ? 2 : n - first);
    for (uint32_t a = 0; a < rank; a++)
        axis[a] = FLOE_LATTICE_RANK;
    for (uint32_t i = 0; i < n; i++) { /* left: first .. last - 1, then 0 .. first - 1, then the others */
        const uint32_t at = i < last - first ? first + i : i < last ? i - (last - first) : i;
        axis[left[at]] = FLOE_LATTICE_RANK - 1 - i;
    }
}

bool floe_lattice_shape_of(uint32_t rank, const uint64_t *extent, uint32_t turns, uint64_t shape[FLOE_LATTICE_RANK])
{
    uint32_t axis[FLOE_MAX_RANK];
    uint64_t n = 1;
    floe_lattice_axes_of(rank, extent, turns, axis);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        shape[a] = 1;
    for (uint32_t a = 0; a < rank; a++)
        if (axis[a] < FLOE_LATTICE_RANK)
            shape[axis[a]] = extent[a];
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        if (!floe_mul64(n, shape[a], &n))
            return false;
    return n > 0 && n <= FLOE_LATTICE_CELLS_MOST;
}

uint64_t floe_lattice_ends(const uint64_t shape[FLOE_LATTICE_RANK], uint32_t whole)
{
    const uint64_t few = floe_lattice_points(shape) >> FLOE_LATTICE_FEW;
    uint64_t times = 1;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        times *= whole >> a & 1 || shape[a] <= FLOE_LATTICE_ENDS ? shape[a] : 1;
    return times < FLOE_LATTICE_MANY || times * FLOE_LATTICE_ENDS * FLOE_LATTICE_ENDS <= few ? FLOE_LATTICE_ENDS : 1;
}

floe_lattice_view floe_lattice_view_of(const floe_field *f, uint32_t turns)
{
    floe_lattice_view v = {.data = f->data};
    uint32_t axis[FLOE_MAX_RANK];
    floe_lattice_axes_of(f->rank, f->shape, turns, axis);
    for (uint32_t a = 0; a < f->rank; a++)
        if (axis[a] < FLOE_LATTICE_RANK)
            v.stride[axis[a]] = f->stride[a];
    return v;
}

double floe_lattice_least_step(bool narrow) { return narrow ? 0x1p-126 : 0x1p-1022; }

double floe_lattice_quantizer_step(double bound, double max_abs, bool narrow)
{
    const double ulp = narrow ? 0x1p-24 : 0x1p-53, most = narrow ? 0x1p124 : 0x1p1020,
                 least = floe_lattice_least_step(narrow), room = 16 * ulp + 4 * ulp * max_abs / bound;
    const double any = 2 * (bound < most ? bound : most) * (1 - (room < 0.5 ? room : 0.5)),
                 step = any > least ? any : least;
    return narrow ? (double)(float)step : step;
}

enum { THREAD_CELLS = 8192 /* a thread has so many, at least */ };

floe_cpu floe_lattice_cpu(const floe_cpu *cpu, uint64_t nboxes, uint32_t rank, const uint64_t *extent)
{
    floe_cpu limited = *cpu;
    double ncells = (double)nboxes;
    for (uint32_t a = 0; a < rank; a++)
        ncells *= (double)extent[a];
    while (limited.threads > 1 && ncells < (double)limited.threads * THREAD_CELLS)
        limited.threads--;
    return limited;
}

floe_lattice_output floe_lattice_output_of(uint32_t rank, const uint64_t *extent, uint32_t turns, const uint64_t *lo,
                                           const uint64_t *hi, const floe_field *out, uint32_t level)
{
    floe_lattice_output o = {.box.hi = {1, 1, 1, 1}, .level = level, .size = (uint32_t)floe_dtype_size(out->dtype)};
    uint32_t axis[FLOE_MAX_RANK];
    floe_lattice_axes_of(rank, extent, turns, axis);
    o.view.data = out->data;
    for (uint32_t a = 0; a < rank; a++)
        if (axis[a] < FLOE_LATTICE_RANK) {
            o.box.lo[axis[a]] = lo[a];
            o.box.hi[axis[a]] = hi[a];
            o.view.stride[axis[a]] = out->stride[a];
        }
    return o;
}

void floe_lattice_output_put(const floe_lattice_output *o, const uint64_t *point, uint64_t pattern)
{
    uint8_t *to = floe_lattice_output_place(o, point);
    if (to)
        floe_lattice_pattern_store(to, o->size, pattern);
}

void floe_lattice_output_fill(const floe_lattice_output *o, const uint64_t *shape, const uint8_t *values,
                              uint64_t pattern)
{
    const uint64_t step = (uint64_t)1 << o->level, *lo = o->box.lo, *hi = o->box.hi;
    uint64_t at[FLOE_LATTICE_RANK];
    for (at[0] = lo[0] * step; at[0] < hi[0] * step; at[0] += step)
        for (at[1] = lo[1] * step; at[1] < hi[1] * step; at[1] += step)
            for (at[2] = lo[2] * step; at[2] < hi[2] * step; at[2] += step)
                for (at[3] = lo[3] * step; at[3] < hi[3] * step; at[3] += step) {
                    if (values)
                        pattern = floe_lattice_pattern_load(values + floe_lattice_index(shape, at) * o->size, o->size);
                    floe_lattice_output_put(o, at, pattern);
                }
}

void floe_lattice_values_write(const floe_field *chunk, uint32_t turns, floe_cursor *to)
{
    const floe_lattice_view v = floe_lattice_view_of(chunk, turns);
    const size_t size = floe_dtype_size(chunk->dtype);
    uint64_t shape[FLOE_LATTICE_RANK], point[FLOE_LATTICE_RANK] = {0};
    if (!floe_lattice_shape_of(chunk->rank, chunk->shape, turns, shape))
        return;
    do {
        const uint8_t *at = (const uint8_t *)v.data + floe_lattice_view_at(&v, point) * (int64_t)size;
        floe_lattice_pattern_write(to, size == 4, floe_lattice_pattern_load(at, size));
    } while (floe_lattice_next_point(shape, point));
}

void floe_lattice_shape_words(const uint64_t *n, floe_text *to)
{
    uint32_t a = floe_lattice_slowest(n);
    for (const char *by = ""; a < FLOE_LATTICE_RANK; a++, by = " x ")
        floe_text_add(to, "%s%llu", by, (unsigned long long)n[a]);
}

void floe_lattice_chunk_words(floe_lattice_kind kind, bool log, uint32_t turns, const uint64_t *shape, uint64_t nbytes,
                              floe_text *to)
{
    static const char *const kinds[FLOE_LATTICE_KINDS] = {"coded", "values as they are", "one value"};
    floe_text_add(to, "%s%s, ", kinds[kind], log ? ", logarithms" : "");
    floe_lattice_shape_words(shape, to);
    floe_text_add(to, " values");
    if (turns)
        floe_text_add(to, " (axes turned by %u)", turns);
    floe_text_add(to, ", %llu bytes\n", (unsigned long long)nbytes);
}

void floe_lattice_step_words(const floe_lattice_step *s, const uint64_t *shape, floe_text *to)
{
    floe_lattice_shape_words(s->coarse, to);
    floe_text_add(to, " -> ");
    floe_lattice_shape_words(s->fine, to);
    floe_text_add(to, " along axes");
    for (uint32_t a = 0; a < s->naxes; a++)
        floe_text_add(to, "%s %u", a ? "," : "", s->axis[a] - floe_lattice_slowest(shape));
}
