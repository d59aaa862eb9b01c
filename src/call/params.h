/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_CALL_PARAMS_H
#define FLOE_CALL_PARAMS_H

#include <floe/floe.h>

/* Copies params of any version's size to clean and checks every member that can be checked without a field. A rate becomes the ratio for
 * values of dtype where the codec has no rate of its own; dtype 0: it stays. */
floe_status floe_params_check(const floe_params *params, floe_dtype dtype, floe_params *clean, floe_error *err);

#endif
