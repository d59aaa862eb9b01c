/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_CALL_INFO_H
#define FLOE_CALL_INFO_H

#include "container/container.h"

void floe_info_fill(floe_info *info, const floe_header *header, uint64_t stream_nbytes);

#endif
