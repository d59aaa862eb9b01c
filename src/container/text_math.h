/* SPDX-License-Identifier: BSD-3-Clause */
/* Which bytes are a text that a header may hold: UTF-8 without control characters. */
#ifndef FLOE_CONTAINER_TEXT_MATH_H
#define FLOE_CONTAINER_TEXT_MATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hd.h"

/* Bytes of the UTF-8 character that begins with this one; 0: none does. */
FLOE_HD uint32_t floe_utf8_length(uint8_t first)
{
    return first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
}

/* Length of the character at p (n > 0 bytes are there) and its code point; 0 if it is not well formed: wrong continuation
 * bytes, an overlong form, a surrogate, or past U+10FFFF. */
FLOE_HD uint32_t floe_utf8_next(const uint8_t *p, size_t n, uint32_t *code)
{
    uint32_t length = floe_utf8_length(p[0]);
    if (length == 0 || length > n)
        return 0;
    uint32_t c = length == 1 ? p[0] : p[0] & (0x7Fu >> length);
    for (uint32_t i = 1; i < length; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        c = c << 6 | (p[i] & 0x3Fu);
    }
    *code = c;
    uint32_t least = length == 1 ? 0 : length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
    return c < least || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? 0 : length;
}

/* Texts are shown on terminals, so control characters stay out, but for tab and line ends where lines are allowed. */
FLOE_HD bool floe_text_allows(uint32_t code, bool lines)
{
    bool line = code == '\t' || code == '\n' || code == '\r';
    return !(code < 0x20 || (code >= 0x7F && code <= 0x9F)) || (lines && line);
}

/* The rule for byte i alone: a text is valid if it holds for each of its bytes. Begins a character: that is well formed
 * and allowed. Continues one: the byte that begins it is near enough. */
FLOE_HD bool floe_text_byte_valid(const uint8_t *p, size_t n, size_t i, bool lines)
{
    uint32_t code = 0;
    if (p[i] >> 6 != 2)
        return floe_utf8_next(p + i, n - i, &code) && floe_text_allows(code, lines);
    size_t back = 1;
    while (back < 4 && back <= i && p[i - back] >> 6 == 2)
        back++;
    return back < 4 && back <= i && floe_utf8_length(p[i - back]) > back;
}

#endif
