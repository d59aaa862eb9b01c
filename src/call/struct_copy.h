/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of the public API that grow: a caller compiled against another version hands in another size. */
#ifndef FLOE_CALL_STRUCT_COPY_H
#define FLOE_CALL_STRUCT_COPY_H

#include <stddef.h>

#include <floe/floe.h>

/* Copies the caller's struct over known, which holds the defaults; both start with a size_t size. A smaller struct
 * leaves the rest at its defaults. A larger one passes only if all that this version does not know is 0. */
floe_status floe_struct_copy(void *known, size_t known_nbytes, const void *given, const char *name, floe_error *err);

/* ARGUMENT: a struct to be filled whose size no struct of this API has, as where the caller did not set it. */
floe_status floe_struct_check(const void *given, const char *name, floe_error *err);
/* The other way, of a struct that was checked: a smaller one gets what it has room for, and what only a larger one has becomes 0. */
void floe_struct_fill(void *given, const void *known, size_t known_nbytes);

#endif
