/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters from text and back, and the numbers and shapes in them. */
#include "tests/api_kit.h"

#include <float.h>
#include <locale.h>

#include "call/arg_check.h"
#include "call/text.h"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void numbers(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double value;
    } good[] = {{"1e-3", 1e-3},
                {"0.1", 0.1},
                {".5", .5},
                {"5.", 5},
                {"-2.5E+3", -2500},
                {"+7", 7},
                {"1e400", INFINITY},
                {"1e-400", 0},
                {"inf", INFINITY},
                {"-Infinity", -INFINITY},
                {"4.9e-324", 4.9e-324},
                {"1.7976931348623157e308", DBL_MAX}};
    const char *const bad[] = {"",      ".",     "e5",  "1e",     "1e+",   "0x10", "1,5",   "1 ", " 1",   "--1",
                               "1.2.3", "1e5.0", "one", "nan(1)", "1_000", "-",    "+inf1", "1f", "1e-3x"};
    double value;
    for (size_t i = 0; i < KIT_COUNT(good); i++) {
        assert_true(floe_number_parse(good[i].text, strlen(good[i].text), &value));
        assert_true(value == good[i].value);
    }
    assert_true(floe_number_parse("NaN", 3, &value) && isnan(value));
    for (size_t i = 0; i < KIT_COUNT(bad); i++)
        if (floe_number_parse(bad[i], strlen(bad[i]), &value))
            fail_msg("'%s' was taken as %g", bad[i], value);
}

static void numbers_come_back(void **state)
{
    (void)state;
    uint64_t seed = 5;
    char text[FLOE_NUMBER_TEXT];
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = kit_random(&seed);
        double v, back;
        memcpy(&v, &bits, sizeof v);
        floe_number_format(v, text);
        assert_true(floe_number_parse(text, strlen(text), &back));
        assert_true(isnan(v) ? isnan(back) : memcmp(&v, &back, sizeof v) == 0);
    }
    assert_string_equal(floe_number_format(0.1, text), "0.1");
    assert_string_equal(floe_number_format(1e-3, text), "0.001");
}

/* In a locale that writes 0,5 the texts stay what they are. Skipped where none is installed. */
static void numbers_in_other_locales(void **state)
{
    (void)state;
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "ps_AF.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < KIT_COUNT(names); i++) {
        if (!setlocale(LC_NUMERIC, names[i]))
            continue;
        numbers(state);
        numbers_come_back(state);
        setlocale(LC_NUMERIC, "C");
        return;
    }
    skip();
}

static void shapes(void **state)
{
    (void)state;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    char text[FLOE_SHAPE_TEXT];
    const char *const bad[] = {"",   "x", "4x", "x4", "4xx4", "1x2x3x4x5", "4X4", "-1", "4x 4", "18446744073709551616",
                               "4.0"};
    const char *const good[] = {"1", "64x64x64", "1x2x3x4",
                                "18446744073709551615x18446744073709551615x1x18446744073709551615"};
    for (size_t i = 0; i < KIT_COUNT(bad); i++)
        if (floe_shape_parse(bad[i], strlen(bad[i]), &rank, shape))
            fail_msg("'%s' was taken as a shape", bad[i]);
    for (size_t i = 0; i < KIT_COUNT(good); i++) {
        assert_true(floe_shape_parse(good[i], strlen(good[i]), &rank, shape));
        assert_string_equal(floe_shape_format(rank, shape, text), good[i]);
    }
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void good_texts(void **state)
{
    (void)state;
    const struct {
        const char *text, *canonical;
    } cases[] = {
        {"abs=0.5", "abs=0.5 codec=auto preset=balanced fill=auto chunk=auto"},
        {"rel=1e-3 preset=fast", "rel=0.001 codec=auto preset=fast fill=auto chunk=auto"},
        {" ,\tpreset=fast,,pwrel=.25\n", "pwrel=0.25 codec=auto preset=fast fill=auto chunk=auto"},
        {"psnr=64.5 codec=lorenzo fill=none", "psnr=64.5 codec=lorenzo preset=balanced fill=none chunk=auto"},
        {"abs=2 codec=zfp", "abs=2 codec=zfp preset=balanced fill=auto chunk=auto"},
        {"rate=8 codec=zfp", "rate=8 codec=zfp preset=balanced fill=auto chunk=auto"},
        {"codec=zfp prec=64", "prec=64 codec=zfp preset=balanced fill=auto chunk=auto"},
        {"lossless chunk=64x32", "lossless codec=auto preset=balanced fill=auto chunk=64x32"},
        {"abs=1 fill=-9999", "abs=1 codec=auto preset=balanced fill=-9999 chunk=auto"},
        {"abs=1 fill=-9223372036854775808",
         "abs=1 codec=auto preset=balanced fill=-9.223372036854776e+18 chunk=auto"}, /* INT64_MIN */
        {"abs=1 fill=9223372036854775807",
         "abs=1 codec=auto preset=balanced fill=9.223372036854776e+18 chunk=auto"}, /* INT64_MAX, as no i64 is larger */
        {"abs=1 fill=-9223372036854775806",
         "abs=1 codec=auto preset=balanced fill=-9223372036854775806 chunk=auto"}, /* NetCDF's default; no double */
        {"abs=1 fill=+9007199254740993", "abs=1 codec=auto preset=balanced fill=9007199254740993 chunk=auto"},
        {"abs=1 fill=9007199254740992", "abs=1 codec=auto preset=balanced fill=9007199254740992 chunk=auto"},
        {"abs=1 fill=9223372036854775808",
         "abs=1 codec=auto preset=balanced fill=9.223372036854776e+18 chunk=auto"}, /* more than any i64 */
        {"abs=1 fill=-inf", "abs=1 codec=auto preset=balanced fill=-inf chunk=auto"},
        {"abs=1 fill=nan chunk=auto", "abs=1 codec=auto preset=balanced fill=nan chunk=auto"},
        {"abs=1 fill=9.969209968386869e+36", "abs=1 codec=auto preset=balanced fill=9.969209968386869e+36 chunk=auto"},
    };
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        floe_params p = kit_params(cases[i].text), again;
        char text[256];
        assert_int_equal(floe_params_format(&p, text, sizeof text), FLOE_OK);
        assert_string_equal(text, cases[i].canonical);
        again = kit_params(text);
        assert_true(again.mode == p.mode && again.bound == p.bound && again.fill == p.fill);
        assert_memory_equal(again.chunk, p.chunk, sizeof p.chunk);
        size_t length = strlen(text);
        assert_int_equal(floe_params_format(&p, text, length), FLOE_ERR_CAPACITY);
        assert_int_equal(strlen(text), length - 1);
        assert_int_equal(floe_params_format(&p, text, length + 1), FLOE_OK);
    }
}

static void bad_texts(void **state)
{
    (void)state;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"rel=-1", "bound must be positive and finite, got rel=-1"},
        {"abs=0", "bound must be positive and finite, got abs=0"},
        {"abs=-0", "bound must be positive and finite, got abs=-0"},
        {"abs=nan", "bound must be positive and finite, got abs=nan"},
        {"psnr=inf", "bound must be positive and finite, got psnr=inf"},
        {"abs=1e-999", "bound must be positive and finite, got abs=0"},
        {"pwrel=1", "bound must be below 1 for pwrel, got pwrel=1"},
        {"rate=0", "bound must be positive and finite, got rate=0"},
        {"prec=0.5", "prec must be a whole number of bit planes, 1 to 64, got prec=0.5"},
        {"prec=0", "prec must be a whole number of bit planes, 1 to 64, got prec=0"},
        {"prec=65", "prec must be a whole number of bit planes, 1 to 64, got prec=65"},
        {"rate=8 abs=1", "two bounds, rate and abs: give one"},
        {"abs=1 fill=1e400", "fill is a number that no double has, got fill=1e400"},
        {"abs=1e-3x", "bound must be a number, got abs=1e-3x"},
        {"abs", "abs needs a value: abs=..."},
        {"rel=", "rel needs a value: rel=..."},
        {"lossless=1", "lossless takes no value, got lossless=1"},
        {"abs=1 rel=1", "two bounds, abs and rel: give one"},
        {"abs=1 abs=2", "two bounds, abs and abs: give one"},
        {"lossless abs=1", "two bounds, lossless and abs: give one"},
        {"preset=fast preset=fast", "preset is given twice"},
        {"fill=auto fill=1", "fill is given twice"},
        {"preset=finest", "unknown preset=finest: this version has fast, balanced or best"},
        {"codec=zip", "unknown codec=zip: this version has auto, lorenzo, zfp, interp or wavelet"},
        {"fill=missing", "fill must be auto, none or a number, got fill=missing"},
        {"chunk=0x4", "axis 0 of the chunk is 0"},
        {"chunk=4x4x4x4x4", "chunk must be auto or a shape like 64x64x64, got chunk=4x4x4x4x4"},
        {"tol=1",
         "unknown key 'tol': known are abs, rel, pwrel, psnr, lossless, rate, prec, ratio, codec, preset, fill, chunk"},
        {"Abs=1", "unknown key 'Abs'"},
        {"=1", "unknown key ''"},
        {"abs=1;rel=2", "bound must be a number, got abs=1;rel=2"},
    };
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        floe_params p;
        floe_error err = {FLOE_OK, ""};
        assert_int_equal(floe_params_parse(&p, cases[i].text, &err), FLOE_ERR_ARGUMENT);
        assert_int_equal(err.status, FLOE_ERR_ARGUMENT);
        if (!strstr(err.message, cases[i].message))
            fail_msg("'%s' says '%s'", cases[i].text, err.message);
        assert_int_equal(floe_params_parse(&p, cases[i].text, NULL), FLOE_ERR_ARGUMENT);
    }
}

/* Any bytes: a status, never more. */
static void random_texts(void **state)
{
    (void)state;
    static const char bits[] = "abs=rel,pw psnr lossless codec=lorenzo preset=fast fill=none chunk=1x2 e-9.\xff\xc3";
    uint64_t seed = 3;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        size_t n = kit_random(&seed) % (sizeof text - 1);
        for (size_t k = 0; k < n; k++)
            text[k] = bits[kit_random(&seed) % (sizeof bits - 1)];
        text[n] = '\0';
        floe_params p;
        floe_error err;
        (void)floe_params_parse(&p, text, &err);
    }
    char *long_word = malloc(1 << 20);
    memset(long_word, 'a', (1 << 20) - 1);
    long_word[(1 << 20) - 1] = '\0';
    floe_params p;
    floe_error err;
    assert_int_equal(floe_params_parse(&p, long_word, &err), FLOE_ERR_ARGUMENT);
    free(long_word);
}

static void struct_check(void **state)
{
    (void)state;
    floe_params good = kit_params("abs=1"), bad, clean;
    floe_error err;
    assert_int_equal(floe_params_check(NULL, FLOE_F32, &clean, &err), FLOE_ERR_ARGUMENT);
#define BAD(member, v, text)                                                                  \
    do {                                                                                      \
        bad = good;                                                                           \
        bad.member = v;                                                                       \
        assert_int_equal(floe_params_check(&bad, FLOE_F32, &clean, &err), FLOE_ERR_ARGUMENT); \
        assert_non_null(strstr(err.message, text));                                           \
    } while (0)
    BAD(size, 0, "floe_params.size is 0");
    BAD(mode, (floe_bound_mode)9, "unknown bound mode 9");
    BAD(bound, 0, "no bound given");
    BAD(bound, -1, "positive and finite");
    BAD(bound, NAN, "positive and finite");
    BAD(bound, INFINITY, "positive and finite");
    BAD(codec, (floe_codec)7, "unknown codec 7");
    BAD(preset, (floe_preset)7, "unknown preset 7");
    BAD(fill, (floe_fill_mode)7, "unknown fill mode 7");
    BAD(chunk_rank, 5, "1 to 4 axes");
    BAD(chunk_rank, 1, "axis 0 of the chunk is 0");
    BAD(chunk[1], 1, "chunk_rank is 0");
    good = kit_params("pwrel=0.1");
    BAD(codec, FLOE_CODEC_ZFP, "codec zfp has no pwrel, codec lorenzo has");
    good = kit_params("prec=8 codec=zfp");
    BAD(codec, FLOE_CODEC_LORENZO, "codec lorenzo has no prec, codec zfp has");
    BAD(bound, 0.25, "prec must be a whole number");
#undef BAD
}

/* A rate is zfp's; of other codecs it is the ratio for values of that size, at least 1. */
static void rates(void **state)
{
    (void)state;
    floe_params p = kit_params("rate=8 codec=zfp"), clean;
    assert_int_equal(floe_params_check(&p, FLOE_F64, &clean, NULL), FLOE_OK);
    assert_true(clean.mode == FLOE_BOUND_RATE && clean.bound == 8);
    p.codec = FLOE_CODEC_AUTO;
    assert_int_equal(floe_params_check(&p, FLOE_F64, &clean, NULL), FLOE_OK);
    assert_true(clean.mode == FLOE_BOUND_RATIO && clean.bound == 8);
    p.codec = FLOE_CODEC_WAVELET;
    assert_int_equal(floe_params_check(&p, FLOE_F32, &clean, NULL), FLOE_OK);
    assert_true(clean.mode == FLOE_BOUND_RATIO && clean.bound == 4);
    p.bound = 33;
    assert_int_equal(floe_params_check(&p, FLOE_I32, &clean, NULL), FLOE_OK);
    assert_true(clean.mode == FLOE_BOUND_RATIO && clean.bound == 1);
    p.bound = 1e-310; /* no finite ratio is as large */
    assert_int_equal(floe_params_check(&p, FLOE_F64, &clean, NULL), FLOE_OK);
    assert_true(clean.mode == FLOE_BOUND_RATIO && isfinite(clean.bound));
    p.bound = 33;
    assert_int_equal(floe_params_check(&p, (floe_dtype)0, &clean, NULL), FLOE_OK);
    assert_true(clean.mode == FLOE_BOUND_RATE && clean.bound == 33);
}

/* A caller of an older version hands in less, one of a newer version more. */
static void struct_sizes(void **state)
{
    (void)state;
    struct {
        floe_params p;
        uint64_t later;
    } big = {kit_params("rel=1e-2 preset=fast fill=-1 chunk=8x8"), 0};
    floe_params clean;
    floe_error err;
    big.p.size = offsetof(floe_params, codec);
    assert_int_equal(floe_params_check(&big.p, FLOE_F32, &clean, &err), FLOE_OK);
    assert_true(clean.mode == FLOE_BOUND_REL && clean.bound == 1e-2 && clean.preset == FLOE_PRESET_BALANCED);
    assert_true(clean.fill == FLOE_FILL_AUTO && clean.chunk_rank == 0 && clean.size == sizeof clean);
    big.p.size = sizeof big;
    assert_int_equal(floe_params_check(&big.p, FLOE_F32, &clean, &err), FLOE_OK);
    assert_true(clean.preset == FLOE_PRESET_FAST && clean.chunk_rank == 2);
    big.later = 1;
    assert_int_equal(floe_params_check(&big.p, FLOE_F32, &clean, &err), FLOE_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),      cmocka_unit_test(numbers_come_back), cmocka_unit_test(numbers_in_other_locales),
        cmocka_unit_test(shapes),       cmocka_unit_test(good_texts),        cmocka_unit_test(bad_texts),
        cmocka_unit_test(random_texts), cmocka_unit_test(struct_check),      cmocka_unit_test(struct_sizes),
        cmocka_unit_test(rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
