/* SPDX-License-Identifier: BSD-3-Clause */
/* What zfpblock's _cpu.c files are to one another; the contracts are in zfpblock.h. */
#ifndef FLOE_STAGE_ZFPBLOCK_CPU_H
#define FLOE_STAGE_ZFPBLOCK_CPU_H

#include "base/real.h"
#include "stage/zfpblock/zfpblock.h"

uint64_t FLOE_V(floe_zfp_encode)(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first,
                                 uint64_t count, uint8_t *dst, uint16_t *lengths);

extern const floe_zfpblock_ops FLOE_V(floe_zfpblock_ops);

#endif
