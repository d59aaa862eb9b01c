/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding: which kernel, and how much scratch. */
#include "codec/lorenzo/gpu/huffman/lorenzo_code_cuda.h"
#include "codec/lorenzo/gpu/huffman/lorenzo_draft_few.h"
#include "codec/lorenzo/gpu/encode/lorenzo_encode_real.h"
#include "codec/lorenzo/gpu/encode/lorenzo_place.cuh"

int floe_lorenzo_encode_cuda(const floe_lorenzo_encode_call *call, uint32_t attempt, void *stream)
{
    floe_view view;
    floe_view_of(call->field.rank, call->grid.chunk, false, &view); /* swap does not change the rank */
    const bool f32 = call->field.dtype == FLOE_F32;
    const int e = f32 ? floe_lorenzo_encode_real_cuda_f32(call, view.rank, attempt, stream)
                      : floe_lorenzo_encode_real_cuda_f64(call, view.rank, attempt, stream);
    if (e != 0 || !call->huffman)
        return e;
    return f32 ? floe_lorenzo_count_real_cuda_f32(call, attempt, stream)
               : floe_lorenzo_count_real_cuda_f64(call, attempt, stream);
}

static bool is_few(const floe_lorenzo_encode_call *call)
{
    const uint32_t most = FLOE_FEW_MOST / FLOE_FEW_PROCESSORS * floe_few_processors();
    return call->field.dtype == FLOE_F32 && call->grid.nchunks == 1 && call->grid.slots <= most;
}

bool floe_lorenzo_drafts_are_few(const floe_lorenzo_encode_call *call) { return call->huffman && is_few(call); }
bool floe_lorenzo_is_few(const floe_lorenzo_encode_call *call) { return !call->huffman && is_few(call); }

uint64_t floe_lorenzo_place_nbytes(const floe_dev_grid *grid) { return floe_place_state_nbytes(grid); }

uint64_t floe_lorenzo_spill_nbytes(const floe_lorenzo_encode_call *call)
{
    const floe_dev_grid *g = &call->grid;
    const bool f32 = call->field.dtype == FLOE_F32;
    const uint64_t few = is_few(call) ? floe_lorenzo_few_spill_nbytes(g) : 0;
    const uint64_t many = f32 ? floe_lorenzo_encode_spill_nbytes_f32(g) : floe_lorenzo_encode_spill_nbytes_f64(g);
    if (!call->huffman)
        return floe_max64(few, many);
    const uint64_t counts = f32 ? floe_lorenzo_count_spill_nbytes_f32(g) : floe_lorenzo_count_spill_nbytes_f64(g);
    const uint64_t code = f32 ? floe_lorenzo_code_spill_nbytes_f32(g) : floe_lorenzo_code_spill_nbytes_f64(g);
    return floe_max64(floe_max64(few, many), floe_max64(counts, code));
}
