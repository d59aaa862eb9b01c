/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a stream strictly forward, with a window of bytes that can be looked at before they are taken. */
#ifndef FLOE_CALL_WINDOW_H
#define FLOE_CALL_WINDOW_H

#include <stdbool.h>

#include <floe/floe.h>

#include "container/container.h"

enum { FLOE_WINDOW_NBYTES = 1 << 16 };

typedef struct floe_window {
    const floe_source *source;
    uint8_t *bytes;    /* FLOE_WINDOW_NBYTES */
    size_t begin, end; /* what is there */
    uint64_t offset;   /* of bytes[begin] in the stream */
    bool has_head;     /* head was taken from the stream, its payload was not */
    floe_record head;
} floe_window;

/* Takes up to nbytes into dst; fewer only at the end of the source. */
floe_status floe_window_read(floe_window *window, void *dst, size_t nbytes, size_t *got, floe_error *err);

/* Drops nbytes; reading past the end of the source is no error yet. */
floe_status floe_window_skip(floe_window *window, uint64_t nbytes, floe_error *err);

/* Takes the head of a record into window->head. salvage: searches for the next good one, of a chunk in
 * least..nchunks-1 with at most payload_max bytes. FORMAT or CHECKSUM when there is none. */
typedef struct floe_head_rule {
    bool salvage;
    uint64_t least, nchunks, payload_max;
} floe_head_rule;
floe_status floe_window_head(floe_window *window, const floe_head_rule *rule, floe_error *err);

#endif
