/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * .npy files: magic, version, the length of the header, and the header, a Python dict literal such as
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (6, 241, 480), }
 * Versions 1 to 3 differ in the width of the length and in the header's character set. The header is untrusted text:
 * only this dict with exactly these three keys is taken.
 */
#include "io/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static bool npy_matches(const unsigned char *head, size_t nbytes)
{
    return nbytes >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

/* ---- the dict ---------------------------------------------------------------------------------------------------- */

typedef struct npy_text {
    const char *at, *end;
} npy_text;

typedef struct npy_dict {
    char descr[32];
    bool fortran_order;
    uint32_t rank; /* may be larger than FLOE_MAX_RANK; then only the first axes are in shape */
    uint64_t shape[FLOE_MAX_RANK];
    unsigned seen; /* bit 0: descr, 1: fortran_order, 2: shape */
} npy_dict;

static void skip_blanks(npy_text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r'))
        t->at++;
}

static bool take(npy_text *t, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

/* '...' or "..." without escapes */
static bool take_string(npy_text *t, char *text, size_t capacity)
{
    skip_blanks(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return false;
    char quote = *t->at++;
    size_t n = 0;
    while (t->at < t->end && *t->at != quote && *t->at != '\\') {
        if (n + 1 == capacity)
            return false;
        text[n++] = *t->at++;
    }
    text[n] = 0;
    return t->at < t->end && *t->at++ == quote;
}

static bool take_number(npy_text *t, uint64_t *value)
{
    skip_blanks(t);
    const char *start = t->at;
    *value = 0;
    while (t->at < t->end && *t->at >= '0' && *t->at <= '9') {
        uint64_t digit = (uint64_t)(*t->at - '0');
        if (*value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
        t->at++;
    }
    if (t->at == start)
        return false;
    take(t, "L"); /* as Python 2 wrote it */
    return true;
}

/* (), (3,), (3, 4), (3, 4,) */
static bool take_tuple(npy_text *t, npy_dict *dict)
{
    if (!take(t, "("))
        return false;
    while (!take(t, ")")) {
        uint64_t n;
        if (!take_number(t, &n) || dict->rank == 1000)
            return false;
        if (dict->rank < FLOE_MAX_RANK)
            dict->shape[dict->rank] = n;
        dict->rank++;
        if (!take(t, ","))
            return take(t, ")");
    }
    return true;
}

static bool take_entry(npy_text *t, npy_dict *dict)
{
    char key[16];
    unsigned bit;
    bool ok;
    if (!take_string(t, key, sizeof key) || !take(t, ":"))
        return false;
    if (strcmp(key, "descr") == 0) {
        bit = 1;
        ok = take_string(t, dict->descr, sizeof dict->descr);
    } else if (strcmp(key, "fortran_order") == 0) {
        bit = 2;
        dict->fortran_order = take(t, "True");
        ok = dict->fortran_order || take(t, "False");
    } else {
        bit = 4;
        ok = strcmp(key, "shape") == 0 && take_tuple(t, dict);
    }
    ok = ok && !(dict->seen & bit);
    dict->seen |= bit;
    return ok;
}

static bool parse_dict(npy_text *t, npy_dict *dict)
{
    if (!take(t, "{"))
        return false;
    while (!take(t, "}")) {
        if (!take_entry(t, dict))
            return false;
        if (!take(t, ",")) {
            if (!take(t, "}"))
                return false;
            break;
        }
    }
    skip_blanks(t);
    return t->at == t->end && dict->seen == 7;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static floe_status check_dict(const char *name, const npy_dict *dict, floe_field *layout, floe_error *err)
{
    char little[sizeof dict->descr];
    memcpy(little, dict->descr, sizeof little);
    little[0] = '<';
    const bool known = floe_dtype_parse(little, &layout->dtype) == FLOE_OK;
    if (known && dict->descr[0] == '>')
        return io_fail(err, FLOE_ERR_UNSUPPORTED,
                       "'%s' holds big-endian values (%s): convert it in NumPy with a.astype('%s')", name, dict->descr,
                       little);
    if (!known || dict->descr[0] != '<')
        return io_fail(err, FLOE_ERR_UNSUPPORTED, "'%s' holds values of type '%s'; floe takes <f4, <f8, <i4 and <i8",
                       name, dict->descr);
    if (dict->rank < 1 || dict->rank > FLOE_MAX_RANK)
        return io_fail(err, FLOE_ERR_UNSUPPORTED, "'%s' has %" PRIu32 " axes; floe takes 1 to %d: reshape it in NumPy",
                       name, dict->rank, FLOE_MAX_RANK);
    if (dict->fortran_order && dict->rank > 1)
        return io_fail(err, FLOE_ERR_UNSUPPORTED,
                       "'%s' is in Fortran order: convert it in NumPy with np.ascontiguousarray(a)", name);
    layout->place = FLOE_HOST;
    layout->rank = dict->rank;
    memcpy(layout->shape, dict->shape, sizeof layout->shape);
    uint64_t nelems;
    if (floe_field_nelems(layout, &nelems) != FLOE_OK)
        return io_fail(err, FLOE_ERR_FORMAT, "'%s' claims a shape that is too large", name);
    return FLOE_OK;
}

static floe_status npy_header_read(io_reader *reader, floe_error *err)
{
    const unsigned char *head;
    size_t got;
    floe_status status = io_reader_peek(reader, 12, &head, &got, err);
    if (status != FLOE_OK)
        return status;
    if (got < 12)
        return io_fail(err, FLOE_ERR_FORMAT, "'%s' ends inside its .npy header", reader->name);
    if (head[6] < 1 || head[6] > 3)
        return io_fail(err, FLOE_ERR_FORMAT, "'%s' is a .npy file of version %d; floe knows 1 to 3", reader->name,
                       head[6]);
    size_t start = head[6] == 1 ? 10 : 12;
    size_t nbytes = (size_t)head[8] | (size_t)head[9] << 8;
    if (start == 12)
        nbytes |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    if (nbytes > IO_HEADER_MAX_NBYTES)
        return io_fail(err, FLOE_ERR_FORMAT, "'%s' claims a .npy header of %zu bytes", reader->name, nbytes);
    status = io_reader_peek(reader, start + nbytes, &head, &got, err);
    if (status != FLOE_OK)
        return status;
    if (got < start + nbytes)
        return io_fail(err, FLOE_ERR_FORMAT, "'%s' ends inside its .npy header", reader->name);
    npy_text text = {(const char *)head + start, (const char *)head + start + nbytes};
    npy_dict dict = {0};
    if (!parse_dict(&text, &dict))
        return io_fail(err, FLOE_ERR_FORMAT, "the .npy header of '%s' is not valid or describes no plain array",
                       reader->name);
    reader->payload = start + nbytes;
    return check_dict(reader->name, &dict, &reader->layout, err);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static floe_status npy_header_write(const floe_field *layout, void *dst, size_t capacity, size_t *nbytes,
                                    floe_error *err)
{
    char *text = dst;
    enum { START = 10, ALIGN = 64 }; /* elements start at a multiple of 64, so that the file can be mapped */
    if (capacity < 256)
        return io_fail(err, FLOE_ERR_CAPACITY, "no room for a .npy header");
    memcpy(text, magic, sizeof magic);
    text[6] = 1;
    text[7] = 0;
    size_t n = START;
    n += (size_t)snprintf(text + n, capacity - n, "{'descr': '<%c%zu', 'fortran_order': False, 'shape': (",
                          floe_dtype_name(layout->dtype)[0], floe_dtype_size(layout->dtype));
    for (uint32_t i = 0; i < layout->rank; i++)
        n += (size_t)snprintf(text + n, capacity - n, "%" PRIu64 "%s", layout->shape[i],
                              i + 1 < layout->rank ? ", " : (layout->rank == 1 ? "," : ""));
    n += (size_t)snprintf(text + n, capacity - n, "), }");
    while ((n + 1) % ALIGN)
        text[n++] = ' ';
    text[n++] = '\n';
    text[8] = (char)((n - START) & 255);
    text[9] = (char)((n - START) >> 8);
    *nbytes = n;
    return FLOE_OK;
}

const io_format io_format_npy = {
    .name = "npy",
    .suffix = ".npy",
    .matches = npy_matches,
    .header_read = npy_header_read,
    .header_write = npy_header_write,
};
