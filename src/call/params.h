/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_CALL_PARAMS_H
#define FLOE_CALL_PARAMS_H

#include <floe/floe.h>

/* Copies params of any version's size to clean and checks every member that can be checked without a field. */
floe_status floe_params_check(const floe_params *params, floe_params *clean, floe_error *err);

#endif
