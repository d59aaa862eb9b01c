/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of stage interp on a CPU: the classes of a tile are arrays of their own, so that rows are contiguous whatever the axis. */
#include "stage/interp/interp.h"

#include "stage/interp/interp_math.h"

enum { ROW = 520 /* the most of a row: 512 cells, 3 around them, rounded up to 8 */ };

typedef FLOE_R(floe_interp_weights) weights;

/* A tile: cells lo .. lo + n of which `own` are its own. Class c begins at base + c * volume. */
typedef struct tile {
    const floe_interp_job *job;
    const floe_lattice_step *step;
    const floe_lattice_box *own;
    uint64_t lo[FLOE_LATTICE_RANK], n[FLOE_LATTICE_RANK], stride[FLOE_LATTICE_RANK], volume;
    floe_real *base;
} tile;

/* A row of cells of one class: where it is, and which of its cells there are to do. */
typedef struct row {
    uint64_t at[FLOE_LATTICE_RANK]; /* of its first cell */
    uint32_t class, n;
    bool own; /* all but halo along the row */
} row;

static tile tile_of(const floe_interp_job *job, const floe_lattice_box *own, void *scratch)
{
    tile t = {.job = job, .step = job->step, .own = own, .base = scratch};
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        const bool active = floe_lattice_is_active(t.step, a);
        t.lo[a] = own->lo[a] - (active && own->lo[a] > 0);
        t.n[a] = floe_min64(own->hi[a] + (active ? 2 : 0), t.step->coarse[a]) - t.lo[a];
    }
    t.stride[3] = 1;
    t.stride[2] = (t.n[3] + 7) & ~(uint64_t)7;
    t.stride[1] = t.stride[2] * t.n[2];
    t.stride[0] = t.stride[1] * t.n[1];
    t.volume = t.stride[0] * t.n[0];
    return t;
}

static floe_real *class_row(const tile *t, uint32_t class, const uint64_t *at)
{
    uint64_t i = class * t->volume;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        i += (at[a] - t->lo[a]) * t->stride[a];
    return t->base + i;
}

static void load_coarse(const tile *t)
{
    const floe_real *coarse = t->job->coarse;
    const uint64_t *m = t->step->coarse;
    uint64_t at[FLOE_LATTICE_RANK] = {0, 0, 0, t->lo[3]};
    for (at[0] = t->lo[0]; at[0] < t->lo[0] + t->n[0]; at[0]++)
        for (at[1] = t->lo[1]; at[1] < t->lo[1] + t->n[1]; at[1]++)
            for (at[2] = t->lo[2]; at[2] < t->lo[2] + t->n[2]; at[2]++)
                memcpy(class_row(t, 0, at), coarse + floe_lattice_index(m, at), t->n[3] * sizeof *coarse);
}

/* ---- rows of the original ---------------------------------------------------------------------------------------------- */

/* n elements at a distance. */
FLOE_INLINE void gather(const floe_real *restrict from, int64_t step, uint32_t n, floe_real *restrict to)
{
    if (step == 1)
        memcpy(to, from, n * sizeof *to);
    else if (step == 2)
        for (uint32_t i = 0; i < n; i++)
            to[i] = from[2 * i];
    else
        for (uint32_t i = 0; i < n; i++)
            to[i] = from[(int64_t)i * step];
}

/* As the lattice has it. */
static void take_in(const floe_interp_job *job, floe_real *f, uint32_t n)
{
    const floe_uint fill = (floe_uint)job->fill;
    if (job->log)
        for (uint32_t i = 0; i < n; i++)
            f[i] = FLOE_R(floe_lattice_log)(f[i], fill);
    else
        for (uint32_t i = 0; i < n; i++)
            f[i] = FLOE_R(floe_lattice_clean)(f[i], fill);
}

static const floe_real *view_at(const floe_lattice_view *v, const uint64_t *point)
{
    return (const floe_real *)v->data + floe_lattice_view_at(v, point);
}

static void load_original(const floe_interp_job *job, const uint64_t *point, uint64_t apart, uint32_t n, floe_real *f)
{
    gather(view_at(&job->original, point), job->original.stride[3] * (int64_t)apart, n, f);
    if (job->last)
        take_in(job, f, n);
}

/* ---- prediction -------------------------------------------------------------------------------------------------------- */

/* A function of its own: with the loop in its caller, decoding took 1 % more instructions. */
FLOE_INLINE void predict_run(weights w, const floe_real *before, const floe_real *here, const floe_real *after,
                             const floe_real *beyond, uint32_t n, floe_real *restrict p)
{
    for (uint32_t i = 0; i < n; i++)
        p[i] = FLOE_R(floe_interp_predict)(w, before[i], here[i], after[i], beyond[i]);
}

/* Cells first .. first + n of axis, all with the weights of cell g. A neighbour without weight is read as the point itself. */
static void predict_alike(const tile *t, uint32_t axis, uint64_t g, const floe_real *s, uint32_t n, floe_real *p)
{
    const weights w = FLOE_R(floe_interp_weights_at)(t->job->rule->predictor, g, t->step->coarse[axis]);
    const uint64_t stride = t->stride[axis];
    predict_run(w, w.before != 0 ? s - stride : s, s, w.after != 0 ? s + stride : s, w.beyond != 0 ? s + 2 * stride : s,
                n, p);
}

static void predict_row(const tile *t, const row *r, uint32_t place, floe_real *p)
{
    const uint32_t axis = t->step->axis[place];
    const floe_real *s = class_row(t, r->class ^ 1u << place, r->at);
    if (axis != 3) {
        predict_alike(t, axis, r->at[axis], s, r->n, p);
        return;
    }
    const uint64_t m = t->step->coarse[3], first = r->at[3];
    for (uint32_t i = 0, n; i < r->n; i += n) {
        const uint64_t g = first + i;
        const bool inner = g > 0 && g + 2 < m;
        n = inner ? (uint32_t)floe_min64(r->n - i, m - 2 - g) : 1;
        predict_alike(t, 3, g, s + i, n, p + i);
    }
}

/* By the last axis of the class alone, or the mean along all of them. */
static void predict(const tile *t, const row *r, floe_real *p)
{
    const uint32_t top = floe_top_bit(r->class);
    floe_real other[ROW];
    predict_row(t, r, top, p);
    if (!t->job->rule->mean || r->class == 1u << top)
        return;
    uint32_t count = 1;
    for (uint32_t place = 0; place < top; place++) {
        if (!(r->class >> place & 1))
            continue;
        predict_row(t, r, place, other);
        for (uint32_t i = 0; i < r->n; i++)
            p[i] = p[i] + other[i];
        count++;
    }
    const floe_real part = (floe_real)1 / (floe_real)count;
    for (uint32_t i = 0; i < r->n; i++)
        p[i] = p[i] * part;
}

/* ---- the walk over classes and rows ------------------------------------------------------------------------------------ */

/* Cells of a class along an axis: its own; and those around where a later prediction needs them. */
static void class_range(const tile *t, uint32_t class, uint32_t axis, uint64_t *lo, uint64_t *hi)
{
    const uint32_t place = floe_lattice_place(t->step, axis), top = floe_top_bit(class);
    const bool active = place < t->step->naxes, odd = active && class >> place & 1;
    const bool around = active && !odd && (t->job->rule->mean || place > top);
    *lo = around ? t->lo[axis] : t->own->lo[axis];
    *hi = around ? t->lo[axis] + t->n[axis] : t->own->hi[axis];
    if (odd)
        *hi = floe_min64(*hi, t->step->fine[axis] / 2);
}

typedef void row_fn(const tile *t, const row *r, floe_interp_found *found);

/* Each point after those that it is predicted from: one odd coordinate, two, three. */
FLOE_INLINE void walk_classes(const tile *t, row_fn *visit, floe_interp_found *found)
{
    static const uint8_t order[] = {1, 2, 4, 3, 5, 6, 7};
    for (uint32_t i = 0; i < sizeof order; i++) {
        uint64_t lo[FLOE_LATTICE_RANK], hi[FLOE_LATTICE_RANK];
        row r = {.class = order[i]};
        if (r.class >> t->step->naxes)
            continue;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            class_range(t, r.class, a, &lo[a], &hi[a]);
        if (lo[3] >= hi[3])
            continue;
        r.n = (uint32_t)(hi[3] - lo[3]);
        r.at[3] = lo[3];
        for (r.at[0] = lo[0]; r.at[0] < hi[0]; r.at[0]++)
            for (r.at[1] = lo[1]; r.at[1] < hi[1]; r.at[1]++)
                for (r.at[2] = lo[2]; r.at[2] < hi[2]; r.at[2]++) {
                    r.own = r.at[0] >= t->own->lo[0] && r.at[0] < t->own->hi[0] && r.at[1] >= t->own->lo[1] &&
                            r.at[1] < t->own->hi[1] && r.at[2] >= t->own->lo[2] && r.at[2] < t->own->hi[2];
                    visit(t, &r, found);
                }
    }
}

/* The first point of a row, in the fine lattice, and how far its points are apart. */
static uint64_t row_point(const tile *t, const row *r, uint64_t *point)
{
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        const uint32_t place = floe_lattice_place(t->step, a);
        point[a] = place < t->step->naxes ? 2 * r->at[a] + (r->class >> place & 1) : r->at[a];
    }
    return floe_lattice_is_active(t->step, 3) ? 2 : 1;
}

static uint64_t code_at(const tile *t, const row *r)
{
    const uint64_t *m = t->step->coarse;
    return ((r->at[0] * m[1] + r->at[1]) * m[2] + r->at[2]) * floe_lattice_row_records(t->step) * 8 +
           (r->at[3] << t->step->naxes) + r->class - 1;
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* Points whose values do not come back as they must are marked; the others' errors are gathered. */
typedef struct check {
    const floe_interp_job *job;
    uint64_t point[FLOE_LATTICE_RANK]; /* of the fine lattice, the first */
    uint64_t apart;
    uint32_t n;
} check;

static void mark_apart(const check *c, uint32_t i)
{
    const floe_interp_job *job = c->job;
    const uint64_t *n = job->field, *u = job->unit, *p = c->point;
    const uint64_t line = (p[0] * u[0] * n[1] + p[1] * u[1]) * n[2] + p[2] * u[2], x = (p[3] + i * c->apart) * u[3];
    job->apart[line * floe_ceil_div(n[3], 64) + x / 64] |= (uint64_t)1 << x % 64;
}

/* The largest error is sought among patterns: those of numbers from 0 on rise with them, and whole numbers make vectors. */
static void check_absolute(const check *c, const floe_real *restrict f, const floe_real *restrict r,
                           floe_interp_found *found)
{
    const floe_real tolerance = (floe_real)c->job->tolerance;
    floe_real error[ROW], most;
    floe_int worst = 0, nbad = 0;
    for (uint32_t i = 0; i < c->n; i++)
        error[i] = FLOE_R(floe_real_abs)(f[i] - r[i]);
    for (uint32_t i = 0; i < c->n; i++) {
        const floe_int good = -(floe_int)(error[i] <= tolerance), e = (floe_int)FLOE_R(floe_real_bits)(error[i]) & good;
        nbad |= ~good;
        worst = e > worst ? e : worst;
    }
    most = FLOE_R(floe_real_of)((floe_uint)worst);
    found->max_error = (double)most > found->max_error ? (double)most : found->max_error;
    for (uint32_t i = 0; i < c->n && c->job->squares; i++)
        found->squares += FLOE_R(floe_interp_square)(error[i], tolerance);
    for (uint32_t i = 0; i < c->n && nbad; i++)
        if (!(error[i] <= tolerance))
            mark_apart(c, i);
}

static void check_relative(const check *c, const floe_real *f, const floe_real *r, floe_interp_found *found)
{
    floe_real x[ROW], y[ROW];
    int64_t worst = 0, worst_of_size = 0, nbad = 0, bad[ROW];
    uint64_t at[FLOE_LATTICE_RANK];
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        at[a] = c->point[a] * c->job->unit[a];
    gather(view_at(&c->job->values, at), c->job->values.stride[3] * (int64_t)(c->apart * c->job->unit[3]), c->n, x);
    for (uint32_t i = 0; i < c->n; i++)
        y[i] = FLOE_R(floe_lattice_exp)(r[i]);
    for (uint32_t i = 0; i < c->n; i++) {
        const double size = x[i] < 0 ? -(double)x[i] : (double)x[i], d = size - (double)y[i], error = d < 0 ? -d : d;
        const int64_t good = -(int64_t)((f[i] == f[i]) & (error <= c->job->tolerance * size)),
                      finite = good & -(int64_t)(size < INFINITY), e = (int64_t)floe_bits_f64(error) & finite,
                      of_size = (int64_t)floe_bits_f64(error / size) & finite;
        nbad |= ~good;
        worst = e > worst ? e : worst;
        worst_of_size = of_size > worst_of_size ? of_size : worst_of_size;
        bad[i] = ~good;
    }
    const double most = floe_f64_of((uint64_t)worst), most_of_size = floe_f64_of((uint64_t)worst_of_size);
    found->max_error = most > found->max_error ? most : found->max_error;
    found->max_pw_error = most_of_size > found->max_pw_error ? most_of_size : found->max_pw_error;
    for (uint32_t i = 0; i < c->n && nbad; i++)
        if (bad[i])
            mark_apart(c, i);
}

static void check_row(const check *c, const floe_real *f, const floe_real *r, floe_interp_found *found)
{
    if (c->job->log)
        check_relative(c, f, r, found);
    else
        check_absolute(c, f, r, found);
}

/* codes: of the row's cells, whole numbers. */
static void store_codes(const tile *t, const row *r, const floe_real *q)
{
    const uint64_t at = code_at(t, r);
    const uint32_t shift = t->step->naxes;
    int8_t *narrow = (int8_t *)t->job->records + at;
    int16_t *wide = (int16_t *)t->job->records + at;
    if (t->step->width == 1)
        for (uint32_t i = 0; i < r->n; i++)
            narrow[(uint64_t)i << shift] = (int8_t)(int32_t)q[i];
    else
        for (uint32_t i = 0; i < r->n; i++)
            wide[(uint64_t)i << shift] = (int16_t)(int32_t)q[i];
}

FLOE_INLINE void quantize(const floe_real *restrict f, floe_real *restrict q, floe_real *restrict r, uint32_t n,
                          floe_real step, floe_real limit)
{
    const floe_real inverse = 1 / step;
    for (uint32_t i = 0; i < n; i++) {
        const floe_real p = q[i];
        q[i] = FLOE_R(floe_interp_encode)(f[i], p, inverse, limit);
        r[i] = FLOE_R(floe_interp_decode)(q[i], step, p);
    }
}

static void encode_row(const tile *t, const row *r, floe_interp_found *found)
{
    floe_real f[ROW], q[ROW], *result = class_row(t, r->class, r->at);
    check c = {.job = t->job};
    c.apart = row_point(t, r, c.point);
    load_original(t->job, c.point, c.apart, r->n, f);
    predict(t, r, q);
    quantize(f, q, result, r->n, (floe_real)t->job->rule->step, t->step->width == 1 ? 127 : 32767);
    const uint64_t hi = floe_min64(r->at[3] + r->n, t->own->hi[3]);
    if (!r->own || hi <= t->own->lo[3])
        return;
    row own = *r;
    const uint64_t skip = t->own->lo[3] - r->at[3]; /* halo */
    own.at[3] += skip;
    own.n = c.n = (uint32_t)(hi - own.at[3]);
    c.point[3] += skip * c.apart;
    store_codes(t, &own, q + skip);
    if (t->job->apart)
        check_row(&c, f + skip, result + skip, found);
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

static void decode_row(const tile *t, const row *r, floe_interp_found *unused)
{
    floe_real p[ROW], *result = class_row(t, r->class, r->at);
    const floe_real step = (floe_real)t->job->rule->step;
    const uint64_t at = code_at(t, r);
    const uint32_t shift = t->step->naxes;
    const int8_t *narrow = (const int8_t *)t->job->records + at;
    const int16_t *wide = (const int16_t *)t->job->records + at;
    (void)unused;
    predict(t, r, p);
    if (t->step->width == 1)
        for (uint32_t i = 0; i < r->n; i++)
            result[i] = narrow[(uint64_t)i << shift];
    else
        for (uint32_t i = 0; i < r->n; i++)
            result[i] = wide[(uint64_t)i << shift];
    for (uint32_t i = 0; i < r->n; i++)
        result[i] = FLOE_R(floe_interp_decode)(result[i], step, p[i]);
}

/* A row of fine: wanted points from x on, n of them. */
static void put_row(const floe_interp_job *job, const uint64_t *point, floe_real *v, uint64_t n)
{
    int64_t at = 0;
    const uint64_t begin = floe_max64(point[3], job->box.lo[3]), end = floe_min64(point[3] + n, job->box.hi[3]);
    for (uint32_t a = 0; a < 3; a++) {
        if (point[a] < job->box.lo[a] || point[a] >= job->box.hi[a])
            return;
        at += (int64_t)(point[a] - job->box.lo[a]) * job->fine.stride[a];
    }
    if (begin >= end)
        return;
    const int64_t step = job->fine.stride[3];
    floe_real *to = (floe_real *)job->fine.data + at + (int64_t)(begin - job->box.lo[3]) * step;
    v += begin - point[3];
    if (job->last && job->log)
        for (uint64_t i = 0; i < end - begin; i++)
            v[i] = FLOE_R(floe_lattice_exp)(v[i]);
    if (step == 1)
        memcpy(to, v, (end - begin) * sizeof *v);
    else
        for (uint64_t i = 0; i < end - begin; i++)
            to[(int64_t)i * step] = v[i];
}

/* The classes of a row of cells that differ in the last axis alone become a row of points. */
static void join_row(const tile *t, row *r)
{
    const uint32_t place = floe_lattice_place(t->step, 3);
    const uint64_t cells = t->own->hi[3] - t->own->lo[3];
    floe_real v[2 * ROW];
    uint64_t point[FLOE_LATTICE_RANK];
    const floe_real *even = class_row(t, r->class, r->at);
    row_point(t, r, point);
    for (uint32_t a = 0; a < 3; a++)
        if (point[a] >= t->step->fine[a])
            return;
    if (place == t->step->naxes) {
        memcpy(v, even, cells * sizeof *v);
        put_row(t->job, point, v, cells);
        return;
    }
    const floe_real *odd = class_row(t, r->class | 1u << place, r->at);
    for (uint64_t i = 0; i < cells; i++) {
        v[2 * i] = even[i];
        v[2 * i + 1] = odd[i];
    }
    put_row(t->job, point, v, floe_min64(2 * cells, t->step->fine[3] - point[3]));
}

static void join(const tile *t)
{
    const floe_lattice_box *own = t->own;
    const uint32_t last = floe_lattice_place(t->step, 3);
    for (uint32_t class = 0; class < 1u << t->step->naxes; class ++) {
        row r = {.class = class, .at = {0, 0, 0, own->lo[3]}};
        if (class >> last & 1 && last < t->step->naxes)
            continue;
        for (r.at[0] = own->lo[0]; r.at[0] < own->hi[0]; r.at[0]++)
            for (r.at[1] = own->lo[1]; r.at[1] < own->hi[1]; r.at[1]++)
                for (r.at[2] = own->lo[2]; r.at[2] < own->hi[2]; r.at[2]++)
                    join_row(t, &r);
    }
}

/* ---- tiles ------------------------------------------------------------------------------------------------------------- */

static void encode(const floe_interp_job *job, const floe_lattice_box *cells, void *scratch, floe_interp_found *found)
{
    const tile t = tile_of(job, cells, scratch);
    load_coarse(&t);
    walk_classes(&t, encode_row, found);
    if (job->fine.data)
        join(&t);
}

static void decode(const floe_interp_job *job, const floe_lattice_box *cells, void *scratch)
{
    const tile t = tile_of(job, cells, scratch);
    load_coarse(&t);
    walk_classes(&t, decode_row, NULL);
    join(&t);
}

/* ---- lattices ---------------------------------------------------------------------------------------------------------- */

/* A value that is stored apart would be far from its neighbours: it gets their mean instead, along the step's axes, as far as
 * they are none of the kind. Lattices have no better; nothing is coded of what stays NaN. */
static floe_real bridge(const floe_interp_job *job, const uint64_t *point)
{
    floe_real sum = 0, v;
    uint32_t count = 0;
    for (uint32_t i = 0; i < job->step->naxes; i++)
        for (int side = -1; side <= 1; side += 2) {
            const uint32_t a = job->step->axis[i];
            uint64_t at[FLOE_LATTICE_RANK];
            memcpy(at, point, sizeof at);
            if (side < 0 ? at[a] == 0 : at[a] + 1 >= job->step->fine[a])
                continue;
            at[a] = side < 0 ? at[a] - 1 : at[a] + 1;
            load_original(job, at, 1, 1, &v);
            if (v == v) {
                sum = sum + v;
                count++;
            }
        }
    return count ? FLOE_R(floe_interp_finite)(sum / (floe_real)count) : (floe_real)NAN;
}

static void thin(const floe_interp_job *job, uint64_t index, void *coarse)
{
    const floe_lattice_step *s = job->step;
    const uint64_t *m = s->coarse, apart = floe_lattice_is_active(s, 3) ? 2 : 1;
    floe_real *to = (floe_real *)coarse + index * m[3];
    check c = {.job = job, .apart = apart};
    floe_lattice_point_of(m, index * m[3], c.point);
    for (uint32_t a = 0; a < 3; a++)
        c.point[a] *= floe_lattice_is_active(s, a) ? 2 : 1;
    for (uint64_t x = 0; x < m[3]; x += c.n, to += c.n) {
        c.point[3] = x * apart;
        c.n = (uint32_t)floe_min64(ROW, m[3] - x);
        load_original(job, c.point, apart, c.n, to);
        uint32_t nbad = 0;
        for (uint32_t i = 0; i < c.n; i++)
            nbad += to[i] != to[i];
        for (uint32_t i = 0; i < c.n && nbad; i++) {
            const uint64_t at[] = {c.point[0], c.point[1], c.point[2], c.point[3] + i * apart};
            if (to[i] == to[i])
                continue;
            if (job->last && job->apart)
                mark_apart(&c, i);
            to[i] = bridge(job, at);
        }
    }
}

static void anchors(const floe_interp_job *job, void *values, floe_interp_found *found)
{
    const uint64_t *n = job->step->fine, count = floe_lattice_points(n);
    floe_real *v = values, last = 0, f[ROW];
    check c = {.job = job, .apart = 1};
    for (uint64_t i = count; i-- > 0;)
        last = v[i] == v[i] ? v[i] : last;
    for (uint64_t i = 0; i < count; i++)
        last = v[i] = v[i] == v[i] ? v[i] : last;
    if (!job->apart)
        return;
    for (uint64_t line = 0; line < n[0] * n[1] * n[2]; line++) {
        floe_lattice_point_of(n, line * n[3], c.point);
        for (; c.point[3] < n[3]; c.point[3] += c.n, v += c.n) {
            c.n = (uint32_t)floe_min64(ROW, n[3] - c.point[3]);
            load_original(job, c.point, 1, c.n, f);
            check_row(&c, f, v, found);
        }
    }
}

static void leave(const floe_interp_job *job, const floe_lattice_view *values)
{
    const uint64_t *lo = job->box.lo, *hi = job->box.hi, rows[] = {hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2], 1};
    uint64_t point[FLOE_LATTICE_RANK] = {0};
    do {
        const floe_real *from = view_at(values, point);
        floe_real *to = (floe_real *)job->fine.data + floe_lattice_view_at(&job->fine, point);
        for (int64_t i = 0; i < (int64_t)(hi[3] - lo[3]); i++) {
            const floe_real v = from[i * values->stride[3]];
            to[i * job->fine.stride[3]] = job->log ? FLOE_R(floe_lattice_exp)(v) : v;
        }
    } while (floe_lattice_next_point(rows, point));
}

const floe_interp_ops FLOE_V(floe_interp_ops) = {
    .encode = encode, .decode = decode, .thin = thin, .anchors = anchors, .leave = leave};
