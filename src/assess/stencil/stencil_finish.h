/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes before and after the sums of the stencil pass, wherever these were added up. */
#ifndef FLOE_ASSESS_STENCIL_FINISH_H
#define FLOE_ASSESS_STENCIL_FINISH_H

#include "assess/stencil/stencil.h"

floe_status floe_stencil_options_check(const floe_stencil_options *options, floe_error *err);

/* What values are multiplied by for derivatives, in single; 0: they are worked on in double. */
double floe_stencil_scale(const floe_pair *pair, const floe_stencil_options *options);

/* The same for Sobolev norms. */
double floe_stencil_sobolev_scale(const floe_pair *pair, const floe_stencil_options *options);

void floe_stencil_finish(const floe_stencil_sums *sums, const floe_pair *pair, const floe_stencil_options *options,
                         floe_stencil_result *result);

#endif
