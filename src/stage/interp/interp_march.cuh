/* SPDX-License-Identifier: BSD-3-Clause */
/* The quicker way of a step of three axes in C order: interp_march_real_cuda.cu. */
#ifndef FLOE_STAGE_INTERP_MARCH_CUH
#define FLOE_STAGE_INTERP_MARCH_CUH

#include "stage/interp/interp_cuda.h"

/* Whether it does such a step; check: NULL to decode. */
bool floe_interp_marches_f32(const floe_interp_dev_job *job, const floe_interp_dev_check *check);
bool floe_interp_marches_f64(const floe_interp_dev_job *job, const floe_interp_dev_check *check);
int floe_interp_march_f32(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream);
int floe_interp_march_f64(const floe_interp_dev_job *job, const floe_interp_dev_check *check, void *stream);

#endif
