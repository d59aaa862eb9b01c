/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/arg_check.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "call/struct_copy.h"
#include "call/text.h"
#include "codec/codec.h"
#include "container/header_math.h"
#include "field/field.h"

void floe_params_init(floe_params *params) { *params = (floe_params){.size = sizeof *params, .mode = FLOE_BOUND_ABS}; }

/* ---- names ------------------------------------------------------------------------------------------------------- */

typedef struct name {
    const char *text;
    int value;
} name;

static const name bound_names[] = {
    {"abs", FLOE_BOUND_ABS},   {"rel", FLOE_BOUND_REL},           {"pwrel", FLOE_BOUND_PWREL},
    {"psnr", FLOE_BOUND_PSNR}, {"lossless", FLOE_BOUND_LOSSLESS}, {"rate", FLOE_BOUND_RATE},
    {"prec", FLOE_BOUND_PREC}, {"ratio", FLOE_BOUND_RATIO},       {NULL, 0}};
static const name preset_names[] = {
    {"fast", FLOE_PRESET_FAST}, {"balanced", FLOE_PRESET_BALANCED}, {"best", FLOE_PRESET_BEST}, {NULL, 0}};

static const char *name_of(const name *table, int value)
{
    for (; table->text; table++)
        if (table->value == value)
            return table->text;
    return NULL;
}

enum { CODECS_MOST = 15 };

/* "auto", and the codecs of the table. */
static const name *codec_names(name names[CODECS_MOST + 1])
{
    const floe_codec_ops *codec;
    uint32_t n = 0;
    names[n++] = (name){"auto", FLOE_CODEC_AUTO};
    for (uint32_t i = 0; n < CODECS_MOST && (codec = floe_codec_at(i)) != NULL; i++)
        names[n++] = (name){codec->name, (int)codec->id};
    names[n] = (name){NULL, 0};
    return names;
}

const char *floe_codec_name(floe_codec codec)
{
    name names[CODECS_MOST + 1];
    const char *text = name_of(codec_names(names), (int)codec);
    return text ? text : "unknown";
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

static floe_status bound_check(floe_bound_mode mode, double bound, floe_error *err)
{
    const char *mode_name = name_of(bound_names, (int)mode);
    char number[FLOE_NUMBER_TEXT];
    FLOE_CHECK(err, mode_name, FLOE_ERR_ARGUMENT, "unknown bound mode %d", (int)mode);
    if (mode == FLOE_BOUND_LOSSLESS)
        return FLOE_OK;
    FLOE_CHECK(err, mode != FLOE_BOUND_PREC || floe_header_planes_valid(bound), FLOE_ERR_ARGUMENT,
               "prec must be a whole number of bit planes, 1 to 64, got prec=%s", floe_number_format(bound, number));
    FLOE_CHECK(err, bound > 0 && isfinite(bound), FLOE_ERR_ARGUMENT, "bound must be positive and finite, got %s=%s%s",
               mode_name, floe_number_format(bound, number),
               bound == 0 && mode <= FLOE_BOUND_PWREL ? "; lossless keeps all bits" : "");
    FLOE_CHECK(err, mode != FLOE_BOUND_RATIO || bound >= 1, FLOE_ERR_ARGUMENT, "ratio must be at least 1, got ratio=%s",
               floe_number_format(bound, number));
    FLOE_CHECK(err, mode != FLOE_BOUND_PWREL || bound < 1, FLOE_ERR_ARGUMENT,
               "bound must be below 1 for pwrel, got pwrel=%s", floe_number_format(bound, number));
    return FLOE_OK;
}

static floe_status chunk_check(const floe_params *p, floe_error *err)
{
    FLOE_CHECK(err, p->chunk_rank <= FLOE_MAX_RANK, FLOE_ERR_ARGUMENT, "a chunk has 1 to %d axes, got %u",
               FLOE_MAX_RANK, p->chunk_rank);
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++) {
        FLOE_CHECK(err, i >= p->chunk_rank || p->chunk[i], FLOE_ERR_ARGUMENT, "axis %u of the chunk is 0", i);
        FLOE_CHECK(err, p->chunk_rank || !p->chunk[i], FLOE_ERR_ARGUMENT, "a chunk is given, but chunk_rank is 0");
    }
    return FLOE_OK;
}

static bool has_mode(floe_codec codec, floe_dtype dtype, floe_bound_mode mode)
{
    return floe_codec_modes((int)floe_codec_chosen(codec)->id, (int)dtype) & FLOE_MODE_BIT(mode);
}

/* A rate that a codec cannot keep block by block is kept for the field as a whole, as a ratio. */
static bool rate_is_ratio(floe_codec codec, floe_dtype dtype, floe_bound_mode mode)
{
    return mode == FLOE_BOUND_RATE && !has_mode(codec, dtype, mode) && has_mode(codec, dtype, FLOE_BOUND_RATIO);
}

static floe_status codec_check(floe_codec codec, floe_dtype dtype, floe_bound_mode mode, floe_error *err)
{
    name names[CODECS_MOST + 1];
    uint32_t other = 0;
    FLOE_CHECK(err, name_of(codec_names(names), (int)codec), FLOE_ERR_ARGUMENT, "unknown codec %d", (int)codec);
    const char *own = floe_codec_chosen(codec)->name, *has;
    while (!(floe_codec_modes((int)floe_codec_at(other)->id, (int)dtype) & FLOE_MODE_BIT(mode)))
        other++; /* every mode is of some codec */
    has = floe_codec_at(other)->name;
    FLOE_CHECK(err, has_mode(codec, dtype, mode) || rate_is_ratio(codec, dtype, mode), FLOE_ERR_ARGUMENT,
               "codec %s has no %s, codec %s has: ask for that (codec=%s, or --codec %s)", own,
               name_of(bound_names, (int)mode), has, has, has);
    return FLOE_OK;
}

floe_status floe_params_check(const floe_params *params, floe_dtype dtype, floe_params *clean, floe_error *err)
{
    FLOE_CHECK(err, params, FLOE_ERR_ARGUMENT, "no parameters given");
    floe_params_init(clean);
    FLOE_TRY(floe_struct_copy(clean, sizeof *clean, params, "floe_params", err));
    FLOE_CHECK(
        err, clean->mode != FLOE_BOUND_ABS || clean->bound != 0, FLOE_ERR_ARGUMENT,
        "no bound given: one of abs, rel, pwrel, psnr, ratio, rate (each positive) or lossless is needed; codec zfp "
        "also takes prec");
    FLOE_TRY(bound_check(clean->mode, clean->bound, err));
    FLOE_TRY(codec_check(clean->codec, dtype, clean->mode, err));
    FLOE_CHECK(err, name_of(preset_names, (int)clean->preset), FLOE_ERR_ARGUMENT, "unknown preset %d",
               (int)clean->preset);
    FLOE_CHECK(err, clean->fill >= FLOE_FILL_AUTO && clean->fill <= FLOE_FILL_INTEGER, FLOE_ERR_ARGUMENT,
               "unknown fill mode %d", (int)clean->fill);
    if ((int)dtype && rate_is_ratio(clean->codec, dtype, clean->mode)) {
        clean->mode = FLOE_BOUND_RATIO;
        clean->bound = fmin(fmax(8 * (double)floe_dtype_size(dtype) / clean->bound, 1), DBL_MAX);
    }
    return chunk_check(clean, err);
}

/* ---- from text --------------------------------------------------------------------------------------------------- */

typedef struct word {
    const char *key, *value; /* value NULL: the word has no '=' */
    int key_nbytes, value_nbytes;
} word;

typedef struct parse {
    floe_params *params;
    const char *bound;               /* the bound's key, once seen */
    bool codec, preset, fill, chunk; /* seen */
    floe_error *err;
} parse;

static bool is_text(const char *at, int nbytes, const char *text)
{
    return strlen(text) == (size_t)nbytes && memcmp(at, text, (size_t)nbytes) == 0;
}
static bool key_is(const word *w, const char *key) { return is_text(w->key, w->key_nbytes, key); }
static bool value_is(const word *w, const char *text) { return is_text(w->value, w->value_nbytes, text); }

/* The names of a table as "a, b or c". */
static const char *names_list(const name *table, char *text, size_t capacity)
{
    size_t n = 0;
    text[0] = '\0';
    for (const name *at = table; at->text && n < capacity; at++) {
        const char *join = at == table ? "" : at[1].text ? ", " : " or ";
        n += (size_t)snprintf(text + n, capacity - n, "%s%s", join, at->text);
    }
    return text;
}

static floe_status seen_once(const parse *p, const word *w, bool *seen)
{
    FLOE_CHECK(p->err, !*seen, FLOE_ERR_ARGUMENT, "%.*s is given twice", w->key_nbytes, w->key);
    *seen = true;
    return FLOE_OK;
}

static floe_status value_needed(const parse *p, const word *w)
{
    FLOE_CHECK(p->err, w->value && w->value_nbytes, FLOE_ERR_ARGUMENT, "%.*s needs a value: %.*s=...", w->key_nbytes,
               w->key, w->key_nbytes, w->key);
    return FLOE_OK;
}

static floe_status bound_read(parse *p, const word *w, const name *bound)
{
    FLOE_CHECK(p->err, !p->bound, FLOE_ERR_ARGUMENT, "two bounds, %s and %s: give one", p->bound, bound->text);
    p->bound = bound->text;
    p->params->mode = (floe_bound_mode)bound->value;
    if (p->params->mode == FLOE_BOUND_LOSSLESS) {
        FLOE_CHECK(p->err, !w->value, FLOE_ERR_ARGUMENT, "lossless takes no value, got lossless=%.*s", w->value_nbytes,
                   w->value);
        return FLOE_OK;
    }
    FLOE_TRY(value_needed(p, w));
    FLOE_CHECK(p->err, floe_number_parse(w->value, (size_t)w->value_nbytes, &p->params->bound), FLOE_ERR_ARGUMENT,
               "bound must be a number, got %s=%.*s", bound->text, w->value_nbytes, w->value);
    return bound_check(p->params->mode, p->params->bound, p->err);
}

static floe_status name_read(parse *p, const word *w, const name *table, int *value)
{
    char known[96];
    FLOE_TRY(value_needed(p, w));
    for (const name *at = table; at->text; at++)
        if (value_is(w, at->text)) {
            *value = at->value;
            return FLOE_OK;
        }
    return floe_fail(p->err, FLOE_ERR_ARGUMENT, "unknown %.*s=%.*s: this version has %s", w->key_nbytes, w->key,
                     w->value_nbytes, w->value, names_list(table, known, sizeof known));
}

static floe_status codec_read(parse *p, const word *w)
{
    name names[CODECS_MOST + 1];
    int value = 0;
    FLOE_TRY(seen_once(p, w, &p->codec));
    FLOE_TRY(name_read(p, w, codec_names(names), &value));
    p->params->codec = (floe_codec)value;
    return FLOE_OK;
}

static floe_status preset_read(parse *p, const word *w)
{
    int value = 0;
    FLOE_TRY(seen_once(p, w, &p->preset));
    FLOE_TRY(name_read(p, w, preset_names, &value));
    p->params->preset = (floe_preset)value;
    return FLOE_OK;
}

/* 1e400 is a number, but no double has it. */
static bool overflows(const word *w, double value)
{
    bool has_digits = false;
    for (int i = 0; i < w->value_nbytes; i++)
        has_digits = has_digits || (w->value[i] >= '0' && w->value[i] <= '9');
    return isinf(value) && has_digits;
}

/* So is -9223372036854775806, which i64 has: as a double it would name another value, and its own cells would not be kept. */
static bool is_between_doubles(const word *w, double value, int64_t *whole)
{
    const bool minus = w->value[0] == '-';
    uint64_t n = 0;
    for (int i = minus || w->value[0] == '+'; i < w->value_nbytes; i++) {
        if (w->value[i] < '0' || w->value[i] > '9' || n > INT64_MAX / 10)
            return false; /* rounded on purpose, or beyond i64 */
        n = 10 * n + (uint64_t)(w->value[i] - '0');
    }
    *whole = (int64_t)(minus ? 0 - n : n);
    return n <= (uint64_t)INT64_MAX + minus && floe_value_bits(FLOE_I64, value) != (uint64_t)*whole;
}

static floe_status fill_read(parse *p, const word *w)
{
    int64_t whole;
    FLOE_TRY(seen_once(p, w, &p->fill));
    FLOE_TRY(value_needed(p, w));
    if (value_is(w, "auto") || value_is(w, "none")) {
        p->params->fill = value_is(w, "auto") ? FLOE_FILL_AUTO : FLOE_FILL_NONE;
        return FLOE_OK;
    }
    p->params->fill = FLOE_FILL_VALUE;
    FLOE_CHECK(p->err, floe_number_parse(w->value, (size_t)w->value_nbytes, &p->params->fill_value), FLOE_ERR_ARGUMENT,
               "fill must be auto, none or a number, got fill=%.*s", w->value_nbytes, w->value);
    FLOE_CHECK(p->err, !overflows(w, p->params->fill_value), FLOE_ERR_ARGUMENT,
               "fill is a number that no double has, got fill=%.*s", w->value_nbytes, w->value);
    if (is_between_doubles(w, p->params->fill_value, &whole)) {
        p->params->fill = FLOE_FILL_INTEGER;
        p->params->fill_integer = whole;
    }
    return FLOE_OK;
}

static floe_status chunk_read(parse *p, const word *w)
{
    FLOE_TRY(seen_once(p, w, &p->chunk));
    FLOE_TRY(value_needed(p, w));
    if (value_is(w, "auto"))
        return FLOE_OK;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK] = {0};
    FLOE_CHECK(p->err, floe_shape_parse(w->value, (size_t)w->value_nbytes, &rank, shape), FLOE_ERR_ARGUMENT,
               "chunk must be auto or a shape like 64x64x64, got chunk=%.*s", w->value_nbytes, w->value);
    p->params->chunk_rank = rank;
    memcpy(p->params->chunk, shape, sizeof shape);
    return chunk_check(p->params, p->err);
}

static floe_status word_read(parse *p, const word *w)
{
    static const struct {
        const char *key;
        floe_status (*read)(parse *, const word *);
    } keys[] = {{"codec", codec_read}, {"preset", preset_read}, {"fill", fill_read}, {"chunk", chunk_read}};
    for (const name *bound = bound_names; bound->text; bound++)
        if (key_is(w, bound->text))
            return bound_read(p, w, bound);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (key_is(w, keys[i].key))
            return keys[i].read(p, w);
    return floe_fail(p->err, FLOE_ERR_ARGUMENT,
                     "unknown key '%.*s': known are abs, rel, pwrel, psnr, lossless, rate, prec, ratio, codec, preset, "
                     "fill, chunk",
                     w->key_nbytes < 100 ? w->key_nbytes : 100, w->key);
}

static word word_cut(const char *at, int nbytes)
{
    const char *equals = memchr(at, '=', (size_t)nbytes);
    word w = {at, NULL, nbytes, 0};
    if (equals) {
        w.key_nbytes = (int)(equals - at);
        w.value = equals + 1;
        w.value_nbytes = nbytes - w.key_nbytes - 1;
    }
    return w;
}

floe_status floe_params_parse(floe_params *params, const char *text, floe_error *err)
{
    static const char blanks[] = " \t\r\n,";
    FLOE_CHECK(err, params && text, FLOE_ERR_ARGUMENT, "no parameters or no text given");
    floe_params_init(params);
    parse p = {.params = params, .err = err};
    for (;;) {
        text += strspn(text, blanks);
        size_t nbytes = strcspn(text, blanks);
        if (nbytes == 0)
            return FLOE_OK;
        FLOE_CHECK(err, nbytes < 1000, FLOE_ERR_ARGUMENT, "a word of %zu characters: '%.40s...'", nbytes, text);
        word w = word_cut(text, (int)nbytes);
        FLOE_TRY(word_read(&p, &w));
        text += nbytes;
    }
}

/* ---- to text ----------------------------------------------------------------------------------------------------- */

static void put_bound(floe_text *o, const floe_params *p)
{
    char number[FLOE_NUMBER_TEXT];
    if (p->mode == FLOE_BOUND_LOSSLESS)
        floe_text_add(o, "lossless");
    else
        floe_text_add(o, "%s=%s", name_of(bound_names, (int)p->mode), floe_number_format(p->bound, number));
}

floe_status floe_params_format(const floe_params *params, char *text, size_t capacity)
{
    floe_params p;
    char number[FLOE_NUMBER_TEXT], shape[FLOE_SHAPE_TEXT];
    if (!text || capacity == 0)
        return FLOE_ERR_ARGUMENT;
    text[0] = '\0';
    FLOE_TRY(floe_params_check(params, 0, &p, NULL));
    floe_text o = {text, capacity, 0};
    put_bound(&o, &p);
    floe_text_add(&o, " codec=%s preset=%s", floe_codec_name(p.codec), name_of(preset_names, (int)p.preset));
    if (p.fill == FLOE_FILL_INTEGER)
        floe_text_add(&o, " fill=%lld", (long long)p.fill_integer);
    else
        floe_text_add(&o, " fill=%s",
                      p.fill == FLOE_FILL_AUTO   ? "auto"
                      : p.fill == FLOE_FILL_NONE ? "none"
                                                 : floe_number_format(p.fill_value, number));
    floe_text_add(&o, " chunk=%s", p.chunk_rank ? floe_shape_format(p.chunk_rank, p.chunk, shape) : "auto");
    return o.length < capacity ? FLOE_OK : FLOE_ERR_CAPACITY;
}
