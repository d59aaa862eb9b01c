/* SPDX-License-Identifier: BSD-3-Clause */
#include "prim/prim_map.cuh"
#include "bench/worklets/wavelet_select_math.h"

FLOE_PRIM_MAP_CUDA(floe_select_count_lane, floe_select, floe_select_count_lane)
FLOE_PRIM_MAP_CUDA(floe_select_clear_map, floe_select, floe_select_clear)
FLOE_PRIM_MAP_CUDA(floe_select_digit_map, floe_select, floe_select_digit)
FLOE_PRIM_MAP_CUDA(floe_select_keep_map, floe_select, floe_select_keep)
FLOE_PRIM_MAP_CUDA(floe_select_start_map, floe_select, floe_select_start)
FLOE_PRIM_MAP_CUDA(floe_select_copy_map, floe_select_box, floe_select_copy)
