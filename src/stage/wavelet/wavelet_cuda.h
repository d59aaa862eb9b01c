/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage wavelet on a GPU: what floe_wavelet_ops does, of a step at a time, with the same bits. Every function puts kernels on a stream
 * and returns a cudaError_t as a number. All pointers are device memory; arrays have at most FLOE_INTERP_CELLS_MOST values. Where *status is
 * not 0 kernels do nothing.
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
 * A step of an array, which two buffers of one shape hold in turns. Each pass takes the box 0 .. step.fine from one and leaves it in the
 * other: an axis of n points, at least 2, becomes ceil(n / 2) means and then details, or is put back. The rest of the buffers stays: details of finer steps
 * are where their own last pass left them. Forward goes from the step's last axis to its first, inverse the other way. One pass does the array's
 * last axis and the step's axis before it.
 */
typedef struct floe_wavelet_dev_lift {
    void *array[2];
    uint64_t shape[FLOE_INTERP_RANK];
    floe_interp_step step; /* naxes, axis, fine, coarse */
    floe_wavelet_bank bank;
    uint32_t one_sided; /* bit a: axis a */
    bool inverse;
    const void *first; /* forward: what the first pass takes, less center, in place of the buffer; NULL: that one */
    double center;
    const uint32_t *status;
} floe_wavelet_dev_lift;
/* The pass, counted from the step's first axis on, that does its k-th axis; how many there are. */
static inline uint32_t floe_wavelet_dev_pass(const floe_interp_step *s, uint32_t k)
{
    const uint32_t last = floe_interp_place(s, FLOE_INTERP_RANK - 1);
    return last > 0 && k >= last ? k - 1 : k;
}
static inline uint32_t floe_wavelet_dev_passes(const floe_interp_step *s)
{
    return floe_wavelet_dev_pass(s, s->naxes - 1) + 1;
}
/* *at: the buffer that has the box; becomes the one that has it then. */
int floe_wavelet_lift_f32(const floe_wavelet_dev_lift *lift, uint32_t *at, void *stream);
int floe_wavelet_lift_f64(const floe_wavelet_dev_lift *lift, uint32_t *at, void *stream);

/*
 * Small arrays of one shape, all passes of each. Points stay in their places: means are where even points were, so that passes leave a
 * lattice of points 2^depth apart. A launch does some passes of all arrays.
 */
enum { FLOE_WAVELET_DEV_ARRAYS = 6, FLOE_WAVELET_DEV_PASSES = 32 };
typedef struct floe_wavelet_dev_pass_at {
    uint8_t axis, depth[FLOE_INTERP_RANK]; /* depth: of its lattice along each axis */
} floe_wavelet_dev_pass_at;
typedef struct floe_wavelet_dev_place {
    void *array;
    const void *from; /* what the array begins with, forward; NULL: what it holds */
    floe_wavelet_bank bank;
    uint32_t one_sided, npasses; /* one_sided: bit a: axis a */
    floe_wavelet_dev_pass_at pass[FLOE_WAVELET_DEV_PASSES];
} floe_wavelet_dev_place;
typedef struct floe_wavelet_dev_places {
    uint64_t shape[FLOE_INTERP_RANK];
    uint32_t n;
    bool inverse;
    floe_wavelet_dev_place at[FLOE_WAVELET_DEV_ARRAYS];
    const uint32_t *status;
} floe_wavelet_dev_places;
int floe_wavelet_lift_places_f32(const floe_wavelet_dev_places *p, void *stream);
int floe_wavelet_lift_places_f64(const floe_wavelet_dev_places *p, void *stream);

/* Of point p along the axis of a packet, which has nbands bands that begin there: where it lies if all points stay in their places. */
FLOE_HD uint64_t floe_wavelet_dev_packet_place(uint64_t p, uint32_t band, uint32_t nbands, uint64_t begin)
{
    return band ? (2 * (p - begin) + 1) << (nbands - 1 - band) : p << (nbands - 1);
}

/* Details of a step in the buffer that has them <-> its records. Steps of a call have the shape, axis, in_place and status of the first one. */
typedef struct floe_wavelet_dev_codes {
    void *array;
    bool in_place; /* points are in their places; depth: of the step's fine lattice */
    uint8_t depth[FLOE_INTERP_RANK];
    uint64_t shape[FLOE_INTERP_RANK];
    floe_interp_step step; /* width, too */
    void *records;         /* aligned to 16 bytes */
    uint64_t nrecords;     /* encode: all of the grid; what no detail has becomes 0 */
    /* Bands of a packet: where they begin along an axis that is none of the step's, coarsest first; one: all there is. */
    uint32_t axis, nbands;
    uint64_t begin[FLOE_WAVELET_DEV_BANDS];
    double steps[FLOE_WAVELET_DEV_BANDS][FLOE_INTERP_CLASSES]; /* of each band and class */
    /* 0 at first; largest: the pattern of a double. */
    unsigned long long *largest; /* of magnitudes, in steps; encode adds how many codes are as large as they may be */
    floe_wavelet_means *means;   /* encode: adds to it. decode: NULL, or shifts are those that it makes */
    int32_t shift[FLOE_WAVELET_SHIFTS];
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
