/* SPDX-License-Identifier: BSD-3-Clause */
/* The array of a chunk: from values to means and details, step by step in place, and back; details to codes, and back. Over threads. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_BANDS_H
#define FLOE_CODEC_WAVELET_WAVELET_BANDS_H

#include "codec/wavelet/wavelet_plan.h"

typedef struct floe_wavelet_bands {
    const floe_cpu *cpu;
    const floe_wavelet_ops *ops;
    const floe_wavelet_plan *plan;
    size_t size;            /* of a real */
    uint8_t *array, *lines; /* lines: scratch of the passes */
} floe_wavelet_bands;

/* Reals that passes take. */
uint64_t floe_wavelet_line_reals(const floe_cpu *cpu, const uint64_t shape[FLOE_INTERP_RANK]);

/* A step's lattice `fine` to means, at its front, and details. */
void floe_wavelet_step_do(const floe_wavelet_bands *b, const floe_interp_step *s);
/* Undone at the points of a box (NULL: all); and which means, and details of which cells, these are made of. */
void floe_wavelet_step_undo(const floe_wavelet_bands *b, const floe_interp_step *s, const floe_interp_box *wanted);
void floe_wavelet_step_needed(const floe_wavelet_bands *b, const floe_interp_step *s, const floe_interp_box *wanted,
                              floe_interp_box *means, floe_interp_box *cells);
/* Pass k of the packet, as a step; false where there is none. */
bool floe_wavelet_packet_step(const floe_wavelet_plan *p, uint32_t k, floe_interp_step *s);

static inline floe_interp_box floe_wavelet_whole(const uint64_t n[FLOE_INTERP_RANK])
{
    return (floe_interp_box){.hi = {n[0], n[1], n[2], n[3]}};
}

/* The largest code that the details of step i would have. */
double floe_wavelet_largest(const floe_wavelet_bands *b, uint32_t i);
/* Details of cells (NULL: all) of step i <-> records, which an encoder has set to 0. means: of each worker; encode alone. */
void floe_wavelet_codes_do(const floe_wavelet_bands *b, uint32_t i, void *records, const floe_interp_box *cells,
                           floe_wavelet_means *means);

/* Anchors in C order: whole numbers of their steps, less the least one, nbits each, from the lowest bit of a byte on. */
typedef struct floe_wavelet_anchors_code {
    const uint8_t *bits;
    uint32_t nbits;
    int64_t least;
} floe_wavelet_anchors_code;
/* bits: room for as many bytes as the anchors have. False where they would not do: they are better kept as they are. */
bool floe_wavelet_anchors_encode(const floe_wavelet_bands *b, uint8_t *bits, floe_wavelet_anchors_code *c);
void floe_wavelet_anchors_decode(const floe_wavelet_bands *b, const floe_wavelet_anchors_code *c);

#endif
