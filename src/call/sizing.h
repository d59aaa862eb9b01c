/* SPDX-License-Identifier: BSD-3-Clause */
/* How large the chunks of a stream, and the scratch for them, can get. */
#ifndef FLOE_CALL_SIZING_H
#define FLOE_CALL_SIZING_H

#include "codec/codec.h"
#include "container/container.h"

typedef struct floe_sizing {
    uint64_t stream_nbytes;  /* header, all records, index and footer; of a stream: at least */
    uint64_t payload_nbytes; /* of the largest chunk */
    uint64_t chunk_nelems;   /* of the largest chunk */
    size_t codec_nbytes;     /* scratch of the codec */
} floe_sizing;

/* Upper limits over everything that is not known from the header (fill, and what rel and psnr become). LIMIT when a
 * chunk is more than the codec can do, or a size overflows. */
floe_status floe_sizing_of(const floe_cpu *cpu, const floe_header *header, floe_sizing *sizing, floe_error *err);

/* The same for a stream of which only the header has been read. It may lie: stream_nbytes is the least that can hold all chunks,
 * and the other sizes are to be trusted where the stream has so many bytes. */
floe_status floe_sizing_of_stream(const floe_cpu *cpu, const floe_header *header, uint64_t header_nbytes,
                                  floe_sizing *sizing, floe_error *err);

#endif
