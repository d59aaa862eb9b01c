/* SPDX-License-Identifier: BSD-3-Clause */
#include "prim/prim_map.cuh"
#include "bench/worklets/wavelet_worklets_math.h"

#define MAP(name, job, worklet) FLOE_PRIM_MAP_CUDA(name, job, worklet) /* of names that are macros */

MAP(FLOE_R(floe_worklet_along), floe_worklet_pass, floe_worklet_along)
MAP(FLOE_R(floe_worklet_across), floe_worklet_pass, floe_worklet_across)
