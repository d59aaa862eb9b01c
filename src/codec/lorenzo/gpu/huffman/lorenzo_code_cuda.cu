/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/lorenzo/gpu/huffman/lorenzo_code_cuda.h"
#include "backend/device.cuh"

int floe_lorenzo_code_cuda(const floe_lorenzo_encode_call *call, void *stream)
{
    const bool f32 = call->field.dtype == FLOE_F32;
    const uint32_t most = f32 ? floe_lorenzo_code_few_most_f32() : floe_lorenzo_code_few_most_f64();
    if (call->grid.nchunks == 1 && call->grid.slots <= most)
        return f32 ? floe_lorenzo_code_few_f32(call, stream) : floe_lorenzo_code_few_f64(call, stream);
    return f32 ? floe_lorenzo_code_f32(call, stream) : floe_lorenzo_code_f64(call, stream);
}

uint64_t floe_lorenzo_code_spill_nbytes(floe_dtype dtype, const floe_dev_grid *grid)
{
    if (dtype == FLOE_F32)
        return floe_max64(floe_lorenzo_code_spill_nbytes_f32(grid), floe_lorenzo_code_few_spill_nbytes_f32(grid));
    return floe_max64(floe_lorenzo_code_spill_nbytes_f64(grid), floe_lorenzo_code_few_spill_nbytes_f64(grid));
}
