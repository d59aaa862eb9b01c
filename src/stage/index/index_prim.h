/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Indexes over primitives: made and decoded where the data lie, by threads or by a GPU, the bytes and places of index.h.
 * On a GPU nothing waits, and all pointers but those of specs, of the index and of p are device memory.
 */
#ifndef FLOE_STAGE_INDEX_PRIM_H
#define FLOE_STAGE_INDEX_PRIM_H

#include "prim/prim.h"
#include "stage/index/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What came of a call; of the backend's memory. */
typedef struct floe_index_report {
    uint64_t nbytes; /* encode: of the index */
    uint32_t status; /* a floe_status */
    uint32_t reserved;
} floe_index_report;

/* An index of which only spec, blocks and the first one's place are known. ARGUMENT: a spec that cannot be. */
floe_status floe_index_prim_plan(const floe_index_spec *spec, uint64_t nblocks, uint64_t begin, floe_side_index *plan,
                                 floe_error *err);

/* Bytes of workspace (of p) for any of these calls. */
floe_status floe_index_prim_workspace(const floe_prim *p, const floe_index_spec *spec, uint64_t nblocks,
                                      uint64_t *nbytes, floe_error *err);

/* Where an index goes. */
typedef struct floe_index_target {
    void *dst;
    uint64_t capacity;
    floe_index_report *report;
} floe_index_target;

/* floe_side_index_encode. block_most: no block has more units. The report has CAPACITY where dst (aligned to 4) is too
 * small, and ARGUMENT where places reach too far; dst then holds no index. */
floe_status floe_index_prim_encode(const floe_prim *p, const floe_index_spec *spec, const floe_index_blocks *blocks,
                                   uint32_t block_most, const floe_index_target *to, floe_error *err);

/* floe_side_index_decode, of an index whose header the backend has read (floe_index_open_as in index_prim_math.h, with the plan of
 * this spec and these blocks). opened is of its memory. The report has FORMAT where the index lies, or opened has no partitions;
 * places are then written, but of no use. */
floe_status floe_index_prim_decode_opened(const floe_prim *p, const floe_index_spec *spec, uint64_t nblocks,
                                          const floe_side_index *opened, uint64_t *places, floe_index_report *report,
                                          floe_error *err);

#ifdef __cplusplus
}
#endif
#endif
