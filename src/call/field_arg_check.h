/* SPDX-License-Identifier: BSD-3-Clause */
/* A field as a caller hands it in. */
#ifndef FLOE_CALL_FIELD_ARG_CHECK_H
#define FLOE_CALL_FIELD_ARG_CHECK_H

#include "field/field.h"

/* floe_field_check, and that memory said to be the host's can be read there. */
floe_status floe_field_arg_check(const floe_field *field, bool writable, floe_field *resolved, floe_error *err);

#endif
