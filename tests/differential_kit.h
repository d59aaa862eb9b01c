/* SPDX-License-Identifier: BSD-3-Clause */
/* Random fields and how to compress them: all types, codecs, modes and presets, the values chosen around the bound. What number
 * `turn` gives is the same on any machine. */
#ifndef FLOE_TESTS_DIFFERENTIAL_KIT_H
#define FLOE_TESTS_DIFFERENTIAL_KIT_H

#include <stdio.h>
#include <stdlib.h>

#include "codec/codec.h"
#include "tests/hostile_kit.h"

typedef struct random_case {
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK], nelems, nbytes;
    char text[160];
    floe_params params;
    void *values; /* malloc'ed, no byte longer than the field */
} random_case;

static inline uint64_t count_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* A shape of at most `most` elements. */
static inline void random_shape(random_case *c, uint64_t most, uint64_t *state)
{
    c->rank = 1 + (uint32_t)hostile_below(state, 4);
    uint64_t left = 1 + hostile_below(state, hostile_below(state, 4) ? most / 8 + 1 : most);
    c->nelems = 1;
    for (uint32_t i = 0; i < c->rank; i++) {
        const bool last = i + 1 == c->rank;
        c->shape[i] = last ? left : 1 + hostile_below(state, 1 + (uint64_t)cbrt((double)left));
        left = left / c->shape[i] ? left / c->shape[i] : 1;
        c->nelems *= c->shape[i];
    }
    c->nbytes = c->nelems * floe_dtype_size(c->dtype);
}

static inline void random_text(random_case *c, double bound, floe_codec codec, uint64_t *state)
{
    static const char *const modes[] = {"abs=%.3g", "abs=%.3g", "rel=1e-3",  "rel=0.07", "pwrel=1e-2",
                                        "lossless", "psnr=60",  "psnr=33.3", "rate=7",   "prec=11"};
    static const char *const presets[] = {"fast", "balanced", "fast", "best", "balanced", "fast", "balanced"};
#ifdef FLOE_HAVE_CUDA_BUILD /* other codecs leave integers to the CPU */
    const bool on_gpu = true;
#else
    const bool on_gpu = false;
#endif
    const bool integer = hostile_is_integer(c->dtype), zfp = (integer && on_gpu) || hostile_below(state, 3) == 0;
    uint64_t mode = hostile_below(state, zfp ? 10 : 8);
    if (zfp || integer ? mode == 4 : mode == 5 && codec == FLOE_CODEC_WAVELET) /* modes that they do not have */
        mode = 0;
    int n = snprintf(c->text, sizeof c->text, modes[mode], integer && bound < 1 ? 1 : bound);
    n += snprintf(c->text + n, sizeof c->text - (size_t)n, " codec=%s preset=%s%s",
                  floe_codec_name(zfp ? FLOE_CODEC_ZFP : codec), presets[hostile_below(state, HOSTILE_COUNT(presets))],
                  hostile_below(state, 3)   ? ""
                  : hostile_below(state, 2) ? " fill=none"
                                            : " fill=77");
    if (hostile_below(state, 3))
        return;
    n += snprintf(c->text + n, sizeof c->text - (size_t)n, " chunk=");
    for (uint32_t i = 0; i < c->rank; i++)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, "%s%llu", i ? "x" : "",
                      (unsigned long long)(1 + c->shape[i] / (1 + hostile_below(state, 3))));
}

/* Codec lorenzo in place of those that a build for GPUs leaves to the CPU, whose fields in device memory it refuses. */
static inline floe_codec random_codec(uint64_t turn)
{
    const floe_codec codec = turn / 2 % 4 == 1   ? FLOE_CODEC_INTERP
                             : turn / 2 % 8 == 3 ? FLOE_CODEC_WAVELET
                                                 : FLOE_CODEC_LORENZO;
#ifdef FLOE_HAVE_CUDA_BUILD
    return floe_codec_of(codec)->device ? codec : FLOE_CODEC_LORENZO;
#else
    return codec;
#endif
}

static inline random_case random_case_of(uint64_t turn, uint64_t most)
{
    static const double bounds[] = {1e-2, 3, 1e-6, 0.5, 1e10, 0x1p-3};
    uint64_t state = turn * 0x9E3779B97F4A7C15u + 1;
    random_case c = {.dtype = (floe_dtype)(FLOE_F32 + (hostile_below(&state, 3) ? turn % 2 : turn % 4))};
    const double bound = bounds[hostile_below(&state, HOSTILE_COUNT(bounds))];
    random_shape(&c, most, &state);
    random_text(&c, bound, random_codec(turn), &state);
    c.values = malloc(c.nbytes);
    if (!c.values || floe_params_parse(&c.params, c.text, NULL) != FLOE_OK)
        abort();
    hostile_fill(c.dtype, (hostile_kind)hostile_below(&state, HOSTILE_KINDS), c.nelems, bound,
                 hostile_bits(c.dtype, 77), state, c.values);
    return c;
}

static inline floe_field random_field(const random_case *c, void *data)
{
    return floe_field_of(data ? data : c->values, c->dtype, c->rank, c->shape);
}

static inline void random_say(const random_case *c, uint64_t turn)
{
    fprintf(stderr, "turn %llu: %s", (unsigned long long)turn, floe_dtype_name(c->dtype));
    for (uint32_t i = 0; i < c->rank; i++)
        fprintf(stderr, "%c%llu", i ? 'x' : ' ', (unsigned long long)c->shape[i]);
    fprintf(stderr, ", %s\n", c->text);
}

/* The first decoded value that breaks what the stream promises, or nelems. The bound that rel resolves to is no wider than requested,
 * up to the rounding of a long double. */
static inline uint64_t random_broken(const random_case *c, const floe_info *info, const void *decoded)
{
    const floe_bound_mode as_abs = info->abs_bound > 0 ? FLOE_BOUND_ABS : FLOE_BOUND_LOSSLESS;
    const bool direct = info->mode == FLOE_BOUND_PWREL || info->mode == FLOE_BOUND_RATE ||
                        info->mode == FLOE_BOUND_PREC || info->mode == FLOE_BOUND_LOSSLESS;
    const hostile_promise p = {c->dtype, direct ? info->mode : as_abs, direct ? info->bound : info->abs_bound,
                               info->has_fill != 0, hostile_bits(c->dtype, info->fill_value)};
    if (info->mode == FLOE_BOUND_REL && info->abs_bound > 0) {
        const long double width = (long double)info->value_max - (long double)info->value_min;
        if ((long double)info->abs_bound > (long double)info->bound * width)
            return 0;
    }
    return hostile_broken(&p, c->values, decoded, c->nelems);
}

#endif
