/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands around payloads in a stream, written on the device, by a thread each. */
#ifndef FLOE_CONTAINER_RECORD_DEV_CUH
#define FLOE_CONTAINER_RECORD_DEV_CUH

#include "backend/device.cuh"
#include "base/xxh3_math.h"
#include "container/layout_math.h"

/* to: where the record begins. */
FLOE_DEV void floe_record_head_put(floe_record head, uint8_t *to)
{
    uint64_t words[FLOE_RECORD_HEAD_WORDS];
    floe_record_pack(&head, words);
    words[4] = floe_record_check_word(floe_xxh3_17_128((const uint8_t *)words, FLOE_RECORD_CHECK_AT));
#pragma unroll
    for (int i = 0; i < FLOE_RECORD_HEAD_WORDS; i++)
        ((uint64_t *)to)[i] = words[i];
}

/* Behind the index of so many records, which begins at byte `index`. */
FLOE_DEV void floe_footer_put(uint8_t *stream, uint64_t index, uint64_t nrecords)
{
    uint64_t words[FLOE_FOOTER_WORDS],
        *to = (uint64_t *)(stream + index + floe_index_span(nrecords)) - FLOE_FOOTER_WORDS;
    floe_footer_pack(nrecords, index, words);
    words[4] = floe_xxh3_17_128((const uint8_t *)words, FLOE_FOOTER_CHECK_AT);
#pragma unroll
    for (int i = 0; i < FLOE_FOOTER_WORDS; i++)
        to[i] = words[i];
}

#endif
