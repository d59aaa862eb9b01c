/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_CALL_INFO_H
#define FLOE_CALL_INFO_H

#include "container/container.h"
#include "field/field.h"

/* The highest level of a stream: at which an axis has two points, and all chunks begin at a point. */
uint32_t floe_levels_of(const floe_header *header);
/* What all values of a stream lie between, but fill. */
floe_limits floe_limits_of(const floe_header *header);
/* given: as the caller has it, with a size that was checked. */
void floe_info_fill(floe_info *given, const floe_header *header, uint64_t stream_nbytes);

#endif
