/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a compression before the values are seen: the most bytes of the stream, and why a source is read more than once. */
#include "call/choice.h"
#include "call/resolve.h"
#include "codec/resolve/resolve_math.h"

uint64_t floe_compress_bound(const floe_field *field, const floe_params *params)
{
    floe_header header;
    floe_sizing sizing;
    floe_params checked;
    uint64_t most = 0;
    if (floe_header_of_layout(field, params, &checked, &header, NULL) != FLOE_OK)
        return 0;
    const floe_choice choice = floe_choice_of(field, &checked);
    for (uint32_t i = 0; i < choice.n; i++) {
        checked.codec = choice.codecs[i];
        if (floe_header_init(&header, field, &checked, NULL) != FLOE_OK ||
            floe_sizing_of(NULL, &header, &sizing, NULL) != FLOE_OK)
            return 0;
        most = floe_max64(most, sizing.stream_nbytes);
    }
    return most;
}

uint32_t floe_compress_passes(const floe_field *field, const floe_params *params)
{
    floe_header header;
    floe_params checked;
    if (floe_header_of_layout(field, params, &checked, &header, NULL) != FLOE_OK)
        return 0;
    return (floe_resolve_needs_range(header.mode) ? FLOE_PASSES_RANGE : 0u) |
           (floe_choice_of(field, &checked).n > 1 ? FLOE_PASSES_CODEC : 0u) |
           (checked.fill == FLOE_FILL_AUTO ? FLOE_PASSES_FILL : 0u);
}
