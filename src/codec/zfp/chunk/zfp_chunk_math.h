/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a chunk of codec zfp (zfp_chunk.h), once, for both compilers: their sizes, and so where they are. */
#ifndef FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_MATH_H
#define FLOE_CODEC_ZFP_CHUNK_ZFP_CHUNK_MATH_H

#include <stdbool.h>

#include "base/hd.h"
#include "codec/codec.h"
#include "stage/cells/cells_math.h"
#include "stage/index/index.h"
#include "stage/zfpblock/zfpblock_params_math.h"

enum {
    FLOE_ZFP_CHUNK_HEADER_NBYTES = 64,
    FLOE_ZFP_CHUNK_RAW = 1,      /* flag of the header */
    FLOE_ZFP_MANY_LITERALS = 32, /* more literals than one cell in so many: reversible may be smaller */
    FLOE_ZFP_ERROR_LANES = 1024  /* sums of squared errors side by side: of blocks i, i + 1024, ... */
};

typedef struct floe_zfp_chunk {
    bool raw;
    floe_zfp_params params;
    uint64_t stream_nbits, index_nbytes;
    uint64_t palette[FLOE_CELLS_PALETTE];
    uint32_t sets; /* bit s: set s has cells */
    /* where the parts are, from the start of the chunk */
    uint64_t index_at, sets_at, literals_at, stream_at, end;
} floe_zfp_chunk;

/* Does the stream of these parameters have a side index? Fixed rate needs none: places are multiples. */
FLOE_HD bool floe_zfp_chunk_has_index(const floe_zfp_params *params)
{
    return params->minbits != params->maxbits || params->minexp < FLOE_ZFP_MIN_EXP;
}

/* What that index is for blocks of this rank: a chunk of it has at least 64 values. */
FLOE_HD floe_index_spec floe_zfp_chunk_index_spec(uint32_t rank)
{
    floe_index_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.form = FLOE_INDEX_PACKED;
    spec.chunk = rank == 1 ? 16 : rank == 2 ? 4 : 1;
    spec.partition = FLOE_INDEX_PARTITION;
    return spec;
}

/* ---- what zfp is to do, and what it gives back ------------------------------------------------------------------- */

/* zfp keeps planes down to 4^-d of a tolerance, so that no value ever misses it. Planes down to 2^-d of the bound take d bits
 * a value less, and leave about one value in hundreds to be corrected. */
FLOE_HD int32_t floe_zfp_close_minexp(double bound, uint32_t rank) { return floe_zfp_minexp_of(bound) + (int32_t)rank; }

/* For integers zfp has no tolerance, but a number of planes does the same. */
FLOE_HD uint32_t floe_zfp_integer_planes(double bound, uint32_t width, uint32_t rank)
{
    const int32_t planes = (int32_t)(width + 2 * rank) - floe_zfp_close_minexp(bound, rank);
    return planes < 1 ? 1 : planes > (int32_t)width ? width : (uint32_t)planes;
}

/* False: only reversible will do, as where the rate would take more than the values do. */
FLOE_HD bool floe_zfp_close_params(const floe_codec_params *params, floe_zfp_type type, uint32_t rank, uint64_t ncells,
                                   uint64_t nblocks, floe_zfp_params *p)
{
    const uint32_t width = floe_zfp_type_is_narrow(type) ? 32 : 64;
    *p = floe_zfp_params_everything();
    if (params->mode == FLOE_BOUND_ABS && floe_zfp_type_is_real(type))
        p->minexp = floe_zfp_close_minexp(params->bound, rank);
    else if (params->mode == FLOE_BOUND_ABS)
        p->maxprec = floe_zfp_integer_planes(params->bound, width, rank);
    else if (params->mode == FLOE_BOUND_PREC)
        p->maxprec = (uint32_t)params->bound;
    else if (params->mode == FLOE_BOUND_RATE)
        p->minbits = p->maxbits = floe_zfp_rate_bits(params->bound, type, rank);
    else
        return false;
    return params->mode != FLOE_BOUND_RATE || floe_ceil_div(nblocks * p->maxbits, 64) * 8 < ncells * (width / 8);
}

/* The tolerance that is safe for a bound. Of reals one step below it: rounding makes a difference smaller by less than half a
 * step of its own, and not at all where it is subnormal. Differences of integers are rounded only from 2^53 on, and rounding
 * never takes one across a double: a step below is safe there too. Where there is no bound all errors are right as long as
 * finite values stay finite. */
FLOE_HD double floe_zfp_tolerance(const floe_codec_params *params)
{
    if (params->mode == FLOE_BOUND_RATE || params->mode == FLOE_BOUND_PREC)
        return floe_f64_of(0x7FEFFFFFFFFFFFFFu);
    if (floe_dtype_is_integer(params->dtype) && params->bound <= 0x1p53)
        return params->bound;
    return params->bound > 0 ? floe_f64_of(floe_bits_f64(params->bound) - 1) : 0;
}

/* ---- parts ------------------------------------------------------------------------------------------------------------- */

/* A chunk that holds its values as they are. */
FLOE_HD uint64_t floe_zfp_raw_nbytes(uint64_t ncells, floe_dtype dtype)
{
    return FLOE_ZFP_CHUNK_HEADER_NBYTES + floe_cells_literals_nbytes(ncells, dtype);
}

/* Offsets of what is not in front of the sets, and the end. */
FLOE_HD void floe_zfp_chunk_place(floe_zfp_chunk *c, uint64_t sets_nbytes, uint64_t literals_nbytes)
{
    c->index_at = FLOE_ZFP_CHUNK_HEADER_NBYTES;
    c->sets_at = c->index_at + c->index_nbytes;
    c->literals_at = c->sets_at + sets_nbytes;
    c->stream_at = c->literals_at + literals_nbytes;
    c->end = c->stream_at + floe_ceil_div(c->stream_nbits, 64) * 8;
}

/* ---- the header -------------------------------------------------------------------------------------------------------- */

enum { FLOE_ZFP_CHUNK_WORDS = FLOE_ZFP_CHUNK_HEADER_NBYTES / 8 };

FLOE_HD void floe_zfp_chunk_to_words(const floe_zfp_chunk *c, uint64_t *words)
{
    words[0] = c->params.minbits | (uint64_t)c->params.maxbits << 32;
    words[1] = c->params.maxprec | (uint64_t)(uint32_t)c->params.minexp << 32;
    words[2] = c->stream_nbits;
    words[3] = c->index_nbytes;
    words[4] = c->sets | (uint64_t)(c->raw ? FLOE_ZFP_CHUNK_RAW : 0) << 32;
    for (uint32_t i = 0; i < FLOE_CELLS_PALETTE; i++)
        words[5 + i] = c->palette[i];
}

/* What can be wrong with a header on its own. */
typedef enum floe_zfp_chunk_fault {
    FLOE_ZFP_CHUNK_FINE,
    FLOE_ZFP_CHUNK_FLAGS,  /* sets or flags that there are none of */
    FLOE_ZFP_CHUNK_VALUES, /* values as they are take other bytes */
    FLOE_ZFP_CHUNK_PARAMS, /* parameters that zfp has not */
    FLOE_ZFP_CHUNK_PARTS,  /* parts larger than the whole */
    FLOE_ZFP_CHUNK_BLOCKS  /* the stream has not the bits that its blocks take */
} floe_zfp_chunk_fault;

/* Untrusted: the header of a chunk of nbytes, which it has at least. The parts are not looked at. */
FLOE_HD floe_zfp_chunk_fault floe_zfp_chunk_of_words(const uint64_t *words, uint64_t nbytes, floe_dtype dtype,
                                                     uint64_t ncells, uint64_t nblocks, floe_zfp_chunk *c)
{
    const uint32_t flags = (uint32_t)(words[4] >> 32);
    memset(c, 0, sizeof *c);
    c->params.minbits = (uint32_t)words[0];
    c->params.maxbits = (uint32_t)(words[0] >> 32);
    c->params.maxprec = (uint32_t)words[1];
    c->params.minexp = (int32_t)(uint32_t)(words[1] >> 32);
    c->stream_nbits = words[2];
    c->index_nbytes = words[3];
    c->sets = (uint32_t)words[4];
    for (uint32_t i = 0; i < FLOE_CELLS_PALETTE; i++)
        c->palette[i] = words[5 + i];
    c->raw = flags == FLOE_ZFP_CHUNK_RAW;
    if (flags > FLOE_ZFP_CHUNK_RAW || c->sets >= 1u << FLOE_CELLS_SETS)
        return FLOE_ZFP_CHUNK_FLAGS;
    if (c->raw)
        return nbytes == floe_zfp_raw_nbytes(ncells, dtype) ? FLOE_ZFP_CHUNK_FINE : FLOE_ZFP_CHUNK_VALUES;
    if (floe_zfp_params_fault_of(&c->params, floe_zfp_type_of(dtype)) != FLOE_ZFP_PARAMS_FINE)
        return FLOE_ZFP_CHUNK_PARAMS;
    if (c->stream_nbits > 8 * nbytes || c->index_nbytes % 8 || c->index_nbytes > nbytes - FLOE_ZFP_CHUNK_HEADER_NBYTES)
        return FLOE_ZFP_CHUNK_PARTS;
    const uint64_t rate = c->params.maxbits;
    const bool fits = floe_zfp_chunk_has_index(&c->params) ||
                      (c->index_nbytes == 0 && c->stream_nbits % rate == 0 && c->stream_nbits / rate == nblocks);
    return c->stream_nbits >= nblocks && fits ? FLOE_ZFP_CHUNK_FINE : FLOE_ZFP_CHUNK_BLOCKS;
}

#endif
