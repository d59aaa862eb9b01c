/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The windows of a tile, axis by axis, fastest first: rows of values become rows of sums over windows along the last axis,
 * these sums over windows along the axis before it, and so on. Rows lie one behind another, each with its four sums apart,
 * so that all loops run over many neighbours. Along a row a sum is made of shorter ones, see row_windows.
 *
 * Another axis is cut into stretches as long as its window w, from the beginning of the field (so that a tile sees the same ones
 * wherever it begins). A window is the end of a stretch and the beginning of the next:
 *
 *     place       0   1   2   3 | 4   5   6   7 |       w = 4, window at 1:
 *                     \_______/  \__/                   suffix[1] + prefix up to 4
 *
 * A stage keeps the last w steps in slots. Once a stretch is complete its slots become suffix sums in place; each is read for
 * one window, and then its slot is free for the step of the next stretch.
 */
#include "assess/window/ssim_cpu.h"

#include <math.h>

#include "base/bytes.h"
#include "base/real.h"

#if FLOE_REAL_BITS == 32
#define BITS_OF floe_bits_f32
#else
#define BITS_OF floe_bits_f64
#endif

enum {
    LAST = FLOE_MAX_RANK - 1,
    LANES = 8 /* partial sums of losses; for each instruction set */
};

typedef struct walk {
    const floe_ssim_plan *plan;
    const floe_pair *pair;
    const floe_ssim_box *box;
    const floe_ssim_room *room;
    floe_ssim_part part;
} walk;

static const double gaussian[FLOE_SSIM_TAPS] = FLOE_SSIM_GAUSSIAN;

/* ---- along a row ------------------------------------------------------------------------------------------------- */

/* The four terms of n pairs. */
static inline void row_terms(const walk *w, const floe_real *x, int64_t dx, const floe_real *y, int64_t dy, uint64_t n,
                             double *restrict to)
{
    const floe_ssim_constants c = w->plan->constants;
    double *restrict s = to, *restrict ss = to + n, *restrict d = to + 2 * n, *restrict dd = to + 3 * n;
    for (uint64_t i = 0; i < n; i++) {
        const double vx = (double)x[(int64_t)i * dx], vy = (double)y[(int64_t)i * dy];
        const floe_ssim_pair p = floe_ssim_pair_of(&c, vx, vy, FLOE_REAL_BITS == 64);
        s[i] = p.s;
        ss[i] = p.s * p.s;
        d[i] = p.d;
        dd[i] = p.d * p.d;
    }
    if (!w->pair->has_fill)
        return;
    const floe_uint fill = (floe_uint)w->pair->fill_bits;
    for (uint64_t i = 0; i < n; i++)
        if (BITS_OF(x[(int64_t)i * dx]) == fill || BITS_OF(y[(int64_t)i * dy]) == fill)
            s[i] = NAN;
}

static inline void add(double *restrict to, const double *a, const double *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = a[i] + b[i];
}

static inline void add_to(double *restrict to, const double *restrict a, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] += a[i];
}

/* Sums over all windows in a row of n terms. Sums of 1, 2, 4, ... neighbours come each from the ones before; those that the
 * window's binary digits name make it up, the shortest first. Returns where they are: v, other (n doubles each) or whole. */
static inline const double *row_windows(double *v, double *other, double *whole, uint64_t n, uint64_t window)
{
    const uint64_t nwhole = n - window + 1;
    for (uint64_t length = 1, done = 0;; length *= 2) {
        if (length == window)
            return v;
        if (window & length) {
            if (done)
                add_to(whole, v + done, nwhole);
            else
                memcpy(whole, v, nwhole * sizeof *v);
            done += length;
            if (done == window)
                return whole;
        }
        add(other, v, v + length, n - 2 * length + 1);
        double *swap = v;
        v = other, other = swap;
    }
}

static inline const double *row_weighted(const double *restrict v, double *restrict whole, uint64_t n)
{
    for (uint64_t i = 0; i + FLOE_SSIM_TAPS <= n; i++) {
        double sum = gaussian[0] * v[i];
        for (uint64_t k = 1; k < FLOE_SSIM_TAPS; k++)
            sum += gaussian[k] * v[i + k];
        whole[i] = sum;
    }
    return whole;
}

/* original, decoded: element offsets of the row. */
static void row_sums(const walk *w, int64_t original, int64_t decoded, double *to)
{
    const floe_ssim_options *o = &w->plan->options;
    const int64_t dx = w->pair->original_stride[LAST], dy = w->pair->decoded_stride[LAST];
    const uint64_t window = o->window[LAST], step = o->step[LAST];
    const uint64_t at = w->box->lo[LAST] * step, nwindows = w->box->n[LAST];
    const uint64_t n = floe_ssim_plan_covered(w->plan, LAST, nwindows);
    const bool weighted = o->weights == FLOE_SSIM_WEIGHTS_GAUSSIAN && window > 1;
    const floe_real *x = (const floe_real *)w->pair->original + original + (int64_t)at * dx;
    const floe_real *y = (const floe_real *)w->pair->decoded + decoded + (int64_t)at * dy;
    double *terms = w->room->row, *other = terms + FLOE_SSIM_SUMS * n, *whole = other + n;
    if (dx == 1 && dy == 1)
        row_terms(w, x, 1, y, 1, n, terms);
    else
        row_terms(w, x, dx, y, dy, n, terms);
    for (int m = 0; m < FLOE_SSIM_SUMS; m++, terms += n, to += nwindows) {
        const double *sums = weighted ? row_weighted(terms, whole, n) : row_windows(terms, other, whole, n, window);
        if (step == 1)
            memcpy(to, sums, nwindows * sizeof *to);
        else
            for (uint64_t k = 0; k < nwindows; k++)
                to[k] = sums[k * step];
    }
}

/* ---- along the other axes ---------------------------------------------------------------------------------------- */

/* The step at `place` of the axis lies in its slot, and is the t-th that this tile takes. to: sums of the window that ends
 * with it; NULL where no window that counts does. */
static void stage_step(const floe_ssim_stage *s, uint64_t window, uint64_t place, uint64_t t, uint64_t n, double *to)
{
    const uint64_t j = place % window;
    const double *step = s->slots + j * n;
    if (j + 1 < window) {
        if (j == 0 || t == 0)
            memcpy(s->prefix, step, n * sizeof *step);
        else
            add_to(s->prefix, step, n);
        if (to)
            add(to, step + n, s->prefix, n);
        return;
    }
    const uint64_t first = t < j ? j - t : 0;
    for (uint64_t i = j; i-- > first;)
        add_to(s->slots + i * n, s->slots + (i + 1) * n, n);
    if (to)
        memcpy(to, s->slots, n * sizeof *to);
}

static void stage_weighted(const floe_ssim_stage *s, uint64_t t, uint64_t n, double *restrict to)
{
    for (int k = 0; k < FLOE_SSIM_TAPS; k++) {
        const double *restrict slot = s->slots + (t + 1 + (uint64_t)k) % FLOE_SSIM_TAPS * n;
        const double weight = gaussian[k];
        for (uint64_t i = 0; i < n; i++)
            to[i] = k ? to[i] + weight * slot[i] : weight * slot[i];
    }
}

static void axis_sums(walk *w, uint32_t axis, int64_t original, int64_t decoded, double *to);

/* ---- losses ------------------------------------------------------------------------------------------------------ */

typedef struct lanes {
    double loss[LANES], max[LANES], n[LANES];
} lanes;

/* n <= LANES; the whole LANES wherever this is hot. */
static inline void lanes_add(lanes *l, const double *loss, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        l->loss[i] += loss[i] == loss[i] ? loss[i] : 0;
        l->n[i] += loss[i] == loss[i] ? 1 : 0;
        l->max[i] = loss[i] > l->max[i] ? loss[i] : l->max[i];
    }
}

static inline void row_losses(const floe_ssim_constants *constants, const double *restrict s, uint64_t n,
                              double *restrict loss)
{
    const floe_ssim_constants c = *constants;
    for (uint64_t i = 0; i < n; i++)
        loss[i] = floe_ssim_loss(&c, s[FLOE_SSIM_S * n + i], s[FLOE_SSIM_SS * n + i], s[FLOE_SSIM_D * n + i],
                                 s[FLOE_SSIM_DD * n + i]);
}

/* Of rows of n windows each. */
static void losses(walk *w, const double *sums, uint64_t nrows, uint64_t n)
{
    double *row = w->room->row;
    lanes l = {.n = {0}};
    for (int i = 0; i < LANES; i++)
        l.max[i] = -1;
    for (uint64_t k = 0; k < nrows; k++, sums += FLOE_SSIM_SUMS * n) {
        row_losses(&w->plan->constants, sums, n, row);
        uint64_t i = 0;
        for (; i + LANES <= n; i += LANES)
            lanes_add(&l, row + i, LANES);
        lanes_add(&l, row + i, n - i);
    }
    double loss = 0;
    for (int i = 0; i < LANES; i++) {
        loss += l.loss[i];
        w->part.max = l.max[i] > w->part.max ? l.max[i] : w->part.max;
        w->part.nwindows += (uint64_t)l.n[i];
    }
    w->part.loss += loss;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static uint64_t nsums_below(const walk *w, uint32_t axis)
{
    uint64_t n = FLOE_SSIM_SUMS;
    for (uint32_t a = axis + 1; a < FLOE_MAX_RANK; a++)
        n *= w->box->n[a];
    return n;
}

/* An axis with a window. top: what a window's sums make is added up; else they go to `to`. */
static void axis_windows(walk *w, uint32_t axis, int64_t original, int64_t decoded, double *to, bool top)
{
    const floe_ssim_options *o = &w->plan->options;
    const uint64_t window = o->window[axis], step = o->step[axis], n = nsums_below(w, axis);
    const uint64_t at = w->box->lo[axis] * step, nsteps = floe_ssim_plan_covered(w->plan, axis, w->box->n[axis]);
    const bool weighted = o->weights == FLOE_SSIM_WEIGHTS_GAUSSIAN;
    const floe_ssim_stage *stage = &w->room->stage[axis];
    for (uint64_t t = 0; t < nsteps; t++) {
        const uint64_t place = at + t, slot = (weighted ? t : place) % window;
        axis_sums(w, axis + 1, original + (int64_t)place * w->pair->original_stride[axis],
                  decoded + (int64_t)place * w->pair->decoded_stride[axis], stage->slots + slot * n);
        const bool ends = t + 1 >= window && (t + 1 - window) % step == 0;
        if (!weighted)
            stage_step(stage, window, place, t, n, ends ? to : NULL);
        else if (ends)
            stage_weighted(stage, t, n, to);
        if (ends && top)
            losses(w, to, n / (FLOE_SSIM_SUMS * w->box->n[LAST]), w->box->n[LAST]);
        else if (ends)
            to += n;
    }
}

/* Sums over the windows of axis `axis` and those below it, at one place of the axes above. */
static void axis_sums(walk *w, uint32_t axis, int64_t original, int64_t decoded, double *to)
{
    const uint64_t step = w->plan->options.step[axis];
    if (axis == LAST) {
        row_sums(w, original, decoded, to);
    } else if (w->plan->options.window[axis] > 1) {
        axis_windows(w, axis, original, decoded, to, false);
    } else {
        const uint64_t n = nsums_below(w, axis);
        for (uint64_t k = 0; k < w->box->n[axis]; k++) {
            const int64_t place = (int64_t)((w->box->lo[axis] + k) * step);
            axis_sums(w, axis + 1, original + place * w->pair->original_stride[axis],
                      decoded + place * w->pair->decoded_stride[axis], to + k * n);
        }
    }
}

/* The axes above the top one have no window: each place on them is a field of its own. */
floe_ssim_part FLOE_V(floe_ssim_tile)(const floe_ssim_plan *plan, const floe_pair *pair, const floe_ssim_box *box,
                                      const floe_ssim_room *room)
{
    walk w = {.plan = plan, .pair = pair, .box = box, .room = room, .part = {.max = -1}};
    uint64_t nfields = 1;
    for (uint32_t a = 0; a < plan->top; a++)
        nfields *= box->n[a];
    for (uint64_t k = 0; k < nfields; k++) {
        int64_t original = 0, decoded = 0;
        uint64_t rest = k;
        for (uint32_t a = plan->top; a-- > 0; rest /= box->n[a]) {
            const int64_t place = (int64_t)((box->lo[a] + rest % box->n[a]) * plan->options.step[a]);
            original += place * pair->original_stride[a];
            decoded += place * pair->decoded_stride[a];
        }
        if (plan->top < LAST) {
            axis_windows(&w, plan->top, original, decoded, room->sums, true);
        } else {
            row_sums(&w, original, decoded, room->sums);
            losses(&w, room->sums, 1, box->n[LAST]);
        }
    }
    return w.part;
}
