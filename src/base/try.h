/* SPDX-License-Identifier: BSD-3-Clause */
/* How errors travel inside floe: a function returns floe_status and writes its message to a floe_error (may be NULL). */
#ifndef FLOE_BASE_TRY_H
#define FLOE_BASE_TRY_H

#include <floe/status.h>

#if defined(__GNUC__)
#define FLOE_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define FLOE_PRINTF(f, a)
#endif

/* Stores status and message in err (the first failure wins nothing: the last one stands) and returns status. */
floe_status floe_fail(floe_error *err, floe_status status, const char *format, ...) FLOE_PRINTF(3, 4);

/* Hands a failure on to the caller. */
#define FLOE_TRY(call)                    \
    do {                                  \
        floe_status try_status_ = (call); \
        if (try_status_ != FLOE_OK)       \
            return try_status_;           \
    } while (0)

/* Input is checked, own logic is asserted: fails with status and message unless cond holds. */
#define FLOE_CHECK(err, cond, status, ...)                  \
    do {                                                    \
        if (!(cond))                                        \
            return floe_fail((err), (status), __VA_ARGS__); \
    } while (0)

#endif
