/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/zfp/stream/zfp_index_prim.h"

#include "codec/zfp/stream/zfp_index_file_math.h"
#include "prim/prim_map.h"

FLOE_PRIM_MAP(floe_zfpx_prim_sizes, floe_zfpx_finish_job, floe_zfpx_size)
FLOE_PRIM_MAP(floe_zfpx_prim_finish, floe_zfpx_finish_job, floe_zfpx_finish)
FLOE_PRIM_MAP(floe_zfpx_prim_open, floe_zfpx_open_job, floe_zfpx_open)
FLOE_PRIM_MAP(floe_zfpx_prim_judge, floe_zfpx_open_job, floe_zfpx_judge)

void floe_zfpx_desc(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t words[FLOE_ZFPX_DESC_WORDS])
{
    memset(words, 0, FLOE_ZFPX_DESC_WORDS * sizeof *words);
    words[0] = FLOE_ZFPX_MAGIC;
    words[FLOE_ZFPX_AT_VERSION] = FLOE_ZFPX_VERSION | FLOE_ZFPX_VERSION << 16 | (uint64_t)FLOE_ZFPX_HEADER_NBYTES << 32;
    words[FLOE_ZFPX_AT_TYPE] = (uint64_t)array->type | array->rank << 8;
    words[FLOE_ZFPX_AT_PARAMS] = params->minbits | (uint64_t)params->maxbits << 32;
    words[FLOE_ZFPX_AT_PARAMS + 1] = params->maxprec | (uint64_t)(uint32_t)params->minexp << 32;
    for (uint32_t i = 0; i < array->rank; i++)
        words[FLOE_ZFPX_AT_SHAPE + i] = array->shape[i];
}
