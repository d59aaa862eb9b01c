/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The header, once for both compilers: its fields as little-endian 64-bit words, what they may hold, the grid of chunks.
 *
 *   0 magic | 1 versions, size | 2 kinds, flags | 3 number of items | 4 bound | 5 absolute bound | 6 min | 7 max | 8 fill |
 *   shape | chunk | items | check
 */
#ifndef FLOE_CONTAINER_HEADER_MATH_H
#define FLOE_CONTAINER_HEADER_MATH_H

#include <stdbool.h>
#include <stddef.h>

#include "container/layout_math.h"
#include "field/dtype_math.h"
#include "base/hd.h"

/* ---- texts: UTF-8 without control characters ------------------------------------------------------------------------ */

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

enum {
    FLOE_HEADER_FIXED_WORDS = FLOE_HEADER_FIXED_NBYTES / 8,
    FLOE_HEADER_FIELD_WORDS_MAX = FLOE_HEADER_FIXED_WORDS + 2 * FLOE_MAX_RANK
};

/* Words up to the items. */
FLOE_HD uint32_t floe_header_field_words(uint32_t rank) { return FLOE_HEADER_FIXED_WORDS + 2 * rank; }
/* Of a header without items. */
FLOE_HD uint64_t floe_header_plain_nbytes(uint32_t rank)
{
    return 8 * (uint64_t)floe_header_field_words(rank) + FLOE_HEADER_CHECK_NBYTES;
}

/* An enum of a header that nobody has checked yet: C++ lets its type hold only what it names. */
FLOE_HD int floe_kind_get(const void *kind)
{
    int v;
    memcpy(&v, kind, sizeof v);
    return v;
}
FLOE_HD void floe_kind_put(void *kind, uint8_t value)
{
    int v = value;
    memcpy(kind, &v, sizeof v);
}

FLOE_HD bool floe_real_is_nan(double v) { return v != v; }
FLOE_HD bool floe_real_is_negative(double v) { return floe_bits_f64(v) >> 63; }
FLOE_HD bool floe_real_is_positive(double v) { return v > 0 && v <= 1.7976931348623157e308; }
FLOE_HD bool floe_real_is_finite(double v) { return (floe_bits_f64(v) & 0x7FF0000000000000u) != 0x7FF0000000000000u; }
/* NaN has one form in a file: other payloads would be other bytes for the same meaning. */
FLOE_HD uint64_t floe_header_real_bits(double v) { return floe_real_is_nan(v) ? FLOE_NAN64_BITS : floe_bits_f64(v); }
FLOE_HD bool floe_header_real_valid(uint64_t bits)
{
    return bits <= 0x7FF0000000000000u || bits == FLOE_NAN64_BITS || (bits >> 63 && bits <= 0xFFF0000000000000u);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* A mode that gives how much to store, and nothing of the error. */
FLOE_HD bool floe_mode_is_size(int mode) { return mode == FLOE_BOUND_RATE || mode == FLOE_BOUND_PREC; }

/* The codecs of the format, by number, each with its modes for values of a type, or (0) of any type: bit m is floe_bound_mode m. 0: no such codec.
 * A new codec is a line. */
#define FLOE_MODE_BIT(mode) (1u << (mode))
enum {
    FLOE_MODES_BOUND = FLOE_MODE_BIT(FLOE_BOUND_ABS) | FLOE_MODE_BIT(FLOE_BOUND_REL) | FLOE_MODE_BIT(FLOE_BOUND_PSNR) |
                       FLOE_MODE_BIT(FLOE_BOUND_LOSSLESS) | FLOE_MODE_BIT(FLOE_BOUND_RATIO),
    FLOE_MODES_SIZE = FLOE_MODE_BIT(FLOE_BOUND_RATE) | FLOE_MODE_BIT(FLOE_BOUND_PREC)
};
FLOE_HD uint32_t floe_codec_modes(int codec, int dtype)
{
    const uint32_t lossless = dtype == FLOE_F32 || dtype == FLOE_F64 ? FLOE_MODE_BIT(FLOE_BOUND_LOSSLESS) : 0;
    const uint32_t modes[] = {
        0,
        /* FLOE_CODEC_LORENZO */ FLOE_MODES_BOUND | FLOE_MODE_BIT(FLOE_BOUND_PWREL),
        /* FLOE_CODEC_ZFP */ FLOE_MODES_BOUND | FLOE_MODES_SIZE,
        /* FLOE_CODEC_INTERP */ FLOE_MODES_BOUND | FLOE_MODE_BIT(FLOE_BOUND_PWREL),
        /* FLOE_CODEC_WAVELET */ (FLOE_MODES_BOUND & ~lossless) | FLOE_MODE_BIT(FLOE_BOUND_PWREL),
    };
#ifdef FLOE_TEST_CODEC_NUMBER /* tests/null_codec */
    if (codec == FLOE_TEST_CODEC_NUMBER)
        return FLOE_MODES_BOUND;
#endif
    return codec < 0 || codec >= (int)(sizeof modes / sizeof *modes) ? 0 : modes[codec];
}

/* The version that a header needs: of the file, and of its oldest reader. 2 has integers, 3 has rate and prec, 4 ratio and
 * preset best. */
FLOE_HD uint32_t floe_header_version(const floe_header *h)
{
    return h->preset == FLOE_PRESET_BEST || h->mode == FLOE_BOUND_RATIO ? 4
           : floe_mode_is_size((int)h->mode)                            ? 3
           : floe_dtype_is_integer(h->dtype)                            ? 2
                                                                        : 1;
}

/* What the values of a field decide. */
typedef struct floe_header_found {
    double abs_bound, min, max;
    bool has_fill;
    uint64_t fill_bits;
} floe_header_found;

/* Word i of a header that is packed without that. */
FLOE_HD uint64_t floe_header_word_found(uint32_t i, uint64_t word, const floe_header_found *found)
{
    switch (i) {
    case 2: return word | (uint64_t)(found->has_fill ? FLOE_HEADER_FLAG_FILL : 0) << 40;
    case 5: return floe_header_real_bits(found->abs_bound);
    case 6: return floe_header_real_bits(found->min);
    case 7: return floe_header_real_bits(found->max);
    case 8: return found->fill_bits;
    default: return word;
    }
}

/* nbytes: of the whole header. */
FLOE_HD void floe_header_pack(const floe_header *h, uint32_t nbytes, uint64_t *words)
{
    const bool lossless = h->mode == FLOE_BOUND_LOSSLESS;
    const floe_header_found found = {lossless ? 0 : h->abs_bound, h->value_min, h->value_max, h->has_fill,
                                     h->fill_bits};
    words[0] = floe_magic_word(FLOE_MAGIC_HEADER);
    words[1] = floe_header_version(h) * (uint64_t)0x10001 | (uint64_t)nbytes << 32;
    words[2] = (uint64_t)(uint8_t)h->dtype | (uint64_t)(uint8_t)h->rank << 8 | (uint64_t)(uint8_t)h->codec << 16 |
               (uint64_t)(uint8_t)h->preset << 24 | (uint64_t)(uint8_t)h->mode << 32;
    words[3] = h->nattrs;
    words[4] = lossless ? 0 : floe_header_real_bits(h->bound);
    for (uint32_t i = 2; i < FLOE_HEADER_FIXED_WORDS; i++)
        words[i] = floe_header_word_found(i, words[i], &found);
    for (uint32_t i = 0; i < h->rank; i++) {
        words[FLOE_HEADER_FIXED_WORDS + i] = h->shape[i];
        words[FLOE_HEADER_FIXED_WORDS + h->rank + i] = h->chunk[i];
    }
}

FLOE_HD uint32_t floe_header_size_field(uint64_t word1) { return (uint32_t)(word1 >> 32); }

/* Of the first two words: is this a header that we can read, and of a possible size? */
FLOE_HD floe_fault floe_header_open_fault(uint64_t word0, uint64_t word1)
{
    uint32_t version = (uint16_t)word1, min_reader = (uint16_t)(word1 >> 16), size = floe_header_size_field(word1);
    return word0 != floe_magic_word(FLOE_MAGIC_HEADER) ? FLOE_FAULT_MAGIC
           : min_reader > FLOE_FORMAT_VERSION          ? FLOE_FAULT_FUTURE
           : min_reader < 1 || min_reader > version    ? FLOE_FAULT_VERSIONS
           : size % 8 != 0 || size < floe_header_plain_nbytes(1) || size > FLOE_HEADER_MAX_NBYTES
               ? FLOE_FAULT_HEADER_SIZE
               : FLOE_FAULT_NONE;
}

/* Everything up to the items, from a header of nwords words without its check; at least FLOE_HEADER_FIXED_WORDS + 2, at
 * most FLOE_HEADER_FIELD_WORDS_MAX of them are looked at. h->nattrs is left alone. */
FLOE_HD floe_fault floe_header_unpack(const uint64_t *words, uint64_t nwords, floe_header *h, uint32_t *nitems)
{
    uint64_t kinds = words[2];
    bool canonical = true;
    h->version = (uint16_t)words[1];
    floe_kind_put(&h->dtype, (uint8_t)kinds);
    h->rank = (uint8_t)(kinds >> 8);
    floe_kind_put(&h->codec, (uint8_t)(kinds >> 16));
    floe_kind_put(&h->preset, (uint8_t)(kinds >> 24));
    floe_kind_put(&h->mode, (uint8_t)(kinds >> 32));
    h->has_fill = kinds >> 40 & FLOE_HEADER_FLAG_FILL;
    *nitems = (uint32_t)words[3];
    for (uint32_t i = 4; i < 8; i++)
        canonical &= floe_header_real_valid(words[i]);
    h->bound = floe_f64_of(words[4]);
    h->abs_bound = floe_f64_of(words[5]);
    h->tuner_bound = 0;
    h->value_min = floe_f64_of(words[6]);
    h->value_max = floe_f64_of(words[7]);
    h->fill_bits = words[8];
    if (h->rank < 1 || h->rank > FLOE_MAX_RANK)
        return FLOE_FAULT_RANK;
    if (nwords < floe_header_field_words(h->rank))
        return FLOE_FAULT_AXES;
    for (uint32_t i = 0; i < h->rank; i++) {
        h->shape[i] = words[FLOE_HEADER_FIXED_WORDS + i];
        h->chunk[i] = words[FLOE_HEADER_FIXED_WORDS + h->rank + i];
    }
    bool reserved = kinds >> 40 & ~(uint64_t)FLOE_HEADER_FLAG_FILL || words[3] >> 32;
    return reserved ? FLOE_FAULT_RESERVED : canonical ? FLOE_FAULT_NONE : FLOE_FAULT_NAN;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

typedef struct floe_item_sizes {
    uint32_t tag, key_nbytes, value_nbytes;
} floe_item_sizes;

FLOE_HD floe_item_sizes floe_item_unpack(uint64_t word)
{
    floe_item_sizes s = {(uint16_t)word, (uint16_t)(word >> 16), (uint32_t)(word >> 32)};
    return s;
}
FLOE_HD uint64_t floe_item_used(floe_item_sizes s) { return (uint64_t)s.key_nbytes + s.value_nbytes; }
FLOE_HD bool floe_item_is_optional(floe_item_sizes s) { return s.tag & FLOE_ITEM_OPTIONAL; }
/* Of a text whose characters are valid. */
FLOE_HD bool floe_text_sizes_valid(size_t key_nbytes, size_t value_nbytes)
{
    return key_nbytes >= 1 && key_nbytes <= UINT16_MAX && value_nbytes <= FLOE_HEADER_MAX_NBYTES;
}

/* ---- what fields may hold ---------------------------------------------------------------------------------------- */

FLOE_HD uint64_t floe_grid_count_along(const floe_header *h, uint32_t axis)
{
    return h->chunk[axis] ? floe_ceil_div(h->shape[axis], h->chunk[axis]) : 0;
}

/* A product of counts is at most the product of the shape, which header checks keep below 2^63. */
FLOE_HD uint64_t floe_grid_count(const floe_header *h)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < h->rank; i++)
        n *= floe_grid_count_along(h, i);
    return n;
}

/* Of a mode that is known. There is no bound relative to each integer; before version 3 there were no sizes, before 4 no
 * ratio. */
FLOE_HD bool floe_header_mode_fits(const floe_header *h, int dtype, int codec, int mode)
{
    const uint32_t modes = floe_codec_modes(codec, dtype);
    const bool integer = dtype == FLOE_I32 || dtype == FLOE_I64;
    return (!modes || modes & FLOE_MODE_BIT(mode)) &&
           (mode == FLOE_BOUND_RATIO  ? h->version >= 4
            : floe_mode_is_size(mode) ? h->version >= 3
                                      : !integer || mode != FLOE_BOUND_PWREL);
}

/* Files of version 1 have no integers. */
FLOE_HD floe_fault floe_header_kinds_fault(const floe_header *h)
{
    int dtype = floe_kind_get(&h->dtype), codec = floe_kind_get(&h->codec);
    int preset = floe_kind_get(&h->preset), mode = floe_kind_get(&h->mode);
    bool integer = dtype == FLOE_I32 || dtype == FLOE_I64;
    return dtype < FLOE_F32 || dtype > FLOE_I64 || (integer && h->version < 2)             ? FLOE_FAULT_DTYPE
           : h->rank < 1 || h->rank > FLOE_MAX_RANK                                        ? FLOE_FAULT_RANK
           : preset < 0 || preset > (h->version < 4 ? FLOE_PRESET_FAST : FLOE_PRESET_BEST) ? FLOE_FAULT_PRESET
           : mode < FLOE_BOUND_ABS || mode > FLOE_BOUND_RATIO                              ? FLOE_FAULT_MODE
           : !floe_header_mode_fits(h, dtype, codec, mode)                                 ? FLOE_FAULT_MODE
           : codec < 1 || codec > 255                                                      ? FLOE_FAULT_CODEC
           : !floe_codec_modes(codec, dtype)                                               ? FLOE_FAULT_CODEC_UNKNOWN
                                                                                           : FLOE_FAULT_NONE;
}

/* The product of the axes, a 0 taken as 1, stays below 2^63 bytes: no product of a shape ever overflows. */
FLOE_HD bool floe_header_shape_fits(const floe_header *h)
{
    uint64_t nbytes = floe_dtype_is_narrow(h->dtype) ? 4 : 8;
    for (uint32_t i = 0; i < h->rank; i++) {
        if (h->shape[i] > INT64_MAX / nbytes)
            return false;
        nbytes *= h->shape[i] ? h->shape[i] : 1;
    }
    return true;
}

FLOE_HD bool floe_header_chunk_fits(const floe_header *h, uint32_t axis)
{
    return h->chunk[axis] <= h->shape[axis] && (h->chunk[axis] > 0 || h->shape[axis] == 0);
}

FLOE_HD floe_fault floe_header_shapes_fault(const floe_header *h)
{
    if (!floe_header_shape_fits(h))
        return FLOE_FAULT_SHAPE;
    for (uint32_t i = 0; i < h->rank; i++)
        if (!floe_header_chunk_fits(h, i))
            return FLOE_FAULT_CHUNK;
    return floe_index_span(floe_grid_count(h)) ? FLOE_FAULT_NONE : FLOE_FAULT_NCHUNKS;
}

FLOE_HD bool floe_header_plus_zero(double v) { return v == 0 && !floe_real_is_negative(v); }

FLOE_HD bool floe_header_planes_valid(double v) { return v >= 1 && v <= 64 && (double)(uint32_t)v == v; }

FLOE_HD floe_fault floe_header_bounds_fault(const floe_header *h)
{
    bool known = floe_real_is_finite(h->value_min) && floe_real_is_finite(h->value_max) && h->value_min <= h->value_max;
    bool unknown = floe_real_is_nan(h->value_min) && floe_real_is_nan(h->value_max);
    if (h->mode == FLOE_BOUND_LOSSLESS) {
        if (!floe_header_plus_zero(h->bound) || !floe_header_plus_zero(h->abs_bound))
            return FLOE_FAULT_LOSSLESS;
    } else {
        const bool not_absolute = h->mode == FLOE_BOUND_PWREL || floe_mode_is_size((int)h->mode);
        if (!floe_real_is_positive(h->bound) || (h->mode == FLOE_BOUND_PREC && !floe_header_planes_valid(h->bound)))
            return FLOE_FAULT_BOUND;
        if (not_absolute && !floe_real_is_nan(h->abs_bound))
            return FLOE_FAULT_NOT_ABSOLUTE;
        if (!not_absolute && !floe_real_is_positive(h->abs_bound) && !floe_header_plus_zero(h->abs_bound))
            return FLOE_FAULT_ABS_BOUND;
    }
    bool fill_fits = h->has_fill ? !floe_dtype_is_narrow(h->dtype) || h->fill_bits >> 32 == 0 : h->fill_bits == 0;
    return !known && !unknown ? FLOE_FAULT_VALUES : fill_fits ? FLOE_FAULT_NONE : FLOE_FAULT_FILL;
}

FLOE_HD floe_fault floe_header_fault(const floe_header *h)
{
    floe_fault fault = floe_header_kinds_fault(h);
    if (fault == FLOE_FAULT_NONE)
        fault = floe_header_shapes_fault(h);
    return fault == FLOE_FAULT_NONE ? floe_header_bounds_fault(h) : fault;
}

#endif
