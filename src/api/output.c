/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/output.h"

#include <assert.h>

#include "base/try.h"
#include "call/callbacks.h"

uint8_t *floe_output_space(const floe_output *o, uint64_t *capacity)
{
    uint64_t at = o->sink ? 0 : o->written;
    *capacity = o->capacity - at;
    return o->buffer ? o->buffer + at : NULL;
}

floe_status floe_output_full(const floe_output *o, floe_error *err)
{
    return floe_fail(
        err, FLOE_ERR_CAPACITY,
        "the destination has %llu bytes, and the stream is longer; floe_compress_bound says what surely suffices",
        (unsigned long long)o->capacity);
}

floe_status floe_output_reserve(const floe_output *o, uint64_t nbytes, uint8_t **space, floe_error *err)
{
    uint64_t capacity;
    *space = floe_output_space(o, &capacity);
    return nbytes <= capacity ? FLOE_OK : floe_output_full(o, err);
}

floe_status floe_output_commit(floe_output *o, uint64_t nbytes, floe_error *err)
{
    uint64_t capacity;
    uint8_t *space = floe_output_space(o, &capacity);
    assert(nbytes <= capacity);
    if (o->sink)
        FLOE_TRY(floe_sink_write(o->sink, space, (size_t)nbytes, err));
    o->written += nbytes;
    return FLOE_OK;
}
