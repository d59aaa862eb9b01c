/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One tile of codec lorenzo: values -> words and back, through the stages. docs/format/lorenzo_chunk.md, "Tiles".
 *
 *   coded tile:  base | exceptions | signs | body           body of pack: descriptors (two a word), then the steps
 *
 * For encoder huffman a tile is coded twice: first as pack, while the histogram is taken, then from that to its own body.
 */
#ifndef FLOE_CODEC_LORENZO_FORMAT_LORENZO_TILE_H
#define FLOE_CODEC_LORENZO_FORMAT_LORENZO_TILE_H

#include "base/real.h"
#include "codec/lorenzo/cpu/lorenzo_segment.h"
#include "codec/lorenzo/format/lorenzo_layout.h"
#include "stage/exception/exception.h"
#include "stage/huffman/huffman_tile.h"
#include "stage/lorenzo/lorenzo.h"
#include "stage/pack/pack.h"

/* The entry of a tile: which kind it becomes from what its parts come to, and what a reader refuses. docs/format/lorenzo_chunk.md,
 * "Tiles". */
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

enum {
    FLOE_TILE_BASE_WORDS = FLOE_REAL_BITS / 32,
    FLOE_TILE_RAW_WORDS = FLOE_TILE_VALUES * FLOE_REAL_BITS / 32,
    FLOE_TILE_PREFIX_WORDS = FLOE_TILE_BASE_WORDS + FLOE_MASK_WORDS + FLOE_EXCEPTION_WORDS,
    FLOE_TILE_PACK_WORDS = FLOE_TILE_STEPS / 2 + FLOE_TILE_STEPS * FLOE_PACK_STEP_WORDS,
    FLOE_TILE_BODY_WORDS =
        FLOE_TILE_PACK_WORDS > FLOE_HUFFMAN_TILE_WORDS ? FLOE_TILE_PACK_WORDS : FLOE_HUFFMAN_TILE_WORDS,
    FLOE_TILE_WORDS = 1 + FLOE_TILE_PREFIX_WORDS + FLOE_TILE_BODY_WORDS /* the most that a tile ever takes in scratch */
};

/* The part of a step that lies in the region: cells z0..z1-1 and so on, and where its first one is. */
typedef struct floe_step_rows {
    uint32_t z0, z1, y0, y1, x0, x1; /* empty when any range is */
    floe_real *origin;
    int64_t stride_z, stride_y, stride_x;
} floe_step_rows;

/* Scratch of one worker. */
typedef struct FLOE_R(floe_tile_scratch) {
    FLOE_R(floe_lorenzo) walk;
    floe_step steps[FLOE_TILE_STEPS];
    floe_step_box boxes[FLOE_TILE_STEPS];
    floe_step_rows rows; /* of the step under way */
    floe_int q_pad[16];  /* the element before q[0] may be read */
    floe_int q[FLOE_STEP_VALUES];
    floe_int row_before[FLOE_STEP_VALUES]; /* first row of the plane before; rank 1: its last value in [0] */
    floe_real x[FLOE_STEP_VALUES];
    uint8_t bad[FLOE_STEP_VALUES]; /* all 0 between steps */
    uint8_t negative[FLOE_STEP_VALUES];
    floe_mask valid, signs;
    FLOE_R(floe_exceptions) exceptions;
    floe_quantizer_stats stats;
    uint64_t nexceptions, nliterals;
    floe_huffman_hist hist;
    uint32_t prefix[FLOE_TILE_PREFIX_WORDS], body[FLOE_TILE_BODY_WORDS];
    uint32_t words[FLOE_TILE_WORDS];
} FLOE_R(floe_tile_scratch);

/* Codes a tile as pack into scratch->words; *nwords of them. Returns the tile's entry. `draft`: leave a tile that huffman
 * will code as: words of the prefix | prefix | pack body, and count its symbols into scratch->hist. */
uint32_t FLOE_V(floe_tile_encode)(const floe_tile_job *job, uint64_t tile, bool draft,
                                  FLOE_R(floe_tile_scratch) * scratch, uint32_t *nwords);

/* Turns the draft of a tile into its final words, in scratch->words. Returns its entry. */
uint32_t FLOE_V(floe_tile_finish)(const floe_tile_job *job, uint64_t tile, uint32_t entry, const uint32_t *draft,
                                  uint32_t ndraft, FLOE_R(floe_tile_scratch) * scratch, uint32_t *nwords);

/* Decodes the part of a tile that lies in the region. The tile's words (untrusted) are in scratch->words. */
floe_status FLOE_V(floe_tile_decode)(const floe_tile_job *job, uint64_t tile, uint32_t entry,
                                     FLOE_R(floe_tile_scratch) * scratch, floe_error *err);

/* The sum over a tile of the squared differences between values and what would be decoded. */
double FLOE_V(floe_tile_squared_error)(const floe_tile_job *job, uint64_t tile, FLOE_R(floe_tile_scratch) * scratch);

#endif
