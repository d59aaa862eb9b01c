/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/callbacks.h"

#include "base/bytes.h"
#include "base/try.h"
#include "call/struct_copy.h"

floe_status floe_source_read(const floe_source *source, uint64_t offset, void *dst, size_t nbytes, size_t *got,
                             floe_error *err)
{
    for (*got = 0; *got < nbytes;) {
        size_t part = 0, want = nbytes - *got;
        floe_status status = source->read(source->user, offset + *got, (uint8_t *)dst + *got, want, &part);
        FLOE_CHECK(err, status == FLOE_OK, status, "reading at byte %llu of the source failed: %s",
                   (unsigned long long)(offset + *got), floe_status_text(status));
        FLOE_CHECK(err, part <= want, FLOE_ERR_IO, "the source says it read %zu bytes where %zu were requested", part,
                   want);
        if (part == 0)
            break;
        *got += part;
    }
    return FLOE_OK;
}

floe_status floe_sink_write(const floe_sink *sink, const void *src, size_t nbytes, floe_error *err)
{
    floe_status status = nbytes ? sink->write(sink->user, src, nbytes) : FLOE_OK;
    FLOE_CHECK(err, status == FLOE_OK, status, "writing %zu bytes failed: %s", nbytes, floe_status_text(status));
    return FLOE_OK;
}

void floe_elements_swap(floe_dtype dtype, void *data, uint64_t nelems)
{
    const uint16_t probe = 1;
    uint8_t *p = data;
    if (*(const uint8_t *)&probe == 1)
        return;
    for (uint64_t i = 0; i < nelems; i++) {
        if (floe_dtype_size(dtype) == 4) {
            uint32_t v = floe_load32(p + 4 * i);
            memcpy(p + 4 * i, &v, 4);
        } else {
            uint64_t v = floe_load64(p + 8 * i);
            memcpy(p + 8 * i, &v, 8);
        }
    }
}

floe_status floe_progress_add(floe_progress *p, uint64_t nbytes, floe_error *err)
{
    p->done += nbytes;
    FLOE_CHECK(err, !p->call || p->call(p->user, p->done, p->total) == 0, FLOE_ERR_IO,
               "stopped by the progress callback");
    return FLOE_OK;
}

floe_status floe_progress_whole(const floe_stream_options *options, uint64_t nbytes, floe_error *err)
{
    floe_progress all = {options->progress, options->progress_user, 0, nbytes};
    return floe_progress_add(&all, nbytes, err);
}

floe_status floe_stream_options_read(const floe_stream_options *given, floe_stream_options *options, floe_error *err)
{
    *options = (floe_stream_options){.size = sizeof *options};
    if (given)
        FLOE_TRY(floe_struct_copy(options, sizeof *options, given, "floe_stream_options", err));
    FLOE_CHECK(err, options->attrs || !options->nattrs, FLOE_ERR_ARGUMENT, "attrs is NULL, but nattrs is %u",
               options->nattrs);
    FLOE_CHECK(err, !options->lo == !options->hi, FLOE_ERR_ARGUMENT, "a box needs both lo and hi");
    return FLOE_OK;
}
