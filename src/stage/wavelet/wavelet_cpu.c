/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of stage wavelet on a CPU. A task's lines lie side by side in its scratch, even points before odd ones, so that a weighted
 * sum is a loop over contiguous values, whether lines are many or one. */
#include "stage/quantizer/quantizer_math.h"
#include "stage/wavelet/wavelet_banks.h"
#include "stage/wavelet/wavelet.h"

/* The lines of a task: at, `width` side by side, `row` from one point of a line to the next. */
typedef struct lines {
    floe_real *at, *part[2]; /* evens, odds; around each there is room for FLOE_WAVELET_HALO rows */
    uint64_t n, count[2], width, row;
} lines;

/* ---- one step of lifting ----------------------------------------------------------------------------------------------- */

/* Points lo .. hi, whose stencils lie within the signal. */
static void lift_inner(const lines *l, const floe_wavelet_lift *s, const floe_real *w, uint64_t lo, uint64_t hi)
{
    const uint64_t width = l->width, n = (hi - lo) * width;
    floe_real *to = l->part[s->to_odd] + lo * width;
    const floe_real *from = l->part[!s->to_odd] + ((int64_t)lo + s->first) * (int64_t)width;
    FLOE_R(floe_wavelet_add_taps)(to, from, (int32_t)n, (int32_t)width, w, s->ntaps);
}

static void add_row(const lines *l, bool to_odd, uint64_t i, uint64_t from, floe_real w)
{
    const floe_real *taps = l->part[!to_odd] + from * l->width;
    FLOE_R(floe_wavelet_add_some)(l->part[to_odd] + i * l->width, taps, (int32_t)l->width, 0, &w, 1);
}

/* Rows lo .. hi of a parity, before its own or behind them, by reflection: no more than FLOE_WAVELET_HALO. */
static void reflect_rows(const lines *l, bool odd, int64_t lo, int64_t hi)
{
    const int64_t width = (int64_t)l->width;
    for (int64_t row = lo; row < hi; row++) {
        const int64_t from = floe_wavelet_reflect(2 * row + odd, (int64_t)l->n) / 2;
        for (int64_t i = 0; i < width; i++)
            l->part[odd][row * width + i] = l->part[odd][from * width + i];
    }
}

static void predict_ends(const lines *l, floe_real sign, uint64_t lo, uint64_t hi)
{
    for (uint64_t i = lo; i < hi; i++) {
        int64_t first;
        double w[4];
        const uint32_t count = floe_wavelet_one_sided((int64_t)i, (int64_t)l->count[0], &first, w);
        for (uint32_t k = 0; k < count; k++)
            add_row(l, true, i, (uint64_t)first + k, -sign * (floe_real)w[k]);
    }
}

/* Points first .. end of the parity. sign: 1, or -1 to undo it. */
static void lift_step(const lines *l, const floe_wavelet_lift *s, floe_real sign, bool one_sided, int64_t first,
                      int64_t end)
{
    floe_real w[FLOE_WAVELET_TAPS];
    /* whose stencils stay within the signal */
    const int64_t count = (int64_t)l->count[!s->to_odd], inner = -s->first,
                  outer = count + inner - (int64_t)s->ntaps + 1;
    int64_t lo = first, hi = end;
    for (uint32_t k = 0; k < s->ntaps; k++)
        w[k] = sign * (floe_real)s->weight[k];
    if (one_sided) {
        lo = floe_wavelet_clamp(inner, first, end);
        hi = floe_wavelet_clamp(outer, lo, end);
        predict_ends(l, sign, (uint64_t)first, (uint64_t)lo);
        predict_ends(l, sign, (uint64_t)hi, (uint64_t)end);
    } else {
        reflect_rows(l, !s->to_odd, first - inner, 0);
        reflect_rows(l, !s->to_odd, count, count + end - outer);
    }
    if (lo < hi)
        lift_inner(l, s, w, (uint64_t)lo, (uint64_t)hi);
}

/* What each lifting, undone, must set for the wanted points, then what these are made of. */
static void find_spans(const floe_wavelet_pass *p, floe_wavelet_span spans[FLOE_WAVELET_LIFTS + 1])
{
    const floe_wavelet_lifting *bank = &floe_wavelet_banks[p->bank];
    const int64_t n = (int64_t)p->n[p->axis], first = (int64_t)p->first, end = p->end ? (int64_t)p->end : n;
    floe_wavelet_span w = {{(first + 1) / 2, first / 2}, {(end + 1) / 2, end / 2}};
    for (uint32_t k = 0; k < bank->nlifts; k++) {
        spans[k] = w;
        w = floe_wavelet_span_needed(&bank->lift[k], n, w);
    }
    spans[bank->nlifts] = w;
}

static floe_wavelet_span needed(const floe_wavelet_pass *p)
{
    floe_wavelet_span spans[FLOE_WAVELET_LIFTS + 1];
    find_spans(p, spans);
    return spans[floe_wavelet_banks[p->bank].nlifts];
}

static void scale_evens(const lines *l, uint64_t lo, uint64_t hi, double scale)
{
    for (uint64_t i = lo * l->width; i < hi * l->width && scale != 1; i++)
        l->part[0][i] *= (floe_real)scale;
}

/* ---- lines ------------------------------------------------------------------------------------------------------------- */

/* As floe_wavelet_finite, which few values need: they are looked for by whole numbers, which make vectors. */
FLOE_INLINE void cut_large(floe_real *v, uint64_t n)
{
    const floe_int limit = (floe_int)FLOE_R(floe_real_bits)(FLOE_WAVELET_LIMIT);
    floe_int large = 0;
    for (uint64_t i = 0; i < n; i++)
        large |= (floe_int)FLOE_R(floe_real_bits)(FLOE_R(floe_real_abs)(v[i])) > limit;
    for (uint64_t i = 0; i < n && large; i++)
        v[i] = FLOE_R(floe_wavelet_finite)(v[i]);
}

static void give_rows(floe_real *from, floe_real *to, uint64_t n)
{
    cut_large(from, n);
    memcpy(to, from, n * sizeof *to);
}

/* A line of the last axis, from where evens and odds alternate; and points first .. end of it back there. */
FLOE_INLINE void part_line(const lines *l)
{
    const floe_real *restrict at = l->at;
    floe_real *restrict even = l->part[0], *restrict odd = l->part[1];
    for (uint64_t i = 0; i < l->count[1]; i++) {
        even[i] = at[2 * i];
        odd[i] = at[2 * i + 1];
    }
    if (l->count[0] > l->count[1])
        even[l->count[1]] = at[l->n - 1];
}
FLOE_INLINE void join_line(const lines *l, uint64_t first, uint64_t end)
{
    floe_real *restrict at = l->at, *restrict even = l->part[0], *restrict odd = l->part[1];
    const uint64_t lo = (first + 1) / 2, hi = end / 2;
    cut_large(even + lo, (end + 1) / 2 - lo);
    cut_large(odd + first / 2, hi - first / 2);
    if (first % 2)
        at[first] = odd[first / 2];
    for (uint64_t i = lo; i < hi; i++) {
        at[2 * i] = even[i];
        at[2 * i + 1] = odd[i];
    }
    if (end % 2)
        at[end - 1] = even[end / 2];
}

static void forward_lines(const lines *l, const floe_wavelet_lifting *bank, bool one_sided)
{
    if (l->row == 1)
        part_line(l);
    for (uint64_t i = 0; i < l->n && l->row > 1; i++)
        memcpy(l->part[i % 2] + i / 2 * l->width, l->at + i * l->row, l->width * sizeof *l->at);
    for (uint32_t s = 0; s < bank->nlifts; s++)
        lift_step(l, &bank->lift[s], 1, one_sided && s == 0, 0, (int64_t)l->count[bank->lift[s].to_odd]);
    scale_evens(l, 0, l->count[0], bank->scale);
    for (uint64_t odd = 0; odd < 2; odd++) {
        const uint64_t run = l->row == 1 ? l->count[odd] : 1;
        for (uint64_t i = 0; i < l->count[odd]; i += run)
            give_rows(l->part[odd] + i * l->width, l->at + (odd * l->count[0] + i) * l->row, run * l->width);
    }
}

/* spans: what each lifting sets, then what these are made of. */
static void inverse_lines(const lines *l, const floe_wavelet_pass *p, const floe_wavelet_span *spans)
{
    const floe_wavelet_lifting *bank = &floe_wavelet_banks[p->bank];
    const floe_wavelet_span *from = &spans[bank->nlifts];
    const uint64_t first = p->first, end = p->end ? p->end : l->n;
    for (int odd = 0; odd < 2; odd++) {
        const uint64_t lo = (uint64_t)from->lo[odd], hi = (uint64_t)from->hi[odd], run = l->row == 1 ? hi - lo : 1;
        for (uint64_t i = lo; i < hi; i += run)
            memcpy(l->part[odd] + i * l->width, l->at + (odd ? l->count[0] + i : i) * l->row,
                   run * l->width * sizeof *l->at);
    }
    scale_evens(l, (uint64_t)from->lo[0], (uint64_t)from->hi[0], bank->unscale);
    for (uint32_t s = bank->nlifts; s-- > 0;) {
        const bool to = bank->lift[s].to_odd;
        lift_step(l, &bank->lift[s], -1, p->one_sided && s == 0, spans[s].lo[to], spans[s].hi[to]);
    }
    for (uint64_t i = first; i < end && l->row > 1; i++)
        give_rows(l->part[i % 2] + i / 2 * l->width, l->at + i * l->row, l->width);
    if (l->row == 1)
        join_line(l, first, end);
}

/* Line number i of those along the pass's axis, without the last one. */
static floe_real *line_at(const floe_wavelet_pass *p, uint64_t i, uint64_t *row)
{
    uint64_t at = 0, stride = 1;
    *row = 1;
    for (uint32_t a = 3; a-- > 0;) {
        stride *= p->shape[a + 1];
        if (a == p->axis) {
            *row = stride;
            continue;
        }
        at += i % p->n[a] * stride;
        i /= p->n[a];
    }
    return (floe_real *)p->data + at;
}

static void lift(const floe_wavelet_pass *p, uint64_t task, void *scratch)
{
    const floe_wavelet_lifting *bank = &floe_wavelet_banks[p->bank];
    const uint64_t n = p->n[p->axis], columns = floe_wavelet_columns(p), pieces = floe_ceil_div(p->n[3], columns);
    lines l = {.n = n, .count = {n - n / 2, n / 2}};
    uint64_t first = task / pieces, end = first + 1;
    floe_wavelet_span spans[FLOE_WAVELET_LIFTS + 1];
    if (p->inverse)
        find_spans(p, spans);
    if (p->axis == 3) {
        first = task * FLOE_WAVELET_TASK_ROWS;
        end = floe_min64(first + FLOE_WAVELET_TASK_ROWS, p->n[0] * p->n[1] * p->n[2]);
    }
    for (uint64_t i = first; i < end; i++) {
        l.at = line_at(p, i, &l.row);
        l.width = columns;
        if (p->axis != 3) {
            l.at += task % pieces * columns;
            l.width = floe_min64(columns, p->n[3] - task % pieces * columns);
        }
        l.part[0] = (floe_real *)scratch + FLOE_WAVELET_HALO * l.width;
        l.part[1] = l.part[0] + (l.count[0] + 2 * FLOE_WAVELET_HALO) * l.width;
        if (p->inverse)
            inverse_lines(&l, p, spans);
        else
            forward_lines(&l, bank, p->one_sided);
    }
}

/* ---- codes ------------------------------------------------------------------------------------------------------------- */

/* Patterns of magnitudes rise with them, and whole numbers make vectors. */
static double largest(const void *values, uint64_t count)
{
    const floe_real *v = values;
    floe_int most = 0;
    for (uint64_t i = 0; i < count; i++) {
        const floe_int size = (floe_int)FLOE_R(floe_real_bits)(FLOE_R(floe_real_abs)(v[i]));
        most = size > most ? size : most;
    }
    return (double)FLOE_R(floe_real_of)((floe_uint)most);
}

enum {
    RUN = 64,   /* codes that are looked at together: most runs are 0, or vectors */
    VECTOR = 16 /* short runs are filled up to so many */
};

FLOE_INLINE uint32_t fill_up(uint32_t n) { return (n + VECTOR - 1) / VECTOR * VECTOR; }

FLOE_INLINE void put_codes(const floe_wavelet_codes *c, uint64_t at, uint32_t n, const int32_t *codes)
{
    const uint64_t apart = c->apart;
    if (c->width == 1)
        for (uint64_t i = 0; i < n; i++)
            ((int8_t *)c->codes)[(at + i) * apart] = (int8_t)codes[i];
    else
        for (uint64_t i = 0; i < n; i++)
            ((int16_t *)c->codes)[(at + i) * apart] = (int16_t)codes[i];
}

/* Returns whether one is not 0. */
FLOE_INLINE bool get_codes(const floe_wavelet_codes *c, uint64_t at, uint32_t n, int32_t *codes)
{
    const uint64_t apart = c->apart;
    int32_t any = 0;
    if (c->width == 1)
        for (uint64_t i = 0; i < n; i++)
            any |= codes[i] = ((const int8_t *)c->codes)[(at + i) * apart];
    else
        for (uint64_t i = 0; i < n; i++)
            any |= codes[i] = ((const int16_t *)c->codes)[(at + i) * apart];
    return any != 0;
}

/* Of magnitudes, and how far values are off: those of a run fit 32 bits. */
FLOE_INLINE void add_means(const int32_t *m, const int32_t *off, uint32_t n, floe_wavelet_means *means)
{
    for (int k = 0; k < FLOE_WAVELET_SHIFTS; k++) {
        int32_t sum = 0, count = 0;
        for (uint32_t i = 0; i < n; i++) {
            const int32_t is = k + 1 < FLOE_WAVELET_SHIFTS ? -(m[i] == k + 1) : -(m[i] > k);
            sum += off[i] & is;
            count -= is;
        }
        means->sum[k] += sum;
        means->count[k] += (uint32_t)count;
    }
}

static void encode(const floe_wavelet_codes *c, floe_wavelet_means *means)
{
    const floe_real inverse = 1 / (floe_real)c->step, limit = c->width == 1 ? 127 : 32767;
    for (uint64_t x = 0; x < c->count; x += RUN) {
        const uint32_t n = (uint32_t)floe_min64(RUN, c->count - x), all = fill_up(n);
        floe_real v[RUN] = {0};
        int32_t m[RUN], off[RUN], codes[RUN], any = 0;
        memcpy(v, (const floe_real *)c->values + x, n * sizeof *v);
        for (uint32_t i = 0; i < all; i++)
            any |= m[i] = FLOE_R(floe_wavelet_encode)(v[i], inverse, limit);
        if (any == 0)
            continue;
        for (uint32_t i = n; i < all; i++)
            m[i] = 0;
        for (uint32_t i = 0; i < all; i++) {
            off[i] = FLOE_R(floe_wavelet_off)(v[i], inverse, m[i]);
            codes[i] = v[i] < 0 ? -m[i] : m[i];
        }
        add_means(m, off, all, means);
        put_codes(c, x, n, codes);
    }
}

static void decode(const floe_wavelet_codes *c)
{
    const floe_real step = (floe_real)c->step, first = FLOE_R(floe_wavelet_shift)(c->shift[0]),
                    second = FLOE_R(floe_wavelet_shift)(c->shift[1]), others = FLOE_R(floe_wavelet_shift)(c->shift[2]);
    for (uint64_t x = 0; x < c->count; x += RUN) {
        const uint32_t n = (uint32_t)floe_min64(RUN, c->count - x), all = fill_up(n);
        floe_real *to = (floe_real *)c->values + x, v[RUN];
        int32_t codes[RUN] = {0};
        if (!get_codes(c, x, n, codes)) {
            memset(to, 0, n * sizeof *to);
            continue;
        }
        for (uint32_t i = 0; i < all; i++) {
            const int32_t m = codes[i] < 0 ? -codes[i] : codes[i];
            const floe_real off = m == 1 ? first : m == 2 ? second : others;
            const floe_real full = FLOE_R(floe_wavelet_size)(m, off, step), size = m ? full : 0;
            v[i] = codes[i] < 0 ? -size : size;
        }
        cut_large(v, all);
        memcpy(to, v, n * sizeof *to);
    }
}

const floe_wavelet_ops FLOE_V(floe_wavelet_ops) = {
    .lift = lift, .needed = needed, .largest = largest, .encode = encode, .decode = decode};
