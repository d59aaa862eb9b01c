/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields and streams in device memory: whole calls on a GPU. */
#ifndef FLOE_API_DEVICE_H
#define FLOE_API_DEVICE_H

#include "api/ctx.h"

/* The bodies of floe_compress and floe_decompress(_region) where the field lies on the device. field and params are
 * checked, out is resolved; dst and src may be host memory. */
floe_status floe_device_compress(floe_ctx *ctx, const floe_field *field, const floe_params *params, void *dst,
                                 uint64_t capacity, uint64_t *nbytes);
floe_status floe_device_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, const uint64_t *lo,
                                   const uint64_t *hi, const floe_field *out);

#endif
