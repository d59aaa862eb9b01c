/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codec lorenzo with encoder pack on a GPU: the tile entries and the tiles of a chunk, byte for byte what the CPU writes.
 * The rest of the chunk (lorenzo_layout.h) is the caller's. Groundwork: nothing in the library calls this yet.
 *
 * Covered: f32, a view of rank 3 and batch 1 (view.h), quantizer LINEAR without a fill value. No exceptions: encoding a
 * chunk that has one says so, and the caller takes another way; so does decoding one with parts that are not covered.
 *
 * All pointers are device memory. The functions only put work on the stream: no allocation, no synchronization. They
 * return a cudaError_t as a number, 0 when all could be started.
 */
#ifndef FLOE_CODEC_LORENZO_PACK_CUDA_H
#define FLOE_CODEC_LORENZO_PACK_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A contiguous field [z][y][x] and its tiles. */
typedef struct floe_pack_grid {
    uint32_t extent[3]; /* z, y, x */
    uint32_t tiles[3];  /* along z, y, x */
    uint32_t ntiles;    /* below 2^31 */
} floe_pack_grid;

/* In device memory, and complete when the stream has come this far. */
typedef struct floe_pack_report {
    uint64_t payload_nwords; /* encode: words of all tiles */
    uint32_t max_error_bits; /* encode: largest |x - decoded| as an f32 pattern; right when nunfit is 0 */
    uint32_t nunfit;         /* tiles with something that is not covered; when not 0 the output is of no use */
    uint32_t nbad;           /* decode: tiles of a corrupt stream; what was written for them is of no use */
    uint32_t nwide;          /* encode: tiles that floats could not hold exactly, done again with integers */
    uint32_t nspilled;       /* encode: tiles that did not fit shared memory */
    uint32_t reserved;
} floe_pack_report;

typedef struct floe_pack_encode_job {
    floe_pack_grid grid;
    float inverse, step, tolerance; /* of the quantizer */
    const float *x;                 /* 16-byte aligned */
    uint32_t *entries;              /* one word a tile */
    uint32_t *payload;              /* room for all values */
    void *workspace;                /* 64-byte aligned. Begins with the report, which the call clears */
} floe_pack_encode_job;

/* Bytes of workspace. */
uint64_t floe_pack_encode_workspace_cuda(const floe_pack_grid *grid);
int floe_pack_encode_f32_cuda(const floe_pack_encode_job *job, void *stream);

/*
 * entries and payload are untrusted: every length is checked against payload_nwords before it is used. Both must be
 * readable in whole pieces of 16 aligned bytes, and entries must start on one.
 *
 * Other values than the CPU's come of a stream whose whole numbers leave +-2^22 or whose sums leave what floats hold
 * exactly. No encoder of floe writes one; a guard for it is still to come.
 */
typedef struct floe_pack_decode_job {
    floe_pack_grid grid;
    float step;
    float *x; /* 16-byte aligned */
    const uint32_t *entries, *payload;
    uint64_t payload_nwords;
    void *workspace;          /* 8-byte aligned */
    floe_pack_report *report; /* added to, never cleared: one may serve many chunks */
} floe_pack_decode_job;

uint64_t floe_pack_decode_workspace_cuda(const floe_pack_grid *grid);
int floe_pack_decode_f32_cuda(const floe_pack_decode_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
