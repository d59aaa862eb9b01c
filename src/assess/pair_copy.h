/* SPDX-License-Identifier: BSD-3-Clause */
/* A pair in host memory brought to a GPU. */
#ifndef FLOE_ASSESS_PAIR_COPY_H
#define FLOE_ASSESS_PAIR_COPY_H

#include "assess/pair.h"
#include "backend/cuda.h"

/* What the copy will be: each side in one piece, in C order. Its data are still the host's. */
void floe_pair_copy_of(const floe_pair *host, floe_pair *copy);
/* Gives the copy its device memory. In a plan its data stand for what will be there: not NULL, and aligned alike. */
void floe_pair_copy_take(floe_pair *copy, floe_arena *arena);

/* Host memory that copying goes through; 0 where both sides lie in one piece. */
uint64_t floe_pair_stage_nbytes(const floe_pair *host);
/* Puts the values in place; they are there when the stream has come this far. */
floe_status floe_pair_copy(const floe_cuda *cuda, const floe_pair *host, const floe_pair *copy, void *stage,
                           floe_error *err);

#endif
