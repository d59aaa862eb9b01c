/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/stream/zfp_index_file_math.h"
#include "prim/prim_map.cuh"

FLOE_PRIM_MAP_CUDA(floe_zfpx_size_map, floe_zfpx_finish_job, floe_zfpx_size)
FLOE_PRIM_MAP_CUDA(floe_zfpx_finish_map, floe_zfpx_finish_job, floe_zfpx_finish)
FLOE_PRIM_MAP_CUDA(floe_zfpx_open_map, floe_zfpx_open_job, floe_zfpx_open)
FLOE_PRIM_MAP_CUDA(floe_zfpx_judge_map, floe_zfpx_open_job, floe_zfpx_judge)
