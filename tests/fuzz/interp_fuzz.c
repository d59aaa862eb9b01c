/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codecs interp and wavelet, and stage context, below the checksums. The input:
 *
 *   0      bit 0 f64, bits 1-2 rank - 1, bit 3 a box, bit 4 tables and an entropy chunk alone, bit 5 edits of a sound chunk, bit 6
 *          pwrel, bit 7 fill
 *   1      kind of values, those beyond the last one with preset best, from 28 on of integers; bits 5-6: level; bit 7: codec wavelet
 *   2..5   extents; or width, window, planes, columns
 *   6..    the chunk; or edits: 2 bytes where, 1 byte what is added
 */
#define KIT_FAIL(...) (fprintf(stderr, __VA_ARGS__), fputs("\n", stderr), abort())
#include "stage/context/context.h"
#include "tests/codec_kit.h"
#include "tests/mutation_kit.h"

enum { HEAD = 6, EDIT = 3, MAX_CELLS = 20000 };

/* Tables, then a chunk of 40 rows: the same by both instruction sets. */
static void entropy_chunk(const uint8_t *p, const uint8_t *data, size_t nbytes)
{
    static floe_context_decoder decoder;
    static uint8_t records[2][40 * 32 * 16];
    const floe_context_spec spec = {p[2] % 3, 1u << p[3] % 4, p[4] & 1};
    const floe_context_grid grid = floe_context_grid_of(4, 10, 1 + p[5] % 32, 40, 40);
    const floe_context_chunk chunk = floe_context_chunk_of(&grid, 0);
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    floe_context_tables tables;
    floe_reader from = floe_reader_of(data, nbytes);
    bool good[2];
    if (!floe_context_tables_read(&spec, &from, &tables))
        return;
    floe_context_decoder_of(&spec, &tables, p[5] & 32 ? FLOE_ANS_LEAST : FLOE_ANS_BEGIN, &decoder);
    memset(records, 0, sizeof records);
    for (int isa = 0; isa < 2; isa++)
        good[isa] = floe_context_ops_of(isa ? cpu.isa : FLOE_ISA_PLAIN)
                        ->decode(&spec, &chunk, &decoder, from.at, floe_reader_left(&from), records[isa]);
    KIT_MUST(good[0] == good[1] && memcmp(records[0], records[1], sizeof records[0]) == 0);
}

static void sound_chunk(const floe_codec_params *params, floe_field *chunk, uint8_t kind, mutant *m)
{
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    kit_coded coded;
    hostile_fill(params->dtype, (hostile_kind)(kind % 32 % HOSTILE_KINDS), kit_cells(chunk->rank, chunk->shape),
                 params->bound, params->fill_bits, 1, chunk->data);
    KIT_MUST(kit_encode(&cpu, params, chunk, floe_codec_of(params->codec)->bound(params, chunk->rank, chunk->shape),
                        &coded) == FLOE_OK);
    mutant_set(m, coded.block.data, coded.nbytes);
    kit_block_free(&coded.block);
}

static void note_lost(void *user, const uint64_t *lo, const uint64_t *hi)
{
    (void)lo, (void)hi;
    ++*(uint64_t *)user;
}

/* A level of the chunk, and damage looked for: from the bytes that it reports to need. */
static void level_of(const floe_codec_params *params, uint32_t rank, const uint64_t *extent, uint32_t level,
                     const mutant *m)
{
    static double out[2][MAX_CELLS];
    uint64_t lo[FLOE_MAX_RANK] = {0}, hi[FLOE_MAX_RANK], nbytes = 0, nlost[2] = {0, 0};
    floe_status status[2];
    for (uint32_t a = 0; a < rank; a++)
        hi[a] = ((extent[a] - 1) >> level) + 1;
    const floe_codec_ops *codec = floe_codec_of(params->codec);
    const floe_field field[2] = {kit_chunk(out[0], params->dtype, rank, hi),
                                 kit_chunk(out[1], params->dtype, rank, hi)};
    floe_chunk_decode call = {.codec = params->codec, .dtype = params->dtype, .rank = rank, .extent = extent};
    call.src = m->data;
    call.nbytes = m->nbytes;
    call.level = level;
    if (codec->level_nbytes(&call, m->nbytes, &nbytes, NULL) != FLOE_OK || nbytes > m->nbytes)
        return;
    call.nbytes = nbytes;
    call.lo = lo;
    call.hi = hi;
    call.lost = note_lost;
    memset(out, 0x77, sizeof out);
    for (int isa = 0; isa < 2; isa++) {
        const floe_cpu cpu = kit_cpu(1, isa ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN);
        call.cpu = &cpu;
        kit_block *scratch = kit_scratch(codec->decode_scratch(&call));
        floe_arena arena = floe_arena_of(scratch->data, scratch->nbytes);
        memset(scratch->data, 0, scratch->nbytes); /* values that are lost may be of what lay there */
        call.out = &field[isa];
        call.scratch = &arena;
        call.user = &nlost[isa];
        status[isa] = codec->decode(&call, NULL);
    }
    KIT_MUST(status[0] == status[1] && nlost[0] == nlost[1]);
    KIT_MUST(status[0] == FLOE_OK || status[0] == FLOE_ERR_FORMAT || status[0] == FLOE_ERR_CHECKSUM);
    KIT_MUST(status[0] != FLOE_OK || memcmp(out[0], out[1], sizeof out[0]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static double values[MAX_CELLS], out[2][MAX_CELLS];
    static mutant m;
    uint64_t extent[FLOE_MAX_RANK], lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], box[FLOE_MAX_RANK];
    if (nbytes <= HEAD)
        return 0;
    const uint8_t *p = data;
    data += HEAD, nbytes -= HEAD;
    if (p[0] & 16) {
        entropy_chunk(p, data, nbytes);
        return 0;
    }
    const uint32_t rank = 1 + (p[0] >> 1 & 3);
    for (uint32_t a = 0; a < rank; a++) {
        extent[a] = 1 + (rank == 1 ? p[2] + 256 * (uint64_t)(p[3] % 70) : (uint64_t)p[2 + a]);
        lo[a] = p[0] & 8 ? extent[a] / 3 : 0;
        hi[a] = p[0] & 8 ? extent[a] - extent[a] / 4 : extent[a];
        box[a] = hi[a] - lo[a];
    }
    if (kit_cells(rank, extent) > MAX_CELLS)
        return 0;
    const bool integer = p[1] % 32 >= 28;
    const floe_codec_params params = {.dtype = integer    ? (p[0] & 1 ? FLOE_I64 : FLOE_I32)
                                               : p[0] & 1 ? FLOE_F64
                                                          : FLOE_F32,
                                      .codec = p[1] >> 7 ? FLOE_CODEC_WAVELET : FLOE_CODEC_INTERP,
                                      .preset = p[1] % 32 < HOSTILE_KINDS ? FLOE_PRESET_BALANCED : FLOE_PRESET_BEST,
                                      .mode = p[0] & 64 ? (integer ? FLOE_BOUND_LOSSLESS : FLOE_BOUND_PWREL)
                                                        : FLOE_BOUND_ABS,
                                      .bound = integer ? 2 : 0.01,
                                      .max_abs = NAN,
                                      .has_fill = p[0] >> 7,
                                      .fill_bits = p[0] >> 7 ? 0x4000 : 0};
    floe_field chunk = kit_chunk(values, params.dtype, rank, extent);
    floe_status status[2];
    if (p[0] & 32) {
        sound_chunk(&params, &chunk, p[1], &m);
        for (; nbytes >= EDIT; data += EDIT, nbytes -= EDIT)
            m.data[floe_load16(data) % m.nbytes] += data[2];
    } else {
        mutant_set(&m, data, nbytes);
    }
    if (floe_codec_of(params.codec)->level_nbytes)
        level_of(&params, rank, extent, p[1] >> 5 & 3, &m);
    for (int isa = 0; isa < 2; isa++) {
        const floe_cpu cpu = kit_cpu(1, isa ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN);
        floe_field field = kit_chunk(out[isa], params.dtype, rank, box);
        memset(out[isa], 0x77, sizeof out[isa]);
        status[isa] = kit_decode_box(&cpu, &params, rank, extent, m.data, m.nbytes, lo, hi, &field, NULL);
    }
    KIT_MUST(status[0] == status[1] && (status[0] == FLOE_OK || status[0] == FLOE_ERR_FORMAT));
    KIT_MUST(status[0] != FLOE_OK || memcmp(out[0], out[1], sizeof out[0]) == 0);
    return 0;
}
