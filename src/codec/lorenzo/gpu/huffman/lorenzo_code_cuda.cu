/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/lorenzo/gpu/huffman/lorenzo_code_cuda.h"

int floe_lorenzo_code_cuda(const floe_lorenzo_encode_call *call, void *stream)
{
    return call->field.dtype == FLOE_F32 ? floe_lorenzo_code_f32(call, stream) : floe_lorenzo_code_f64(call, stream);
}
