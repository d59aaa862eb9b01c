/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data-parallel primitives on both backends, for all that is not hot. docs/prim.md shows them at work; prim_map.h runs
 * functions of one's own over all elements.
 *
 * Both backends and any number of threads give the same bits. On a GPU every call only puts work on the stream: nothing
 * waits, nothing is allocated, and all pointers, those of counts and of other single results too, are device memory.
 *
 * Pointers are aligned to their elements. Arrays must not overlap, but where a call says that it works in place.
 * Any n may be 0. Messages: ARGUMENT what cannot be meant, MEMORY a workspace that is too small, DEVICE what CUDA says.
 */
#ifndef FLOE_PRIM_PRIM_H
#define FLOE_PRIM_PRIM_H

#include <stdbool.h>

#include "backend/backend.h"
#include "base/try.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum floe_prim_type { /* type % 3: unsigned, signed, float; type / 3: 32 or 64 bits */
                              FLOE_PRIM_U32,
                              FLOE_PRIM_I32,
                              FLOE_PRIM_F32,
                              FLOE_PRIM_U64,
                              FLOE_PRIM_I64,
                              FLOE_PRIM_F64
} floe_prim_type;

/* n elements that a call reads. */
typedef struct floe_prim_array {
    floe_prim_type type;
    const void *data;
    uint64_t n;
} floe_prim_array;

/* Where to run. One call at a time uses a workspace; on a GPU it may be handed to the next call on the same stream. */
typedef struct floe_prim {
    const floe_cpu *cpu; /* NULL: a GPU, which is the thread's current device */
    void *stream;        /* of the GPU: a cudaStream_t */
    void *workspace;     /* FLOE_ARENA_ALIGN-aligned; may be NULL where a call needs none */
    size_t workspace_nbytes;
} floe_prim;

typedef enum floe_prim_call {
    FLOE_PRIM_REDUCE,
    FLOE_PRIM_SCAN,
    FLOE_PRIM_HISTOGRAM, /* extra: the number of bins; no type */
    FLOE_PRIM_COMPACT,
    FLOE_PRIM_SELECT,
    FLOE_PRIM_SORT, /* extra: bytes of a value, 0 without values */
    FLOE_PRIM_CALLS
} floe_prim_call;

/* Bytes of workspace that a call needs; those that are not named here need none. p->workspace is not looked at. More
 * elements may need less, so ask for each size. */
floe_status floe_prim_workspace(const floe_prim *p, floe_prim_call call, floe_prim_type type, uint64_t n,
                                uint64_t extra, uint64_t *nbytes, floe_error *err);

/* Sum, smallest or largest element. The order of a sum is fixed (prim_math.h).
 * SUM: out is u64, i64 (both wrap) or f64, by the kind of the type. Of floats, NaN when one is NaN; +0 for none.
 * MIN, MAX: out is an element. NaN are passed over, -0 is below +0. For none: NaN, or the type's largest or smallest. A NaN
 * that comes out is always the positive quiet one without payload. */
typedef enum floe_prim_op { FLOE_PRIM_SUM, FLOE_PRIM_MIN, FLOE_PRIM_MAX } floe_prim_op;
floe_status floe_prim_reduce(const floe_prim *p, floe_prim_op op, floe_prim_array in, void *out, floe_error *err);

/* out[i] = sum of all elements before i (EXCLUSIVE), or of these and i. Sums as above, in 64 bits; out_type: the type, or the
 * 64-bit type of its kind. In place where the types are the same. Float sums round in a fixed order, but not in that of the
 * index: they are no monotonic series. To have the total too, scan INCLUSIVE to out + 1 and set out[0] to 0. */
typedef enum floe_prim_scan_kind { FLOE_PRIM_EXCLUSIVE, FLOE_PRIM_INCLUSIVE } floe_prim_scan_kind;
floe_status floe_prim_scan(const floe_prim *p, floe_prim_scan_kind kind, floe_prim_array in, floe_prim_type out_type,
                           void *out, floe_error *err);

/* bins[b] = number of keys that are b, for nbins bins of U32 (which wrap) or U64; *outside = number of keys >= nbins. */
typedef struct floe_prim_bins {
    floe_prim_type type;
    uint32_t nbins;
    void *bins;
    uint64_t *outside;
} floe_prim_bins;
floe_status floe_prim_histogram(const floe_prim *p, const uint32_t *keys, uint64_t n, floe_prim_bins bins,
                                floe_error *err);

/* Which elements to keep. A threshold is a pointer to one element, so that it may come from floe_prim_select without
 * a stop. Comparisons as in C: NaN is never kept, nor is anything by a threshold that is NaN. */
typedef enum floe_prim_keep_kind {
    FLOE_PRIM_KEEP_BYTES,    /* what[i] != 0, of bytes */
    FLOE_PRIM_KEEP_BITS,     /* bit i % 8 of byte what[i / 8] */
    FLOE_PRIM_KEEP_AT_LEAST, /* in[i] >= *what */
    FLOE_PRIM_KEEP_MAGNITUDE /* |in[i]| >= |*what|; of integers as unsigned numbers */
} floe_prim_keep_kind;
typedef struct floe_prim_keep {
    floe_prim_keep_kind kind;
    const void *what;
} floe_prim_keep;

/* Kept elements in their order to out, their indexes to index, their number to count. out or index may be NULL (in.data too
 * where nothing needs it); both need room for what is kept, at most n. */
typedef struct floe_prim_kept {
    void *out;
    uint64_t *index, *count;
} floe_prim_kept;
floe_status floe_prim_compact(const floe_prim *p, floe_prim_array in, floe_prim_keep keep, floe_prim_kept kept,
                              floe_error *err);

/* flags[i] = 1 where in[i] is kept, else 0. */
floe_status floe_prim_flag(const floe_prim *p, floe_prim_array in, floe_prim_keep keep, uint8_t *flags,
                           floe_error *err);

/* Total order, of select and sort: numbers by size, -0 below +0, NaN by their bits: below -Inf when negative, else above
 * +Inf. */

/* *out = the k-th smallest, from 0 to n - 1. magnitude: of |in[i]|; of integers these are unsigned numbers. */
floe_status floe_prim_select(const floe_prim *p, floe_prim_array in, uint64_t k, bool magnitude, void *out,
                             floe_error *err);

/* Sorts upward; equal keys stay in their order. Values move with their keys; NULL: there are none. In place where the input is
 * the output, of keys and of values. */
typedef struct floe_prim_values {
    uint32_t nbytes; /* of one: 4 or 8 */
    const void *in;
    void *out;
} floe_prim_values;
floe_status floe_prim_sort(const floe_prim *p, floe_prim_array in, void *out, const floe_prim_values *values,
                           floe_error *err);

/* out[i] = in[index[i]] for index.n indexes (U32 or U64); 0 where the index is in.n or more. */
floe_status floe_prim_gather(const floe_prim *p, floe_prim_array in, floe_prim_array index, void *out, floe_error *err);
/* out[index[i]] = in[i] for in.n elements and as many indexes; dropped where the index is nout or more. Other elements of out
 * stay. Where an index comes twice, one of its elements stands, and it is not said which. */
floe_status floe_prim_scatter(const floe_prim *p, floe_prim_array in, floe_prim_array index, void *out, uint64_t nout,
                              floe_error *err);

#ifdef __cplusplus
}
#endif
#endif
