/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/field_arg_check.h"

#include "backend/cuda_reach.h"
#include "base/try.h"

floe_status floe_field_arg_check(const floe_field *field, bool writable, floe_field *resolved, floe_error *err)
{
    FLOE_TRY(floe_field_check(field, writable, resolved, err));
    FLOE_CHECK(err, resolved->place == FLOE_DEVICE || floe_cuda_host_reaches(resolved->data), FLOE_ERR_ARGUMENT,
               "the field is said to lie in host memory, but lies in device memory: FLOE_DEVICE is its place");
    return FLOE_OK;
}
