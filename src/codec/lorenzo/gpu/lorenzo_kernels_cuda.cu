/* SPDX-License-Identifier: BSD-3-Clause */
/* Coding: which kernels, and how much scratch. */
#include "codec/lorenzo/gpu/encode/lorenzo_place.cuh"
#include "codec/lorenzo/gpu/lorenzo_kernels.h"

int floe_lorenzo_encode_cuda(const floe_lorenzo_encode_call *call, uint32_t attempt, void *stream)
{
    const floe_lorenzo_kernels *k = floe_lorenzo_kernels_of(call->field.dtype);
    floe_view view;
    floe_view_of(call->field.rank, call->grid.chunk, false, &view); /* swap does not change the rank */
    const int e = k->encode(call, view.rank, attempt, stream);
    return e != 0 || !call->huffman ? e : k->count(call, attempt, stream);
}

int floe_lorenzo_code_cuda(const floe_lorenzo_encode_call *call, void *stream)
{
    return floe_lorenzo_kernels_of(call->field.dtype)->code(call, stream);
}

bool floe_lorenzo_is_small(const floe_lorenzo_encode_call *call)
{
    const uint32_t most = FLOE_SMALL_MOST / FLOE_SMALL_PROCESSORS * floe_small_processors();
    return !call->huffman && call->field.dtype == FLOE_F32 && call->grid.nchunks == 1 && call->grid.slots <= most;
}

uint64_t floe_lorenzo_place_nbytes(const floe_dev_grid *grid) { return floe_place_state_nbytes(grid); }

uint64_t floe_lorenzo_spill_nbytes(const floe_lorenzo_encode_call *call)
{
    const floe_dev_grid *g = &call->grid;
    const floe_lorenzo_kernels *k = floe_lorenzo_kernels_of(call->field.dtype);
    const uint64_t most = k->encode_spill(g);
    if (call->huffman)
        return floe_max64(most, floe_max64(k->count_spill(g), k->code_spill(g)));
    return floe_lorenzo_is_small(call) ? floe_max64(most, floe_lorenzo_small_spill_nbytes(g)) : most;
}

int floe_lorenzo_decode_cuda(const floe_lorenzo_decode_call *call, void *stream)
{
    return floe_lorenzo_kernels_of(call->field.dtype)->decode(call, stream);
}

uint64_t floe_lorenzo_decode_spill_nbytes(floe_dtype dtype, uint64_t max_slots)
{
    return floe_lorenzo_kernels_of(dtype)->decode_spill(max_slots);
}
