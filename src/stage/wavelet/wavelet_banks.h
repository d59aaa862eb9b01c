/* SPDX-License-Identifier: BSD-3-Clause */
/* The banks, step by step. A decoder undoes steps and scale from the last to the first. */
#ifndef FLOE_STAGE_WAVELET_BANKS_H
#define FLOE_STAGE_WAVELET_BANKS_H

#include "stage/wavelet/wavelet_math.h"
#include "stage/wavelet/wavelet_shape.h"

typedef struct floe_wavelet_lifting {
    double scale, unscale; /* of evens, at the end, so that they are means; and back */
    uint32_t nlifts;
    floe_wavelet_lift lift[FLOE_WAVELET_LIFTS];
} floe_wavelet_lifting;

/* Long liftings. */
#define FLOE_WAVELET_PREDICT_6                                                                \
    {                                                                                         \
        true, -2, 6, { -3 / 256., 25 / 256., -150 / 256., -150 / 256., 25 / 256., -3 / 256. } \
    }
#define FLOE_WAVELET_PREDICT_8                                                                                     \
    {                                                                                                              \
        true, -3, 8,                                                                                               \
        {                                                                                                          \
            5 / 2048., -49 / 2048., 245 / 2048., -1225 / 2048., -1225 / 2048., 245 / 2048., -49 / 2048., 5 / 2048. \
        }                                                                                                          \
    }
#define FLOE_WAVELET_UPDATE_4                                  \
    {                                                          \
        false, -2, 4, { -1 / 32., 9 / 32., 9 / 32., -1 / 32. } \
    }
#define FLOE_WAVELET_UPDATE_6                                                                \
    {                                                                                        \
        false, -3, 6, { 3 / 512., -25 / 512., 150 / 512., 150 / 512., -25 / 512., 3 / 512. } \
    }

#ifdef __cplusplus
#define FLOE_WAVELET_TABLE static constexpr /* kernels are made of it */
#else
#define FLOE_WAVELET_TABLE static const
#endif
FLOE_WAVELET_TABLE floe_wavelet_lifting floe_wavelet_banks[FLOE_WAVELET_BANKS] = {
    /* FLOE_WAVELET_97 */ {0.8128930661159609,
                           1.230174104914001,
                           4,
                           {{true, 0, 2, {-1.586134342059924, -1.586134342059924}},
                            {false, -1, 2, {-0.052980118572961, -0.052980118572961}},
                            {true, 0, 2, {0.882911075530934, 0.882911075530934}},
                            {false, -1, 2, {0.443506852043971, 0.443506852043971}}}},
    /* FLOE_WAVELET_84 */
    {1.5,
     2 / 3.,
     3,
     {{false, -1, 1, {-1 / 3.}}, {true, 0, 2, {-9 / 8., -3 / 8.}}, {false, -1, 3, {1 / 12., 4 / 9., -1 / 12.}}}},
    /* FLOE_WAVELET_53 */ {1, 1, 2, {{true, 0, 2, {-0.5, -0.5}}, {false, -1, 2, {0.25, 0.25}}}},
    /* FLOE_WAVELET_HAAR */ {1, 1, 2, {{true, 0, 1, {-1}}, {false, 0, 1, {0.5}}}},
    /* FLOE_WAVELET_DD44 */ {1, 1, 2, {{true, -1, 4, {1 / 16., -9 / 16., -9 / 16., 1 / 16.}}, FLOE_WAVELET_UPDATE_4}},
    /* FLOE_WAVELET_DD64 */ {1, 1, 2, {FLOE_WAVELET_PREDICT_6, FLOE_WAVELET_UPDATE_4}},
    /* FLOE_WAVELET_DD66 */ {1, 1, 2, {FLOE_WAVELET_PREDICT_6, FLOE_WAVELET_UPDATE_6}},
    /* FLOE_WAVELET_DD84 */ {1, 1, 2, {FLOE_WAVELET_PREDICT_8, FLOE_WAVELET_UPDATE_4}},
};

#endif
