/* SPDX-License-Identifier: BSD-3-Clause */
/* Side indexes: where the chunks of a stream begin, so that many workers can start at once. docs/format/index.md. */
#ifndef FLOE_SIDE_INDEX_H
#define FLOE_SIDE_INDEX_H

#include <stdint.h>

typedef enum floe_index_form {
    FLOE_INDEX_OFFSETS = 0, /* each chunk's place */
    FLOE_INDEX_LENGTHS = 1, /* each chunk's length; a place is the sum of the lengths before it */
    FLOE_INDEX_HYBRID = 2,  /* for each partition the place of its first chunk, and the lengths of the others */
    FLOE_INDEX_PACKED = 3   /* the same in few bits */
} floe_index_form;

/* What an index should be. */
typedef struct floe_index_spec {
    floe_index_form form;
    uint32_t chunk;     /* C: blocks in a chunk, at least 1 */
    uint32_t partition; /* P: chunks in a partition, 1 to 65536; not looked at but for HYBRID and PACKED */
} floe_index_spec;

#endif
