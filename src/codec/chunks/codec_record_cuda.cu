/* SPDX-License-Identifier: BSD-3-Clause */
/* A chunk's record: all blocks copy what is placed, and add up its checks. */
#include "codec/chunks/codec_record.cuh"

/* nbytes from src, aligned to 4, to wherever dst is; by threads me, me + step, ... */
FLOE_DEV void floe_copy_bytes(uint8_t *dst, const void *src, uint64_t nbytes, uint64_t me, uint64_t step)
{
    const uint32_t near = (uint32_t)(-(uintptr_t)dst & 3), head = near < nbytes ? near : (uint32_t)nbytes,
                   shift = 8 * head;
    const uint32_t *words = (const uint32_t *)src;
    const uint64_t whole = nbytes / 4, n = shift && whole ? whole - 1 : whole; /* a shifted word takes parts of two */
    for (uint64_t i = me; i < n; i += step)
        ((uint32_t *)(dst + head))[i] = shift ? __funnelshift_r(words[i], words[i + 1], shift) : words[i];
    const uint64_t rest = nbytes - 4 * n; /* head, and what is behind the words */
    for (uint64_t i = me; i < rest; i += step) {
        const uint64_t at = i < head ? i : i + 4 * n;
        dst[at] = ((const uint8_t *)src)[at];
    }
}

namespace
{

enum { THREADS = 256 };

typedef floe_codec_record_job job;

/* Entropy chunks of a grid: each by a block or, where they are many, by a warp. Those of all grids go round. */
FLOE_DEV void copy_chunks(const job &j, uint8_t *payload, uint32_t grid)
{
    const floe_context_dev_grid &g = j.context.grids[grid];
    const bool few = g.nchunks < gridDim.x * (THREADS / FLOE_WARP);
    const uint32_t team = few ? (uint32_t)THREADS : FLOE_WARP, each = THREADS / team, nteams = gridDim.x * each,
                   me = blockIdx.x * each + threadIdx.x / team;
    for (uint32_t i = (me + nteams - g.first % nteams) % nteams; i < g.nchunks; i += nteams) {
        const uint32_t chunk = g.first + i;
        const uint64_t nbytes = 4 * (uint64_t)j.context.sizes[chunk];
        if (nbytes)
            floe_copy_bytes(payload + j.chunks_at[grid] + 4 * j.places[chunk],
                            (const uint8_t *)(j.context.slots + j.context.slot_ends[1 + chunk]) - nbytes, nbytes,
                            threadIdx.x % team, team);
    }
}

/* In C order to `to`, aligned to 4. */
FLOE_DEV void copy_values(const job &j, void *to, uint64_t me, uint64_t step)
{
    const uint64_t n = floe_lattice_points(j.shape);
    for (uint64_t i = me; i < n; i += step) {
        const uint32_t *from =
            (const uint32_t *)j.values.data + floe_lattice_view_number(&j.values, j.shape, i) * (j.size / 4);
        uint32_t *word = (uint32_t *)to + i * (j.size / 4);
        word[0] = from[0];
        if (j.size == 8)
            word[1] = from[1];
    }
}

__global__ void __launch_bounds__(THREADS) codec_record_kernel(const __grid_constant__ job j)
{
    const uint64_t me = (uint64_t)blockIdx.x * THREADS + threadIdx.x, step = (uint64_t)gridDim.x * THREADS;
    if (*j.context.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    uint8_t *payload = record_payload(j);
    const uint64_t *ends = j.chunks_at + j.context.ngrids;
    const bool raw = ends[2] != 0;
    if (raw) {
        floe_copy_bytes(payload, j.raw_header, j.raw_header_nbytes, me, step);
        copy_values(j, payload + j.raw_header_nbytes, me, step);
    } else {
        for (uint64_t i = 0; i < ends[0]; i++)
            floe_copy_bytes(payload + j.pieces[i].at, j.pieces[i].src, j.pieces[i].nbytes, me, step);
        for (uint32_t g = 0; g < j.context.ngrids; g++)
            copy_chunks(j, payload, g);
    }
    for (uint64_t i = (raw ? raw_nbytes_of(j) : ends[1]) + me; i < j.out.record->nbytes; i += step)
        payload[i] = 0;
}

__global__ void __launch_bounds__(THREADS) codec_checks_kernel(const __grid_constant__ job j)
{
    const uint64_t *ends = j.chunks_at + j.context.ngrids, step = (uint64_t)gridDim.x * THREADS;
    if (*j.context.status != FLOE_OK || ends[2])
        return;
    uint32_t *words = (uint32_t *)record_payload(j);
    for (uint64_t c = 0; c < ends[3]; c++) {
        const floe_codec_check check = j.checks[c];
        const uint64_t begin = check.begin + blockIdx.x * (uint64_t)THREADS;
        uint32_t sum = 0;
        if (begin + threadIdx.x / FLOE_WARP * FLOE_WARP >= check.end)
            continue;
        for (uint64_t i = begin + threadIdx.x; i < check.end; i += step)
            sum += i == check.at ? 0 : floe_ans_check_word(i, words[i]);
        sum = floe_warp_sum(sum);
        if (floe_lane() == 0)
            atomicAdd(words + check.at, sum);
    }
}

} // namespace

int floe_codec_record_cuda(const floe_codec_record_job *job, void *stream)
{
    const uint32_t processors = floe_gpu_limits_cuda().processors;
    FLOE_LAUNCH(codec_record_kernel, 4 * processors, THREADS, 0, (cudaStream_t)stream, *job);
    FLOE_LAUNCH(codec_checks_kernel, processors, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
