/* SPDX-License-Identifier: BSD-3-Clause */
#include "null_codec_gpu.h"

#include "backend/device.cuh"
#include "base/grid_math.h"
#include "codec/resolve/resolve.cuh"

namespace
{

enum { THREADS = 64 };

/* A codec whose chunks have nothing to begin with. */
struct beginning {
    typedef null_encode call;
    typedef floe_codec_params params;
    typedef int plan, shared;
    static constexpr bool INTEGERS = true;
    FLOE_DEV void make(uint32_t half, const floe_codec_params *p, params *to)
    {
        if (half == 0)
            *to = *p;
    }
    FLOE_DEV void clear(floe_share, const call *) {}
    FLOE_DEV void early(const call *, const plan *, shared *) {}
    FLOE_DEV void late(const call *, const plan *, const params *) {}
    template <bool EVEN> FLOE_DEV void ready(const call *, const plan *, const params *, shared *) {}
};

FLOE_DEV uint64_t count(uint32_t rank, const uint64_t *extent)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < rank; a++)
        n *= extent[a];
    return n;
}

FLOE_DEV uint32_t size_of(const floe_dev_field &f) { return f.dtype == FLOE_F32 || f.dtype == FLOE_I32 ? 4 : 8; }

FLOE_DEV void copy_value(uint8_t *to, const uint8_t *from, uint32_t size)
{
    if (size == 4)
        *(uint32_t *)to = *(const uint32_t *)from;
    else
        *(uint64_t *)to = *(const uint64_t *)from;
}

FLOE_DEV uint64_t record_span(uint64_t nbytes) { return FLOE_RECORD_HEAD_NBYTES + (nbytes + 7) / 8 * 8; }

/* Records one behind the other. By a thread. */
FLOE_DEV floe_dev_record record_of(const null_encode &call, uint64_t chunk)
{
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    floe_dev_record r = {call.first_offset, 0, 0};
    for (uint64_t c = 0; c <= chunk; c++) {
        r.offset += c ? record_span(r.nbytes) : 0;
        floe_grid_cut(call.field.rank, call.grid.shape, call.grid.chunk, c, lo, extent);
        r.nbytes = count(call.field.rank, extent) * size_of(call.field);
    }
    return r;
}

/* A block owns a chunk. */
__global__ void null_encode_kernel(const null_encode call)
{
    const floe_dev_field &f = call.field;
    const uint64_t chunk = blockIdx.x;
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    const floe_dev_record r = record_of(call, chunk);
    floe_grid_cut(f.rank, call.grid.shape, call.grid.chunk, chunk, lo, extent);
    const bool fits = r.offset + record_span(r.nbytes) <= call.capacity;
    if (threadIdx.x == 0) {
        call.records[chunk] = r;
        memset(call.stats + chunk, 0, sizeof *call.stats);
        if (!fits)
            *call.status = FLOE_ERR_CAPACITY;
        if (chunk + 1 == call.grid.nchunks)
            *call.end = r.offset + record_span(r.nbytes);
    }
    const uint32_t size = size_of(f);
    for (uint64_t i = threadIdx.x; fits && i < r.nbytes / size; i += THREADS) {
        int64_t at = 0;
        uint64_t rest = i;
        for (uint32_t a = f.rank; a-- > 0; rest /= extent[a])
            at += (int64_t)(lo[a] + rest % extent[a]) * f.stride[a];
        copy_value(call.stream + r.offset + FLOE_RECORD_HEAD_NBYTES + i * size,
                   (const uint8_t *)f.data + at * (int64_t)size, size);
    }
}

/* A block owns a chunk: all its values that lie in the box. */
__global__ void null_decode_kernel(const null_decode call)
{
    const floe_dev_field &f = call.field;
    const uint64_t chunk = blockIdx.x;
    const uint32_t size = size_of(f);
    if (*call.status != FLOE_OK || chunk >= *call.nrecords)
        return;
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    floe_grid_cut(f.rank, call.layout, call.layout + FLOE_MAX_RANK, chunk, lo, extent);
    const floe_dev_record r = call.records[chunk];
    const bool right = r.nbytes == count(f.rank, extent) * size;
    if (!right && threadIdx.x == 0)
        atomicCAS(call.status, (uint32_t)FLOE_OK, (uint32_t)FLOE_ERR_FORMAT);
    for (uint64_t i = threadIdx.x; right && i < r.nbytes / size; i += THREADS) {
        int64_t at = 0;
        uint64_t rest = i;
        bool inside = true;
        for (uint32_t a = f.rank; a-- > 0; rest /= extent[a]) {
            const uint64_t x = lo[a] + rest % extent[a];
            inside &= x >= call.lo[a] && x < call.hi[a];
            at += (int64_t)(x - call.lo[a]) * f.stride[a];
        }
        if (inside)
            copy_value((uint8_t *)f.data + at * (int64_t)size,
                       call.stream + r.offset + FLOE_RECORD_HEAD_NBYTES + i * size, size);
    }
}

/* The end of no records. */
__global__ void null_end_kernel(const null_encode call) { *call.end = call.first_offset; }

} // namespace

int floe_null_resolve_cuda(const null_encode *call, const floe_resolve_job *job, void *stream)
{
    const int plan = 0;
    const resolve_begin<beginning> begin = {call, &plan, &job->codec, 1};
    const cudaStream_t q = (cudaStream_t)stream;
    return (int)(job->scans ? resolve_launch_scan(job, &begin, q) : resolve_launch_ready<false>(job, &begin, q));
}

int floe_null_encode_cuda(const null_encode *call, void *stream)
{
    const null_encode c = *call;
    if (c.grid.nchunks > 0)
        FLOE_LAUNCH(null_encode_kernel, (uint32_t)c.grid.nchunks, THREADS, 0, (cudaStream_t)stream, c);
    else
        FLOE_LAUNCH(null_end_kernel, 1, 1, 0, (cudaStream_t)stream, c);
    return (int)cudaGetLastError();
}

int floe_null_decode_cuda(const null_decode *call, void *stream)
{
    const null_decode c = *call;
    if (c.max_chunks > 0)
        FLOE_LAUNCH(null_decode_kernel, (uint32_t)c.max_chunks, THREADS, 0, (cudaStream_t)stream, c);
    return (int)cudaGetLastError();
}
