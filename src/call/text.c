/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum { NUMBER_MAX = 400 }; /* characters of a number: more than a double ever needs */

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* strtod and printf write the decimal point of the locale. What stands between the digits of 0.5 is that point. */
static size_t locale_point(char point[16])
{
    char half[32];
    int n = snprintf(half, sizeof half, "%.1f", 0.5);
    size_t length = n > 2 && n < 18 ? (size_t)n - 2 : 1;
    memcpy(point, half + 1, length);
    return length;
}

static size_t skip_digits(const char *text, size_t at, size_t end, size_t *count)
{
    size_t begin = at;
    while (at < end && text[at] >= '0' && text[at] <= '9')
        at++;
    *count += at - begin;
    return at;
}

/* [+-] digits [. digits] [e [+-] digits], with at least one digit before the exponent and in it. */
static bool number_is_decimal(const char *t, size_t end)
{
    size_t at = 0, digits = 0, exponent = 0;
    if (at < end && (t[at] == '-' || t[at] == '+'))
        at++;
    at = skip_digits(t, at, end, &digits);
    if (at < end && t[at] == '.')
        at = skip_digits(t, at + 1, end, &digits);
    if (digits && at < end && (t[at] == 'e' || t[at] == 'E')) {
        at++;
        if (at < end && (t[at] == '-' || t[at] == '+'))
            at++;
        at = skip_digits(t, at, end, &exponent);
        if (!exponent)
            return false;
    }
    return digits && at == end;
}

static bool text_is(const char *text, size_t nbytes, const char *word)
{
    if (strlen(word) != nbytes)
        return false;
    for (size_t i = 0; i < nbytes; i++)
        if (tolower((unsigned char)text[i]) != word[i])
            return false;
    return true;
}

static bool number_is_special(const char *text, size_t nbytes)
{
    static const char *const words[] = {"nan", "inf", "+inf", "-inf", "infinity", "-infinity"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (text_is(text, nbytes, words[i]))
            return true;
    return false;
}

bool floe_number_parse(const char *text, size_t nbytes, double *value)
{
    char local[NUMBER_MAX + 32], point[16];
    if (nbytes > NUMBER_MAX || !(number_is_decimal(text, nbytes) || number_is_special(text, nbytes)))
        return false;
    size_t point_length = locale_point(point), n = 0;
    for (size_t i = 0; i < nbytes; i++) {
        bool is_point = text[i] == '.';
        memcpy(local + n, is_point ? point : text + i, is_point ? point_length : 1);
        n += is_point ? point_length : 1;
    }
    local[n] = '\0';
    *value = strtod(local, NULL);
    return true;
}

/* Puts '.' for whatever the locale wrote. */
static void point_normalize(char *text)
{
    size_t to = 0;
    bool in_point = false;
    for (size_t at = 0; text[at]; at++) {
        bool plain = strchr("0123456789+-einfa", text[at]) != NULL;
        if (plain || !in_point)
            text[to++] = plain ? text[at] : '.';
        in_point = !plain;
    }
    text[to] = '\0';
}

const char *floe_number_format(double value, char text[FLOE_NUMBER_TEXT])
{
    if (value != value)
        return strcpy(text, "nan");
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        snprintf(text, FLOE_NUMBER_TEXT, "%.*g", digits, value);
        point_normalize(text);
        if (floe_number_parse(text, strlen(text), &back) && back == value)
            break;
    }
    return text;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static bool whole_parse(const char *text, size_t end, size_t *at, uint64_t *value)
{
    size_t begin = *at;
    *value = 0;
    for (; *at < end && text[*at] >= '0' && text[*at] <= '9'; ++*at)
        if (!floe_mul64(*value, 10, value) || !floe_add64(*value, (uint64_t)(text[*at] - '0'), value))
            return false;
    return *at > begin;
}

bool floe_shape_parse(const char *text, size_t nbytes, uint32_t *rank, uint64_t shape[FLOE_MAX_RANK])
{
    size_t at = 0;
    for (*rank = 0; *rank < FLOE_MAX_RANK; at++) {
        if (!whole_parse(text, nbytes, &at, &shape[*rank]))
            return false;
        ++*rank;
        if (at == nbytes)
            return true;
        if (text[at] != 'x')
            return false;
    }
    return false;
}

const char *floe_shape_format(uint32_t rank, const uint64_t *shape, char text[FLOE_SHAPE_TEXT])
{
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < rank && i < FLOE_MAX_RANK; i++)
        n += (size_t)snprintf(text + n, FLOE_SHAPE_TEXT - n, "%s%llu", i ? "x" : "", (unsigned long long)shape[i]);
    return text;
}

const char *floe_box_format(uint32_t rank, const uint64_t *lo, const uint64_t *hi, char text[FLOE_BOX_TEXT])
{
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < rank && i < FLOE_MAX_RANK; i++)
        n += (size_t)snprintf(text + n, FLOE_BOX_TEXT - n, "%s%llu:%llu", i ? "," : "", (unsigned long long)lo[i],
                              (unsigned long long)hi[i]);
    return text;
}
