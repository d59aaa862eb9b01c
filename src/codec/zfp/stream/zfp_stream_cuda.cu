/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/stream/zfp_stream_cuda.h"

#include "backend/device.cuh"
#include "base/hd.h"
#include "codec/zfp/stream/zfp_real_cuda.h"

namespace
{

enum { HEADER_WORDS = FLOE_ZFP_HEADER_NBYTES / 4 };

struct header_words {
    uint32_t word[HEADER_WORDS];
};

/* A thread puts a word. */
__global__ void zfp_header_kernel(const __grid_constant__ header_words header, uint32_t *dst)
{
    dst[threadIdx.x] = header.word[threadIdx.x];
}

} // namespace

static bool is_narrow(floe_zfp_type type) { return type == FLOE_ZFP_I32 || type == FLOE_ZFP_F32; }

int floe_zfp_decode_cuda(const floe_zfp_decode_call *call, void *stream)
{
    return is_narrow(call->array.type) ? floe_zfp_decode_f32(call, stream) : floe_zfp_decode_f64(call, stream);
}

int floe_zfp_measure_cuda(const floe_zfp_measure_call *call, void *stream)
{
    return is_narrow(call->array.type) ? floe_zfp_measure_f32(call, stream) : floe_zfp_measure_f64(call, stream);
}

int floe_zfp_encode_scratch_cuda(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t *nbytes)
{
    return is_narrow(array->type) ? floe_zfp_encode_scratch_f32(array, params, nbytes)
                                  : floe_zfp_encode_scratch_f64(array, params, nbytes);
}

int floe_zfp_encode_cuda(const floe_zfp_encode_call *call, void *stream)
{
    return is_narrow(call->array.type) ? floe_zfp_encode_f32(call, stream) : floe_zfp_encode_f64(call, stream);
}

int floe_zfp_header_put_cuda(const uint8_t header[FLOE_ZFP_HEADER_NBYTES], uint32_t nbits, void *dst, uint64_t capacity,
                             void *stream)
{
    header_words h;
    const uint32_t nwords = (uint32_t)floe_min64((nbits + 31) / 32, capacity / 4);
    uint32_t *words = (uint32_t *)dst;
    memcpy(&h, header, sizeof h);
    if (nwords == 0)
        return (int)cudaSuccess;
    FLOE_LAUNCH(zfp_header_kernel, 1, nwords, 0, (cudaStream_t)stream, h, words);
    return (int)cudaGetLastError();
}
