/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoding: which kernels, and how much scratch. */
#include "codec/lorenzo/gpu/decode/lorenzo_decode_real.h"

int floe_lorenzo_decode_cuda(const floe_lorenzo_decode_call *call, void *stream)
{
    return call->field.dtype == FLOE_F32 ? floe_lorenzo_decode_real_cuda_f32(call, stream)
                                         : floe_lorenzo_decode_real_cuda_f64(call, stream);
}

uint64_t floe_lorenzo_decode_spill_nbytes(floe_dtype dtype, uint64_t max_slots)
{
    return dtype == FLOE_F32 ? floe_lorenzo_decode_spill_nbytes_f32(max_slots)
                             : floe_lorenzo_decode_spill_nbytes_f64(max_slots);
}
