/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/struct_copy.h"

#include <stdint.h>
#include <string.h>

#include "base/try.h"

enum { MOST_NBYTES = 1 << 16 }; /* more than any struct will ever have; what lies in unset memory is more as a rule */

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

floe_status floe_struct_check(const void *given, const char *name, floe_error *err)
{
    const size_t size = size_of(given);
    FLOE_CHECK(err, size >= sizeof size && size <= MOST_NBYTES, FLOE_ERR_ARGUMENT,
               "%s.size is %zu: set it to sizeof the struct", name, size);
    return FLOE_OK;
}

void floe_struct_fill(void *given, const void *known, size_t known_nbytes)
{
    const size_t size = size_of(given), n = size < known_nbytes ? size : known_nbytes;
    memset(given, 0, size);
    memcpy(given, known, n);
    memcpy(given, &size, sizeof size);
}

floe_status floe_struct_copy(void *known, size_t known_nbytes, const void *given, const char *name, floe_error *err)
{
    const size_t size = size_of(given);
    FLOE_TRY(floe_struct_check(given, name, err));
    for (size_t i = known_nbytes; i < size; i++)
        FLOE_CHECK(err, ((const uint8_t *)given)[i] == 0, FLOE_ERR_UNSUPPORTED,
                   "%s of %zu bytes sets something that this version of floe does not know", name, size);
    memcpy(known, given, size < known_nbytes ? size : known_nbytes);
    memcpy(known, &known_nbytes, sizeof known_nbytes);
    return FLOE_OK;
}
