/* SPDX-License-Identifier: BSD-3-Clause */
/* What every codec on a GPU works on: the field, the grid of its chunks, their records (base/dev_record.h). Plain types, for both
 * compilers. */
#ifndef FLOE_CODEC_CODEC_DEVICE_H
#define FLOE_CODEC_CODEC_DEVICE_H

#include "base/dev_record.h"
#include "codec/codec.h"

/* The field as the caller has it. By value. */
typedef struct floe_dev_field {
    void *data; /* device memory */
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    int64_t stride[FLOE_MAX_RANK]; /* elements; may be negative */
} floe_dev_field;

/* The grid of chunks. Encode: known beforehand; decode: from the stream, device memory. */
typedef struct floe_dev_grid {
    uint64_t nchunks;
    uint32_t slots;                                      /* of work a chunk, as its codec has it */
    uint64_t shape[FLOE_MAX_RANK], chunk[FLOE_MAX_RANK]; /* of the field; of a full chunk */
} floe_dev_grid;

#endif
