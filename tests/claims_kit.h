/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams whose header is well-formed, checksum included, and claims anything; behind it stands next to nothing. */
#ifndef FLOE_TESTS_CLAIMS_KIT_H
#define FLOE_TESTS_CLAIMS_KIT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "container/container.h"
#include "container/layout.h"
#include "tests/hostile_kit.h"

enum { CLAIM_CAPACITY = 1 << 14 };

typedef struct claim {
    floe_header header;
    uint8_t bytes[CLAIM_CAPACITY];
    uint64_t nbytes;
} claim;

/* 1 to 2^most, any size about as often. */
static inline uint64_t claim_extent(uint64_t *state, uint64_t most)
{
    const uint64_t top = (uint64_t)1 << hostile_below(state, most + 1);
    return hostile_below(state, 2) ? top : 1 + hostile_below(state, top);
}

static inline floe_header claim_header(uint64_t *state)
{
    static const floe_codec codecs[] = {FLOE_CODEC_LORENZO, FLOE_CODEC_ZFP, FLOE_CODEC_INTERP, FLOE_CODEC_WAVELET};
    floe_header h = {.dtype = (floe_dtype)(1 + hostile_below(state, 4)),
                     .rank = 1 + (uint32_t)hostile_below(state, 4),
                     .codec = codecs[hostile_below(state, 4)],
                     .preset = (floe_preset)hostile_below(state, 2),
                     .mode = (floe_bound_mode)(1 + hostile_below(state, 7)),
                     .bound = 1,
                     .abs_bound = 1,
                     .value_min = NAN,
                     .value_max = NAN};
    uint64_t left = 60;
    if (h.mode == FLOE_BOUND_PWREL || h.mode == FLOE_BOUND_RATE || h.mode == FLOE_BOUND_PREC)
        h.abs_bound = NAN;
    for (uint32_t i = 0; i < h.rank; i++) {
        h.shape[i] = claim_extent(state, left);
        for (uint64_t n = h.shape[i]; n > 1 && left; n = (n + 1) / 2)
            left--;
        const uint64_t r = hostile_below(state, 3);
        h.chunk[i] = r == 0 ? 1 : r == 1 ? h.shape[i] : 1 + hostile_below(state, h.shape[i]);
    }
    return h;
}

/* An index and a footer that are right, of as many chunks as there are claimed to be: all that the index shows is that they lie
 * where no room is for them. */
static inline void claim_index(claim *c, uint64_t nchunks, uint64_t *state)
{
    floe_index_entry entries[64] = {{0}};
    const uint64_t n = nchunks <= 64 ? nchunks : hostile_below(state, 64), at = c->nbytes;
    for (uint64_t i = 0; i < n; i++)
        entries[i] = (floe_index_entry){at, {i, hostile_below(state, 2) ? 0 : hostile_random(state) >> 8, 0}};
    floe_index_write(entries, n, at, c->bytes + at);
    c->nbytes += floe_index_nbytes(n);
}

/* A record for each chunk, if these are few, with a payload of zeros and sizes that are right: the codec is what refuses it. */
static inline void claim_records(claim *c, uint64_t nchunks, uint64_t *state)
{
    floe_index_entry entries[16];
    const uint64_t n = nchunks <= 16 ? nchunks : 16;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t nbytes = hostile_below(state, 200);
        uint8_t *at = c->bytes + c->nbytes;
        memset(at, 0, FLOE_RECORD_HEAD_NBYTES + 200);
        entries[i] = (floe_index_entry){c->nbytes, {i, nbytes, floe_checksum(at + FLOE_RECORD_HEAD_NBYTES, nbytes)}};
        floe_record_head_write(&entries[i].record, at);
        c->nbytes += floe_record_nbytes(nbytes);
    }
    floe_index_write(entries, n, c->nbytes, c->bytes + c->nbytes);
    c->nbytes += floe_index_nbytes(n);
}

static inline void claim_noise(claim *c, uint64_t *state)
{
    for (uint64_t n = hostile_below(state, 500); n; n--)
        c->bytes[c->nbytes++] = hostile_below(state, 2) ? 0 : (uint8_t)hostile_random(state);
}

/* The number of chunks, or more than can be counted. */
static inline uint64_t claim_nchunks(const floe_header *h)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < h->rank; i++)
        n *= (h->shape[i] + h->chunk[i] - 1) / h->chunk[i];
    return n;
}

/* Makes the claim of a number. False: no header can be so, or it would hold what is nearly true. */
static inline bool claim_make(uint64_t number, claim *c)
{
    uint64_t state = number * 0x9E3779B97F4A7C15u;
    char value[3000];
    memset(value, 'x', sizeof value);
    value[hostile_below(&state, sizeof value)] = '\0';
    const floe_attr attr = {.key = "units", .value = value};
    c->header = claim_header(&state);
    c->header.nattrs = hostile_below(&state, 4) == 0;
    c->header.attrs = &attr;
    c->nbytes = floe_header_nbytes(&c->header);
    if (floe_header_write(&c->header, c->bytes, sizeof c->bytes, NULL) != FLOE_OK)
        return false;
    c->header.attrs = NULL;
    switch (hostile_below(&state, 4)) {
    case 0: claim_index(c, claim_nchunks(&c->header), &state); break;
    case 1: claim_records(c, claim_nchunks(&c->header), &state); break;
    case 2: claim_noise(c, &state); break;
    default: break;
    }
    return true;
}

/* Of the claimed field, which headers keep below 2^63. */
static inline uint64_t claim_nbytes(const claim *c)
{
    uint64_t n = floe_dtype_size(c->header.dtype);
    for (uint32_t i = 0; i < c->header.rank; i++)
        n *= c->header.shape[i];
    return n;
}

/* The claimed field, for a call that is to refuse it. */
static inline floe_field claim_field(const claim *c, void *data)
{
    return floe_field_of(data, c->header.dtype, c->header.rank, c->header.shape);
}

/* One element of it, and its field. */
static inline floe_field claim_box(const claim *c, void *data, uint64_t *lo, uint64_t *hi, uint64_t *state)
{
    uint64_t one[FLOE_MAX_RANK] = {1, 1, 1, 1};
    for (uint32_t i = 0; i < c->header.rank; i++) {
        lo[i] = hostile_below(state, c->header.shape[i]);
        hi[i] = lo[i] + 1;
    }
    return floe_field_of(data, c->header.dtype, c->header.rank, one);
}

#endif
