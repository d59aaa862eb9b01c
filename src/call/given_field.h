/* SPDX-License-Identifier: BSD-3-Clause */
/* A field as a caller hands it in. */
#ifndef FLOE_CALL_GIVEN_FIELD_H
#define FLOE_CALL_GIVEN_FIELD_H

#include "field/field.h"

/* floe_field_check, and that memory said to be the host's can be read there. */
floe_status floe_given_field(const floe_field *field, bool writable, floe_field *resolved, floe_error *err);

#endif
