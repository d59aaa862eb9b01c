/* SPDX-License-Identifier: BSD-3-Clause */
/* Details of a step <-> codes in records: a thread does cells, of which a record has one or more. */
#include <floe/floe.h>

#include "backend/device.cuh"
#include "base/grid_math.h"
#include "stage/wavelet/wavelet_cuda.h"
#include "stage/wavelet/wavelet_math.h"

namespace
{

enum { THREADS = 256, BLOCKS = 16 /* of a processor, at most */ };

/* Cells of rows that are whole records. Numbers that fit 32 bits: a record has up to 4 cells. */
struct coding {
    floe_wavelet_dev_codes c;
    uint32_t length, nrows, ncells;                          /* cells of a row; all of them */
    uint32_t coarse[3], nclasses, nbytes;                    /* of the codes of a cell */
    uint32_t stride[3], offset[FLOE_INTERP_CLASSES];         /* of the array; from a mean to each class's detail */
    uint32_t odds[FLOE_INTERP_AXES], axis[FLOE_INTERP_AXES]; /* details along each axis of the step */
    floe_real step[FLOE_WAVELET_DEV_BANDS][FLOE_INTERP_CLASSES], inverse[FLOE_WAVELET_DEV_BANDS][FLOE_INTERP_CLASSES];
};

/* A cell: which of its classes have a detail. */
struct cell {
    uint32_t at, band, classes; /* at: of its mean */
};

FLOE_DEV cell cell_of(const coding &k, uint32_t index)
{
    const uint32_t row = index / k.length, x = index % k.length;
    const uint32_t point[] = {row / k.coarse[2] / k.coarse[1], row / k.coarse[2] % k.coarse[1], row % k.coarse[2], x};
    cell c = {point[0] * k.stride[0] + point[1] * k.stride[1] + point[2] * k.stride[2] + x, 0, 0};
    uint32_t has = 0;
    if (row >= k.nrows || x >= k.c.step.coarse[3])
        return c;
#pragma unroll
    for (uint32_t i = 0; i < FLOE_INTERP_AXES; i++) {
        uint32_t p = point[0];
#pragma unroll
        for (uint32_t a = 1; a < FLOE_INTERP_RANK; a++)
            p = a == k.axis[i] ? point[a] : p;
        has |= (p < k.odds[i]) << i;
    }
#pragma unroll
    for (uint32_t class_ = 1; class_ < FLOE_INTERP_CLASSES; class_++)
        c.classes |= (class_ < k.nclasses && (class_ & ~has) == 0) << class_;
    for (uint32_t b = 1; b < k.c.nbands; b++) {
        uint32_t p = point[0];
#pragma unroll
        for (uint32_t a = 1; a < FLOE_INTERP_RANK; a++)
            p = a == k.c.axis ? point[a] : p;
        c.band += p >= k.c.begin[b];
    }
    return c;
}

/* ---- the largest ------------------------------------------------------------------------------------------------------- */

/* Quotients are made of what may be larger than the largest so far alone. */
__global__ void __launch_bounds__(THREADS) wavelet_largest_kernel(const __grid_constant__ coding k)
{
    if (*k.c.status != FLOE_OK)
        return;
    double most = floe_f64_of(*(volatile unsigned long long *)k.c.largest);
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < k.ncells; i += gridDim.x * THREADS) {
        const cell c = cell_of(k, i);
        const floe_real *v = (const floe_real *)k.c.array + c.at;
#pragma unroll
        for (uint32_t class_ = 1; class_ < FLOE_INTERP_CLASSES; class_++) {
            if (!(c.classes >> class_ & 1))
                continue;
            const floe_real w = v[k.offset[class_]];
            const double size = w < 0 ? -(double)w : (double)w, step = k.c.steps[c.band][class_];
            if (size >= most * step * (1 - 0x1p-50)) {
                const double q = size / step;
                most = q > most ? q : most;
            }
        }
    }
    unsigned long long bits = floe_bits_f64(most);
    for (uint32_t d = FLOE_WARP / 2; d; d /= 2) {
        const unsigned long long other = __shfl_xor_sync(FLOE_ALL_LANES, bits, (int)d);
        bits = other > bits ? other : bits;
    }
    if (floe_lane() == 0 && bits > *(volatile unsigned long long *)k.c.largest)
        atomicMax(k.c.largest, bits);
}

/* ---- codes ------------------------------------------------------------------------------------------------------------- */

FLOE_DEV void add_all(unsigned long long *to, int32_t v)
{
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    int64_t all = v;
    for (uint32_t d = FLOE_WARP / 2; d; d /= 2)
        all += __shfl_xor_sync(FLOE_ALL_LANES, all, (int)d);
    if (floe_lane() == 0)
        atomicAdd(&sum, (unsigned long long)all);
    __syncthreads();
    if (threadIdx.x == 0 && sum)
        atomicAdd(to, sum);
    __syncthreads();
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

template <uint32_t WIDTH>
__global__ void __launch_bounds__(THREADS) wavelet_encode_kernel(const __grid_constant__ coding k)
{
    const floe_real limit = WIDTH == 1 ? 127 : 32767;
    int32_t sum[FLOE_WAVELET_SHIFTS] = {}, count[FLOE_WAVELET_SHIFTS] = {};
    if (*k.c.status != FLOE_OK)
        return;
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < k.ncells; i += gridDim.x * THREADS) {
        const cell c = cell_of(k, i);
        const floe_real *v = (const floe_real *)k.c.array + c.at;
        uint64_t codes[2] = {0, 0};
#pragma unroll
        for (uint32_t class_ = 1; class_ < FLOE_INTERP_CLASSES; class_++) {
            const bool is = c.classes >> class_ & 1;
            const floe_real w = is ? v[k.offset[class_]] : 0, inverse = k.inverse[c.band][class_];
            const int32_t m = FLOE_R(floe_wavelet_encode)(w, inverse, limit),
                          off = FLOE_R(floe_wavelet_off)(w, inverse, m);
#pragma unroll
            for (int32_t s = 0; s < FLOE_WAVELET_SHIFTS; s++) {
                const bool mine = is && (s < FLOE_WAVELET_SHIFTS - 1 ? m == s + 1 : m > s);
                sum[s] += mine ? off : 0;
                count[s] += mine;
            }
            const uint32_t bits = (uint32_t)(w < 0 ? -m : m) & (WIDTH == 1 ? 0xFFu : 0xFFFFu);
            const uint32_t at = (class_ - 1) * WIDTH * 8;
            codes[at / 64] |= (uint64_t)bits << at % 64;
        }
        store_codes((uint8_t *)k.c.records + (uint64_t)i * k.nbytes, k.nbytes, codes[0], codes[1]);
    }
    for (int s = 0; s < FLOE_WAVELET_SHIFTS; s++) {
        add_all((unsigned long long *)&k.c.means->sum[s], sum[s]);
        add_all((unsigned long long *)&k.c.means->count[s], count[s]);
    }
}

template <uint32_t WIDTH>
__global__ void __launch_bounds__(THREADS) wavelet_decode_kernel(const __grid_constant__ coding k)
{
    floe_real shift[FLOE_WAVELET_SHIFTS];
    if (*k.c.status != FLOE_OK)
        return;
#pragma unroll
    for (int s = 0; s < FLOE_WAVELET_SHIFTS; s++) {
        const int32_t units = k.c.means ? floe_wavelet_shift_of(k.c.means->sum[s], k.c.means->count[s]) : k.c.shift[s];
        shift[s] = FLOE_R(floe_wavelet_shift)(units);
    }
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < k.ncells; i += gridDim.x * THREADS) {
        const cell c = cell_of(k, i);
        floe_real *v = (floe_real *)k.c.array + c.at;
        uint64_t codes[2];
        if (c.classes == 0)
            continue;
        load_codes((const uint8_t *)k.c.records + (uint64_t)i * k.nbytes, k.nbytes, &codes[0], &codes[1]);
#pragma unroll
        for (uint32_t class_ = 1; class_ < FLOE_INTERP_CLASSES; class_++) {
            const uint32_t at = (class_ - 1) * WIDTH * 8, bits = (uint32_t)(codes[at / 64] >> at % 64);
            const int32_t code = WIDTH == 1 ? (int8_t)bits : (int16_t)bits, m = code < 0 ? -code : code;
            if (c.classes >> class_ & 1)
                v[k.offset[class_]] = m == 0 ? 0
                                             : FLOE_R(floe_wavelet_decode)(code,
                                                                           m == 1   ? shift[0]
                                                                           : m == 2 ? shift[1]
                                                                                    : shift[2],
                                                                           k.step[c.band][class_]);
        }
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

coding coding_of(const floe_wavelet_dev_codes &c)
{
    const floe_interp_step &s = c.step;
    const uint64_t row = floe_interp_row_records(&s);
    coding k = {};
    uint64_t stride[FLOE_INTERP_RANK];
    k.c = c;
    k.length = (uint32_t)(row * 8 >> s.naxes);
    k.nrows = (uint32_t)(s.coarse[0] * s.coarse[1] * s.coarse[2]);
    k.ncells = k.length * k.nrows;
    k.nclasses = 1u << s.naxes;
    k.nbytes = s.width << s.naxes;
    stride[3] = 1;
    for (uint32_t a = 3; a-- > 0;) {
        stride[a] = stride[a + 1] * c.shape[a + 1];
        k.stride[a] = (uint32_t)stride[a];
        k.coarse[a] = (uint32_t)s.coarse[a];
    }
    for (uint32_t i = 0; i < s.naxes; i++) {
        k.axis[i] = s.axis[i];
        k.odds[i] = (uint32_t)(s.fine[s.axis[i]] - s.coarse[s.axis[i]]);
        for (uint32_t class_ = 1; class_ < k.nclasses; class_++)
            k.offset[class_] += class_ >> i & 1 ? (uint32_t)(s.coarse[s.axis[i]] * stride[s.axis[i]]) : 0;
    }
    for (uint32_t b = 0; b < c.nbands; b++)
        for (uint32_t class_ = 1; class_ < k.nclasses; class_++) {
            k.step[b][class_] = (floe_real)c.steps[b][class_];
            k.inverse[b][class_] = 1 / k.step[b][class_];
        }
    return k;
}

int launch(void (*kernel)(const coding), const coding &k, void *stream)
{
    const uint64_t nblocks = floe_ceil_div(k.ncells, THREADS),
                   most = BLOCKS * (uint64_t)floe_gpu_limits_cuda().processors;
    FLOE_LAUNCH(kernel, (uint32_t)floe_min64(nblocks, most), THREADS, 0, (cudaStream_t)stream, k);
    return (int)cudaGetLastError();
}

} // namespace

int FLOE_R(floe_wavelet_largest)(const floe_wavelet_dev_codes *c, void *stream)
{
    return launch(wavelet_largest_kernel, coding_of(*c), stream);
}

int FLOE_R(floe_wavelet_encode_codes)(const floe_wavelet_dev_codes *c, void *stream)
{
    coding k = coding_of(*c);
    k.ncells += (uint32_t)((c->nrecords - (uint64_t)k.nrows * k.length / (8u >> c->step.naxes)) * 8 >> c->step.naxes);
    return launch(c->step.width == 1 ? wavelet_encode_kernel<1> : wavelet_encode_kernel<2>, k, stream);
}

int FLOE_R(floe_wavelet_decode_codes)(const floe_wavelet_dev_codes *c, void *stream)
{
    return launch(c->step.width == 1 ? wavelet_decode_kernel<1> : wavelet_decode_kernel<2>, coding_of(*c), stream);
}
