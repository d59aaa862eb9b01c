/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that grows in the caller's memory. */
#ifndef FLOE_BASE_TEXT_BUFFER_H
#define FLOE_BASE_TEXT_BUFFER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

typedef struct floe_text {
    char *at;                /* always NUL-terminated, if capacity > 0 */
    size_t capacity, length; /* length: what there is to print, which may not fit */
} floe_text;

#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static inline void
floe_text_add(floe_text *t, const char *format, ...)
{
    const size_t used = t->length < t->capacity ? t->length : t->capacity;
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(t->at + used, t->capacity - used, format, args);
    va_end(args);
    t->length += n > 0 ? (size_t)n : 0;
}

#endif
