/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that encode a chunk of codec wavelet, and decode it; those of the stages are in stage/wavelet/wavelet_cuda.h and
 * stage/context/context_cuda.h. Every function puts one kernel on a stream and returns a cudaError_t as a number. All pointers are
 * device memory; structs go by value. Where *status is not FLOE_OK, nothing is done; FLOE_ERR_FORMAT comes of bytes that are damaged.
 */
#ifndef FLOE_CODEC_WAVELET_GPU_WAVELET_DEV_H
#define FLOE_CODEC_WAVELET_GPU_WAVELET_DEV_H

#include "codec/chunks/codec_record.h"
#include "codec/wavelet/wavelet_fill_math.h"
#include "codec/wavelet/wavelet_records_math.h"
#include "field/field.h"
#include "stage/context/context_cuda.h"
#include "stage/lattice/lattice_output_math.h"
#include "stage/wavelet/wavelet_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_WAVELET_DEV_JOBS = FLOE_WAVELET_DEV_ARRAYS /* that a launch does, at most */ };

/* ---- values ------------------------------------------------------------------------------------------------------------ */

/* What was found; 0 at first. Of doubles: keys, of which the largest is the largest. */
typedef struct floe_wavelet_dev_found {
    unsigned long long most, least;                /* of the array: the key; the key's complement */
    unsigned long long max_error, max_pw_error;    /* patterns */
    unsigned long long squares, nliterals, nmarks; /* nmarks: signs that are taken, or corrections */
} floe_wavelet_dev_found;
FLOE_HD uint64_t floe_wavelet_dev_key(double v)
{
    const uint64_t b = floe_bits_f64(v), sign = (uint64_t)1 << 63;
    return b & sign ? ~b : b | sign;
}
FLOE_HD double floe_wavelet_dev_of_key(uint64_t key)
{
    const uint64_t sign = (uint64_t)1 << 63;
    return floe_f64_of(key & sign ? key ^ sign : ~key);
}

typedef enum floe_wavelet_values_what {
    FLOE_WAVELET_VALUES_TAKE,  /* field -> kinds, which are 0, and the array's range */
    FLOE_WAVELET_VALUES_LOAD,  /* field, less center -> array; NaN of what it cannot have */
    FLOE_WAVELET_VALUES_SHIFT, /* center is subtracted from the array */
    FLOE_WAVELET_VALUES_CHECK  /* field, array and kinds -> corrections, which are 0, and kinds */
} floe_wavelet_values_what;

/* As floe_wavelet_row, of all rows. */
typedef struct floe_wavelet_values_job {
    floe_lattice_view values;
    uint64_t shape[FLOE_LATTICE_RANK], row; /* row: bytes of marks */
    void *array;
    int8_t *kinds, *corrections;
    uint64_t fill;
    double center, unit, tolerance;
    bool log, squares, some_kinds, trial; /* some_kinds: not all are 0; trial: CHECK leaves kinds as they are */
    floe_wavelet_dev_found *found;
    const uint32_t *status;
} floe_wavelet_values_job;
/* CHECK: of a few arrays of one shape; else n is 1. */
int floe_wavelet_values_f32(const floe_wavelet_values_job *job, uint32_t n, floe_wavelet_values_what what,
                            void *stream);
int floe_wavelet_values_f64(const floe_wavelet_values_job *job, uint32_t n, floe_wavelet_values_what what,
                            void *stream);

/* A box of an array, from lo on, less center, and its literals. */
typedef struct floe_wavelet_box_job {
    const void *array;
    double center;
    const int8_t *kinds;
    uint64_t shape[FLOE_LATTICE_RANK], row, lo[FLOE_LATTICE_RANK], n[FLOE_LATTICE_RANK],
        box_row; /* rows: bytes of marks */
    void *box;
    int8_t *box_kinds; /* 0 */
    uint32_t size;
    const uint32_t *status;
} floe_wavelet_box_job;
int floe_wavelet_box_cuda(const floe_wavelet_box_job *job, void *stream);

int floe_wavelet_fill_cuda(const floe_wavelet_fill_job *job, void *stream);

/* ---- anchors ----------------------------------------------------------------------------------------------------------- */

typedef enum floe_wavelet_anchors_what {
    FLOE_WAVELET_ANCHORS_ROUND, /* range[0]: the largest, range[1]: of negatives; as keys; 0 at first.
                                   to, unless it is NULL: what a decoder has */
    FLOE_WAVELET_ANCHORS_BITS,  /* words of 32 bits: whole numbers less the least, nbits each */
    FLOE_WAVELET_ANCHORS_UNPACK /* src, such bits at any byte -> to */
} floe_wavelet_anchors_what;
typedef struct floe_wavelet_anchors_job {
    const void *array;
    void *to;
    uint64_t shape[FLOE_LATTICE_RANK], n[FLOE_LATTICE_RANK]; /* of the array; of anchors */
    bool narrow;
    bool in_place; /* depth and bands of the packet: as floe_wavelet_dev_codes has them */
    uint8_t depth[FLOE_LATTICE_RANK];
    uint32_t axis, nbands;
    uint64_t begin[FLOE_WAVELET_DEV_BANDS];
    double step[FLOE_WAVELET_DEV_BANDS];
    unsigned long long *range;
    int64_t least;
    uint32_t nbits, *bits;
    const uint8_t *src;
    const uint32_t *status;
} floe_wavelet_anchors_job;
/* Of a few arrays. */
int floe_wavelet_anchors_cuda(const floe_wavelet_anchors_job *job, uint32_t n, floe_wavelet_anchors_what what,
                              void *stream);

/* ---- records ----------------------------------------------------------------------------------------------------------- */

/* Grids that are counted, and what they are found to take: codes of those of few become lists, in order. */
typedef struct floe_wavelet_lists_job {
    const floe_context_dev_grid *grids;
    uint32_t ngrids;
    uint64_t nbytes; /* of the records of a grid, at most */
    const floe_context_tally *tallies;
    uint64_t *entries;         /* FLOE_WAVELET_LIST_CODES of each grid */
    uint32_t *nentries;        /* of each grid; 0 at first */
    uint32_t *lists;           /* FLOE_WAVELET_LIST_BITS of each grid */
    unsigned long long *nbits; /* of each list; 0: there is none. More than there is room for: none is written */
    const uint32_t *status;
} floe_wavelet_lists_job;
int floe_wavelet_lists_cuda(const floe_wavelet_lists_job *job, void *stream);

/* ---- kinds ------------------------------------------------------------------------------------------------------------- */

enum { FLOE_WAVELET_DEV_BLOCK = 256 /* records */ };

typedef enum floe_wavelet_kinds_what {
    /* encode */
    FLOE_WAVELET_KINDS_FLAT,    /* values of another pattern than base become literals; kinds are 0 at first */
    FLOE_WAVELET_KINDS_SPECIAL, /* out: position of the first special value that the palette lacks; ~0 at first */
    FLOE_WAVELET_KINDS_SORT,    /* literals of the palette become its patterns; out, 0 at first: number of the others */
    FLOE_WAVELET_KINDS_DIFFER,  /* to: each kind less that of the point before along the slowest axis */
    FLOE_WAVELET_KINDS_LITERALS, /* values -> literals, by ranks */
    /* either */
    FLOE_WAVELET_KINDS_TALLY, /* tallies: literals of each block of records */
    /* decode */
    FLOE_WAVELET_KINDS_SUM, /* kinds of differences become kinds */
    FLOE_WAVELET_KINDS_PUT  /* patterns and, by ranks, literals -> values; all kinds are checked */
} floe_wavelet_kinds_what;
typedef struct floe_wavelet_kinds_job {
    floe_lattice_output values; /* encode: all */
    uint64_t shape[FLOE_LATTICE_RANK], nrecords;
    uint64_t apart, nslowest; /* apart: bytes from a point to the next along the slowest axis, of nslowest points */
    int8_t *kinds, *to;
    uint32_t npalette;
    bool has_fill, flat, log;
    uint64_t fill, base, palette[3];
    unsigned long long *out;
    uint32_t *tallies;
    const uint64_t *ranks; /* tallies of all blocks before */
    void *literals;
    const uint8_t *src;     /* of the payload */
    const uint64_t *cursor; /* where literals begin in it */
    uint64_t nbytes;
    uint32_t *status;
} floe_wavelet_kinds_job;
int floe_wavelet_kinds_cuda(const floe_wavelet_kinds_job *job, floe_wavelet_kinds_what what, void *stream);

/* ---- a chunk's bytes --------------------------------------------------------------------------------------------------- */

/* Records of a grid: its chunks, or a list. */
typedef struct floe_wavelet_dev_part {
    uint8_t head[8];          /* the byte in front, or what stands before the bits of a list */
    uint32_t grid, list_head; /* list_head: 0: chunks */
    const void *list;
    uint64_t list_nbytes;
    /* Chunks come in runs: where each ends, by floe_wavelet_run.kept, and the first one's. The kernel sets nwords, of all. */
    uint32_t kept, ends[FLOE_WAVELET_DEV_BANDS];
    uint64_t nwords;
} floe_wavelet_dev_part;
enum {
    FLOE_WAVELET_DEV_GRIDS = 66, /* steps and marks, at most */
    FLOE_WAVELET_DEV_RUNS = 256, /* of a decoder: more are the CPU's work */
    FLOE_WAVELET_DEV_PIECES = 6 * FLOE_WAVELET_DEV_GRIDS + 5,
    FLOE_WAVELET_DEV_HEADER = 2048
};

typedef struct floe_wavelet_pack_job {
    floe_codec_record_job record;
    floe_wavelet_dev_part *parts;
    bool coded;
    uint32_t nparts, nsteps, header_nbytes; /* nsteps: parts that are steps, the first ones */
    uint8_t *header;                        /* aligned */
    const void *anchors, *literals;
    uint64_t anchors_nbytes, literals_nbytes;
} floe_wavelet_pack_job;
int floe_wavelet_place_cuda(const floe_wavelet_pack_job *job, void *stream);

/* ---- opening ------------------------------------------------------------------------------------------------------------ */

enum { FLOE_WAVELET_DEV_LISTED = 1 << 22 /* codes of a list, which a single thread reads: more are the CPU's work */ };

/* Entropy chunks of a grid that lie one behind the other: begin .. end - 1. */
typedef struct floe_wavelet_dev_run {
    uint32_t grid, begin, end,
        wanted;          /* wanted: so many chunks of the grid come in all, which a level may not need all of */
    bool first, checked; /* first: the grid's head comes before; checked: a check comes behind, which nobody looks at */
} floe_wavelet_dev_run;

/* Grids of records, of steps and then of marks, run by run: tables, and places of chunks; or the codes of a list, to records that are 0. Of a
 * list nchunks becomes 0. A grid's places are those of its nchunks from its first on. Chunks that do not come have no bytes. */
typedef struct floe_wavelet_open_job {
    const uint8_t *src;  /* the payload; a multiple of 4 */
    uint64_t nbytes, at; /* at: where to begin */
    floe_context_dev_grid *grids;
    floe_wavelet_dev_run *runs;      /* as they come */
    uint32_t ngrids, nsteps, nruns;  /* nsteps: grids that may have the tables of the one before */
    floe_context_dev_tables *tables; /* ngrids, and one more that is 0 */
    uint64_t *places, *cursor;       /* cursor: where it ended */
    uint32_t *status;
} floe_wavelet_open_job;
int floe_wavelet_open_cuda(const floe_wavelet_open_job *job, void *stream);

/* ---- values ------------------------------------------------------------------------------------------------------------- */

/* array -> box. Marks: of all values, or NULL. */
typedef struct floe_wavelet_give_job {
    const void *array;
    floe_lattice_output out;
    uint64_t array_shape[FLOE_LATTICE_RANK];
    uint32_t shift[FLOE_LATTICE_RANK]; /* log2 of how many of the array's points there are to one of the box */
    const int8_t *kinds, *corrections;
    double center, unit;
    bool log;
    floe_limits limits; /* values are cut to these */
    const uint32_t *status;
} floe_wavelet_give_job;
int floe_wavelet_give_box_f32(const floe_wavelet_give_job *job, void *stream);
int floe_wavelet_give_box_f64(const floe_wavelet_give_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
