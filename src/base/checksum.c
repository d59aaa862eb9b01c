/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checksum.h"

#ifdef HAVE_XXHASH
#include <xxhash.h>
uint64_t floe_xxh3(const void *data, size_t nbytes) { return XXH3_64bits(data, nbytes); }
#else
#include "base/xxh3_math.h"
uint64_t floe_xxh3(const void *data, size_t nbytes) { return floe_xxh3_of(data, nbytes); }
#endif

uint64_t floe_checksum(const void *data, uint64_t nbytes)
{
    const uint8_t *p = data;
    uint64_t sum = 0, left = nbytes, i = 0;
    for (; left > FLOE_CHECKSUM_PIECE; i++, p += FLOE_CHECKSUM_PIECE, left -= FLOE_CHECKSUM_PIECE)
        sum += floe_checksum_term(floe_xxh3(p, FLOE_CHECKSUM_PIECE), i);
    sum += floe_checksum_term(floe_xxh3(p, (size_t)left), i);
    return floe_checksum_finish(sum, nbytes);
}
