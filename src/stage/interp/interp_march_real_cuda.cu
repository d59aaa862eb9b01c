/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The step of a field of three axes that lie in C order, predicted in that order: what takes nearly all of the time. A warp owns a strip
 * of cells along x, HEIGHT rows of it, and marches along z with the stencil of z in registers, that of x in its lanes; it is on its own,
 * without shared memory. Halo rows and lanes are computed again. The values are those of interp_level_real_cuda.cu.
 */
#include <floe/floe.h>

#include <type_traits>

#include "stage/interp/interp_check.cuh"

namespace
{

enum {
    CELLS = FLOE_REAL_BITS == 32 ? 2 : 1, /* of a lane: 16 bytes of originals */
    OWN_LANES = CELLS == 2 ? 30 : 29,     /* the first lane, and the last or the last two, are halo */
    HEIGHT = 2,
    ROWS = HEIGHT + 3,
    DEPTH = 8, /* planes of cells of a warp, where there are enough of them for all */
    WARPS = 4,
    BLOCKS = 3 /* that a processor holds at once */
};

typedef FLOE_R(floe_interp_weights) weights;

/* A value of each of a lane's cells. */
struct some {
    floe_real v[CELLS];
};
struct row_of_points {
    some even, odd;
};
struct codes_of_cells {
    uint32_t v[CELLS][FLOE_INTERP_CLASSES];
};

struct march {
    floe_interp_dev_job job;
    floe_interp_dev_check check;
    uint32_t strips, slabs, segments, depth; /* of warps along x, of blocks along y, along z; planes of a segment */
    bool aligned;                            /* whole lanes are loaded and stored at once */
};

struct place {
    int32_t plane0;   /* of axis 0 */
    int32_t cell, j0; /* of this lane, of the first own row */
    int32_t k0, k1;
    int32_t mz, my, mx, nz, ny, nx;
    bool own;
};

FLOE_DEV int32_t clamp(int32_t v, int32_t n) { return max(min(v, n - 1), 0); }

FLOE_DEV place place_of_warp(const march &m)
{
    const floe_interp_step &s = m.job.step;
    uint32_t left = blockIdx.x;
    place p;
    p.mz = (int32_t)s.coarse[1]; /* a chunk has at most 2^30 points */
    p.my = (int32_t)s.coarse[2];
    p.mx = (int32_t)s.coarse[3];
    p.nz = (int32_t)s.fine[1];
    p.ny = (int32_t)s.fine[2];
    p.nx = (int32_t)s.fine[3];
    const uint32_t strip = left % m.strips, slab = left / m.strips % m.slabs;
    left /= m.strips * m.slabs;
    p.k0 = (int32_t)(left % m.segments * m.depth);
    p.k1 = min(p.k0 + (int32_t)m.depth, p.mz);
    p.plane0 = (int32_t)(left / m.segments);
    p.j0 = (int32_t)(slab * WARPS + threadIdx.x / FLOE_WARP) * HEIGHT;
    p.cell = ((int32_t)strip * OWN_LANES + (int32_t)floe_lane() - 1) * CELLS;
    p.own = floe_lane() >= 1 && floe_lane() <= OWN_LANES;
    return p;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

/* All elements of a lane at once. */
#if FLOE_REAL_BITS == 32
typedef float2 lane_cells;
typedef float4 lane_points;
#else
typedef double lane_cells;
typedef double2 lane_points;
#endif

/* Rows j0 - 1 to j0 - 1 + ROWS of plane k. All are on their way before one is used. */
FLOE_DEV void load_coarse(const march &m, const place &p, int32_t k, some *to)
{
    const floe_real *plane =
        (const floe_real *)m.job.coarse + ((int64_t)p.plane0 * p.mz + clamp(k, p.mz)) * ((int64_t)p.my * p.mx);
    if (m.aligned) {
        const int32_t x = clamp(p.cell / CELLS, p.mx / CELLS) * CELLS;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const lane_cells all = __ldg((const lane_cells *)(plane + (int64_t)clamp(p.j0 - 1 + r, p.my) * p.mx + x));
            memcpy(&to[r], &all, sizeof all);
        }
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int i = 0; i < CELLS; i++)
                to[r].v[i] = __ldg(plane + (int64_t)clamp(p.j0 - 1 + r, p.my) * p.mx + clamp(p.cell + i, p.mx));
    }
}

/* N rows of originals, of these z and y, as they are in memory. */
struct raw_row {
    floe_real v[2 * CELLS];
};
template <int N>
FLOE_DEV void load_originals(const march &m, const place &p, const int32_t (&z)[N], const int32_t (&y)[N],
                             raw_row (&to)[N])
{
    const int64_t *stride = m.job.original.stride;
    const floe_real *base = (const floe_real *)m.job.original.data + p.plane0 * stride[0];
    if (m.aligned) {
        const int32_t x = clamp(p.cell / CELLS, p.mx / CELLS) * 2 * CELLS;
#pragma unroll
        for (int r = 0; r < N; r++) {
            const lane_points all =
                __ldg((const lane_points *)(base + clamp(z[r], p.nz) * stride[1] + clamp(y[r], p.ny) * stride[2] + x));
            memcpy(&to[r], &all, sizeof all);
        }
    } else {
#pragma unroll
        for (int r = 0; r < N; r++)
#pragma unroll
            for (int i = 0; i < 2 * CELLS; i++)
                to[r].v[i] = __ldg(base + clamp(z[r], p.nz) * stride[1] + clamp(y[r], p.ny) * stride[2] +
                                   clamp(2 * p.cell + i, p.nx));
    }
}

FLOE_DEV row_of_points clean_row(const march &m, const raw_row &raw)
{
    row_of_points r;
#pragma unroll
    for (int i = 0; i < CELLS; i++) {
        const floe_real even = raw.v[2 * i], odd = raw.v[2 * i + 1];
        r.even.v[i] = m.job.last ? FLOE_R(floe_interp_clean)(even, (floe_uint)m.check.fill) : even;
        r.odd.v[i] = m.job.last ? FLOE_R(floe_interp_clean)(odd, (floe_uint)m.check.fill) : odd;
    }
    return r;
}

/* Own cells' points of a row. */
FLOE_DEV void store_points(const march &m, const place &p, int32_t z, int32_t y, const some &even, const some &odd)
{
    const int64_t *stride = m.job.fine.stride;
    if (!p.own || z >= p.nz || y >= p.ny || p.cell >= p.mx)
        return;
    floe_real *to = (floe_real *)m.job.fine.data + p.plane0 * stride[0] + z * stride[1] + y * stride[2] + 2 * p.cell;
    floe_real v[2 * CELLS];
#pragma unroll
    for (int i = 0; i < CELLS; i++) {
        v[2 * i] = even.v[i];
        v[2 * i + 1] = odd.v[i];
    }
    if (m.aligned) {
        lane_points all;
        memcpy(&all, v, sizeof all);
        *(lane_points *)to = all;
    } else {
#pragma unroll
        for (int i = 0; i < 2 * CELLS; i++)
            if (2 * p.cell + i < p.nx)
                to[i] = v[i];
    }
}

template <bool WIDE> using record_of = std::conditional_t<WIDE, uint4, uint2>;

FLOE_DEV int64_t record_at(const place &p, int32_t k, int32_t j)
{
    return (((int64_t)p.plane0 * p.mz + k) * p.my + j) * p.mx;
}

template <bool WIDE>
FLOE_DEV void store_codes(const march &m, const place &p, int32_t k, int32_t j, const codes_of_cells &c)
{
    typedef record_of<WIDE> record;
    record *to = (record *)m.job.records + record_at(p, k, j) + p.cell;
#pragma unroll
    for (int i = 0; i < CELLS; i++) {
        uint32_t w[sizeof(record) / 4];
#pragma unroll
        for (int k4 = 0; k4 < (int)sizeof(record) / 4; k4++)
            w[k4] = WIDE ? __byte_perm(c.v[i][2 * k4 % 8], c.v[i][(2 * k4 + 1) % 8], 0x5410)
                         : __byte_perm(__byte_perm(c.v[i][4 * k4 % 8], c.v[i][(4 * k4 + 1) % 8], 0x0040),
                                       __byte_perm(c.v[i][(4 * k4 + 2) % 8], c.v[i][(4 * k4 + 3) % 8], 0x0040), 0x5410);
        record r;
        memcpy(&r, w, sizeof r);
        if (p.own && p.cell + i < p.mx)
            to[i] = r;
    }
}

template <bool WIDE> FLOE_DEV void load_codes(const march &m, const place &p, int32_t k, int32_t j, record_of<WIDE> *to)
{
    typedef record_of<WIDE> record;
    const record *row = (const record *)m.job.records + record_at(p, k, clamp(j, p.my));
#pragma unroll
    for (int i = 0; i < CELLS; i++)
        to[i] = __ldg(row + clamp(p.cell + i, p.mx));
}

FLOE_DEV floe_real code_value(const uint2 &r, int k) /* narrow */
{
#if FLOE_REAL_BITS == 32 /* by the bits of 2^23 + 128 + code, which takes no conversion */
    return __uint_as_float(__byte_perm((k < 4 ? r.x : r.y) ^ 0x80808080u, 0x4B000000u, 0x7540u | (uint32_t)k % 4)) -
           8388736.0f;
#else
    return (floe_real)(int8_t)((k < 4 ? r.x : r.y) >> 8 * (k % 4));
#endif
}
FLOE_DEV floe_real code_value(const uint4 &r, int k) /* wide */
{
    const uint32_t w = k < 2 ? r.x : k < 4 ? r.y : k < 6 ? r.z : r.w;
    return (floe_real)(int16_t)(k % 2 ? w >> 16 : w);
}

/* ---- a point ----------------------------------------------------------------------------------------------------------- */

/* What encoding keeps of a step, and finds. tolerance: of each of the lane's cells; -1 where others have it. mine: bits of those that
 * are the lane's own. */
struct encoder {
    floe_real step, inverse, limit, tolerance[CELLS], worst;
    uint32_t mine;
};

/* Of a class of one of the lane's cells: in bits of a word. */
FLOE_DEV uint32_t bit_of(uint32_t c, int cell) { return 1u << (c * CELLS + (uint32_t)cell); }

/* f as it comes back; a point that does not exist has code 0. Its bit joins bad where it does not come back as it must. */
FLOE_DEV floe_real encode_value(encoder &e, floe_real f, floe_real p, bool exists, int cell, uint32_t bit,
                                uint32_t &code, uint32_t &bad)
{
    f = exists ? f : p;
    const floe_real any = FLOE_R(floe_interp_encode)(f, p, e.inverse, e.limit),
                    q = exists ? any : 0; /* p may overflow */
    const floe_real r = FLOE_R(floe_interp_decode)(q, e.step, p), error = FLOE_INTERP_ABS(f - r);
    const bool good = error <= e.tolerance[cell];
    bad |= good ? 0 : bit;
    const floe_real counted = good ? error : 0;
    e.worst = FLOE_INTERP_MAX(counted, e.worst);
    code = code_bits(q);
    return r;
}

/* Points of these bits, as far as they exist. */
FLOE_DEV_COLD void mark_bad(const march &m, const place &p, int32_t k, int32_t j, uint32_t bad)
{
    for (; bad; bad &= bad - 1) {
        const uint32_t at = (uint32_t)__ffs((int)bad) - 1, c = at / CELLS + 1;
        const int32_t z = 2 * k + (int32_t)(c & 1), y = 2 * j + (int32_t)(c >> 1 & 1),
                      cell = p.cell + (int32_t)(at % CELLS), x = 2 * cell + (int32_t)(c >> 2);
        const uint64_t point[] = {(uint64_t)p.plane0, (uint64_t)z, (uint64_t)y, (uint64_t)x};
        if (z < p.nz && y < p.ny && x < p.nx)
            mark_apart(m.check, point, m.job.unit);
    }
}

FLOE_DEV floe_real predict4(const weights &w, floe_real before, floe_real here, floe_real after, floe_real beyond)
{
    return FLOE_R(floe_interp_predict)(w, before, here, after, beyond);
}

/* ---- a plane of cells --------------------------------------------------------------------------------------------------- */

/* The points of odd x from those of even x beside them. */
FLOE_DEV some predict_x(const some &s, const weights *w)
{
    some p;
    const floe_real before = __shfl_up_sync(FLOE_ALL_LANES, s.v[CELLS - 1], 1),
                    next = __shfl_down_sync(FLOE_ALL_LANES, s.v[0], 1);
    if (CELLS == 2) {
        const floe_real last = __shfl_down_sync(FLOE_ALL_LANES, s.v[CELLS - 1], 1);
        p.v[0] = predict4(w[0], before, s.v[0], s.v[CELLS - 1], next);
        p.v[CELLS - 1] = predict4(w[CELLS - 1], s.v[0], s.v[CELLS - 1], next, last);
    } else {
        const floe_real last = __shfl_down_sync(FLOE_ALL_LANES, s.v[0], 2);
        p.v[0] = predict4(w[0], before, s.v[0], next, last);
    }
    return p;
}

template <bool ENCODE, bool WIDE> FLOE_DEV void march_along(const march &m, const place &p, encoder &e)
{
    typedef record_of<WIDE> record;
    const uint32_t how = m.job.step.predictor;
    some coarse[4][ROWS]; /* planes k - 1 to k + 2 */
    weights wx[CELLS];
#pragma unroll
    for (int i = 0; i < CELLS; i++)
        wx[i] = FLOE_R(floe_interp_weights_at)(how, (uint32_t)clamp(p.cell + i, p.mx), (uint32_t)p.mx);
#pragma unroll
    for (int d = 0; d < 3; d++)
        load_coarse(m, p, p.k0 - 1 + d, coarse[d + 1]);
    for (int32_t k = p.k0; k < p.k1; k++) {
        const weights wz = FLOE_R(floe_interp_weights_at)(how, (uint32_t)k, (uint32_t)p.mz);
        const bool odd_z = 2 * k + 1 < p.nz;
        some z1[ROWS]; /* points of odd z */
        raw_row original[ROWS];
        record record[ROWS][CELLS];
        uint32_t z1_code[ROWS][CELLS], z1_bad[ROWS];
        int32_t zs[ROWS], ys[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            coarse[0][r] = coarse[1][r];
            coarse[1][r] = coarse[2][r];
            coarse[2][r] = coarse[3][r];
            zs[r] = 2 * k + 1;
            ys[r] = 2 * (p.j0 - 1 + r);
            if (!ENCODE)
                load_codes<WIDE>(m, p, k, p.j0 - 1 + r, record[r]);
        }
        load_coarse(m, p, k + 2, coarse[3]);
        raw_row others[HEIGHT][3]; /* of even z and y, of odd y, of both odd */
        if (ENCODE)
            load_originals(m, p, zs, ys, original);
#pragma unroll
        for (int h = 0; ENCODE && h < HEIGHT; h++) {
            const int32_t y = 2 * (p.j0 + h), z[] = {2 * k, 2 * k, 2 * k + 1}, all[] = {y, y + 1, y + 1};
            load_originals(m, p, z, all, others[h]);
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const row_of_points o = clean_row(m, original[r]);
            const bool exists = odd_z && (uint32_t)(p.j0 - 1 + r) < (uint32_t)p.my;
            z1_bad[r] = 0;
#pragma unroll
            for (int i = 0; i < CELLS; i++) {
                const floe_real g =
                    predict4(wz, coarse[0][r].v[i], coarse[1][r].v[i], coarse[2][r].v[i], coarse[3][r].v[i]);
                z1[r].v[i] = ENCODE ? encode_value(e, o.even.v[i], g, exists, i, bit_of(0, i), z1_code[r][i], z1_bad[r])
                                    : FLOE_R(floe_interp_decode)(code_value(record[r][i], 0), e.step, g);
            }
        }
#pragma unroll
        for (int h = 0; h < HEIGHT; h++) {
            const int r = h + 1;
            const int32_t j = p.j0 + h;
            const weights wy = FLOE_R(floe_interp_weights_at)(how, (uint32_t)clamp(j, p.my), (uint32_t)p.my);
            const bool row = j < p.my, odd_y = row && 2 * j + 1 < p.ny;
            uint32_t bad = ENCODE ? z1_bad[r] : 0;
            some y1, zy1, x1[4];
            codes_of_cells codes;
            const row_of_points o[] = {clean_row(m, others[h][0]), clean_row(m, original[r]),
                                       clean_row(m, others[h][1]), clean_row(m, others[h][2])}; /* by bits of z, y */
#pragma unroll
            for (int i = 0; i < CELLS; i++) {
                const floe_real gy = predict4(wy, coarse[1][r - 1].v[i], coarse[1][r].v[i], coarse[1][r + 1].v[i],
                                              coarse[1][r + 2].v[i]);
                const floe_real gzy = predict4(wy, z1[r - 1].v[i], z1[r].v[i], z1[r + 1].v[i], z1[r + 2].v[i]);
                if (ENCODE) {
                    codes.v[i][0] = z1_code[r][i];
                    codes.v[i][7] = 0;
                    y1.v[i] = encode_value(e, o[2].even.v[i], gy, odd_y, i, bit_of(1, i), codes.v[i][1], bad);
                    zy1.v[i] =
                        encode_value(e, o[3].even.v[i], gzy, odd_y && odd_z, i, bit_of(2, i), codes.v[i][2], bad);
                } else {
                    y1.v[i] = FLOE_R(floe_interp_decode)(code_value(record[r][i], 1), e.step, gy);
                    zy1.v[i] = FLOE_R(floe_interp_decode)(code_value(record[r][i], 2), e.step, gzy);
                }
            }
            const some even[] = {coarse[1][r], z1[r], y1, zy1};
#pragma unroll
            for (int t = 0; t < 4; t++) { /* t: bits of z, y; codes of odd x are 3 + t */
                const some g = predict_x(even[t], wx);
                const bool exists = row && (!(t & 1) || odd_z) && (!(t & 2) || odd_y);
#pragma unroll
                for (int i = 0; i < CELLS; i++)
                    x1[t].v[i] = ENCODE ? encode_value(e, o[t].odd.v[i], g.v[i], exists && 2 * (p.cell + i) + 1 < p.nx,
                                                       i, bit_of(3 + (uint32_t)t, i), codes.v[i][3 + t], bad)
                                        : FLOE_R(floe_interp_decode)(code_value(record[r][i], 3 + t), e.step, g.v[i]);
            }
            if (!row)
                continue;
            if (ENCODE)
                store_codes<WIDE>(m, p, k, j, codes);
            if (!ENCODE || m.job.fine.data)
#pragma unroll
                for (int t = 0; t < 4; t++)
                    store_points(m, p, 2 * k + (t & 1), 2 * j + (t >> 1), even[t], x1[t]);
            if (ENCODE && (bad & e.mine))
                mark_bad(m, p, k, j, bad & e.mine);
        }
    }
}

template <bool ENCODE, bool WIDE>
__global__ void __launch_bounds__(WARPS *FLOE_WARP, FLOE_REAL_BITS == 64 ? 2
                                                    : ENCODE             ? 3
                                                             : 4) interp_march_kernel(const __grid_constant__ march m)
{
    const place p = place_of_warp(m);
    const floe_real step = (floe_real)m.job.step.step;
    encoder e = {step, 1 / step, (floe_real)(WIDE ? 32767 : 127), {}, 0, 0};
#pragma unroll
    for (int i = 0; i < CELLS; i++) {
        const bool own = p.own && p.cell + i < p.mx;
        e.tolerance[i] = own ? (floe_real)m.check.tolerance : (floe_real)-1;
        for (uint32_t c = 0; c < FLOE_INTERP_CLASSES - 1; c++)
            e.mine |= own ? bit_of(c, i) : 0;
    }
    floe_dev_begin();
    if (*m.job.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    march_along<ENCODE, WIDE>(m, p, e);
    if (ENCODE)
        leave_most(&m.check.found->max_error, (double)e.worst);
    const uint64_t all = floe_interp_nrecords(&m.job.step); /* what is laid behind the last row */
    for (uint64_t i = all + threadIdx.x; ENCODE && blockIdx.x == 0 && i < m.job.nrecords; i += blockDim.x) {
        const record_of<WIDE> none = {};
        ((record_of<WIDE> *)m.job.records)[i] = none;
    }
}

bool is_aligned(const floe_interp_view &v)
{
    bool aligned = (uintptr_t)v.data % 16 == 0;
    for (uint32_t a = 0; a < 3; a++)
        aligned = aligned && v.stride[a] % (2 * CELLS) == 0;
    return aligned;
}

template <bool ENCODE, bool WIDE> int launch(const march &m, uint32_t nblocks, void *stream)
{
    FLOE_LAUNCH_EARLY((interp_march_kernel<ENCODE, WIDE>), nblocks, WARPS * FLOE_WARP, 0, (cudaStream_t)stream, m);
    return (int)cudaGetLastError();
}

} // namespace

bool FLOE_R(floe_interp_marches)(const floe_interp_dev_job *job, const floe_interp_dev_check *check)
{
    const floe_interp_step &s = job->step;
    bool good = s.naxes == 3 && s.axis[0] == 1 && s.axis[1] == 2 && s.axis[2] == 3 && !s.mean && !job->log &&
                !(check && check->squares);
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        good = good && job->lo[a] == 0 && job->hi[a] == s.fine[a];
    return good && (!job->fine.data || job->fine.stride[3] == 1) && (!check || job->original.stride[3] == 1);
}

int FLOE_R(floe_interp_march)(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream)
{
    march m = {*job, {}, 0, 0, 0, DEPTH, false};
    const floe_interp_step &s = job->step;
    if (check)
        m.check = *check;
    m.strips = (uint32_t)floe_ceil_div(s.coarse[3], OWN_LANES * CELLS);
    m.slabs = (uint32_t)floe_ceil_div(s.coarse[2], HEIGHT * WARPS);
    const uint64_t columns = m.strips * m.slabs * s.coarse[0], most = BLOCKS * floe_gpu_limits_cuda().processors;
    while (m.depth > 1 && columns * floe_ceil_div(s.coarse[1], m.depth) < most)
        m.depth /= 2;
    m.segments = (uint32_t)floe_ceil_div(s.coarse[1], m.depth);
    m.aligned = s.fine[3] % (2 * CELLS) == 0 && (uintptr_t)job->coarse % 16 == 0 &&
                (!job->fine.data || is_aligned(job->fine)) && (!check || is_aligned(job->original));
    const uint32_t nblocks = m.strips * m.slabs * m.segments * (uint32_t)s.coarse[0];
    if (check)
        return s.width == 1 ? launch<true, false>(m, nblocks, stream) : launch<true, true>(m, nblocks, stream);
    return s.width == 1 ? launch<false, false>(m, nblocks, stream) : launch<false, true>(m, nblocks, stream);
}
