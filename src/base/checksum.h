/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checksum of floe: a sum of the scrambled XXH3-64 hashes of the data's 16 KiB pieces. The pieces can be hashed in any
 * order, by many threads or warps, without memory for their hashes.
 *
 *   mix(v)   = w * 0x165667919E3779F9 ^ (w * 0x165667919E3779F9 >> 32)  with w = v ^ v >> 37
 *   checksum = mix(nbytes * 0xC2B2AE3D27D4EB4F + sum over pieces i of mix(xxh3(piece i) + (i + 1) * 0x9E3779B185EBCA87))
 *
 * all modulo 2^64. All pieces but the last have FLOE_CHECKSUM_PIECE bytes; empty data is one empty piece.
 */
#ifndef FLOE_BASE_CHECKSUM_H
#define FLOE_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/hd.h"

enum { FLOE_CHECKSUM_PIECE = 16384 };

/* XXH3-64 with seed 0, from libxxhash where it was found at build time (HAVE_XXHASH), else our own. data may be NULL if
 * nbytes is 0. */
uint64_t floe_xxh3(const void *data, size_t nbytes);
uint64_t floe_checksum(const void *data, uint64_t nbytes);

/* The parts of floe_checksum, for whoever hashes pieces elsewhere: the term of piece i, and what becomes of their sum. */
FLOE_HD uint64_t floe_checksum_mix(uint64_t v)
{
    v = (v ^ v >> 37) * 0x165667919E3779F9u;
    return v ^ v >> 32;
}
FLOE_HD uint64_t floe_checksum_term(uint64_t piece_hash, uint64_t i)
{
    return floe_checksum_mix(piece_hash + (i + 1) * 0x9E3779B185EBCA87u);
}
FLOE_HD uint64_t floe_checksum_finish(uint64_t sum, uint64_t nbytes)
{
    return floe_checksum_mix(nbytes * 0xC2B2AE3D27D4EB4Fu + sum);
}

#endif
