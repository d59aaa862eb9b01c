/* SPDX-License-Identifier: BSD-3-Clause */
/* What is decided by a sample: the codec that AUTO stands for, and where the search for a ratio begins. */
#ifndef FLOE_CALL_CHOICE_H
#define FLOE_CALL_CHOICE_H

#include "call/sample.h"

enum { FLOE_CHOICE_MOST = 8 };

/* The codecs that such a field may get: the one of params, or those that AUTO tries on a sample. */
typedef struct floe_choice {
    uint32_t n;
    floe_codec codecs[FLOE_CHOICE_MOST];
} floe_choice;
floe_choice floe_choice_of(const floe_field *layout, const floe_params *params);

/* The best of several for what sample->header asks, whose range and fill are known: the smallest, for RATIO the smallest bound. */
floe_status floe_choice_make(const floe_choice *choice, floe_sample *sample, const floe_range *range,
                             floe_codec *codec);

/* Bytes of something coded with an absolute bound; 0: lossless. */
typedef floe_status (*floe_ratio_try)(void *user, double abs_bound, uint64_t *nbytes);
typedef struct floe_ratio {
    floe_ratio_try attempt;
    void *user;
    uint64_t raw_nbytes;
} floe_ratio;

/* The absolute bound for which the stream of a field that varies has about the ratio header->bound, or the nearest that the codec
 * comes to. It is tried on the sample, then on the whole, unless that is NULL. off_db: out, how far the ratio is off (may be NULL). */
floe_status floe_ratio_resolve(const floe_ratio *whole, const floe_sample *sample, const floe_range *range,
                               double *abs_bound, double *off_db);

#endif
