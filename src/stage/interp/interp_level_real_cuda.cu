/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step of any axes. A lane owns a column of cells, and goes along it from cell to cell: it marches. Points of four planes of cells are
 * in its registers; neighbours along the lane axis are in other lanes, those along the row axis in other warps, to which shared memory
 * leads. Halo lanes, rows and planes are computed again. Compiled for each element type.
 */
#include <floe/floe.h>

#include "stage/interp/interp_column.cuh"

namespace
{

/* error: the largest of the cell, of those that are numbers; numbers: all are. worst: of cells without values apart. */
struct quantizer {
    floe_real error, worst;
    bool numbers;
};

/* ---- prediction -------------------------------------------------------------------------------------------------------- */

enum { TO_ROW = FLOE_WARP, TO_PLANE = (ROWS + HALO) * FLOE_WARP, SHARED = 4 * TO_PLANE /* reals, of one march step */ };

FLOE_DEV floe_real along_lane(const weights &w, floe_real v)
{
    return FLOE_R(floe_interp_predict)(w, __shfl_up_sync(FLOE_ALL_LANES, v, 1), v,
                                       __shfl_down_sync(FLOE_ALL_LANES, v, 1), __shfl_down_sync(FLOE_ALL_LANES, v, 2));
}
/* v: the lane's own, which is at s. */
FLOE_DEV floe_real along_row(const weights &w, floe_real v, const floe_real *s)
{
    return FLOE_R(floe_interp_predict)(w, s[-TO_ROW], v, s[TO_ROW], s[2 * TO_ROW]);
}
FLOE_DEV floe_real along_march(const weights &w, const points *even, int y, int x)
{
    return FLOE_R(floe_interp_predict)(w, even[0].v[y][x], even[1].v[y][x], even[2].v[y][x], even[3].v[y][x]);
}

/* Between two axes: along the last, or the mean. BOTH false: the lane axis is not of the step, so it is along b. */
template <bool BOTH, class A, class B> FLOE_DEV floe_real predict_two(const level &l, bool a_is_last, A a, B b)
{
    const floe_real p = BOTH && a_is_last ? a() : b();
    return BOTH && l.job.rule.mean ? (p + (a_is_last ? b() : a())) * ((floe_real)1 / 2) : p;
}
/* Sums begin with the last axis; the others follow in order. */
template <class P, class R, class L> FLOE_DEV floe_real predict_three(const level &l, P march, R row, L lane)
{
    const uint32_t place = l.lane_place;
    if (!l.job.rule.mean)
        return place == 2 ? lane() : row();
    const floe_real m = march(), r = row(), n = lane();
    const floe_real sum = place == 2 ? n + m + r : place == 1 ? r + m + n : r + n + m;
    return sum * ((floe_real)1 / (floe_real)3);
}

/* ---- points ------------------------------------------------------------------------------------------------------------ */

/* Points of a cell that are looked at again, where they are, and what they became. */
struct doubtful {
    points of[2]; /* even, odd plane */
    int32_t outer, plane[2], row, lane;
    uint32_t numbers;
};

/* Where a value is apart, or an absolute bound is not all: by all lanes, each for these of its points. */
FLOE_DEV_COLD void check_points(const level &l, const doubtful &d)
{
    found_here found = {0, 0, 0};
    for (uint32_t left = d.numbers; left; left &= left - 1) {
        const int32_t number = __ffs((int)left) - 1, z = number & 1, y = number >> 1 & 1, x = number >> 2;
        const int32_t of_role[] = {d.outer, d.plane[z], d.row + y, d.lane + x};
        uint64_t point[FLOE_LATTICE_RANK];
        for (int a = 0; a < FLOE_LATTICE_RANK; a++)
            point[l.a[a].axis] = (uint64_t)of_role[a];
        floe_real f = value_at(l.job.original, point);
        f = l.job.last ? take_in(l.check, f) : f;
        check_value(l.check, point, l.job.unit, f, d.of[z].v[y][x], found);
    }
    leave_found(l.check, found);
}

/* A value may be apart. Inline, since a call would cost the march registers. */
template <bool Y> FLOE_DEV void check_again(const level &l, const column &c, const doubtful &d, quantizer &q)
{
    uint32_t bad = 0;
#pragma unroll
    for (int z = 0; z < 2; z++) {
        const points f =
            load_originals<false, Y>(l, c.exists, c.original + d.plane[z] * l.a[MARCH].original, d.plane[z]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const floe_real error = FLOE_LATTICE_ABS(f.v[i & 1][i >> 1] - d.of[z].v[i & 1][i >> 1]);
            const bool counted = d.numbers >> (2 * i + z) & 1, good = error <= l.tolerance;
            q.worst = counted && good ? FLOE_LATTICE_MAX(error, q.worst) : q.worst;
            bad |= counted && !good ? 1u << (2 * i + z) : 0;
        }
    }
    for (; bad; bad &= bad - 1) {
        const int32_t number = __ffs((int)bad) - 1, plane = number & 1 ? d.plane[1] : d.plane[0];
        const uint64_t bit =
            (uint64_t)(d.outer * l.a[OUTER].bits + plane * l.a[MARCH].bits +
                       (d.row + (number >> 1 & 1)) * l.a[ROW].bits + (d.lane + (number >> 2)) * l.a[LANE].bits);
        mark_bit(l.check, bit);
    }
}

/* The point's value as it comes back. f NaN: it does not exist, or is apart. */
template <bool ENCODE>
FLOE_DEV floe_real put(const level &l, quantizer &q, codes &n, int number, floe_real f, floe_real p)
{
    if (!ENCODE)
        return FLOE_R(floe_interp_decode)(code_value(l, n.v[number]), l.step, p);
    const floe_real code = FLOE_R(floe_interp_encode)(f, p, l.inverse, l.limit),
                    r = FLOE_R(floe_interp_decode)(code, l.step, p);
    q.numbers = q.numbers && f == f;
    q.error = FLOE_LATTICE_MAX(FLOE_LATTICE_ABS(f - r), q.error);
    n.v[number] = code_bits(code);
    return r;
}

/* ---- the march --------------------------------------------------------------------------------------------------------- */

/* RARE: bounds of another kind, or squares. X, Y, Z: lane, row, march axis are of the step. shared: the lane's place. */
template <bool ENCODE, bool RARE, bool X, bool Y, bool Z>
FLOE_DEV void march_along(const level &l, const column &c, quantizer &q, floe_real *shared)
{
    enum { NOW = Z ? BEFORE : HALO, NAXES = X + Y + Z };
    const uint32_t place = l.lane_place;
    points even[1 + HALO] = {}, odd = {}; /* planes from cell k - 1 on */
    waiting wait[BEHIND] = {};
    const int32_t begin = c.begin - (Z ? HALO : 0), first = begin + (Z ? BEHIND : 0);
    const floe_real *coarse = c.coarse + first * l.a[MARCH].coarse,
                    *original = c.original + (1 + Z) * first * l.a[MARCH].original;
    floe_real *fine = c.fine + (1 + Z) * begin * l.a[MARCH].fine;
    int64_t records = c.records + (ENCODE ? begin : first) * l.a[MARCH].records;
#pragma unroll 1
    for (int32_t k = begin; k < c.end; k++) {
        const bool full = !Z || k >= c.begin; /* else the planes ahead alone */
        const int32_t ahead = k + (Z ? BEHIND : 0), even_z = Z ? 2 * ahead : k, odd_z = 2 * k + 1;
        const bool there = c.exists && is_in(ahead, l.a[MARCH].cells);
        const weights by_march = l.of[weights_for(k, l.a[MARCH].cells)];
        points even_f = {}, odd_f = {};
        codes n = {};
        q.error = 0;
        q.numbers = true;
#pragma unroll
        for (int i = 0; i < HALO; i++)
            even[i] = even[i + 1];
        points &here = even[HALO];
        load_coarse<X>(l, there ? c.exists : 0, coarse, here);
        if (ENCODE) {
            even_f = load_originals<RARE, Y>(l, c.exists, original, even_z);
            if (Z && full)
                odd_f = load_originals<RARE, Y>(l, c.exists, original - (2 * BEHIND - 1) * l.a[MARCH].original, odd_z);
        } else if (there) {
            by_place<NAXES, X>(l, [&](auto at) { load_codes_by<NAXES, X, decltype(at)::value>(l, records, n); });
        }
        const waiting now = wait[0];
        wait[0] = wait[1];
        if (Z && !ENCODE) {
            wait[1] = wait_for(n, 1);
            come_back(n, now, 1);
        }
        const auto lane = [&](floe_real v) { return along_lane(l.of[c.lane_weights], v); };
        const auto march = [&](int y, int x) { return along_march(by_march, even, y, x); };
        const auto set = [&](points &to, const points &f, int z, int y, int x, floe_real p) {
            to.v[y][x] = put<ENCODE>(l, q, n, z + 2 * y + 4 * x, f.v[y][x], p);
        };
        if (X)
            set(here, even_f, 0, 0, 1, lane(here.v[0][0]));
        if (Z && full) {
            set(odd, odd_f, 1, 0, 0, march(0, 0));
            set(odd, odd_f, 1, 0, 1,
                predict_two<X>(
                    l, place > 0, [&] { return lane(odd.v[0][0]); }, [&] { return march(0, 1); }));
        }
        if (Y) {
            floe_real *s = shared + (k & 1) * SHARED;
            s[0] = here.v[0][0];
            s[TO_PLANE] = odd.v[0][0];
            s[2 * TO_PLANE] = here.v[0][1];
            s[3 * TO_PLANE] = odd.v[0][1];
            __syncthreads();
            const weights by_row = l.of[c.row_weights];
            const auto row = [&](const points &of, int z, int x) {
                return along_row(by_row, of.v[0][x], s + (2 * x + z) * TO_PLANE);
            };
            set(here, even_f, 0, 1, 0, row(here, 0, 0));
            set(here, even_f, 0, 1, 1,
                predict_two<X>(
                    l, place == 2, [&] { return lane(here.v[1][0]); }, [&] { return row(here, 0, 1); }));
            if (full) {
                set(odd, odd_f, 1, 1, 0,
                    predict_two<true>(
                        l, true, [&] { return row(odd, 1, 0); }, [&] { return march(1, 0); }));
                const auto by_rows = [&] { return row(odd, 1, 1); };
                const auto by_planes = [&] { return march(1, 1); };
                set(odd, odd_f, 1, 1, 1,
                    X ? predict_three(l, by_planes, by_rows, [&] { return lane(odd.v[1][0]); })
                      : predict_two<true>(l, true, by_rows, by_planes));
            }
        }
        if (ENCODE) {
            const uint32_t own = c.own ? c.exists : 0, own_odd = Z && full && odd_z < l.a[MARCH].points ? own << 1 : 0;
            doubtful d = {{RARE ? even[NOW] : even[HALO], odd},
                          c.outer,
                          {RARE && Z ? 2 * k : even_z, odd_z},
                          Y ? 2 * c.row : c.row,
                          2 * c.lane,
                          ((there || RARE ? own : 0) | own_odd) & (X ? ~1u : ~0x11u)};
            if (RARE && full)
                check_points(l, d);
            if (!RARE && q.numbers && q.error <= l.tolerance)
                q.worst = c.own ? FLOE_LATTICE_MAX(q.error, q.worst) : q.worst;
            else if (!RARE && d.numbers)
                check_again<Y>(l, c, d, q);
            if (Z) {
                wait[1] = wait_for(n, 0);
                come_back(n, now, 0);
            }
            if (full && c.own)
                by_place<NAXES, X>(
                    l, [&](auto at_place) { store_codes_by<NAXES, X, decltype(at_place)::value>(l, records, n); });
        }
        if (full && (!ENCODE || l.job.fine.data)) {
            store_points<RARE, Y>(l, c.wanted, fine, Z ? 2 * k : k, even[NOW]);
            if (Z)
                store_points<RARE, Y>(l, c.wanted, fine + l.a[MARCH].fine, odd_z, odd);
        }
        coarse += l.a[MARCH].coarse;
        original += (1 + Z) * l.a[MARCH].original;
        fine += (1 + Z) * l.a[MARCH].fine;
        records += l.a[MARCH].records;
    }
}

/* Of a block with Y. What does not fit in registers goes through L2, more than the values do. */
constexpr int rows_of(bool encode, bool rare) { return encode && !rare && FLOE_REAL_BITS == 32 ? FEWER_ROWS : ROWS; }

template <bool ENCODE, bool RARE, bool X, bool Y, bool Z>
__global__ void __launch_bounds__((Y ? rows_of(ENCODE, RARE) : WARPS) * FLOE_WARP,
                                  (FLOE_REAL_BITS == 32 && !RARE ? 2 : 1) * (Y ? 1 : ROWS / WARPS))
    interp_level_kernel(const __grid_constant__ level l)
{
    __shared__ floe_real shared[Y ? 2 * SHARED : 1];
    const uint32_t warp = threadIdx.x / FLOE_WARP, tile = Y ? blockIdx.x : blockIdx.x * WARPS + warp;
    quantizer q = {0, 0, true};
    floe_dev_begin();
    if (*l.job.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    for (uint32_t strip = 0; tile < l.ntiles && strip < (Z ? 1 : l.nstrips); strip++) {
        const column c = column_of<X, Y, Z>(l, tile, strip);
        march_along<ENCODE, RARE, X, Y, Z>(l, c, q, shared + (Y ? (warp + BEFORE) * TO_ROW + floe_lane() : 0));
    }
    if (!ENCODE)
        return;
    if (!RARE)
        leave_most(&l.check.found->max_error, (double)q.worst);
    const uint64_t row = 4 * l.job.step.width, all = floe_lattice_nrecords(&l.job.step) * row;
    for (uint64_t i = all + threadIdx.x; blockIdx.x == 0 && i < l.job.nrecords * row; i += blockDim.x)
        ((uint16_t *)l.job.records)[i] = 0;
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

void set_roles(level *l)
{
    const floe_lattice_step &s = l->job.step;
    const bool lane_is_last = s.naxes < FLOE_LATTICE_AXES || floe_lattice_is_active(&s, FLOE_LATTICE_RANK - 1);
    const uint32_t lane = lane_is_last ? FLOE_LATTICE_RANK - 1 : s.axis[FLOE_LATTICE_AXES - 1];
    uint32_t role = MARCH, outer = OUTER; /* the next one for an axis of the step, and the first for another */
    for (uint32_t i = 0; i < s.naxes; i++)
        if (s.axis[i] != lane)
            l->a[role++].axis = s.axis[i];
    l->a[LANE].axis = lane;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        if (a != lane && !floe_lattice_is_active(&s, a)) {
            l->a[outer].axis = a;
            outer = outer == OUTER ? role : outer + 1;
        }
    l->lane_place = floe_lattice_place(&s, lane);
    if (l->lane_place == s.naxes)
        l->lane_place = FLOE_LATTICE_AXES - 1;
}

void set_axes(level *l, bool encode)
{
    const floe_interp_dev_job &job = l->job;
    const uint64_t row = floe_lattice_row_records(&job.step) * 8, *m = job.step.coarse, *n = l->check.shape;
    const uint64_t codes[] = {m[0], m[1], m[2], row}, values[] = {n[0], n[1], n[2], (n[3] + 63) & ~(uint64_t)63};
    const floe_lattice_view coarse = floe_lattice_view_lattice(NULL, m),
                            records = floe_lattice_view_lattice(NULL, codes),
                            bits = floe_lattice_view_lattice(NULL, values);
    for (uint32_t r = 0; r < FLOE_LATTICE_RANK; r++) {
        axis_of_cells &x = l->a[r];
        const uint32_t a = x.axis, active = floe_lattice_is_active(&job.step, a), halved = active || r == LANE,
                       beside = halved - active;
        x.points = (int32_t)job.step.fine[a];
        x.cells = (int32_t)((job.step.fine[a] + halved) >> halved);
        x.lo = (int32_t)job.box.lo[a];
        x.hi = (int32_t)job.box.hi[a];
        x.first = x.lo >> halved;
        x.end = ((x.hi - 1) >> halved) + 1;
        x.coarse = coarse.stride[a] << beside;
        x.original = job.original.stride[a];
        x.fine = job.fine.stride[a];
        x.records = records.stride[a] << (a == 3 ? job.step.naxes + beside : 0);
        x.bits = bits.stride[a] * (int64_t)job.unit[a];
        if (encode && a == 3) /* with zeros behind a row */
            x.end = (int32_t)(row >> (job.step.naxes + beside));
        x.size = 1;
    }
}

uint32_t cut(level *l)
{
    uint32_t n = 1;
    for (uint32_t r = 0; r < FLOE_LATTICE_RANK; r++) {
        l->a[r].count = (int32_t)floe_ceil_div((uint64_t)(l->a[r].end - l->a[r].first), (uint64_t)l->a[r].size);
        n *= (uint32_t)l->a[r].count;
    }
    return n;
}

/* Columns are as long as leaves enough of them. */
void set_tiles(level *l, bool x, bool y, bool z, int32_t nrows)
{
    const int32_t nlanes = x ? FLOE_WARP - HALO : FLOE_WARP;
    const uint32_t enough = (y ? 8 : 16 * WARPS) * floe_gpu_limits_cuda().processors;
    l->a[ROW].size = y ? nrows - HALO : 1;
    for (int32_t depth = DEPTH_MOST;; depth /= 2) {
        l->a[MARCH].size = z ? depth : 1;
        l->a[LANE].size = z ? nlanes : nlanes * depth;
        l->nstrips = z ? 1 : (uint32_t)depth;
        l->ntiles = cut(l);
        if (l->ntiles >= enough || depth == (z ? DEPTH_LEAST : 1))
            break;
    }
    l->nblocks = y ? l->ntiles : (uint32_t)floe_ceil_div(l->ntiles, WARPS);
}

template <bool ENCODE, bool X, bool Y, bool Z> int launch(level *l, void *stream)
{
    const bool rare = l->job.log || l->check.squares;
    const int nrows = rows_of(ENCODE, rare);
    set_tiles(l, X, Y, Z, nrows);
    auto *kernel = rare ? interp_level_kernel<ENCODE, true, X, Y, Z> : interp_level_kernel<ENCODE, false, X, Y, Z>;
    FLOE_LAUNCH_EARLY(kernel, l->nblocks, (Y ? nrows : WARPS) * FLOE_WARP, 0, (cudaStream_t)stream, *l);
    return (int)cudaGetLastError();
}

template <bool ENCODE> int launch_step(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream)
{
    level l = {};
    l.job = *job;
    if (check)
        l.check = *check;
    l.step = (floe_real)job->rule.step;
    l.inverse = 1 / l.step;
    l.no_code = (floe_real)((job->step.width == 1 ? 1 << 7 : 1 << 15) + (FLOE_REAL_BITS == 32 ? 1 << 23 : 0));
    l.limit = (floe_real)(job->step.width == 1 ? 127 : 32767);
    l.tolerance = (floe_real)l.check.tolerance;
    set_roles(&l);
    set_axes(&l, ENCODE);
    for (uint32_t i = 0; i < WEIGHTS; i++)
        l.of[i] = weights_number(i, job->rule.predictor);
    const uint32_t naxes = job->step.naxes;
    if (floe_lattice_is_active(&job->step, l.a[LANE].axis))
        return naxes == 1   ? launch<ENCODE, true, false, false>(&l, stream)
               : naxes == 2 ? launch<ENCODE, true, false, true>(&l, stream)
                            : launch<ENCODE, true, true, true>(&l, stream);
    return naxes == 1 ? launch<ENCODE, false, false, true>(&l, stream) : launch<ENCODE, false, true, true>(&l, stream);
}

} // namespace

int FLOE_R(floe_interp_encode)(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream)
{
    return FLOE_R(floe_interp_marches)(job, check) ? FLOE_R(floe_interp_march)(job, check, stream)
                                                   : launch_step<true>(job, check, stream);
}
int FLOE_R(floe_interp_decode)(const floe_interp_dev_job *job, void *stream)
{
    return FLOE_R(floe_interp_marches)(job, NULL) ? FLOE_R(floe_interp_march)(job, NULL, stream)
                                                  : launch_step<false>(job, NULL, stream);
}
