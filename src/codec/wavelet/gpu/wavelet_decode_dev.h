/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that decode a chunk of codec wavelet; those of the stages are in stage/wavelet/wavelet_cuda.h and
 * stage/context/context_cuda.h. Every function puts one kernel on a stream and returns a cudaError_t as a number. All pointers are
 * device memory; structs go by value. Where *status is not FLOE_OK, nothing is done; FLOE_ERR_FORMAT comes of bytes that are damaged.
 */
#ifndef FLOE_CODEC_WAVELET_GPU_WAVELET_DECODE_DEV_H
#define FLOE_CODEC_WAVELET_GPU_WAVELET_DECODE_DEV_H

#include "stage/context/context_cuda.h"
#include "stage/interp/interp_cuda.h"
#include "stage/wavelet/wavelet_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- opening ------------------------------------------------------------------------------------------------------------ */

enum { FLOE_WAVELET_DEV_GRIDS = 66 /* steps and marks, at most */ };
enum { FLOE_WAVELET_DEV_LISTED = 1 << 22 /* codes of a list, which a single thread reads: more are the CPU's work */ };

/* Grids of records as they come, of steps and then of marks: tables, and places of chunks; or the codes of a list, to records that are 0.
 * Of a list nchunks becomes 0. A grid's places are its nchunks + 1 from its first on. */
typedef struct floe_wavelet_open_job {
    const uint8_t *src;  /* the payload; a multiple of 4 */
    uint64_t nbytes, at; /* at: where to begin */
    floe_context_dev_grid *grids;
    uint32_t ngrids, nsteps;         /* nsteps: grids that may have the tables of the one before */
    bool checks;                     /* there are some, one behind each step; they are not looked at */
    floe_context_dev_tables *tables; /* ngrids, and one more that is 0 */
    uint64_t *places, *cursor;       /* cursor: where it ended */
    uint32_t *status;
} floe_wavelet_open_job;
int floe_wavelet_open_cuda(const floe_wavelet_open_job *job, void *stream);

/* ---- values ------------------------------------------------------------------------------------------------------------- */

/* array -> box. Marks: of all values, or NULL. */
typedef struct floe_wavelet_give_job {
    const void *array;
    floe_interp_output out;
    uint64_t array_shape[FLOE_INTERP_RANK];
    uint32_t shift[FLOE_INTERP_RANK]; /* log2 of how many of the array's points there are to one of the box */
    const int8_t *kinds, *corrections;
    double center, unit;
    bool log;
    const uint32_t *status;
} floe_wavelet_give_job;
int floe_wavelet_give_box_f32(const floe_wavelet_give_job *job, void *stream);
int floe_wavelet_give_box_f64(const floe_wavelet_give_job *job, void *stream);

typedef enum floe_wavelet_put_what {
    FLOE_WAVELET_PUT_SUM,   /* kinds of differences become kinds */
    FLOE_WAVELET_PUT_TALLY, /* tallies: literals of each block of records */
    FLOE_WAVELET_PUT_KINDS  /* patterns and literals -> box; all kinds are checked */
} floe_wavelet_put_what;

enum { FLOE_WAVELET_DEV_BLOCK = 256 /* records */ };

typedef struct floe_wavelet_put_job {
    floe_wavelet_put_what what;
    floe_interp_output out;
    uint64_t shape[FLOE_INTERP_RANK];
    int8_t *kinds;
    uint64_t nrecords, apart; /* of kinds; apart: bytes from a point to the next along the slowest axis, of n points */
    uint64_t n;
    bool log;
    uint32_t npalette;
    uint64_t palette[3];
    uint32_t *tallies;
    const uint64_t *ranks;  /* tallies of all blocks before */
    const uint8_t *src;     /* of the payload */
    const uint64_t *cursor; /* where literals begin */
    uint64_t nbytes;
    uint32_t *status;
} floe_wavelet_put_job;
int floe_wavelet_put_cuda(const floe_wavelet_put_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
