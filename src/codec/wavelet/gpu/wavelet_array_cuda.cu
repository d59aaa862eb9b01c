/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to an array besides stage wavelet: holes are filled, a box is copied, anchors become whole numbers; a thread a point. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "base/grid_math.h"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/lattice/lattice_patterns.cuh"
#include "stage/wavelet/wavelet_values.h"

namespace
{

enum { THREADS = 256, WORD = 32 };

/* ---- boxes ------------------------------------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(THREADS) wavelet_box_kernel(const __grid_constant__ floe_wavelet_box_job j)
{
    const uint64_t n = *j.status == FLOE_OK ? floe_lattice_points(j.n) : 0;
    for (uint64_t i = first_item(); i < n; i += item_step()) {
        uint64_t at[FLOE_LATTICE_RANK];
        floe_lattice_point_of(j.n, i, at);
        const uint64_t box_row = i / j.n[3], x = at[3];
#pragma unroll
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            at[a] += j.lo[a];
        const uint64_t from = floe_lattice_index(j.shape, at);
        if (j.size == sizeof(float))
            ((float *)j.box)[i] = ((const float *)j.array)[from] - (float)j.center;
        else
            ((double *)j.box)[i] = ((const double *)j.array)[from] - j.center;
        if (j.kinds[from / j.shape[3] * j.row + floe_wavelet_mark(at[3])] == FLOE_WAVELET_LITERAL)
            j.box_kinds[box_row * j.box_row + floe_wavelet_mark(x)] = FLOE_WAVELET_LITERAL;
    }
}

/* ---- filling ----------------------------------------------------------------------------------------------------------- */

struct filling {
    floe_wavelet_fill_job job;
    uint32_t n;                           /* points */
    floe_divisor axis[FLOE_LATTICE_RANK]; /* of which each axis has so many */
};

template <floe_wavelet_fill_what WHAT>
__global__ void __launch_bounds__(THREADS) wavelet_fill_kernel(const __grid_constant__ filling f)
{
    const uint32_t n = *f.job.status == FLOE_OK ? f.n : 0;
    for (uint64_t i = first_item(); i < n; i += item_step()) {
        uint64_t at[FLOE_LATTICE_RANK];
        uint32_t left = (uint32_t)i;
        if (WHAT >= FLOE_WAVELET_FILL_REFINE && !f.job.level.holes[i])
            continue;
#pragma unroll
        for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;)
            at[a] = floe_divide(&left, &f.axis[a]);
        floe_wavelet_fill_point(&f.job, WHAT, i, at);
    }
}

template <floe_wavelet_fill_what WHAT> void launch_fill(const floe_wavelet_fill_job &job, void *stream)
{
    filling f = {job, 0, {}};
    const uint64_t *shape = WHAT == FLOE_WAVELET_FILL_COARSEN ? job.coarse.n : job.level.n;
    f.n = (uint32_t)floe_lattice_points(shape);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        f.axis[a] = floe_divisor_of((uint32_t)shape[a]);
    FLOE_LAUNCH(wavelet_fill_kernel<WHAT>, nblocks_of(f.n, THREADS), THREADS, 0, (cudaStream_t)stream, f);
}

/* ---- anchors ----------------------------------------------------------------------------------------------------------- */

/* Anchor i, and its step. */
FLOE_DEV uint64_t anchor_at(const floe_wavelet_anchors_job &j, uint64_t i, double *step)
{
    uint64_t at[FLOE_LATTICE_RANK];
    uint32_t band = j.nbands - 1;
    floe_lattice_point_of(j.n, i, at);
    while (band > 0 && at[j.axis] < j.begin[band])
        band--;
    *step = j.step[band];
    if (j.in_place) {
        at[j.axis] = floe_wavelet_dev_packet_place(at[j.axis], band, j.nbands, j.begin[band]);
#pragma unroll
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            at[a] <<= j.depth[a];
    }
    return floe_lattice_index(j.shape, at);
}

FLOE_DEV int64_t whole_of(const floe_wavelet_anchors_job &j, uint64_t i)
{
    double step;
    const uint64_t at = anchor_at(j, i, &step);
    const double v = floe_wavelet_real_at(j.array, j.narrow, at);
    return floe_wavelet_anchor_whole(floe_wavelet_anchor_finite(v, j.narrow), 1 / step);
}

FLOE_DEV void keep(const floe_wavelet_anchors_job &j, uint64_t i, int64_t whole)
{
    double step;
    const uint64_t at = anchor_at(j, i, &step);
    floe_wavelet_real_set(j.to, j.narrow, at, floe_wavelet_anchor_real(whole, step, j.narrow));
}

/* Word w of the bits: of all anchors that have some there. */
FLOE_DEV void put_word(const floe_wavelet_anchors_job &j, uint64_t w, uint64_t n)
{
    const uint64_t begin = w * WORD, end = floe_min64(begin + WORD, n * j.nbits);
    uint32_t word = 0;
    for (uint64_t i = begin / j.nbits; i * j.nbits < end; i++) {
        const uint64_t v = (uint64_t)(whole_of(j, i) - j.least), at = i * j.nbits;
        word |= (uint32_t)(at < begin ? v >> (begin - at) : v << (at - begin));
    }
    j.bits[w] = word;
}

struct anchors_jobs {
    floe_wavelet_anchors_job of[FLOE_WAVELET_DEV_JOBS];
};

template <floe_wavelet_anchors_what WHAT>
__global__ void __launch_bounds__(THREADS) wavelet_anchors_kernel(const __grid_constant__ anchors_jobs all)
{
    const floe_wavelet_anchors_job &j = all.of[blockIdx.y];
    const uint64_t n = *j.status == FLOE_OK ? floe_lattice_points(j.n) : 0,
                   nitems = WHAT == FLOE_WAVELET_ANCHORS_BITS ? floe_ceil_div(n * j.nbits, WORD) : n;
    unsigned long long most = 0, least = 0;
    for (uint64_t i = first_item(); i < nitems; i += item_step()) {
        if constexpr (WHAT == FLOE_WAVELET_ANCHORS_UNPACK) {
            keep(j, i, floe_wavelet_anchor_get(j.src, j.nbits, j.least, i));
        } else if constexpr (WHAT == FLOE_WAVELET_ANCHORS_BITS) {
            put_word(j, i, n);
        } else {
            const int64_t whole = whole_of(j, i);
            const unsigned long long key = (uint64_t)whole ^ (uint64_t)1 << 63;
            most = key > most ? key : most;
            least = ~key > least ? ~key : least;
            if (j.to)
                keep(j, i, whole);
        }
    }
    if constexpr (WHAT == FLOE_WAVELET_ANCHORS_ROUND) {
        most = floe_warp_max(most);
        least = floe_warp_max(least);
        if (floe_lane() == 0 && (most | least)) {
            atomicMax(j.range, most);
            atomicMax(j.range + 1, least);
        }
    }
}

template <floe_wavelet_anchors_what WHAT>
void launch_anchors(const floe_wavelet_anchors_job *job, uint32_t n, void *stream)
{
    anchors_jobs all = {};
    uint64_t most = 1;
    for (uint32_t i = 0; i < n; i++) {
        all.of[i] = job[i];
        most = floe_max64(most, floe_lattice_points(job[i].n));
    }
    FLOE_LAUNCH(wavelet_anchors_kernel<WHAT>, dim3(nblocks_of(most, THREADS), n), THREADS, 0, (cudaStream_t)stream,
                all);
}

} // namespace

int floe_wavelet_box_cuda(const floe_wavelet_box_job *job, void *stream)
{
    FLOE_LAUNCH(wavelet_box_kernel, nblocks_of(floe_lattice_points(job->n), THREADS), THREADS, 0, (cudaStream_t)stream,
                *job);
    return (int)cudaGetLastError();
}

int floe_wavelet_fill_cuda(const floe_wavelet_fill_job *job, void *stream)
{
    switch (job->what) {
    case FLOE_WAVELET_FILL_MARK: launch_fill<FLOE_WAVELET_FILL_MARK>(*job, stream); break;
    case FLOE_WAVELET_FILL_COARSEN: launch_fill<FLOE_WAVELET_FILL_COARSEN>(*job, stream); break;
    case FLOE_WAVELET_FILL_REFINE: launch_fill<FLOE_WAVELET_FILL_REFINE>(*job, stream); break;
    case FLOE_WAVELET_FILL_ZERO: launch_fill<FLOE_WAVELET_FILL_ZERO>(*job, stream); break;
    case FLOE_WAVELET_FILL_EVEN: launch_fill<FLOE_WAVELET_FILL_EVEN>(*job, stream); break;
    case FLOE_WAVELET_FILL_ODD: launch_fill<FLOE_WAVELET_FILL_ODD>(*job, stream); break;
    }
    return (int)cudaGetLastError();
}

int floe_wavelet_anchors_cuda(const floe_wavelet_anchors_job *job, uint32_t n, floe_wavelet_anchors_what what,
                              void *stream)
{
    switch (what) {
    case FLOE_WAVELET_ANCHORS_ROUND: launch_anchors<FLOE_WAVELET_ANCHORS_ROUND>(job, n, stream); break;
    case FLOE_WAVELET_ANCHORS_BITS: launch_anchors<FLOE_WAVELET_ANCHORS_BITS>(job, n, stream); break;
    case FLOE_WAVELET_ANCHORS_UNPACK: launch_anchors<FLOE_WAVELET_ANCHORS_UNPACK>(job, n, stream); break;
    }
    return (int)cudaGetLastError();
}
