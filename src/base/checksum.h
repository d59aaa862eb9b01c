/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum of floe: XXH3-64 of the XXH3-64 hashes (little-endian) of the data's 16 KiB pieces. Pieces make it
 * parallel, on a GPU too. Data of up to one piece has one hash, hashed again; empty data is one empty piece. */
#ifndef FLOE_BASE_CHECKSUM_H
#define FLOE_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum { FLOE_CHECKSUM_PIECE = 16384 };

/* XXH3-64 with seed 0, from libxxhash where it was found at build time, else our own. */
uint64_t floe_xxh3(const void *data, size_t nbytes);
uint64_t floe_checksum(const void *data, uint64_t nbytes);

#endif
