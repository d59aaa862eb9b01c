/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a chunk's record lies in a stream: what codec and container tell each other in device memory. */
#ifndef FLOE_BASE_DEV_RECORD_H
#define FLOE_BASE_DEV_RECORD_H

#include <stdint.h>

enum { FLOE_RECORD_HEAD_NBYTES = 40 }; /* what stands before a chunk's payload; container.h says what it is */

typedef struct floe_dev_record {
    uint64_t offset;   /* of the record's head, from the start of the stream; a multiple of 8 */
    uint64_t nbytes;   /* of the payload behind the head, without padding to 8 */
    uint64_t checksum; /* of the payload */
} floe_dev_record;

#endif
