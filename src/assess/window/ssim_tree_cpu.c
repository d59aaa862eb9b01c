/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quick way to SSIM (ssim_tree.h) on a CPU: the windows of a cell. Rows of values become rows of sums over windows along x;
 * these, step by step along y, rows of sums over windows along x and y, and these, along z, rows of sums over whole windows. A
 * row has its four sums one behind another, so that all loops run over many neighbours.
 *
 * What must be kept of earlier steps along an axis is a chain: level b has sums of 2^b steps, the last of them in turn.
 */
#include "assess/window/ssim_cpu.h"
#include "assess/window/ssim_tree.h"
#include "assess/window/ssim_tree_math.h"
#include "base/bytes.h"

#if FLOE_REAL_BITS == 32
#define BITS_OF floe_bits_f32
#else
#define BITS_OF floe_bits_f64
#endif

enum {
    GROUP = FLOE_SSIM_TREE_GROUP,
    SUMS = FLOE_SSIM_SUMS,
    LANES = 8,
    MOST = FLOE_SSIM_TREE_X, /* windows of a row */
    TAPS = FLOE_SSIM_TAPS,   /* more than any other window */
    SIDE = FLOE_SSIM_TREE_SIDE,
    PITCH = MOST + TAPS + 1, /* values of a row, and more, so that rows begin alike */
    VALUES = FLOE_SSIM_SUMS * PITCH,
    STEPS = TAPS /* at most, that are kept */
};

/* Of the tile function: a row of each is in L1. */
typedef struct rows {
    floe_real term[VALUES], pairs[VALUES], fours[VALUES];
    floe_real along_x[SUMS * MOST], along_y[SUMS * MOST], window[SUMS * MOST];
    floe_real kept_y[STEPS][SUMS * MOST];
    floe_real loss[GROUP][MOST];
} rows;

typedef struct walk {
    const floe_ssim_plan *plan;
    const floe_pair *pair;
    const floe_ssim_box *box;
    floe_ssim_tree_units units;
    floe_real *kept_z; /* [step][row of windows][sum][window] */
    rows r;
    double loss[LANES];
    floe_real max[LANES];
    uint64_t nwindows;
} walk;

/* ---- chains ------------------------------------------------------------------------------------------------------ */

static inline uint32_t top_of(uint32_t window)
{
    uint32_t b = 0;
    while (window >> (b + 1))
        b++;
    return b;
}

/* Step t of a chain of windows: n sums of it come, those over the last `window` steps go; where there are not so many yet, they
 * are of no use. The kept steps are `apart` from one another. window: a constant. */
static inline void chain_push(uint32_t window, floe_real *kept, uint64_t apart, uint64_t t,
                              const floe_real *restrict now, uint64_t n, floe_real *restrict whole)
{
    const uint32_t top = top_of(window), late = window - (1u << top);
#define SLOT(b, steps, t) (kept + ((1u << (b)) - 1 + (t) % (steps)) * apart)
    floe_real *restrict one = SLOT(0, 1, t), *restrict two = SLOT(1, top > 1 ? 2 : 1, t),
                        *restrict four = SLOT(2,
                                              top > 2 ? 4
                                              : late  ? late
                                                      : 1,
                                              t);
    const floe_real *restrict two_before = SLOT(1, 2, t + 1);
#undef SLOT
    for (uint64_t i = 0; i < n; i++) {
        const floe_real v = now[i];
        floe_real sum = v;
        if (window >= 2) {
            const floe_real v2 = one[i] + v;
            one[i] = v;
            sum = v2;
            if (window == 3)
                sum = two[i] + v, two[i] = v2;
            if (window >= 4) {
                const floe_real v4 = two[i] + v2;
                sum = v4;
                if (window == 5)
                    sum = four[i] + v;
                if (window == 6)
                    sum = four[i] + v2;
                if (window == 7)
                    sum = (four[i] + two_before[i]) + v;
                if (window == 8)
                    sum = four[i] + v4;
                if (window > 4)
                    four[i] = v4;
                two[i] = v2;
            }
        }
        whole[i] = sum;
    }
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

static const floe_real gaussian[SIDE + 1] = FLOE_SSIM_TREE_GAUSSIAN;

/* Of n sums, from rows first, first + 1, ... of TAPS that are `apart` and follow one another in a ring. */
static inline void weighted_add(const floe_real *restrict ring, uint64_t apart, uint64_t first, uint64_t n,
                                floe_real *restrict whole)
{
    const floe_real *row[TAPS];
    for (uint64_t k = 0; k < TAPS; k++)
        row[k] = ring + (first + k) % TAPS * apart;
    for (uint64_t i = 0; i < n; i++) {
        floe_real sum = gaussian[0] * (row[0][i] + row[TAPS - 1][i]);
        for (int k = 1; k < SIDE; k++)
            sum = floe_ssim_tree_fma(gaussian[k], row[k][i] + row[TAPS - 1 - k][i], sum);
        sum = floe_ssim_tree_fma(gaussian[SIDE], row[SIDE][i], sum);
        whole[i] = sum;
    }
}

/* ---- along a row ------------------------------------------------------------------------------------------------- */

/* The four terms of n pairs. */
static inline void row_terms(walk *w, const floe_real *x, int64_t dx, const floe_real *y, int64_t dy, uint64_t n)
{
    const floe_ssim_tree_units u = w->units;
    floe_real *restrict s = w->r.term + FLOE_SSIM_S * PITCH, *restrict ss = w->r.term + FLOE_SSIM_SS * PITCH;
    floe_real *restrict d = w->r.term + FLOE_SSIM_D * PITCH, *restrict dd = w->r.term + FLOE_SSIM_DD * PITCH;
    for (uint64_t i = 0; i < n; i++) {
        const floe_ssim_tree_pair v = floe_ssim_tree_pair_of(&u, x[(int64_t)i * dx], y[(int64_t)i * dy]);
        s[i] = v.s;
        ss[i] = v.s * v.s;
        d[i] = v.d;
        dd[i] = v.d * v.d;
    }
    if (!w->pair->has_fill)
        return;
    const floe_uint fill = (floe_uint)w->pair->fill_bits;
    for (uint64_t i = 0; i < n; i++)
        if (BITS_OF(x[(int64_t)i * dx]) == fill || BITS_OF(y[(int64_t)i * dy]) == fill)
            s[i] = (floe_real)NAN;
}

/* to[i] = v[i] + v[i + apart], of all rows at once: so what one loop stores is in the cache when the next one loads it. What
 * lies behind the end of a row is of no use. */
static inline void rows_add(floe_real *restrict to, const floe_real *restrict v, uint64_t apart)
{
    for (uint64_t i = 0; i < VALUES - apart; i++)
        to[i] = v[i] + v[i + apart];
}

/* Sums over the n windows of a row. */
static inline void row_windows(uint32_t window, const floe_real *restrict v, const floe_real *restrict pairs,
                               const floe_real *restrict fours, uint64_t n, floe_real *restrict whole)
{
    for (uint64_t i = 0; i < n; i++)
        switch (window) {
        case 2: whole[i] = pairs[i]; break;
        case 3: whole[i] = pairs[i] + v[i + 2]; break;
        case 4: whole[i] = fours[i]; break;
        case 5: whole[i] = fours[i] + v[i + 4]; break;
        case 6: whole[i] = fours[i] + pairs[i + 4]; break;
        case 7: whole[i] = (fours[i] + pairs[i + 4]) + v[i + 6]; break;
        default: whole[i] = fours[i] + fours[i + 4]; break;
        }
}

static inline void row_weighted(const floe_real *restrict v, uint64_t n, floe_real *restrict whole)
{
    for (uint64_t i = 0; i < n; i++) {
        floe_real sum = gaussian[0] * (v[i] + v[i + TAPS - 1]);
        for (uint64_t k = 1; k < SIDE; k++)
            sum = floe_ssim_tree_fma(gaussian[k], v[i + k] + v[i + TAPS - 1 - k], sum);
        sum = floe_ssim_tree_fma(gaussian[SIDE], v[i + SIDE], sum);
        whole[i] = sum;
    }
}

/* original, decoded: element offsets of the row's first value. */
static inline void row_sums(walk *w, uint32_t window, int64_t original, int64_t decoded, floe_real *to)
{
    const int64_t dx = w->pair->original_stride[3], dy = w->pair->decoded_stride[3];
    const floe_real *x = (const floe_real *)w->pair->original + original,
                    *y = (const floe_real *)w->pair->decoded + decoded;
    const uint64_t n = w->box->n[3];
    if (dx == 1 && dy == 1)
        row_terms(w, x, 1, y, 1, n + window - 1);
    else
        row_terms(w, x, dx, y, dy, n + window - 1);
    if (window == TAPS) {
        for (uint32_t m = 0; m < SUMS; m++)
            row_weighted(w->r.term + m * PITCH, n, to + m * n);
        return;
    }
    rows_add(w->r.pairs, w->r.term, 1);
    if (window >= 4)
        rows_add(w->r.fours, w->r.pairs, 2);
    for (uint32_t m = 0; m < SUMS; m++)
        row_windows(window, w->r.term + m * PITCH, w->r.pairs + m * PITCH, w->r.fours + m * PITCH, n, to + m * n);
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* Of a row; NaN for windows that do not count. */
static inline void row_losses(const floe_ssim_tree_units *units, const floe_real *restrict sums, uint64_t n,
                              floe_real *restrict loss)
{
    const floe_ssim_tree_units u = *units;
    for (uint64_t i = 0; i < n; i++) {
        const floe_ssim_tree_loss l = floe_ssim_tree_loss_of(&u, sums[FLOE_SSIM_S * n + i], sums[FLOE_SSIM_SS * n + i],
                                                             sums[FLOE_SSIM_D * n + i], sums[FLOE_SSIM_DD * n + i]);
        loss[i] = l.over / l.under;
    }
}

/* n of them, at most LANES, which it is wherever this is hot. */
static inline void lanes_max(floe_real *restrict max, const floe_real *restrict loss, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        max[i] = loss[i] > max[i] ? loss[i] : max[i];
}

static inline void lanes_add(double *restrict sum, const floe_real *restrict loss, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        sum[i] += (double)loss[i];
}

/* NaN becomes 0. The greatest, and how many there are. */
static inline void row_count(walk *w, floe_real *restrict loss, uint64_t n)
{
    uint32_t nwindows = 0;
    uint64_t i = 0;
    for (uint64_t k = 0; k < n; k++)
        nwindows += loss[k] == loss[k];
    w->nwindows += nwindows;
    for (; i + LANES <= n; i += LANES)
        lanes_max(w->max, loss + i, LANES);
    lanes_max(w->max, loss + i, n - i);
    for (uint64_t k = 0; nwindows < n && k < n; k++)
        loss[k] = loss[k] == loss[k] ? loss[k] : 0;
}

/* Of a group of rows, of which the last are 0 where there are fewer. */
static inline void group_add(walk *w, uint64_t n)
{
    floe_real *restrict sum = w->r.loss[0];
    const floe_real *restrict l1 = w->r.loss[1], *restrict l2 = w->r.loss[2], *restrict l3 = w->r.loss[3];
    uint64_t i = 0;
    for (uint64_t k = 0; k < n; k++)
        sum[k] = (sum[k] + l1[k]) + (l2[k] + l3[k]);
    for (; i + LANES <= n; i += LANES)
        lanes_add(w->loss, sum + i, LANES);
    lanes_add(w->loss, sum + i, n - i);
}

/* Row of windows number `row`, of nrows, has its sums. */
static inline void losses_add(walk *w, uint64_t row, uint64_t nrows, const floe_real *sums)
{
    const uint64_t n = w->box->n[3];
    row_losses(&w->units, sums, n, w->r.loss[row % GROUP]);
    row_count(w, w->r.loss[row % GROUP], n);
    for (uint64_t i = row % GROUP + 1; row + 1 == nrows && i < GROUP; i++)
        memset(w->r.loss[i], 0, sizeof w->r.loss[i]);
    if (row % GROUP == GROUP - 1 || row + 1 == nrows)
        group_add(w, n);
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static inline int64_t place_of(const int64_t *stride, const uint64_t *at)
{
    int64_t offset = 0;
    for (int a = 0; a < FLOE_MAX_RANK; a++)
        offset += (int64_t)at[a] * stride[a];
    return offset;
}

/* Of the cell, from samples: added in the order of a GPU's warp. */
static void pivots_find(walk *w)
{
    enum { N = FLOE_SSIM_TREE_SAMPLES };
    double sum[N], error[N], n[N];
    for (uint32_t k = 0; k < N; k++) {
        uint64_t at[FLOE_MAX_RANK] = {w->box->lo[0]};
        for (uint32_t a = 1; a < FLOE_MAX_RANK; a++)
            at[a] = w->box->lo[a] + floe_ssim_tree_sample(k, a - 1, w->box->n[a] + w->plan->options.window[a] - 1);
        const floe_real x = ((const floe_real *)w->pair->original)[place_of(w->pair->original_stride, at)];
        const floe_real y = ((const floe_real *)w->pair->decoded)[place_of(w->pair->decoded_stride, at)];
        const floe_uint fill = (floe_uint)w->pair->fill_bits;
        const bool is_fill = w->pair->has_fill && (BITS_OF(x) == fill || BITS_OF(y) == fill);
        const bool counts = (x - x) + (y - y) == 0 && !is_fill;
        const double tame_x = floe_ssim_tree_tamed((double)x, w->plan->options.min, w->plan->options.max);
        const double tame_y = floe_ssim_tree_tamed((double)y, w->plan->options.min, w->plan->options.max);
        sum[k] = counts ? tame_x + tame_y : 0;
        error[k] = counts ? tame_x - tame_y : 0;
        n[k] = counts;
    }
    for (uint32_t half = N / 2; half > 0; half /= 2)
        for (uint32_t k = 0; k < half; k++)
            sum[k] += sum[k + half], error[k] += error[k + half], n[k] += n[k + half];
    floe_ssim_tree_pivot(&w->units, sum[0], error[0], n[0], w->plan->tree.middle);
}

/* Rows are too short for a CPU to see what comes next. */
static inline void row_fetch(const walk *w, uint32_t window, int64_t original, int64_t decoded)
{
#ifdef __GNUC__
    const floe_real *x = (const floe_real *)w->pair->original + original,
                    *y = (const floe_real *)w->pair->decoded + decoded;
    for (uint64_t i = 0; i < w->box->n[3] + window - 1; i += 64 / sizeof *x) {
        __builtin_prefetch(x + (int64_t)i * w->pair->original_stride[3]);
        __builtin_prefetch(y + (int64_t)i * w->pair->decoded_stride[3]);
    }
#else
    (void)w, (void)window, (void)original, (void)decoded;
#endif
}

/* The row of values at place y of plane z is the next. */
static inline void row_add(walk *w, uint32_t window, bool deep, uint64_t z, uint64_t y)
{
    const uint64_t n = SUMS * w->box->n[3], nrows = w->box->n[2];
    const uint64_t at[FLOE_MAX_RANK] = {w->box->lo[0], w->box->lo[1] + z, w->box->lo[2] + y, w->box->lo[3]};
    const int64_t original = place_of(w->pair->original_stride, at), decoded = place_of(w->pair->decoded_stride, at);
    if (y + 2 - window < nrows)
        row_fetch(w, window, original + w->pair->original_stride[2], decoded + w->pair->decoded_stride[2]);
    row_sums(w, window, original, decoded, window == TAPS ? w->r.kept_y[y % TAPS] : w->r.along_x);
    if (window < TAPS)
        chain_push(window, w->r.kept_y[0], SUMS * MOST, y, w->r.along_x, n, w->r.along_y);
    if (y + 1 < window)
        return;
    if (window == TAPS)
        weighted_add(w->r.kept_y[0], SUMS * MOST, y + 1, n, w->r.along_y);
    const uint64_t row = y + 1 - window;
    if (deep)
        chain_push(window, w->kept_z + row * n, nrows * n, z, w->r.along_y, n, w->r.window);
    if (!deep || z + 1 >= window)
        losses_add(w, row, nrows, deep ? w->r.window : w->r.along_y);
}

static inline void cell_walk(walk *w, uint32_t window, bool deep)
{
    const uint64_t nplanes = w->box->n[1] + (deep ? window - 1 : 0);
    for (uint64_t z = 0; z < nplanes; z++)
        for (uint64_t y = 0; y < w->box->n[2] + window - 1; y++)
            row_add(w, window, deep, z, y);
}

/* Each window with loops of its own. */
static void cell_windows(walk *w)
{
    const bool deep = w->plan->options.window[1] > 1;
#define CASE(n) \
    case n: deep ? cell_walk(w, n, true) : cell_walk(w, n, false); break
    switch (w->plan->options.window[3]) {
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(5);
        CASE(6);
        CASE(7);
        CASE(8);
    default: cell_walk(w, TAPS, false); break;
    }
#undef CASE
}

floe_ssim_part FLOE_V(floe_ssim_tree)(const floe_ssim_plan *plan, const floe_pair *pair, const floe_ssim_box *box,
                                      const floe_ssim_room *room)
{
    walk w = {.plan = plan, .pair = pair, .box = box, .kept_z = room->tree};
    w.units = (floe_ssim_tree_units){.scale = (floe_real)plan->tree.scale,
                                     .n = (floe_real)plan->tree.n,
                                     .c1 = (floe_real)plan->tree.c1,
                                     .c2 = (floe_real)plan->tree.c2};
    for (int i = 0; i < LANES; i++)
        w.max[i] = -1;
    pivots_find(&w);
    cell_windows(&w);
    floe_ssim_part part = {.max = -1, .nwindows = w.nwindows};
    for (int i = 0; i < LANES; i++) {
        part.loss += 2 * w.loss[i];
        part.max = 2 * (double)w.max[i] > part.max ? 2 * (double)w.max[i] : part.max;
    }
    return part;
}
