/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files: nothing but elements (or the bytes of a stream). Last in the table, since every file matches. */
#include "io/format.h"

static bool raw_matches(const unsigned char *head, size_t nbytes)
{
    (void)head;
    (void)nbytes;
    return true;
}

const io_format io_format_raw = {.name = "raw", .suffix = "", .matches = raw_matches};
