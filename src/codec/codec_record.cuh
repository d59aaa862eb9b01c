/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a chunk whose bytes are known, for codecs that write one chunk after another. */
#ifndef FLOE_CODEC_CODEC_RECORD_CUH
#define FLOE_CODEC_CODEC_RECORD_CUH

#include <floe/floe.h>

#include "backend/device_copy.cuh"
#include "base/dev_record.h"
#include "base/grid_math.h"
#include "stage/interp/interp_shape.h"

namespace
{

FLOE_DEV uint8_t *record_payload(const floe_dev_record_place &p)
{
    return p.stream + p.record->offset + FLOE_RECORD_HEAD_NBYTES;
}

/* By a thread. */
FLOE_DEV void end_record(const floe_dev_record_place &p, uint64_t payload, const floe_dev_chunk_stats &stats,
                         uint32_t *status)
{
    const uint64_t begin = *p.end, end = begin + FLOE_RECORD_HEAD_NBYTES + ((payload + 7) & ~(uint64_t)7);
    const floe_dev_record record = {begin, payload, 0};
    *p.record = record;
    *p.stats = stats;
    *p.end = end;
    if (end > p.capacity)
        *status = FLOE_ERR_CAPACITY;
}

/* Values of this size in C order to `to`, aligned to 4; by threads me, me + step, ... */
FLOE_DEV void copy_values(const floe_interp_view &v, const uint64_t *shape, uint32_t size, void *to, uint64_t me,
                          uint64_t step)
{
    const uint64_t n = floe_interp_points(shape);
    for (uint64_t i = me; i < n; i += step) {
        uint64_t left = i;
        int64_t at = 0;
#pragma unroll
        for (uint32_t a = FLOE_INTERP_RANK; a-- > 1;)
            at += (int64_t)floe_last_digit(&left, shape[a]) * v.stride[a];
        at += (int64_t)left * v.stride[0];
        const uint32_t *from = (const uint32_t *)v.data + at * (int64_t)(size / 4);
        uint32_t *word = (uint32_t *)to + i * (size / 4);
        word[0] = from[0];
        if (size == 8)
            word[1] = from[1];
    }
}

} // namespace

#endif
