/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry of a tile: which kind it becomes from what its parts come to, and what a reader refuses. docs/format/lorenzo_chunk.md,
 * "Tiles". */
#ifndef FLOE_CODEC_LORENZO_FORMAT_LORENZO_ENTRY_MATH_H
#define FLOE_CODEC_LORENZO_FORMAT_LORENZO_ENTRY_MATH_H

#include "base/hd.h"
#include "codec/lorenzo/format/lorenzo_layout.h"
#include "stage/lorenzo/lorenzo_math.h"

FLOE_HD uint32_t floe_tile_kind(uint32_t entry) { return entry >> FLOE_TILE_KIND_SHIFT & 3; }
FLOE_HD uint32_t floe_tile_mode(uint32_t entry) { return entry >> FLOE_TILE_MODE_SHIFT & 3; }

/* What becomes of a tile. */
typedef struct floe_tile_result {
    uint32_t entry, nwords;
    bool raw;
} floe_tile_result;

FLOE_HD floe_tile_result floe_tile_raw(uint32_t nwords)
{
    const floe_tile_result r = {nwords | (uint32_t)FLOE_TILE_RAW << FLOE_TILE_KIND_SHIFT, nwords, true};
    return r;
}

/* All cells are exceptions of this one kind, 1 to FLOE_PALETTE_SIZE. */
FLOE_HD floe_tile_result floe_tile_special(uint32_t kind)
{
    const floe_tile_result r = {
        (uint32_t)FLOE_TILE_SPECIAL << FLOE_TILE_KIND_SHIFT | (kind - 1) << FLOE_TILE_MODE_SHIFT, 0, false};
    return r;
}

/* A tile of so many words, raw words uncoded, becomes raw. draft: its body is still to be coded. */
FLOE_HD bool floe_tile_is_raw(uint32_t raw, uint32_t nwords, bool draft)
{
    return nwords >= (draft ? FLOE_TILE_DRAFT_WORDS(raw) - 1 : raw);
}

/* All residuals are 0. flags: of the entry. */
FLOE_HD floe_tile_result floe_tile_constant(uint32_t nwords, uint32_t flags)
{
    const floe_tile_result r = {nwords | (uint32_t)FLOE_TILE_CONSTANT << FLOE_TILE_KIND_SHIFT | flags, nwords, false};
    return r;
}

/* Prefix and body. A draft begins with a word more, and its entry has no size. */
FLOE_HD floe_tile_result floe_tile_coded(uint32_t nwords, bool draft, uint32_t flags)
{
    const floe_tile_result r = {(draft ? 0 : nwords) | (uint32_t)FLOE_TILE_CODED << FLOE_TILE_KIND_SHIFT | flags,
                                nwords + draft, false};
    return r;
}

/* Which of these a tile becomes. has_body: some residual is not 0. */
FLOE_HD floe_tile_result floe_tile_result_of(uint32_t raw, uint32_t nprefix, uint32_t nbody, bool has_body, bool draft,
                                             uint32_t flags)
{
    if (floe_tile_is_raw(raw, has_body ? nprefix + nbody : nprefix, has_body && draft))
        return floe_tile_raw(raw);
    return has_body ? floe_tile_coded(nprefix + nbody, draft, flags) : floe_tile_constant(nprefix, flags);
}

/* No encoder writes such an entry in a chunk of this rank and quantizer. */
FLOE_HD bool floe_tile_is_impossible(uint32_t entry, uint32_t rank, floe_quantizer_kind quantizer)
{
    const uint32_t kind = floe_tile_kind(entry), mode = floe_tile_mode(entry);
    const bool exceptions = entry & FLOE_TILE_EXCEPTIONS, signs = entry & FLOE_TILE_SIGNS;
    const bool bare = kind == FLOE_TILE_RAW || kind == FLOE_TILE_SPECIAL;
    return entry >> FLOE_TILE_USED_BITS || (bare && (exceptions || signs)) || (kind == FLOE_TILE_RAW && mode) ||
           (kind == FLOE_TILE_SPECIAL && mode >= FLOE_PALETTE_SIZE) ||
           (rank < 3 && kind == FLOE_TILE_CODED && (mode == FLOE_LORENZO_XY || mode == FLOE_LORENZO_Y)) ||
           (signs && quantizer != FLOE_QUANTIZER_LOG);
}

#endif
