/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp_stream_cuda.h"

#include "codec/zfp_real_cuda.h"

static bool is_narrow(floe_zfp_type type) { return type == FLOE_ZFP_I32 || type == FLOE_ZFP_F32; }

int floe_zfp_decode_cuda(const floe_zfp_decode_call *call, void *stream)
{
    return is_narrow(call->array.type) ? floe_zfp_decode_f32(call, stream) : floe_zfp_decode_f64(call, stream);
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
