/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own XXH3-64 (seed 0, default secret), for builds without libxxhash. */
#ifndef FLOE_BASE_XXH3_H
#define FLOE_BASE_XXH3_H

#include <stddef.h>
#include <stdint.h>

uint64_t floe_xxh3_own(const void *data, size_t nbytes);

#endif
