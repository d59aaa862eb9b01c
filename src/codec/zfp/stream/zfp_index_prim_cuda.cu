/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/stream/zfp_index_file_math.h"
#include "prim/prim_map.cuh"

FLOE_PRIM_MAP_CUDA(floe_zfpx_prim_sizes, floe_zfpx_finish_job, floe_zfpx_size)
FLOE_PRIM_MAP_CUDA(floe_zfpx_prim_finish, floe_zfpx_finish_job, floe_zfpx_finish)
FLOE_PRIM_MAP_CUDA(floe_zfpx_prim_open, floe_zfpx_open_job, floe_zfpx_open)
FLOE_PRIM_MAP_CUDA(floe_zfpx_prim_judge, floe_zfpx_open_job, floe_zfpx_judge)
