/* SPDX-License-Identifier: BSD-3-Clause */
/* Details of steps <-> codes in records. A block owns cells of one step, a thread some cells of one row; a record has one cell or more. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "base/grid_math.h"
#include "stage/wavelet/wavelet_cuda.h"
#include "stage/wavelet/wavelet_math.h"

namespace
{

enum {
    THREADS = 256,
    BLOCKS = 16,                            /* of a processor, at most, for a step */
    AT_ONCE = FLOE_REAL_BITS == 32 ? 3 : 2, /* of these, at least */
    EACH = 4,                               /* cells of a thread, whose details are loaded together */
    STEPS = 8,                              /* of a launch, at most */
    /* The same where points are in their places: steps of several small arrays. Kernels of CUDA 12.1 take parameters of 32764 bytes */
    TRIALS_STEPS = CUDART_VERSION >= 12010 ? 48 : STEPS,
    STEP_TABLE = 32, /* quantization steps of a step, about: of each band and class */
    FEW = 4 /* classes that steps along up to two axes have: for them kernels with shorter loops are compiled */
};

/* A step, whose rows of cells are whole records. */
struct step_codes {
    floe_real *array;
    uint8_t *records;
    unsigned long long *largest;
    floe_wavelet_means *means;
    uint32_t block;                      /* its first block */
    uint32_t nrows, ncells;              /* rows that have details, and cells that have records */
    uint32_t length, ntasks;             /* cells of a row; tasks of all rows */
    uint8_t lanes;                       /* of a task, which do EACH cells */
    uint8_t nclasses, width, nbands;     /* width: bytes of a code */
    uint8_t axis[FLOE_LATTICE_AXES];     /* of the step */
    uint32_t lo[FLOE_LATTICE_RANK], end; /* the first cell that is done along each axis; behind the last one of a row */
    floe_divisor pieces, planes, rows;   /* tasks of a row; rows of the two axes before it, and of the one before it */
    uint32_t coarse[FLOE_LATTICE_RANK];  /* means along each axis */
    uint32_t stride[FLOE_LATTICE_RANK];  /* from a mean to the next, in the array */
    uint32_t offset[FLOE_LATTICE_CLASSES]; /* from a mean to each class's detail, in the array */
    uint32_t odds[FLOE_LATTICE_AXES];      /* details along each axis of the step */
    uint32_t last;                         /* details along the array's last axis */
    int32_t shift[FLOE_WAVELET_SHIFTS];
    uint32_t begin[FLOE_WAVELET_DEV_BANDS]; /* of bands */
    uint32_t table;                         /* where its quantization steps begin in those of the launch */
};

/* A launch. */
template <bool IN_PLACE> struct coding {
    static constexpr uint32_t MOST = IN_PLACE ? TRIALS_STEPS : STEPS, TABLE = MOST * STEP_TABLE;
    const uint32_t *status;
    uint32_t nsteps, axis, nclasses; /* axis: of bands; nclasses: the most of any step */
    step_codes step[MOST];
    double table[TABLE];
};
static_assert(sizeof(coding<false>) <= 4096 && sizeof(coding<true>) <= 32764, "parameters of a kernel");

/* What a thread does of a step: tasks first, first + apart, .. */
struct share {
    uint32_t step, first, apart;
};

template <class CODING> FLOE_DEV share share_of(const CODING &k)
{
    uint32_t i = 0;
    while (i + 1 < k.nsteps && blockIdx.x >= k.step[i + 1].block)
        i++;
    const uint32_t end = i + 1 < k.nsteps ? k.step[i + 1].block : gridDim.x, begin = k.step[i].block;
    const uint32_t ntasks = THREADS / k.step[i].lanes;
    return {i, (blockIdx.x - begin) * ntasks + threadIdx.x / k.step[i].lanes, (end - begin) * ntasks};
}

/* Quantization steps of each band and class of a step, and their inverses. In shared memory. */
struct factors {
    floe_real step[FLOE_WAVELET_DEV_BANDS * FLOE_LATTICE_CLASSES],
        inverse[FLOE_WAVELET_DEV_BANDS * FLOE_LATTICE_CLASSES];
};

/* By a block. */
template <class CODING> FLOE_DEV void load_factors(const CODING &k, const step_codes &s, factors &f)
{
    const uint32_t i = threadIdx.x, class_ = i % FLOE_LATTICE_CLASSES;
    if (i < s.nbands * FLOE_LATTICE_CLASSES && class_ > 0 && class_ < s.nclasses) {
        f.step[i] = (floe_real)k.table[s.table + i];
        f.inverse[i] = 1 / f.step[i];
    }
    __syncthreads();
}

/* A thread's part of a row: cells `first`, first + lanes, .. */
struct task {
    uint32_t at, index; /* the row's first mean in the array; the number of its first cell */
    uint32_t table;     /* where the quantization steps of its band begin in factors */
    uint32_t first;
    uint32_t with_last,
        without_last; /* classes with a detail, of cells that have details along the last axis and others */
};

template <bool IN_PLACE> FLOE_DEV task task_of(const coding<IN_PLACE> &k, const step_codes &s, uint32_t number)
{
    task t = {};
    uint32_t row = number, has = 0;
    const uint32_t piece = floe_divide(&row, &s.pieces);
    uint32_t box = row, z = floe_divide(&box, &s.planes);
    const uint32_t y = floe_divide(&z, &s.rows), point[] = {box + s.lo[0], z + s.lo[1], y + s.lo[2]};
    t.index = row * s.length;
    t.first = s.lo[3] + piece * EACH * s.lanes + threadIdx.x % s.lanes;
    if (row >= s.nrows)
        return t;
    t.index = ((point[0] * s.coarse[1] + point[1]) * s.coarse[2] + point[2]) * s.length;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK - 1; a++)
        t.at += point[a] * s.stride[a];
#pragma unroll
    for (uint32_t i = 0; i < FLOE_LATTICE_AXES; i++) {
        uint32_t p = point[0];
#pragma unroll
        for (uint32_t a = 1; a < FLOE_LATTICE_RANK - 1; a++)
            p = a == s.axis[i] ? point[a] : p;
        has |= (s.axis[i] < FLOE_LATTICE_RANK - 1 && p < s.odds[i]) << i;
    }
    uint32_t with = has;
#pragma unroll
    for (uint32_t i = 0; i < FLOE_LATTICE_AXES; i++)
        with |= (s.axis[i] == FLOE_LATTICE_RANK - 1) << i;
#pragma unroll
    for (uint32_t class_ = 1; class_ < FLOE_LATTICE_CLASSES; class_++) {
        t.with_last |= (class_ < s.nclasses && (class_ & ~with) == 0) << class_;
        t.without_last |= (class_ < s.nclasses && (class_ & ~has) == 0) << class_;
    }
    if (s.nbands == 1)
        return t;
    uint32_t p = point[0], stride = s.stride[0], band = 0;
#pragma unroll
    for (uint32_t a = 1; a < FLOE_LATTICE_RANK - 1; a++) {
        p = a == k.axis ? point[a] : p;
        stride = a == k.axis ? s.stride[a] : stride;
    }
    for (uint32_t b = 1; b < s.nbands; b++)
        band = p >= s.begin[b] ? b : band;
    t.table = band * FLOE_LATTICE_CLASSES;
    if (IN_PLACE)
        t.at += ((uint32_t)floe_wavelet_dev_packet_place(p, band, s.nbands, s.begin[band]) - p) * stride;
    return t;
}

struct cell {
    uint32_t at, classes; /* its mean in the array; the classes that have a detail */
};

/* Cell number e of a task. there: it has a record. */
FLOE_DEV cell cell_of(const step_codes &s, const task &t, uint32_t e, bool &there)
{
    const uint32_t x = t.first + e * s.lanes;
    there = x < s.end && t.index + x < s.ncells;
    return {t.at + x * s.stride[FLOE_LATTICE_RANK - 1], x >= s.coarse[FLOE_LATTICE_RANK - 1] ? 0
                                                        : x < s.last                         ? t.with_last
                                                                                             : t.without_last};
}

FLOE_DEV uint32_t index_of(const step_codes &s, const task &t, uint32_t e) { return t.index + t.first + e * s.lanes; }

/* Details of a cell, all on their way together; of those that are not there, 0. CLASSES: of the step, at most. */
template <uint32_t CLASSES> FLOE_DEV void load_details(const step_codes &s, const cell &c, floe_real (&w)[CLASSES])
{
    const floe_real *v = s.array + c.at;
#pragma unroll
    for (uint32_t class_ = 1; class_ < CLASSES; class_++)
        w[class_] = c.classes >> class_ & 1 ? v[s.offset[class_]] : 0;
}

/* Calls what(task, e, cell, details) for each cell that has a record. */
template <uint32_t CLASSES, class CODING, class WHAT>
FLOE_DEV void each_cell(const CODING &k, const step_codes &s, const share &mine, WHAT what)
{
    for (uint32_t i = mine.first; i < s.ntasks; i += mine.apart) {
        const task t = task_of(k, s, i);
        cell c[EACH];
        floe_real w[EACH][CLASSES];
        bool there[EACH];
#pragma unroll
        for (uint32_t e = 0; e < EACH; e++) {
            c[e] = cell_of(s, t, e, there[e]);
            load_details(s, c[e], w[e]);
        }
#pragma unroll
        for (uint32_t e = 0; e < EACH; e++)
            if (there[e])
                what(t, e, c[e], w[e]);
    }
}

/* ---- the largest ------------------------------------------------------------------------------------------------------- */

/* The largest magnitude of all details, in quantization steps. Divisions take long: only what may be larger than the largest so far is
 * divided. */
template <uint32_t CLASSES>
__global__ void __launch_bounds__(THREADS, CLASSES > FEW ? AT_ONCE : AT_ONCE + 1)
    wavelet_largest_kernel(const __grid_constant__ coding<false> k)
{
    if (*k.status != FLOE_OK)
        return;
    const share mine = share_of(k);
    const step_codes &s = k.step[mine.step];
    double most = floe_f64_of(*(volatile unsigned long long *)s.largest);
    each_cell<CLASSES>(k, s, mine, [&](const task &t, uint32_t, const cell &c, const floe_real(&w)[CLASSES]) {
#pragma unroll
        for (uint32_t class_ = 1; class_ < CLASSES; class_++) {
            if (!(c.classes >> class_ & 1))
                continue;
            const double size = w[class_] < 0 ? -(double)w[class_] : (double)w[class_],
                         step = k.table[s.table + t.table + class_];
            if (size >= most * step * (1 - 0x1p-50)) {
                const double q = size / step;
                most = q > most ? q : most;
            }
        }
    });
    const unsigned long long bits = floe_warp_max((unsigned long long)floe_bits_f64(most));
    if (floe_lane() == 0 && bits > *(volatile unsigned long long *)s.largest)
        atomicMax(s.largest, bits);
}

/* ---- codes ------------------------------------------------------------------------------------------------------------- */

/* Of the codes of a thread: those that are as large as they may be; and by magnitude, how far values are off, and how many there are. */
struct coded {
    int32_t sum[FLOE_WAVELET_SHIFTS], count[FLOE_WAVELET_SHIFTS];
    uint32_t cuts;
};

/* Adds the sums over a block. One after another: all at once take more registers than there are. */
FLOE_DEV void add_means(const coded &own, floe_wavelet_means *to)
{
    enum { ALL = 2 * FLOE_WAVELET_SHIFTS };
    static_assert(sizeof *to == ALL * sizeof(unsigned long long), "sums, then counts");
    __shared__ unsigned long long all[ALL];
    if (threadIdx.x < ALL)
        all[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ALL; k++) {
        const int64_t mine = k < FLOE_WAVELET_SHIFTS ? own.sum[k] : own.count[k - FLOE_WAVELET_SHIFTS];
        const unsigned long long v = floe_warp_sum((unsigned long long)mine);
        if (floe_lane() == 0 && v)
            atomicAdd(all + k, v);
    }
    __syncthreads();
    if (threadIdx.x < ALL && all[threadIdx.x])
        atomicAdd((unsigned long long *)to + threadIdx.x, all[threadIdx.x]);
}

FLOE_DEV void store_codes(void *to, uint32_t nbytes, uint64_t lo, uint64_t hi)
{
    switch (nbytes) {
    case 2: *(uint16_t *)to = (uint16_t)lo; break;
    case 4: *(uint32_t *)to = (uint32_t)lo; break;
    case 8: *(uint64_t *)to = lo; break;
    default: *(ulonglong2 *)to = make_ulonglong2(lo, hi);
    }
}

FLOE_DEV void load_codes(const void *from, uint32_t nbytes, uint64_t *lo, uint64_t *hi)
{
    *hi = 0;
    switch (nbytes) {
    case 2: *lo = *(const uint16_t *)from; break;
    case 4: *lo = *(const uint32_t *)from; break;
    case 8: *lo = *(const uint64_t *)from; break;
    default: {
        const ulonglong2 v = *(const ulonglong2 *)from;
        *lo = v.x;
        *hi = v.y;
    }
    }
}

template <uint32_t WIDTH, uint32_t CLASSES>
FLOE_DEV void encode_cell(const step_codes &s, const factors &f, const task &t, uint32_t e, const cell &c,
                          const floe_real (&w)[CLASSES], coded &to)
{
    constexpr uint32_t BITS = 8 * WIDTH;
    const floe_real limit = WIDTH == 1 ? 127 : 32767;
    uint64_t codes[2] = {0, 0};
#pragma unroll
    for (uint32_t class_ = 1; class_ < CLASSES; class_++) {
        if (class_ >= s.nclasses)
            break;
        const floe_real v = w[class_], /* finite: passes cut what they leave */
            inverse = c.classes >> class_ & 1 ? f.inverse[t.table + class_] : 0;
        const int32_t m = FLOE_R(floe_wavelet_encode)(v, inverse, limit), at = (class_ - 1) * BITS;
        if (m == 0)
            continue;
        const int32_t off = FLOE_R(floe_wavelet_off)(v, inverse, m);
#pragma unroll
        for (int32_t n = 0; n < FLOE_WAVELET_SHIFTS; n++) {
            const bool counts = n < FLOE_WAVELET_SHIFTS - 1 ? m == n + 1 : m > n;
            to.sum[n] += counts ? off : 0;
            to.count[n] += counts;
        }
        to.cuts += m == (int32_t)limit;
        codes[at / 64] |= (uint64_t)((uint32_t)(v < 0 ? -m : m) & ((1u << BITS) - 1)) << at % 64;
    }
    store_codes(s.records + (uint64_t)index_of(s, t, e) * (WIDTH * s.nclasses), WIDTH * s.nclasses, codes[0], codes[1]);
}

template <uint32_t WIDTH, uint32_t CLASSES, class CODING>
FLOE_DEV void encode_cells(const CODING &k, const step_codes &s, const share &mine, const factors &f)
{
    coded all = {};
    each_cell<CLASSES>(k, s, mine, [&](const task &t, uint32_t e, const cell &c, const floe_real(&w)[CLASSES]) {
        encode_cell<WIDTH>(s, f, t, e, c, w, all);
    });
    add_means(all, s.means);
    if (all.cuts)
        atomicAdd(s.largest, (unsigned long long)all.cuts);
}

template <uint32_t WIDTH>
FLOE_DEV floe_real decode_value(const uint64_t (&codes)[2], uint32_t class_,
                                const floe_real (&shift)[FLOE_WAVELET_SHIFTS], floe_real step)
{
    const uint32_t at = (class_ - 1) * WIDTH * 8, bits = (uint32_t)(codes[at / 64] >> at % 64);
    const int32_t code = WIDTH == 1 ? (int8_t)bits : (int16_t)bits, m = code < 0 ? -code : code;
    return m == 0 ? 0 : FLOE_R(floe_wavelet_decode)(code, m == 1 ? shift[0] : m == 2 ? shift[1] : shift[2], step);
}

template <uint32_t WIDTH, uint32_t CLASSES, class CODING>
FLOE_DEV void decode_cells(const CODING &k, const step_codes &s, const share &mine, const factors &f)
{
    floe_real shift[FLOE_WAVELET_SHIFTS];
#pragma unroll
    for (int n = 0; n < FLOE_WAVELET_SHIFTS; n++) {
        const int32_t units = s.means ? floe_wavelet_shift_of(s.means->sum[n], s.means->count[n]) : s.shift[n];
        shift[n] = FLOE_R(floe_wavelet_shift)(units);
    }
    for (uint32_t i = mine.first; i < s.ntasks; i += mine.apart) {
        const task t = task_of(k, s, i);
        cell c[EACH];
        uint64_t codes[EACH][2];
#pragma unroll
        for (uint32_t e = 0; e < EACH; e++) {
            bool there;
            c[e] = cell_of(s, t, e, there);
            c[e].classes = there ? c[e].classes : 0;
            if (c[e].classes)
                load_codes(s.records + (uint64_t)index_of(s, t, e) * (WIDTH * s.nclasses), WIDTH * s.nclasses,
                           &codes[e][0], &codes[e][1]);
        }
#pragma unroll
        for (uint32_t e = 0; e < EACH; e++)
#pragma unroll
            for (uint32_t class_ = 1; class_ < CLASSES; class_++)
                if (c[e].classes >> class_ & 1)
                    s.array[c[e].at + s.offset[class_]] =
                        decode_value<WIDTH>(codes[e], class_, shift, f.step[t.table + class_]);
    }
}

template <bool ENCODE, uint32_t CLASSES, bool IN_PLACE>
__global__ void __launch_bounds__(THREADS, CLASSES > FEW ? AT_ONCE : AT_ONCE + 1)
    wavelet_codes_kernel(const __grid_constant__ coding<IN_PLACE> k)
{
    __shared__ factors f;
    if (*k.status != FLOE_OK)
        return;
    const share mine = share_of(k);
    const step_codes &s = k.step[mine.step];
    load_factors(k, s, f);
    if (ENCODE)
        s.width == 1 ? encode_cells<1, CLASSES>(k, s, mine, f) : encode_cells<2, CLASSES>(k, s, mine, f);
    else
        s.width == 1 ? decode_cells<1, CLASSES>(k, s, mine, f) : decode_cells<2, CLASSES>(k, s, mine, f);
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

/* all: as many cells as there are records, with those behind the last row. */
step_codes step_of(const floe_wavelet_dev_codes &c, const uint32_t *stride, bool all)
{
    const floe_lattice_step &s = c.step;
    const uint64_t row = floe_lattice_row_records(&s);
    step_codes k = {};
    k.array = (floe_real *)c.array;
    k.records = (uint8_t *)c.records;
    k.largest = c.largest;
    k.means = c.means;
    k.length = (uint32_t)(row * 8 >> s.naxes);
    floe_lattice_box cells = {{0, 0, 0, 0}, {s.coarse[0], s.coarse[1], s.coarse[2], k.length}};
    if (c.cells)
        cells = *c.cells;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        k.lo[a] = (uint32_t)cells.lo[a];
    k.end = (uint32_t)cells.hi[3];
    uint32_t lanes = 1;
    while (lanes < FLOE_WARP && lanes * EACH < k.end - k.lo[3])
        lanes *= 2;
    k.lanes = (uint8_t)lanes;
    k.pieces = floe_divisor_of((uint32_t)floe_ceil_div(k.end - k.lo[3], EACH * lanes));
    k.planes = floe_divisor_of((uint32_t)((cells.hi[1] - cells.lo[1]) * (cells.hi[2] - cells.lo[2])));
    k.rows = floe_divisor_of((uint32_t)(cells.hi[2] - cells.lo[2]));
    k.nrows = (uint32_t)(cells.hi[0] - cells.lo[0]) * k.planes.by;
    k.ncells =
        all ? (uint32_t)(c.nrecords * 8 >> s.naxes) : k.length * (uint32_t)(s.coarse[0] * s.coarse[1] * s.coarse[2]);
    k.ntasks = (all ? (uint32_t)floe_ceil_div(k.ncells, k.length) : k.nrows) * k.pieces.by;
    k.nclasses = (uint8_t)(1u << s.naxes);
    k.width = (uint8_t)s.width;
    k.nbands = (uint8_t)c.nbands;
    for (uint32_t b = 0; b < c.nbands; b++)
        k.begin[b] = (uint32_t)c.begin[b];
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        k.coarse[a] = (uint32_t)s.coarse[a];
        k.stride[a] = stride[a] << (c.in_place ? c.depth[a] : 0);
    }
    for (uint32_t i = 0; i < s.naxes; i++) {
        const uint32_t a = s.axis[i], to_odd = k.stride[a] * (c.in_place ? 1 : k.coarse[a]);
        k.axis[i] = (uint8_t)a;
        k.odds[i] = (uint32_t)s.fine[a] - k.coarse[a];
        k.last = a == FLOE_LATTICE_RANK - 1 ? k.odds[i] : k.last;
        k.stride[a] *= c.in_place ? 2 : 1;
        for (uint32_t class_ = 1; class_ < k.nclasses; class_++)
            k.offset[class_] += class_ >> i & 1 ? to_odd : 0;
    }
    for (int n = 0; n < FLOE_WAVELET_SHIFTS; n++)
        k.shift[n] = c.shift[n];
    return k;
}

/* A launch of as many steps as it has room for. Returns how many they are. */
template <class CODING>
uint32_t coding_of(const floe_wavelet_dev_codes *c, uint32_t n, bool all, CODING &k, uint32_t *nblocks)
{
    const uint64_t most = BLOCKS * (uint64_t)floe_gpu_limits_cuda().processors;
    uint32_t stride[FLOE_LATTICE_RANK] = {0, 0, 0, 1}, table = 0;
    for (uint32_t a = 3; a-- > 0;)
        stride[a] = stride[a + 1] * (uint32_t)c->shape[a + 1];
    k.status = c->status;
    k.axis = c->axis;
    *nblocks = 0;
    for (; k.nsteps < n && k.nsteps < k.MOST && table + c->nbands * FLOE_LATTICE_CLASSES <= k.TABLE; k.nsteps++, c++) {
        step_codes &s = k.step[k.nsteps] = step_of(*c, stride, all);
        k.nclasses = s.nclasses > k.nclasses ? s.nclasses : k.nclasses;
        s.table = table;
        s.block = *nblocks;
        *nblocks += (uint32_t)floe_max64(floe_min64(floe_ceil_div((uint64_t)s.ntasks * s.lanes, THREADS), most), 1);
        for (uint32_t t = 0; t < c->nbands * FLOE_LATTICE_CLASSES; t++)
            k.table[table++] = c->steps[t / FLOE_LATTICE_CLASSES][t % FLOE_LATTICE_CLASSES];
    }
    return k.nsteps;
}

template <class CODING>
int launch(void few(const CODING), void many(const CODING), const floe_wavelet_dev_codes *c, uint32_t n, bool all,
           void *stream)
{
    for (uint32_t done = 0, nblocks; done < n;) {
        CODING k = {};
        done += coding_of(c + done, n - done, all, k, &nblocks);
        FLOE_LAUNCH((k.nclasses > FEW ? many : few), nblocks, THREADS, 0, (cudaStream_t)stream, k);
    }
    return (int)cudaGetLastError();
}

template <bool ENCODE> int launch_codes(const floe_wavelet_dev_codes *c, uint32_t n, void *stream)
{
    if (n && c->in_place)
        return launch(wavelet_codes_kernel<ENCODE, FEW, true>, wavelet_codes_kernel<ENCODE, FLOE_LATTICE_CLASSES, true>,
                      c, n, ENCODE, stream);
    return launch(wavelet_codes_kernel<ENCODE, FEW, false>, wavelet_codes_kernel<ENCODE, FLOE_LATTICE_CLASSES, false>,
                  c, n, ENCODE, stream);
}

} // namespace

int FLOE_R(floe_wavelet_largest)(const floe_wavelet_dev_codes *c, uint32_t n, void *stream)
{
    return launch(wavelet_largest_kernel<FEW>, wavelet_largest_kernel<FLOE_LATTICE_CLASSES>, c, n, false, stream);
}

int FLOE_R(floe_wavelet_encode_codes)(const floe_wavelet_dev_codes *c, uint32_t n, void *stream)
{
    return launch_codes<true>(c, n, stream);
}

int FLOE_R(floe_wavelet_decode_codes)(const floe_wavelet_dev_codes *c, uint32_t n, void *stream)
{
    return launch_codes<false>(c, n, stream);
}
