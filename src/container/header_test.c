/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers: round trips, every limit, every single-byte change, every cut, and headers that lie with a right checksum. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "container/layout.h"

/* Allocated to the byte, so that a sanitizer sees a read past the end. */
static uint8_t *clone(const uint8_t *p, size_t n)
{
    uint8_t *q = malloc(n ? n : 1);
    memcpy(q, p, n);
    return q;
}

static floe_header sample(void)
{
    floe_header h = {.dtype = FLOE_F64,
                     .rank = 3,
                     .shape = {70, 80, 90},
                     .chunk = {32, 80, 64},
                     .codec = FLOE_CODEC_LORENZO,
                     .preset = FLOE_PRESET_FAST,
                     .mode = FLOE_BOUND_REL,
                     .bound = 1e-3,
                     .abs_bound = 0.25,
                     .value_min = -125,
                     .value_max = 125,
                     .has_fill = true,
                     .fill_bits = 0xC0C3878000000000u};
    return h;
}

static size_t write_header(const floe_header *h, uint8_t **bytes)
{
    size_t n = floe_header_nbytes(h);
    assert_int_not_equal(n, 0);
    *bytes = malloc(n);
    floe_error err;
    if (floe_header_write(h, *bytes, n, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    return n;
}

static floe_status read_status(const uint8_t *bytes, size_t n)
{
    floe_header h;
    floe_error err = {0};
    floe_status status = floe_header_read(bytes, n, &h, &err);
    if (status != FLOE_OK)
        assert_true(err.status == status && err.message[0]);
    return status;
}

static void assert_same_real(double a, double b)
{
    assert_true(a == b ? signbit(a) == signbit(b) : isnan(a) && isnan(b));
}

static void assert_same_header(const floe_header *a, const floe_header *b)
{
    assert_true(a->dtype == b->dtype && a->rank == b->rank && a->codec == b->codec && a->preset == b->preset);
    assert_true(a->mode == b->mode && a->has_fill == b->has_fill && a->fill_bits == b->fill_bits);
    for (uint32_t i = 0; i < a->rank; i++)
        assert_true(a->shape[i] == b->shape[i] && a->chunk[i] == b->chunk[i]);
    assert_same_real(a->bound, b->bound);
    assert_same_real(a->abs_bound, b->abs_bound);
    assert_same_real(a->value_min, b->value_min);
    assert_same_real(a->value_max, b->value_max);
    assert_int_equal(a->nattrs, b->nattrs);
}

static void round_trip(const floe_header *h)
{
    uint8_t *bytes;
    size_t n = write_header(h, &bytes), size = 0;
    floe_header back;
    floe_error err;
    assert_int_equal(n % 8, 0);
    assert_int_equal(floe_header_peek(bytes, FLOE_HEADER_MIN_NBYTES, &size, &err), FLOE_OK);
    assert_int_equal(size, n);
    if (floe_header_read(bytes, n, &back, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    assert_same_header(h, &back);
    const bool newest = h->mode == FLOE_BOUND_RATIO || h->preset == FLOE_PRESET_BEST;
    assert_int_equal(back.version, newest ? 4 : h->mode > FLOE_BOUND_LOSSLESS ? 3 : h->dtype >= FLOE_I32 ? 2 : 1);
    assert_null(back.attrs);
    for (uint32_t i = 0; i < h->nattrs; i++) {
        floe_item item;
        assert_int_equal(floe_header_attr(bytes, n, i, &item, &err), FLOE_OK);
        assert_int_equal(item.key_nbytes, strlen(h->attrs[i].key));
        assert_int_equal(item.value_nbytes, strlen(h->attrs[i].value));
        assert_memory_equal(item.key, h->attrs[i].key, item.key_nbytes);
        assert_memory_equal(item.value, h->attrs[i].value, item.value_nbytes);
    }
    free(bytes);
}

static floe_status write_status(const floe_header *h)
{
    uint8_t bytes[4096];
    floe_error err = {0};
    floe_status status = floe_header_write(h, bytes, sizeof bytes, &err);
    if (status != FLOE_OK)
        assert_true(err.status == status && err.message[0]);
    assert_int_equal(floe_header_write(h, bytes, sizeof bytes, NULL), status);
    return status;
}

/* ---- round trips ------------------------------------------------------------------------------------------------- */

static void headers_come_back(void **state)
{
    (void)state;
    floe_header h = sample();
    round_trip(&h);
    h.has_fill = false, h.fill_bits = 0, h.value_min = h.value_max = NAN, h.abs_bound = 0;
    round_trip(&h);
    h.mode = FLOE_BOUND_RATIO;
    round_trip(&h);
    h.preset = FLOE_PRESET_BEST;
    round_trip(&h);
    h.mode = FLOE_BOUND_PWREL, h.abs_bound = -NAN, h.preset = FLOE_PRESET_BALANCED;
    round_trip(&h);
    h.mode = FLOE_BOUND_LOSSLESS, h.bound = h.abs_bound = 0;
    round_trip(&h);
    h.mode = FLOE_BOUND_PSNR, h.bound = 5e-324, h.abs_bound = 1.7976931348623157e308;
    round_trip(&h);
    for (int dtype = FLOE_I32; dtype <= FLOE_I64; dtype++) {
        h.dtype = (floe_dtype)dtype, h.has_fill = true, h.fill_bits = 0xFFFFFFFFu;
        round_trip(&h);
    }
    h.codec = FLOE_CODEC_ZFP, h.abs_bound = NAN;
    h.mode = FLOE_BOUND_RATE, h.bound = 0.25;
    round_trip(&h);
    h.mode = FLOE_BOUND_PREC, h.bound = 64;
    round_trip(&h);
    for (uint32_t rank = 1; rank <= FLOE_MAX_RANK; rank++)
        for (uint32_t empty = 0; empty <= rank; empty++) {
            h = sample();
            h.rank = rank;
            for (uint32_t i = 0; i < FLOE_MAX_RANK; i++)
                h.shape[i] = 5 + i, h.chunk[i] = 1 + i;
            if (empty < rank)
                h.shape[empty] = h.chunk[empty] = 0;
            round_trip(&h);
        }
}

static void lossless_forgets_the_bound(void **state)
{
    (void)state;
    floe_header h = sample(), plain = sample();
    h.mode = plain.mode = FLOE_BOUND_LOSSLESS;
    plain.bound = plain.abs_bound = 0;
    uint8_t *a, *b;
    size_t n = write_header(&h, &a), m = write_header(&plain, &b);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
}

static void attributes_come_back(void **state)
{
    (void)state;
    static const floe_attr attrs[] = {{"units", "K"},         {"name", "potential temperature"},
                                      {"empty", ""},          {"1234567", "8"},
                                      {"12345678", ""},       {"\xc3\xa9t\xc3\xa9", "\xe2\x82\xac \xf0\x9f\x8c\x8a"},
                                      {"lines", "a\tb\r\nc"}, {"units", "again"}};
    floe_header h = sample();
    for (uint32_t n = 0; n <= 8; n++) {
        h.attrs = attrs, h.nattrs = n;
        round_trip(&h);
    }
}

static void attributes_must_be_texts(void **state)
{
    (void)state;
    static const char *const bad[] = {"\x01",
                                      "\x1b[2J",
                                      "\x7f",
                                      "\xc2\x80",
                                      "\x80",
                                      "\xc3",
                                      "\xe2\x82",
                                      "\xc0\xaf",
                                      "\xe0\x80\xaf",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "ok\xff",
                                      "\xc3(",
                                      NULL};
    floe_header h = sample();
    h.nattrs = 1;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        h.attrs = &(floe_attr){"key", bad[i]};
        assert_int_equal(floe_header_nbytes(&h), 0);
        assert_int_equal(write_status(&h), FLOE_ERR_ARGUMENT);
        h.attrs = &(floe_attr){bad[i], "value"};
        assert_int_equal(floe_header_nbytes(&h), 0);
    }
    h.attrs = &(floe_attr){"", "value"};
    assert_int_equal(floe_header_nbytes(&h), 0);
    h.attrs = &(floe_attr){"a\nb", "value"};
    assert_int_equal(floe_header_nbytes(&h), 0);
    h.attrs = NULL;
    assert_int_equal(floe_header_nbytes(&h), 0);
}

static char *text_of(size_t n)
{
    char *t = malloc(n + 1);
    memset(t, 'x', n);
    t[n] = 0;
    return t;
}

static void attributes_at_their_limits(void **state)
{
    (void)state;
    floe_header h = sample();
    char *key = text_of(65535), *long_key = text_of(65536);
    size_t room = FLOE_HEADER_MAX_NBYTES - floe_header_nbytes(&h) - FLOE_ITEM_HEAD_NBYTES;
    char *value = text_of(room - 8), *long_value = text_of(room - 7);
    h.nattrs = 1;
    h.attrs = &(floe_attr){key, "v"};
    round_trip(&h);
    h.attrs = &(floe_attr){long_key, "v"};
    assert_int_equal(floe_header_nbytes(&h), 0);
    h.attrs = &(floe_attr){"12345678", value};
    assert_int_equal(floe_header_nbytes(&h), FLOE_HEADER_MAX_NBYTES);
    round_trip(&h);
    h.attrs = &(floe_attr){"12345678", long_value};
    assert_int_equal(floe_header_nbytes(&h), 0);
    floe_attr *many = malloc((FLOE_HEADER_MAX_ATTRS + 1) * sizeof *many);
    for (int i = 0; i <= FLOE_HEADER_MAX_ATTRS; i++)
        many[i] = (floe_attr){"k", "v"};
    h.attrs = many, h.nattrs = FLOE_HEADER_MAX_ATTRS;
    round_trip(&h);
    h.nattrs++;
    assert_int_equal(floe_header_nbytes(&h), 0);
    assert_int_equal(write_status(&h), FLOE_ERR_ARGUMENT);
    free(many);
    free(key);
    free(long_key);
    free(value);
    free(long_value);
}

static void writing_needs_room(void **state)
{
    (void)state;
    floe_header h = sample();
    size_t n = floe_header_nbytes(&h);
    uint8_t bytes[512];
    uint8_t untouched[sizeof bytes];
    memset(bytes, 0xEE, sizeof bytes);
    memset(untouched, 0xEE, sizeof untouched);
    for (size_t room = 0; room < n; room++)
        assert_int_equal(floe_header_write(&h, bytes, room, NULL), FLOE_ERR_CAPACITY);
    assert_memory_equal(bytes, untouched, sizeof bytes);
    assert_int_equal(floe_header_write(&h, bytes, n, NULL), FLOE_OK);
    assert_memory_equal(bytes + n, untouched, sizeof bytes - n);
    assert_int_not_equal(bytes[n - 1], 0xEE); /* all of it was written */
}

/* ---- what may not be written ------------------------------------------------------------------------------------- */

#define REFUSED(change)                                        \
    do {                                                       \
        floe_header h = sample();                              \
        change;                                                \
        assert_int_equal(write_status(&h), FLOE_ERR_ARGUMENT); \
    } while (0)

static void headers_out_of_range_are_not_written(void **state)
{
    (void)state;
    REFUSED(h.dtype = (floe_dtype)0);
    REFUSED(h.dtype = (floe_dtype)5);
    REFUSED((h.dtype = FLOE_I32, h.mode = FLOE_BOUND_PWREL, h.abs_bound = NAN));
    REFUSED(h.rank = 0);
    REFUSED(h.rank = 5);
    REFUSED(h.rank = UINT32_MAX);
    REFUSED(h.codec = FLOE_CODEC_AUTO);
    REFUSED(h.codec = (floe_codec)200);
    REFUSED(h.codec = (floe_codec)256);
    REFUSED(h.preset = (floe_preset)3);
    REFUSED(h.preset = (floe_preset)-1);
    REFUSED(h.mode = (floe_bound_mode)0);
    REFUSED(h.mode = (floe_bound_mode)9);
    REFUSED((h.mode = FLOE_BOUND_RATE, h.abs_bound = NAN)); /* codec lorenzo has none */
    REFUSED((h.codec = FLOE_CODEC_ZFP, h.mode = FLOE_BOUND_RATE));
    REFUSED((h.codec = FLOE_CODEC_ZFP, h.mode = FLOE_BOUND_RATE, h.abs_bound = NAN, h.bound = 0));
    REFUSED((h.codec = FLOE_CODEC_ZFP, h.mode = FLOE_BOUND_PREC, h.abs_bound = NAN, h.bound = 0.5));
    REFUSED((h.codec = FLOE_CODEC_ZFP, h.mode = FLOE_BOUND_PREC, h.abs_bound = NAN, h.bound = 7.5));
    REFUSED((h.codec = FLOE_CODEC_ZFP, h.mode = FLOE_BOUND_PREC, h.abs_bound = NAN, h.bound = 65));
    REFUSED((h.codec = FLOE_CODEC_ZFP, h.mode = FLOE_BOUND_PREC, h.abs_bound = NAN, h.bound = 1e300));
    REFUSED(h.bound = 0);
    REFUSED(h.bound = -1);
    REFUSED(h.bound = NAN);
    REFUSED(h.bound = INFINITY);
    REFUSED(h.abs_bound = -1);
    REFUSED(h.abs_bound = -0.0);
    REFUSED(h.abs_bound = NAN);
    REFUSED(h.abs_bound = INFINITY);
    REFUSED(h.mode = FLOE_BOUND_PWREL);
    REFUSED(h.value_min = 126);
    REFUSED(h.value_min = NAN);
    REFUSED(h.value_max = NAN);
    REFUSED(h.value_max = INFINITY);
    REFUSED(h.has_fill = false);
    REFUSED(h.dtype = FLOE_F32);
    REFUSED(h.chunk[1] = 81);
    REFUSED(h.chunk[1] = 0);
    REFUSED(h.shape[1] = 0);
    REFUSED(h.shape[0] = (uint64_t)1 << 60);
    REFUSED(h.shape[0] = UINT64_MAX);
    REFUSED(h.shape[0] = (uint64_t)1 << 45; h.chunk[0] = h.chunk[1] = h.chunk[2] = 1; h.shape[1] = h.shape[2] = 1 << 8;
            h.shape[2] = 1 << 15); /* more chunks than an index can number */
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

static void every_changed_byte_is_noticed(void **state)
{
    (void)state;
    floe_header h = sample();
    h.attrs = &(floe_attr){"units", "K"}, h.nattrs = 1;
    uint8_t *bytes;
    size_t n = write_header(&h, &bytes);
    for (size_t i = 0; i < n; i++)
        for (int x = 1; x < 256; x++) {
            bytes[i] ^= (uint8_t)x;
            assert_int_not_equal(read_status(bytes, n), FLOE_OK);
            bytes[i] ^= (uint8_t)x;
        }
    assert_int_equal(read_status(bytes, n), FLOE_OK);
    free(bytes);
}

static void every_cut_is_noticed(void **state)
{
    (void)state;
    floe_header h = sample();
    h.attrs = &(floe_attr){"units", "K"}, h.nattrs = 1;
    uint8_t *bytes;
    size_t n = write_header(&h, &bytes);
    for (size_t m = 0; m < n; m++) {
        uint8_t *cut = clone(bytes, m);
        assert_int_equal(read_status(cut, m), FLOE_ERR_FORMAT);
        free(cut);
    }
    free(bytes);
}

static void other_files_are_named(void **state)
{
    (void)state;
    floe_header h = sample();
    uint8_t *bytes;
    size_t n = write_header(&h, &bytes), size;
    floe_error err;
    memmove(bytes + 5, bytes + 6, n - 6); /* CR LF has become LF */
    assert_int_equal(floe_header_peek(bytes, n, &size, &err), FLOE_ERR_FORMAT);
    assert_non_null(strstr(err.message, "text mode"));
    assert_int_equal(floe_header_peek("\x89PNG\r\n\x1a\n and more", 20, &size, &err), FLOE_ERR_FORMAT);
    assert_non_null(strstr(err.message, "89 50 4e 47"));
    assert_int_equal(floe_header_peek(bytes, 0, &size, &err), FLOE_ERR_FORMAT);
    assert_int_equal(floe_header_peek(NULL, 0, &size, &err), FLOE_ERR_FORMAT);
    free(bytes);
}

/* ---- lies with a right checksum ---------------------------------------------------------------------------------- */

static floe_status lie(const uint8_t *bytes, size_t n, size_t at, size_t width, uint64_t value)
{
    uint8_t *copy = clone(bytes, n), word[8];
    floe_store64(word, value);
    memcpy(copy + at, word, width);
    floe_store64(copy + n - 8, floe_xxh3(copy, n - 8));
    floe_status status = read_status(copy, n);
    free(copy);
    return status;
}

static void versions_from_the_future(void **state)
{
    (void)state;
    floe_header h = sample();
    uint8_t *bytes;
    size_t n = write_header(&h, &bytes), size;
    assert_int_equal(lie(bytes, n, 8, 2, 7), FLOE_OK); /* newer, but readable by us */
    assert_int_equal(lie(bytes, n, 8, 2, 0), FLOE_ERR_FORMAT);
    assert_int_equal(lie(bytes, n, 10, 2, 0), FLOE_ERR_FORMAT);
    assert_int_equal(lie(bytes, n, 8, 4, 5 | 4 << 16), FLOE_OK);
    assert_int_equal(lie(bytes, n, 8, 4, 6 | 5 << 16), FLOE_ERR_VERSION);
    floe_error err;
    floe_store32(bytes + 8, 6 | 5 << 16);
    assert_int_equal(floe_header_peek(bytes, n, &size, &err), FLOE_ERR_VERSION);
    assert_string_equal(
        err.message, "the file has format version 6 and needs a reader of version 5; this floe reads up to version 4");
    free(bytes);
}

static void fields_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at, width;
        uint64_t value;
        floe_status status;
    } lies[] = {
        {12, 4, 0, FLOE_ERR_FORMAT},
        {12, 4, 88, FLOE_ERR_FORMAT},
        {12, 4, 129, FLOE_ERR_FORMAT},
        {12, 4, 0xFFFFFFF8u, FLOE_ERR_FORMAT},
        {12, 4, (1u << 20) + 8, FLOE_ERR_FORMAT},
        {16, 1, 0, FLOE_ERR_FORMAT},
        {16, 1, 3, FLOE_ERR_FORMAT}, /* an integer type, in a file of version 1 */
        {19, 1, 2, FLOE_ERR_FORMAT}, /* preset best, in a file of version 1 */
        {20, 1, 8, FLOE_ERR_FORMAT}, /* a ratio, in a file of version 1 */
        {16, 1, 5, FLOE_ERR_FORMAT},
        {16, 1, 255, FLOE_ERR_FORMAT},
        {17, 1, 0, FLOE_ERR_FORMAT},
        {17, 1, 1, FLOE_ERR_FORMAT},
        {17, 1, 4, FLOE_ERR_FORMAT},
        {17, 1, 5, FLOE_ERR_FORMAT},
        {17, 1, 255, FLOE_ERR_FORMAT},
        {18, 1, 0, FLOE_ERR_FORMAT},
        {18, 1, 77, FLOE_ERR_UNSUPPORTED},
        {19, 1, 2, FLOE_ERR_FORMAT},
        {20, 1, 0, FLOE_ERR_FORMAT},
        {20, 1, 6, FLOE_ERR_FORMAT}, /* a rate, in a file of version 1 */
        {20, 1, 8, FLOE_ERR_FORMAT},
        {21, 1, 0, FLOE_ERR_FORMAT},
        {21, 1, 3, FLOE_ERR_FORMAT},
        {22, 2, 1, FLOE_ERR_FORMAT},
        {24, 4, 1, FLOE_ERR_FORMAT},
        {24, 4, UINT32_MAX, FLOE_ERR_FORMAT},
        {28, 4, 1, FLOE_ERR_FORMAT},
        {32, 8, 0, FLOE_ERR_FORMAT},
        {32, 8, 0x7FF8000000000000u, FLOE_ERR_FORMAT},
        {40, 8, 0x8000000000000000u, FLOE_ERR_FORMAT},
        {48, 8, 0x7FF8000000000001u, FLOE_ERR_FORMAT},
        {48, 8, 0xFFF8000000000000u, FLOE_ERR_FORMAT},
        {56, 8, 0x7FF0000000000000u, FLOE_ERR_FORMAT},
        {72, 8, 0, FLOE_ERR_FORMAT},
        {72, 8, UINT64_MAX, FLOE_ERR_FORMAT},
        {80, 8, (uint64_t)1 << 58, FLOE_ERR_FORMAT},
        {96, 8, 0, FLOE_ERR_FORMAT},
        {96, 8, 71, FLOE_ERR_FORMAT},
        {112, 8, UINT64_MAX, FLOE_ERR_FORMAT},
    };
    floe_header h = sample();
    uint8_t *bytes;
    size_t n = write_header(&h, &bytes);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++)
        assert_int_equal(lie(bytes, n, lies[i].at, lies[i].width, lies[i].value), lies[i].status);
    free(bytes);
}

static void attributes_that_lie_are_refused(void **state)
{
    (void)state;
    floe_header h = sample();
    h.attrs = &(floe_attr){"units", "K"}, h.nattrs = 1;
    uint8_t *bytes;
    size_t n = write_header(&h, &bytes), at = 72 + 6 * 8;
    assert_int_equal(lie(bytes, n, at, 2, 2), FLOE_ERR_FORMAT);     /* an unknown kind */
    assert_int_equal(lie(bytes, n, at, 2, 0x8002), FLOE_OK);        /* an unknown kind that may be skipped */
    assert_int_equal(lie(bytes, n, at + 2, 2, 0), FLOE_ERR_FORMAT); /* no key; what is left is not padding */
    assert_int_equal(lie(bytes, n, at + 2, 2, 6), FLOE_ERR_FORMAT); /* a NUL in the value */
    assert_int_equal(lie(bytes, n, at + 2, 2, 65535), FLOE_ERR_FORMAT);
    assert_int_equal(lie(bytes, n, at + 4, 4, UINT32_MAX), FLOE_ERR_FORMAT);
    assert_int_equal(lie(bytes, n, at + 4, 4, 4), FLOE_ERR_FORMAT);    /* past the end */
    assert_int_equal(lie(bytes, n, at + 8, 1, 0xFF), FLOE_ERR_FORMAT); /* no UTF-8 */
    assert_int_equal(lie(bytes, n, at + 14, 1, 1), FLOE_ERR_FORMAT);   /* padding */
    assert_int_equal(lie(bytes, n, 24, 4, 0), FLOE_ERR_FORMAT);        /* more bytes than attributes */
    assert_int_equal(lie(bytes, n, 24, 4, 2), FLOE_ERR_FORMAT);
    free(bytes);
}

static void optional_items_are_skipped(void **state)
{
    (void)state;
    static const floe_attr attrs[] = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
    floe_header h = sample();
    h.attrs = attrs, h.nattrs = 3;
    uint8_t *bytes;
    size_t n = write_header(&h, &bytes);
    floe_item item;
    floe_store16(bytes + 72 + 6 * 8 + 16, 0x8123); /* the second one */
    floe_store64(bytes + n - 8, floe_xxh3(bytes, n - 8));
    assert_int_equal(floe_header_read(bytes, n, &h, NULL), FLOE_OK);
    assert_int_equal(h.nattrs, 2);
    assert_int_equal(floe_header_attr(bytes, n, 1, &item, NULL), FLOE_OK);
    assert_true(item.key_nbytes == 1 && *item.key == 'c' && item.value_nbytes == 1 && *item.value == '3');
    assert_int_equal(floe_header_attr(bytes, n, 2, &item, NULL), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_header_attr(bytes, n, UINT32_MAX, &item, NULL), FLOE_ERR_ARGUMENT);
    free(bytes);
}

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

static void boxes_tile_the_field(void **state)
{
    (void)state;
    for (uint64_t a = 1; a <= 6; a++)
        for (uint64_t b = 1; b <= 7; b++)
            for (uint64_t ca = 1; ca <= a; ca++)
                for (uint64_t cb = 1; cb <= b; cb++) {
                    floe_header h = {.rank = 3, .shape = {a, b, 3}, .chunk = {ca, cb, 2}};
                    uint8_t seen[6][7][3] = {{{0}}};
                    uint64_t n = floe_grid_nchunks(&h), total = 0;
                    for (uint64_t c = 0; c < n; c++) {
                        uint64_t lo[3], extent[3];
                        floe_grid_box(&h, c, lo, extent);
                        for (int i = 0; i < 3; i++)
                            assert_true(extent[i] >= 1 && extent[i] <= h.chunk[i] && lo[i] + extent[i] <= h.shape[i]);
                        total += extent[0] * extent[1] * extent[2];
                        seen[lo[0]][lo[1]][lo[2]]++;
                        assert_int_equal(seen[lo[0]][lo[1]][lo[2]], 1);
                    }
                    assert_int_equal(total, a * b * 3);
                }
    floe_header empty = {.rank = 2, .shape = {0, 4}, .chunk = {0, 2}};
    assert_int_equal(floe_grid_nchunks(&empty), 0);
    uint64_t lo[3], extent[3];
    floe_header h = {.rank = 3, .shape = {5, 4, 3}, .chunk = {2, 4, 2}}; /* C order: the last axis runs first */
    floe_grid_box(&h, 1, lo, extent);
    assert_true(lo[0] == 0 && lo[1] == 0 && lo[2] == 2 && extent[0] == 2 && extent[2] == 1);
    floe_grid_box(&h, 5, lo, extent);
    assert_true(lo[0] == 4 && lo[2] == 2 && extent[0] == 1 && extent[2] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_come_back),
        cmocka_unit_test(lossless_forgets_the_bound),
        cmocka_unit_test(attributes_come_back),
        cmocka_unit_test(attributes_must_be_texts),
        cmocka_unit_test(attributes_at_their_limits),
        cmocka_unit_test(writing_needs_room),
        cmocka_unit_test(headers_out_of_range_are_not_written),
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(other_files_are_named),
        cmocka_unit_test(versions_from_the_future),
        cmocka_unit_test(fields_that_lie_are_refused),
        cmocka_unit_test(attributes_that_lie_are_refused),
        cmocka_unit_test(optional_items_are_skipped),
        cmocka_unit_test(boxes_tile_the_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
