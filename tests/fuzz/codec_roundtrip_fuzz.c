/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codecs there and back: the input shows which field, and how to code it. Every value is checked exactly, and plain C
 * against AVX2. The input:
 *
 *   0      bit 0 f64, bits 1-2 rank - 1, bits 3-4 bound mode, bit 5 preset, bit 6 the first value is the fill value,
 *          bit 7 the largest magnitude is known
 *   1      how values come of the bytes: bits 0-1 in turn, differences, runs, multiples of the bound; bits 2-3 codecs lorenzo twice,
 *          interp, wavelet; bit 4 preset best; bit 6 integers; bit 7 codec zfp, whose modes are abs, rate, lossless, prec
 *   2..5   extents
 *   6..13  the bound: a binary64
 *   14..   values
 */
#define KIT_FAIL(...) (fprintf(stderr, __VA_ARGS__), fputs("\n", stderr), abort())
#include "base/bytes.h"
#include "tests/codec_kit.h"

enum { HEAD = 14, MAX_CELLS = 10000 };

static double sane_bound(floe_dtype dtype, floe_bound_mode mode, double b)
{
    b = fabs(b);
    if (!(b > 0) || !isfinite(b))
        b = 0.01;
    if (mode == FLOE_BOUND_RATE)
        return fmod(b, 60) + 0.01;
    if (mode == FLOE_BOUND_PREC)
        return 1 + floor(fmod(b, 64));
    if (hostile_is_integer(dtype) && b < 1)
        return 1 + b;
    return mode == FLOE_BOUND_PWREL && b >= 1 ? 1 / (1 + b) > 0 ? 1 / (1 + b) : 0.5 : b;
}

/* Value i: the bytes are words that follow each other for ever. */
static uint64_t value_of(const uint8_t *p, size_t n, uint64_t i, const floe_codec_params *params, uint8_t how,
                         uint64_t *sum)
{
    const size_t size = floe_dtype_size(params->dtype);
    uint64_t bits = 0;
    for (size_t k = 0; k < size; k++) {
        uint64_t at = (how & 3) == 2 ? i / 50 * size + k : i * size + k;
        bits |= (uint64_t)p[at % n] << 8 * k;
    }
    if ((how & 3) == 1) {
        *sum += (uint64_t)(int64_t)(int8_t)bits;
        bits = hostile_bits(params->dtype, 1) + *sum;
    } else if ((how & 3) == 3) {
        bits = hostile_bits(params->dtype, params->bound * (double)(int8_t)bits) + (bits >> 8 & 3) - 1;
    }
    return bits;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static const floe_bound_mode modes[] = {FLOE_BOUND_ABS, FLOE_BOUND_PWREL, FLOE_BOUND_LOSSLESS, FLOE_BOUND_ABS};
    static const floe_bound_mode zfp_modes[] = {FLOE_BOUND_ABS, FLOE_BOUND_RATE, FLOE_BOUND_LOSSLESS, FLOE_BOUND_PREC};
    static const floe_codec codecs[] = {FLOE_CODEC_LORENZO, FLOE_CODEC_LORENZO, FLOE_CODEC_INTERP, FLOE_CODEC_WAVELET};
    static double values[MAX_CELLS];
    uint64_t extent[FLOE_MAX_RANK], sum = 0;
    if (nbytes <= HEAD)
        return 0;
    const uint32_t rank = 1 + (data[0] >> 1 & 3);
    for (uint32_t a = 0; a < rank; a++)
        extent[a] = rank == 1 ? 1 + data[2] + 256 * (uint64_t)(data[3] % 36) : 1 + (uint64_t)data[2 + a];
    const uint64_t n = kit_cells(rank, extent);
    if (n > MAX_CELLS)
        return 0;
    const bool wide = data[0] & 1, integer = data[1] & 64, zfp = data[1] & 128;
    floe_codec_params p = {.dtype = integer ? (wide ? FLOE_I64 : FLOE_I32)
                                    : wide  ? FLOE_F64
                                            : FLOE_F32,
                           .codec = zfp ? FLOE_CODEC_ZFP : codecs[data[1] >> 2 & 3],
                           .preset = data[1] & 16   ? FLOE_PRESET_BEST
                                     : data[0] & 32 ? FLOE_PRESET_FAST
                                                    : FLOE_PRESET_BALANCED,
                           .mode = (zfp ? zfp_modes : modes)[data[0] >> 3 & 3],
                           .max_abs = data[0] & 128 ? 1e3 : NAN};
    if (integer ? p.mode == FLOE_BOUND_PWREL : p.codec == FLOE_CODEC_WAVELET && p.mode == FLOE_BOUND_LOSSLESS)
        p.mode = FLOE_BOUND_ABS;
    p.bound = sane_bound(p.dtype, p.mode, floe_f64_of(floe_load64(data + 6)));
    for (uint64_t i = 0; i < n; i++)
        hostile_put(p.dtype, values, (int64_t)i, value_of(data + HEAD, nbytes - HEAD, i, &p, data[1], &sum));
    p.has_fill = data[0] >> 6 & 1;
    p.fill_bits = p.has_fill ? hostile_get(p.dtype, values, 0) : 0;
    floe_field chunk = kit_chunk(values, p.dtype, rank, extent);
    kit_round_trip(&p, &chunk, 1, NULL);
    return 0;
}
