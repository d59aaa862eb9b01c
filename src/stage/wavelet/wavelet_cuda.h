/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage wavelet on a GPU: does what floe_wavelet_ops does, a step at a time, with the same bits. Every function puts kernels on a stream
 * and returns a cudaError_t as a number. All pointers are device memory. An array has at most FLOE_LATTICE_CELLS_MOST values. Kernels do
 * nothing if *status is not 0.
 */
#ifndef FLOE_STAGE_WAVELET_WAVELET_CUDA_H
#define FLOE_STAGE_WAVELET_WAVELET_CUDA_H

#include <stdbool.h>

#include "stage/wavelet/wavelet_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_WAVELET_DEV_BANDS = 8 /* of a packet, at most */ };

/*
 * A step of an array, which two buffers of one shape hold in turns. A pass reads the box 0 .. step.fine from one buffer and writes it to the
 * other. Along its axis, n points (at least 2) become ceil(n / 2) means and, behind them, the details; an inverse pass puts them back. The rest of
 * both buffers stays, so that details of a finer step lie where that step's last pass left them. Forward passes go from the step's last
 * axis to its first, inverse ones the other way. The array's last axis and the step's axis before it share a pass.
 */
typedef struct floe_wavelet_dev_lift {
    void *array[2];
    uint64_t shape[FLOE_LATTICE_RANK];
    floe_lattice_step step; /* naxes, axis, fine, coarse */
    floe_wavelet_bank bank;
    uint32_t one_sided; /* bit a: axis a */
    bool inverse;
    const void *first; /* forward: the first pass reads this, less center; NULL: it reads the buffer */
    double center;
    uint64_t apart; /* along an axis but the last, reals from a mean to its detail; 0: details lie behind the means */
    const floe_lattice_box *wanted; /* inverse: the points that must be right, of those before the pass; NULL: all */
    const uint32_t *status;
} floe_wavelet_dev_lift;
/* The number of the pass that does the step's k-th axis, counted from its first axis on; and how many passes there are. */
static inline uint32_t floe_wavelet_dev_pass(const floe_lattice_step *s, uint32_t k)
{
    const uint32_t last = floe_lattice_place(s, FLOE_LATTICE_RANK - 1);
    return last > 0 && k >= last ? k - 1 : k;
}
static inline uint32_t floe_wavelet_dev_passes(const floe_lattice_step *s)
{
    return floe_wavelet_dev_pass(s, s->naxes - 1) + 1;
}
/* *at: which buffer has the box, before and after. */
int floe_wavelet_lift_f32(const floe_wavelet_dev_lift *lift, uint32_t *at, void *stream);
int floe_wavelet_lift_f64(const floe_wavelet_dev_lift *lift, uint32_t *at, void *stream);

/*
 * All passes of small arrays, which have one shape. Points stay in their places: a mean takes the place of its even point, so that after
 * some passes the means are a lattice of points 2^depth apart. A launch does some passes of all arrays.
 */
enum { FLOE_WAVELET_DEV_ARRAYS = 6, FLOE_WAVELET_DEV_PASSES = 32 };
typedef struct floe_wavelet_dev_pass_at {
    uint8_t axis, depth[FLOE_LATTICE_RANK]; /* depth: of its lattice along each axis */
} floe_wavelet_dev_pass_at;
typedef struct floe_wavelet_dev_place {
    void *array;
    const void *from; /* forward: the values to begin with; NULL: the array holds them */
    floe_wavelet_bank bank;
    uint32_t one_sided, npasses; /* one_sided: bit a: axis a */
    floe_wavelet_dev_pass_at pass[FLOE_WAVELET_DEV_PASSES];
} floe_wavelet_dev_place;
typedef struct floe_wavelet_dev_places {
    uint64_t shape[FLOE_LATTICE_RANK];
    uint32_t n;
    bool inverse;
    floe_wavelet_dev_place at[FLOE_WAVELET_DEV_ARRAYS];
    const uint32_t *status;
} floe_wavelet_dev_places;
int floe_wavelet_lift_places_f32(const floe_wavelet_dev_places *p, void *stream);
int floe_wavelet_lift_places_f64(const floe_wavelet_dev_places *p, void *stream);

/* The place of point p along the axis of a packet, if all points stay in their places. p is in a band that begins at point `begin`. */
FLOE_HD uint64_t floe_wavelet_dev_packet_place(uint64_t p, uint32_t band, uint32_t nbands, uint64_t begin)
{
    return band ? (2 * (p - begin) + 1) << (nbands - 1 - band) : p << (nbands - 1);
}

/* Details of a step, in the buffer that has them <-> its records. All steps of a call have the shape, axis, in_place and status of the first.
 * floe_wavelet_largest_* take none in place. */
typedef struct floe_wavelet_dev_codes {
    void *array;
    bool in_place; /* points are in their places; depth: of the step's fine lattice */
    uint8_t depth[FLOE_LATTICE_RANK];
    uint64_t shape[FLOE_LATTICE_RANK];
    floe_lattice_step step; /* width, too */
    void *records;          /* aligned to 16 bytes */
    uint64_t nrecords;      /* encode: all of the grid; codes that stand for no detail become 0 */
    /* Bands of a packet, coarsest first, and where they begin along its axis, which is none of the step's. 1 band: there is no packet. */
    uint32_t axis, nbands;
    uint64_t begin[FLOE_WAVELET_DEV_BANDS];
    double steps[FLOE_WAVELET_DEV_BANDS][FLOE_LATTICE_CLASSES]; /* of each band and class */
    /* Both are 0 at first. */
    unsigned long long *
        largest; /* the largest magnitude in steps, as the pattern of a double. Encode adds to it how many codes were cut */
    floe_wavelet_means *means; /* encode adds to it. decode takes its shifts from it; NULL: from `shift` */
    int32_t shift[FLOE_WAVELET_SHIFTS];
    const floe_lattice_box *cells; /* decode: only these, where points are not in their places; NULL: all */
    const uint32_t *status;
} floe_wavelet_dev_codes;
int floe_wavelet_largest_f32(const floe_wavelet_dev_codes *c, uint32_t n, void *stream);
int floe_wavelet_largest_f64(const floe_wavelet_dev_codes *c, uint32_t n, void *stream);
int floe_wavelet_encode_codes_f32(const floe_wavelet_dev_codes *c, uint32_t n, void *stream);
int floe_wavelet_encode_codes_f64(const floe_wavelet_dev_codes *c, uint32_t n, void *stream);
int floe_wavelet_decode_codes_f32(const floe_wavelet_dev_codes *c, uint32_t n, void *stream);
int floe_wavelet_decode_codes_f64(const floe_wavelet_dev_codes *c, uint32_t n, void *stream);

#ifdef __cplusplus
}
#endif
#endif
