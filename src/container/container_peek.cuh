/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a chunk lies in a stream, for who decodes it before header and index have been judged: that goes on beside
 * (floe_container_open_cuda), and its verdict comes later. So nothing here is to be trusted, but all that is named lies inside
 * the stream, and the layout is one that a header may have.
 */
#ifndef FLOE_CONTAINER_CONTAINER_PEEK_CUH
#define FLOE_CONTAINER_CONTAINER_PEEK_CUH

#include "backend/device.cuh"
#include "container/container_cuda.h"
#include "container/header_math.h"

/* Shared memory of a block. */
typedef struct floe_peek {
    uint64_t head[FLOE_HEADER_FIELD_WORDS_MAX], footer[FLOE_FOOTER_WORDS], entry[FLOE_INDEX_ENTRY_WORDS];
} floe_peek;

FLOE_DEV void floe_peek_entry(const uint64_t *words, uint64_t nbytes, uint64_t nchunks, uint64_t chunk, uint32_t from,
                              floe_peek *p)
{
    const uint64_t span = floe_index_span(nchunks), i = threadIdx.x - from;
    if (threadIdx.x >= from && i < FLOE_INDEX_ENTRY_WORDS && chunk < nchunks && span != 0 && span <= nbytes)
        p->entry[i] = words[(nbytes - span) / 8 + chunk * FLOE_INDEX_ENTRY_WORDS + i];
}

/* Loads it all at once, where the stream has so many chunks as expected. Blocks of 32 threads and more; the block is
 * synchronized. False: nothing can be there. */
FLOE_DEV bool floe_peek_load(const uint8_t *stream, uint64_t nbytes, uint64_t expected_nchunks, uint64_t chunk,
                             floe_peek *p)
{
    enum { HEAD = FLOE_HEADER_FIELD_WORDS_MAX, FOOTER = HEAD + FLOE_FOOTER_WORDS };
    static_assert(FOOTER + FLOE_INDEX_ENTRY_WORDS <= FLOE_WARP, "a word a lane");
    const uint64_t *words = (const uint64_t *)stream;
    const uint32_t i = threadIdx.x;
    if (nbytes % 8 || nbytes < FLOE_HEADER_MIN_NBYTES + FLOE_FOOTER_NBYTES)
        return false;
    if (i < HEAD)
        p->head[i] = i < nbytes / 8 ? words[i] : 0;
    else if (i < FOOTER)
        p->footer[i - HEAD] = words[nbytes / 8 - FLOE_FOOTER_WORDS + (i - HEAD)];
    floe_peek_entry(words, nbytes, expected_nchunks, chunk, FOOTER, p);
    __syncthreads();
    const uint64_t nchunks = p->footer[2];
    if (nchunks != expected_nchunks) {
        floe_peek_entry(words, nbytes, nchunks, chunk, 0, p);
        __syncthreads();
    }
    return true;
}

/* What was loaded, of a stream of the field that is expected. False: it cannot be one. By a thread. */
FLOE_DEV bool floe_peek_layout(const floe_peek *p, floe_dtype dtype, uint32_t rank, const uint64_t *shape,
                               uint64_t layout_chunk[FLOE_MAX_RANK])
{
    const uint64_t *axes = p->head + FLOE_HEADER_FIXED_WORDS;
    bool ok = (uint8_t)p->head[2] == (uint8_t)dtype && (uint8_t)(p->head[2] >> 8) == rank;
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++)
        layout_chunk[i] = 0;
    for (uint32_t i = 0; ok && i < rank; i++) {
        layout_chunk[i] = axes[rank + i];
        ok = axes[i] == shape[i] && layout_chunk[i] <= shape[i];
    }
    return ok;
}

/* The record of the chunk. Its payload lies inside the stream, in front of the index; or false. By a thread. */
FLOE_DEV bool floe_peek_record(const floe_peek *p, uint64_t nbytes, uint64_t nchunks, floe_dev_record *record)
{
    const uint64_t span = floe_index_span(nchunks);
    record->offset = p->entry[0];
    record->nbytes = p->entry[1];
    record->checksum = p->entry[2];
    return p->footer[2] == nchunks && span != 0 && span <= nbytes && record->offset % 8 == 0 &&
           floe_index_entry_fault(record->offset, record->nbytes, record->offset, nbytes - span) == FLOE_FAULT_NONE;
}

#endif
