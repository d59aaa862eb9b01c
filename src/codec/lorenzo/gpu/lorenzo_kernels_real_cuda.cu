/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/lorenzo/gpu/lorenzo_kernels.h"

const floe_lorenzo_kernels FLOE_R(floe_lorenzo_kernels) = {
    FLOE_R(floe_lorenzo_encode),      FLOE_R(floe_lorenzo_count),       FLOE_R(floe_lorenzo_code),
    FLOE_R(floe_lorenzo_decode),      FLOE_R(floe_lorenzo_tile_errors), FLOE_R(floe_lorenzo_encode_spill),
    FLOE_R(floe_lorenzo_count_spill), FLOE_R(floe_lorenzo_code_spill),  FLOE_R(floe_lorenzo_decode_spill),
};
