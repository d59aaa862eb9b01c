/* SPDX-License-Identifier: BSD-3-Clause */
/* The array of a chunk, on the CPU's threads: values <-> means and details, step by step in place; details <-> codes. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_BANDS_H
#define FLOE_CODEC_WAVELET_WAVELET_BANDS_H

#include "codec/wavelet/wavelet_plan.h"

typedef struct floe_wavelet_bands {
    const floe_cpu *cpu;
    const floe_wavelet_ops *ops;
    const floe_wavelet_plan *plan;
    const uint64_t *shape;  /* of the array: the plan's, or what a level leaves of it */
    size_t size;            /* of a real */
    uint8_t *array, *lines; /* lines: scratch of the passes */
} floe_wavelet_bands;

/* Of an array of the plan's shape. */
static inline floe_wavelet_bands floe_wavelet_bands_of(const floe_cpu *cpu, floe_dtype dtype,
                                                       const floe_wavelet_plan *plan, void *array, void *lines)
{
    return (floe_wavelet_bands){
        cpu, floe_wavelet_ops_of(dtype, cpu->isa), plan, plan->shape, floe_dtype_size(dtype), array, lines};
}

/* The reals of scratch that the passes take. */
uint64_t floe_wavelet_line_reals(const floe_cpu *cpu, const uint64_t shape[FLOE_LATTICE_RANK]);

/* Turns a step's fine lattice to means, at its front, and details. */
void floe_wavelet_step_do(const floe_wavelet_bands *b, const floe_lattice_step *s);
/* Undoes a step at the points of a box (NULL: all). _needed finds the means, and the cells of details, that these points depend on. */
void floe_wavelet_step_undo(const floe_wavelet_bands *b, const floe_lattice_step *s, const floe_lattice_box *wanted);
void floe_wavelet_step_needed(const floe_wavelet_bands *b, const floe_lattice_step *s, const floe_lattice_box *wanted,
                              floe_lattice_box *means, floe_lattice_box *cells);
/* Pass k of the packet, as a step. Returns false where there is none. */
bool floe_wavelet_packet_step(const floe_wavelet_plan *p, uint32_t k, floe_lattice_step *s);

static inline floe_lattice_box floe_wavelet_whole(const uint64_t n[FLOE_LATTICE_RANK])
{
    return (floe_lattice_box){.hi = {n[0], n[1], n[2], n[3]}};
}

/* The largest magnitude of a code that the details of step i would get. */
double floe_wavelet_largest(const floe_wavelet_bands *b, uint32_t i);
/* Details of the cells (NULL: all) of step i <-> records, which an encoder has set to 0. means: one for each worker; used by the
 * encoder alone. */
void floe_wavelet_codes_do(const floe_wavelet_bands *b, uint32_t i, void *records, const floe_lattice_box *cells,
                           floe_wavelet_means *means);

/* Anchors in C order. Each is a whole number of steps, stored as its excess over the least, in nbits bits, lowest bit of a byte first. */
typedef struct floe_wavelet_anchors_code {
    const uint8_t *bits;
    uint32_t nbits;
    int64_t least;
} floe_wavelet_anchors_code;
/* bits: room for the anchors' own bytes. Returns false where the code would take more: then they are stored as they are. */
bool floe_wavelet_anchors_encode(const floe_wavelet_bands *b, uint8_t *bits, floe_wavelet_anchors_code *c);
void floe_wavelet_anchors_decode(const floe_wavelet_bands *b, const floe_wavelet_anchors_code *c);

#endif
