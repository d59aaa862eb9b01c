/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"

typedef floe_wavelet_encoder encoder;

void floe_wavelet_trial_shape(const encoder *e, uint64_t part[FLOE_INTERP_RANK])
{
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        part[a] = floe_min64(e->chunk.plan.shape[a], 8);
}

void floe_wavelet_tune(encoder *e, encoder *trial)
{
    (void)trial;
    e->structure = (floe_wavelet_structure){.bank = FLOE_WAVELET_DD66, .theta = 10, .coarse = 2.5};
}
