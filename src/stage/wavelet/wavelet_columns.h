/* SPDX-License-Identifier: BSD-3-Clause */
/* How lines are dealt to tasks. */
#ifndef FLOE_STAGE_WAVELET_COLUMNS_H
#define FLOE_STAGE_WAVELET_COLUMNS_H

#include "stage/wavelet/wavelet.h"

enum {
    FLOE_WAVELET_COLUMNS = 64, /* a task's lines side by side, as long as they fit a cache of 256 KiB */
    FLOE_WAVELET_COLUMNS_LEAST = 16,
    FLOE_WAVELET_TASK_ROWS = 16, /* lines of a task along the last axis */
    FLOE_WAVELET_HALO = 4        /* points of a parity around a line that stencils reach */
};

static inline uint64_t floe_wavelet_columns(const floe_wavelet_pass *p)
{
    const uint64_t most = p->n[p->axis] <= FLOE_WAVELET_SHORT ? FLOE_WAVELET_COLUMNS : FLOE_WAVELET_COLUMNS_LEAST;
    return p->axis == 3 ? 1 : floe_min64(p->n[3], most);
}

#endif
