/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a stream is written: the caller's memory, or a sink through a staging buffer. Memory is written in place. */
#ifndef FLOE_API_OUTPUT_H
#define FLOE_API_OUTPUT_H

#include <floe/floe.h>

typedef struct floe_output {
    uint8_t *buffer;       /* memory: the whole stream; sink: staging */
    uint64_t capacity;     /* of buffer */
    const floe_sink *sink; /* NULL: memory */
    uint64_t written;
} floe_output;

/* Where the next bytes go, and how many fit. They do not count until floe_output_commit. */
uint8_t *floe_output_space(const floe_output *output, uint64_t *capacity);
/* CAPACITY, in words for the caller of the library. */
floe_status floe_output_full(const floe_output *output, floe_error *err);
/* The same as floe_output_space for exactly nbytes; CAPACITY when they do not fit. */
floe_status floe_output_reserve(const floe_output *output, uint64_t nbytes, uint8_t **space, floe_error *err);
floe_status floe_output_commit(floe_output *output, uint64_t nbytes, floe_error *err);

#endif
