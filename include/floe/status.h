/* SPDX-License-Identifier: BSD-3-Clause */
/* Status codes. Every fallible function of floe returns one; the message that goes with it is kept by the context
 * (floe_ctx_message) or by the floe_error that was handed in. Numbers are part of the ABI: append only. */
#ifndef FLOE_STATUS_H
#define FLOE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum floe_status {
    FLOE_OK = 0,
    FLOE_ERR_ARGUMENT = 2,     /* the caller's request makes no sense: bad shape, bound, parameter text, NULL, ... */
    FLOE_ERR_FORMAT = 3,       /* the bytes are no valid floe stream */
    FLOE_ERR_BOUND = 4,        /* a verification found a value outside the bound */
    FLOE_ERR_IO = 5,           /* a read or write callback, or the system beneath it, failed */
    FLOE_ERR_DEVICE = 6,       /* the GPU is missing, or its runtime reported an error */
    FLOE_ERR_MEMORY = 10,      /* memory could not be had */
    FLOE_ERR_CAPACITY = 11,    /* the destination is too small */
    FLOE_ERR_LIMIT = 12,       /* the stream asks for more than the caller's limits allow */
    FLOE_ERR_VERSION = 13,     /* the stream was written by a newer floe */
    FLOE_ERR_CHECKSUM = 14,    /* the stream is damaged */
    FLOE_ERR_UNSUPPORTED = 15, /* valid, but this build or this codec cannot do it */
    FLOE_ERR_INTERNAL = 99     /* floe is at fault */
} floe_status;

/* A status with its message, for calls that have no context. */
typedef struct floe_error {
    floe_status status;
    char message[256];
} floe_error;

/* A short constant text, e.g. "damaged stream". Never NULL. */
const char *floe_status_text(floe_status status);

/* The exit code of the floe command for a status: 0, 2, 3, 4, 5 or 6. */
int floe_status_exit_code(floe_status status);

#ifdef __cplusplus
}
#endif
#endif
