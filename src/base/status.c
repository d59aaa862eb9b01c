/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/try.h"

#include <stdarg.h>
#include <stdio.h>

floe_status floe_fail(floe_error *err, floe_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

const char *floe_status_text(floe_status status)
{
    switch (status) {
    case FLOE_OK: return "done";
    case FLOE_ERR_ARGUMENT: return "invalid argument";
    case FLOE_ERR_FORMAT: return "not a valid floe stream";
    case FLOE_ERR_BOUND: return "bound not held";
    case FLOE_ERR_IO: return "input or output failed";
    case FLOE_ERR_DEVICE: return "device error";
    case FLOE_ERR_MEMORY: return "out of memory";
    case FLOE_ERR_CAPACITY: return "destination too small";
    case FLOE_ERR_LIMIT: return "stream exceeds the reader's limits";
    case FLOE_ERR_VERSION: return "stream of a newer floe";
    case FLOE_ERR_CHECKSUM: return "damaged stream";
    case FLOE_ERR_UNSUPPORTED: return "not supported";
    case FLOE_ERR_INTERNAL: return "internal error";
    }
    return "unknown status";
}

int floe_status_exit_code(floe_status status)
{
    switch (status) {
    case FLOE_OK: return 0;
    case FLOE_ERR_FORMAT:
    case FLOE_ERR_LIMIT:
    case FLOE_ERR_VERSION:
    case FLOE_ERR_CHECKSUM: return 3;
    case FLOE_ERR_BOUND: return 4;
    case FLOE_ERR_IO: return 5;
    case FLOE_ERR_DEVICE:
    case FLOE_ERR_MEMORY:
    case FLOE_ERR_INTERNAL: return 6;
    case FLOE_ERR_ARGUMENT:
    case FLOE_ERR_CAPACITY:
    case FLOE_ERR_UNSUPPORTED: return 2;
    }
    return 2;
}
