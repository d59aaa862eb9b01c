/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/zfp/zfp_mode.h"

#include <string.h>

#include "base/try.h"
#include "call/text.h"
#include "field/dtype_math.h"

static const char *const names[] = {"rate", "prec", "abs", "rel", "lossless", "expert"};

/* A whole number from -(2^31 - 1) to 2^31 - 1, up to the next colon or the end. */
static bool whole_read(const char **at, double *value)
{
    const size_t nbytes = strcspn(*at, ":");
    if (!floe_number_parse(*at, nbytes, value) || !(*value >= -2147483647.0 && *value <= 2147483647.0) ||
        (double)(int32_t)*value != *value)
        return false;
    *at += nbytes;
    return true;
}

/* MINBITS:MAXBITS:MAXPREC:MINEXP */
static floe_status expert_read(const char *text, floe_zfp_params *params, floe_error *err)
{
    double v[4];
    const char *at = text;
    bool ok = true;
    for (int i = 0; i < 4 && ok; i++) {
        ok = whole_read(&at, &v[i]) && (i == 3 ? *at == '\0' : *at == ':') && (i == 3 || v[i] >= 0);
        at += ok && i < 3;
    }
    FLOE_CHECK(err, ok, FLOE_ERR_ARGUMENT,
               "expert needs four whole numbers, minbits:maxbits:maxprec:minexp, got '%.60s'", text);
    *params = (floe_zfp_params){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2], (int32_t)v[3]};
    return FLOE_OK;
}

floe_status floe_zfp_mode_parse(const char *text, floe_dtype dtype, floe_zfp_mode_text *mode, floe_error *err)
{
    const size_t key = strcspn(text, "="), nnames = sizeof names / sizeof names[0];
    const char *value = text[key] ? text + key + 1 : NULL;
    size_t k = 0;
    while (k < nnames && (strlen(names[k]) != key || memcmp(names[k], text, key) != 0))
        k++;
    FLOE_CHECK(err, k < nnames, FLOE_ERR_ARGUMENT,
               "unknown mode '%.60s' of a zfp stream: there are rate=, prec=, abs=, rel=, lossless and expert=", text);
    *mode = (floe_zfp_mode_text){.kind = (floe_zfp_text_kind)k};
    FLOE_CHECK(err, (value != NULL) == (k != FLOE_ZFP_TEXT_LOSSLESS), FLOE_ERR_ARGUMENT,
               value ? "%s takes no value" : "%s needs a value", names[k]);
    FLOE_CHECK(err, !floe_dtype_is_integer(dtype) || (k != FLOE_ZFP_TEXT_ABS && k != FLOE_ZFP_TEXT_REL),
               FLOE_ERR_UNSUPPORTED, "zfp has no %s for values of %s: rate, prec, lossless and expert work", names[k],
               floe_dtype_name(dtype));
    if (k == FLOE_ZFP_TEXT_LOSSLESS)
        return FLOE_OK;
    if (k == FLOE_ZFP_TEXT_EXPERT)
        return expert_read(value, &mode->expert, err);
    FLOE_CHECK(err, floe_number_parse(value, strlen(value), &mode->value) && mode->value >= 0, FLOE_ERR_ARGUMENT,
               "%s must be a number that is not negative, got '%.60s'", names[k], value);
    FLOE_CHECK(err, k != FLOE_ZFP_TEXT_REL || (mode->value > 0 && mode->value <= 1e300), FLOE_ERR_ARGUMENT,
               "rel must be positive and finite, got '%.60s'", value);
    return FLOE_OK;
}

floe_status floe_zfp_mode_params(const floe_zfp_mode_text *mode, double tolerance, floe_zfp_type type, uint32_t rank,
                                 floe_zfp_params *params, floe_error *err)
{
    switch (mode->kind) {
    case FLOE_ZFP_TEXT_RATE: FLOE_TRY(floe_zfp_params_rate(mode->value, type, rank, params, err)); break;
    case FLOE_ZFP_TEXT_PREC:
        FLOE_CHECK(err, mode->value <= 1e6 && (double)(uint32_t)mode->value == mode->value, FLOE_ERR_ARGUMENT,
                   "prec must be a whole number of bit planes, 1 to %d, got %g", (int)FLOE_ZFP_MAX_PREC, mode->value);
        FLOE_TRY(floe_zfp_params_precision((uint32_t)mode->value, params, err));
        break;
    case FLOE_ZFP_TEXT_LOSSLESS: *params = floe_zfp_params_reversible(); break;
    case FLOE_ZFP_TEXT_EXPERT: *params = mode->expert; break;
    default: FLOE_TRY(floe_zfp_params_accuracy(tolerance, params, err)); break;
    }
    return floe_zfp_params_check(params, type, err);
}
