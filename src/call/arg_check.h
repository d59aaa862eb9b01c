/* SPDX-License-Identifier: BSD-3-Clause */
/* What a caller requests, checked: by itself, and against what a stream holds. */
#ifndef FLOE_CALL_ARG_CHECK_H
#define FLOE_CALL_ARG_CHECK_H

#include <floe/floe.h>

#include "container/container.h"
#include "field/field.h"

/* Copies the box, which must lie within the field; both NULL: the whole field. */
floe_status floe_box_check(const floe_header *header, const uint64_t *lo, const uint64_t *hi,
                           uint64_t box_lo[FLOE_MAX_RANK], uint64_t box_hi[FLOE_MAX_RANK], floe_error *err);

/* A field with the stream's dtype and the box's shape. */
floe_status floe_region_check(const floe_header *header, const uint64_t *lo, const uint64_t *hi,
                              const floe_field *field, floe_error *err);

/* A field as a caller hands it in: floe_field_check, and that memory given as the host's can be read there. */
floe_status floe_field_arg_check(const floe_field *field, bool writable, floe_field *resolved, floe_error *err);

/* Copies params of any version's size to clean and checks every member that can be checked without a field. A rate becomes the ratio for
 * values of dtype where the codec has no rate of its own; dtype 0: it stays. */
floe_status floe_params_check(const floe_params *params, floe_dtype dtype, floe_params *clean, floe_error *err);

#endif
