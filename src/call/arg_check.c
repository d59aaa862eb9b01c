/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/arg_check.h"

#include <string.h>

#include "backend/cuda.h"
#include "base/try.h"
#include "call/text.h"

floe_status floe_box_check(const floe_header *h, const uint64_t *lo, const uint64_t *hi, uint64_t box_lo[FLOE_MAX_RANK],
                           uint64_t box_hi[FLOE_MAX_RANK], floe_error *err)
{
    char box[FLOE_BOX_TEXT], shape[FLOE_SHAPE_TEXT];
    for (uint32_t i = 0; i < h->rank; i++) {
        box_lo[i] = lo ? lo[i] : 0;
        box_hi[i] = hi ? hi[i] : h->shape[i];
        FLOE_CHECK(err, box_lo[i] <= box_hi[i] && box_hi[i] <= h->shape[i], FLOE_ERR_ARGUMENT,
                   "the box %s does not lie within the field of %s", floe_box_format(h->rank, lo, hi, box),
                   floe_shape_format(h->rank, h->shape, shape));
    }
    return FLOE_OK;
}

floe_status floe_region_check(const floe_header *h, const uint64_t *lo, const uint64_t *hi, const floe_field *field,
                              floe_error *err)
{
    char want[FLOE_SHAPE_TEXT], have[FLOE_SHAPE_TEXT];
    uint64_t extent[FLOE_MAX_RANK];
    for (uint32_t i = 0; i < h->rank; i++)
        extent[i] = hi[i] - lo[i];
    FLOE_CHECK(err,
               field->dtype == h->dtype && field->rank == h->rank &&
                   memcmp(field->shape, extent, h->rank * sizeof *extent) == 0,
               FLOE_ERR_ARGUMENT, "the stream gives %s of %s, the field is %s of %s",
               floe_shape_format(h->rank, extent, want), floe_dtype_name(h->dtype),
               floe_shape_format(field->rank, field->shape, have), floe_dtype_name(field->dtype));
    return FLOE_OK;
}

floe_status floe_field_arg_check(const floe_field *field, bool writable, floe_field *resolved, floe_error *err)
{
    FLOE_TRY(floe_field_check(field, writable, resolved, err));
    FLOE_CHECK(err, resolved->place == FLOE_DEVICE || floe_cuda_host_reaches(resolved->data), FLOE_ERR_ARGUMENT,
               "the field is said to lie in host memory, but lies in device memory: FLOE_DEVICE is its place");
    return FLOE_OK;
}
