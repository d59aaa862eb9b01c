/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/xxh3.h"

#include "base/xxh3_math.h"

uint64_t floe_xxh3_own(const void *data, size_t nbytes) { return floe_xxh3_of((const uint8_t *)data, nbytes); }
