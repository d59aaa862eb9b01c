/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage context: records of up to 7 small codes -> bits and back. docs/format/context.md has the layout.
 *
 * Records lie in a grid of planes of rows. The grid is cut into chunks of at most 32 columns, one for each lane of stage ans.
 * A chunk is decoded from its highest row down. The mask of a record shows which of its codes are not 0. The masks of a window
 * of rows come first; their nonzero codes follow, dealt to the lanes. A context is made of codes, and of counts of nonzero
 * codes, in rows before. The stage knows nothing else about the records.
 *
 *     encode   count every chunk                     decode   floe_context_tables_read
 *              floe_context_tables_build, _write              floe_context_decoder_of
 *              floe_context_symbols_of                        decode any chunk, any thread
 *              encode any chunk, any thread
 */
#ifndef FLOE_STAGE_CONTEXT_H
#define FLOE_STAGE_CONTEXT_H

#include "backend/backend.h"
#include "stage/ans/ans.h"
#include "stage/context/context_math.h"

/* ---- tables ------------------------------------------------------------------------------------------------------------ */

/* Builds the tables that take the fewest bits: each is shared by a run of contexts, in the order of their mean symbols.
 * counts: FLOE_CONTEXT_COUNTS, of all chunks that will be coded. Returns the bits of symbols and tables, in 1/4096; raw
 * bits are not among them. */
uint64_t floe_context_tables_build(const floe_cpu *cpu, const floe_context_spec *spec, const uint32_t *counts,
                                   floe_context_tables *tables);
/* To compare ways of making records. lanes is 0. */
floe_context_tally floe_context_tally_of(const floe_context_spec *spec, const uint32_t *counts);
void floe_context_tables_write(const floe_context_spec *spec, const floe_context_tables *tables, floe_cursor *to);
/* False where the bytes, which are untrusted, are no tables of this spec. */
bool floe_context_tables_read(const floe_context_spec *spec, floe_reader *from, floe_context_tables *tables);

/* symbols: FLOE_CONTEXT_COUNTS of them; each goes where its count is among counts. */
void floe_context_symbols_of(const floe_context_spec *spec, const floe_context_tables *tables,
                             floe_ans_symbol *symbols);

/* Slots and spans of all tables, as floe_ans_slots_of makes them. */
typedef struct floe_context_decoder {
    const uint8_t *slots_of[2][FLOE_CONTEXT_VALUES]; /* by kind and context: those of its table */
    const uint32_t *spans_of[2][FLOE_CONTEXT_VALUES];
    uint32_t begin; /* the state with which encoding began */
    uint8_t slots[FLOE_CONTEXT_TABLES * ((1 << FLOE_CONTEXT_MASK_BITS) + (1 << FLOE_CONTEXT_VALUE_BITS))];
    uint32_t spans[FLOE_CONTEXT_FREQS];
} floe_context_decoder;
/* begin: as of floe_ans_decoder_begin. */
void floe_context_decoder_of(const floe_context_spec *spec, const floe_context_tables *tables, uint32_t begin,
                             floe_context_decoder *d);

/* ---- chunks ------------------------------------------------------------------------------------------------------------ */

enum { FLOE_CONTEXT_CELLS = FLOE_CONTEXT_ROWS * FLOE_ANS_LANES };

/* What a worker needs for encoding. A token holds the index of a count in its low bits, and raw bits above it. */
typedef struct floe_context_scratch {
    uint32_t tokens[FLOE_CONTEXT_CELLS * (1 + FLOE_CONTEXT_CLASSES)];
    uint32_t nvalues[FLOE_CONTEXT_ROWS]; /* nonzero codes of each window */
    uint16_t words[1 + FLOE_CONTEXT_CELLS * (1 + 2 * FLOE_CONTEXT_CLASSES)];
    floe_ans_encoder encoder;
} floe_context_scratch;

typedef struct floe_context_ops {
    /* Adds the symbols of a chunk to counts. */
    void (*count)(const floe_context_spec *spec, const floe_context_chunk *chunk, const void *records, uint32_t *counts,
                  floe_context_scratch *scratch);
    /* Leaves the chunk in scratch->encoder, for floe_ans_encoder_end. Returns its size in bytes. */
    uint32_t (*encode)(const floe_context_spec *spec, const floe_context_chunk *chunk, const void *records,
                       const floe_ans_symbol *symbols, floe_context_scratch *scratch);
    /* src is untrusted. Returns false where it is not a chunk of this spec: records are then undefined, and nothing else is written. */
    bool (*decode)(const floe_context_spec *spec, const floe_context_chunk *chunk, const floe_context_decoder *decoder,
                   const uint8_t *src, uint64_t nbytes, void *records);
} floe_context_ops;

extern const floe_context_ops floe_context_ops_plain, floe_context_ops_avx2;
const floe_context_ops *floe_context_ops_of(floe_isa isa);

#endif
