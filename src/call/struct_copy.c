/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/struct_copy.h"

#include <stdint.h>
#include <string.h>

#include "base/try.h"

floe_status floe_struct_copy(void *known, size_t known_nbytes, const void *given, const char *name, floe_error *err)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    FLOE_CHECK(err, size >= sizeof size, FLOE_ERR_ARGUMENT, "%s.size is %zu: set it to sizeof the struct", name, size);
    for (size_t i = known_nbytes; i < size; i++)
        FLOE_CHECK(err, ((const uint8_t *)given)[i] == 0, FLOE_ERR_UNSUPPORTED,
                   "%s of %zu bytes sets something that this version of floe does not know", name, size);
    memcpy(known, given, size < known_nbytes ? size : known_nbytes);
    memcpy(known, &known_nbytes, sizeof known_nbytes);
    return FLOE_OK;
}
