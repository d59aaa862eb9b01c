/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codecs, below the checksums: bytes as a chunk, decoded by plain C and by AVX2, whole or a box of it. Both must report the
 * same, and write nothing outside the box. The input:
 *
 *   0      bit 0 f64, bits 1-2 rank - 1, bit 3 a box, bit 4 make sizes add up, bit 5 edits, bits 6-7 bound mode
 *   1      edits: bits 0-4 kind of values, bit 5 preset; bit 6 integers; bit 7 codec zfp, whose modes are abs, rate, lossless,
 *          prec
 *   2..5   extents
 *   6..    the chunk; or edits of a sound one: 2 bytes where (a word), 4 bytes what is added to it
 */
#define KIT_FAIL(...) (fprintf(stderr, __VA_ARGS__), fputs("\n", stderr), abort())
#include "tests/codec_kit.h"
#include "tests/mutation_kit.h"

enum { HEAD = 6, EDIT = 6, MAX_CELLS = 20000 };

typedef struct input {
    floe_codec_params params;
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK], lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], box[FLOE_MAX_RANK];
} input;

static bool input_of(const uint8_t *p, input *in)
{
    static const floe_bound_mode modes[] = {FLOE_BOUND_ABS, FLOE_BOUND_PWREL, FLOE_BOUND_LOSSLESS, FLOE_BOUND_LOSSLESS};
    static const floe_bound_mode zfp_modes[] = {FLOE_BOUND_ABS, FLOE_BOUND_RATE, FLOE_BOUND_LOSSLESS, FLOE_BOUND_PREC};
    memset(in, 0, sizeof *in);
    in->params = (floe_codec_params){.dtype = p[1] & 64  ? (p[0] & 1 ? FLOE_I64 : FLOE_I32)
                                              : p[0] & 1 ? FLOE_F64
                                                         : FLOE_F32,
                                     .codec = FLOE_CODEC_LORENZO,
                                     .preset = p[1] & 32 ? FLOE_PRESET_FAST : FLOE_PRESET_BALANCED,
                                     .mode = p[1] & 64 && p[0] >> 6 == 1 ? FLOE_BOUND_ABS : modes[p[0] >> 6],
                                     .bound = p[1] & 64 ? 3 : 0.01,
                                     .max_abs = NAN};
    if (p[1] & 128) {
        in->params.codec = FLOE_CODEC_ZFP;
        in->params.mode = zfp_modes[p[0] >> 6];
        in->params.bound = in->params.mode == FLOE_BOUND_ABS ? in->params.bound : 7;
    }
    in->rank = 1 + (p[0] >> 1 & 3);
    for (uint32_t a = 0; a < in->rank; a++) {
        in->extent[a] = in->rank == 1 ? 1 + p[2] + 256 * (uint64_t)(p[3] % 70) : 1 + (uint64_t)p[2 + a];
        in->lo[a] = p[0] & 8 ? in->extent[a] / 3 : 0;
        in->hi[a] = p[0] & 8 ? in->extent[a] - in->extent[a] / 4 : in->extent[a];
        in->box[a] = in->hi[a] - in->lo[a];
    }
    return kit_cells(in->rank, in->extent) <= MAX_CELLS;
}

/* A sound chunk of such a field. */
static void sound_chunk(const input *in, const uint8_t *p, mutant *m)
{
    static double data[MAX_CELLS];
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    const hostile_kind kind = (p[0] >> 6) == 3 ? HOSTILE_FEW : (hostile_kind)((p[1] & 31) % HOSTILE_KINDS);
    kit_coded coded;
    hostile_fill(in->params.dtype, kind, kit_cells(in->rank, in->extent), in->params.bound, 0, 1, data);
    floe_field chunk = kit_chunk(data, in->params.dtype, in->rank, in->extent);
    KIT_MUST(kit_encode(&cpu, &in->params, &chunk,
                        floe_codec_of(in->params.codec)->bound(&in->params, in->rank, in->extent), &coded) == FLOE_OK);
    mutant_set(m, coded.block.data, coded.nbytes);
    kit_block_free(&coded.block);
}

static void edit(mutant *m, const uint8_t *edits, size_t nbytes)
{
    for (; nbytes >= EDIT; edits += EDIT, nbytes -= EDIT) {
        uint8_t *at = m->data + 4 * ((uint64_t)floe_load16(edits) % (m->nbytes / 4));
        floe_store32(at, floe_load32(at) + floe_load32(edits + 2));
    }
}

static void decode_both(const input *in, const mutant *m)
{
    static double want[MAX_CELLS + 32];
    const uint64_t nbytes = kit_cells(in->rank, in->box) * floe_dtype_size(in->params.dtype);
    uint8_t *exact = malloc(m->nbytes ? (size_t)m->nbytes : 1);
    floe_status status[2];
    floe_error err;
    KIT_MUST(exact);
    memcpy(exact, m->data, (size_t)m->nbytes);
    for (int isa = 0; isa < 2; isa++) {
        const floe_cpu cpu = kit_cpu(1, isa ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN);
        kit_block out = kit_block_of(nbytes);
        floe_field field = kit_chunk(out.data, in->params.dtype, in->rank, in->box);
        status[isa] =
            kit_decode_box(&cpu, &in->params, in->rank, in->extent, exact, m->nbytes, in->lo, in->hi, &field, &err);
        KIT_MUST(status[isa] == FLOE_OK || status[isa] == FLOE_ERR_FORMAT);
        if (isa == 0)
            memcpy(want, out.data, (size_t)nbytes);
        else if (status[0] == FLOE_OK)
            KIT_MUST(memcmp(want, out.data, (size_t)nbytes) == 0);
        kit_block_free(&out);
    }
    KIT_MUST(status[0] == status[1]);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static mutant m;
    input in;
    if (nbytes < HEAD || !input_of(data, &in))
        return 0;
    if (data[0] & 32) {
        sound_chunk(&in, data, &m);
        edit(&m, data + HEAD, nbytes - HEAD);
    } else {
        mutant_set(&m, data + HEAD, nbytes - HEAD);
    }
    if (data[0] & 16 && in.params.codec == FLOE_CODEC_LORENZO)
        chunk_refit(&m, in.params.dtype);
    decode_both(&in, &m);
    return 0;
}
