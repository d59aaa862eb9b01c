/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/pipeline.h"

void floe_pipeline_free(floe_ctx *ctx) { (void)ctx; }
