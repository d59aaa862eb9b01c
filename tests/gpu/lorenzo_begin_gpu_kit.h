/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of codec lorenzo that have begun on a GPU, beside what the CPU writes for them: for tests of how chunks begin. The
 * includer is a cmocka program. */
#ifndef FLOE_TESTS_GPU_LORENZO_BEGIN_GPU_KIT_H
#define FLOE_TESTS_GPU_LORENZO_BEGIN_GPU_KIT_H

#include <math.h>
#include <stdio.h>

#include "tests/gpu/gpu_kit.h"

#define KIT_FAIL(...) fail_msg(__VA_ARGS__)
#include "tests/codec_kit.h"

#include "base/bytes.h"
#include "base/grid_math.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "codec/lorenzo/gpu/lorenzo_kernels.h"
#include "codec/lorenzo/gpu/begin/lorenzo_table.h"
#include "field/field.h"
#include "stage/quantizer/quantizer_init_math.h"
#include "synth/synth.h"

static uint64_t seed = 17;
static inline uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static inline void *device_memory(uint64_t nbytes)
{
    void *p = NULL;
    CU(cudaMalloc(&p, nbytes ? nbytes : 1));
    CU(cudaMemset(p, 0xC3, nbytes ? nbytes : 1)); /* checks copy all of it, used or not */
    return p;
}

static inline void fetch(void *to, const void *from, uint64_t nbytes)
{
    CU(cudaMemcpy(to, from, nbytes, cudaMemcpyDeviceToHost));
}

/* ---- a call -------------------------------------------------------------------------------------------------------- */

enum { PLACE_NBYTES = 1000 };

/* A field in host and device memory, and all that begin needs. */
typedef struct fixture {
    floe_field field; /* host; within memory */
    void *dev_values;
    floe_codec_params params;
    floe_dev_params *dev_params;
    floe_lorenzo_encode_call call;
    floe_dev_chunk *chunks; /* as read back */
} fixture;

static inline void call_open(fixture *f, const uint64_t *chunk)
{
    floe_lorenzo_encode_call *c = &f->call;
    memset(c, 0, sizeof *c);
    c->grid.nchunks = 1;
    c->field.dtype = f->field.dtype;
    c->field.rank = f->field.rank;
    for (uint32_t i = 0; i < f->field.rank; i++) {
        c->field.shape[i] = c->grid.shape[i] = f->field.shape[i];
        c->field.stride[i] = f->field.stride[i];
        c->grid.chunk[i] = chunk[i];
        c->grid.nchunks *= floe_ceil_div(f->field.shape[i], chunk[i]);
    }
    c->grid.slots = (uint32_t)floe_lorenzo_slots(f->field.rank, chunk);
    const uint64_t n = c->grid.nchunks;
    c->huffman = f->params.preset != FLOE_PRESET_FAST;
    c->has_tables = floe_lorenzo_may_have_table(&f->params);
    c->chunks = device_memory(n * sizeof *c->chunks);
    c->status = device_memory(sizeof *c->status);
    c->retry = device_memory(sizeof *c->retry);
    c->place_nbytes = PLACE_NBYTES;
    c->place_state[0] = device_memory(PLACE_NBYTES);
    c->place_state[1] = device_memory(PLACE_NBYTES);
    if (c->huffman)
        c->hists = device_memory(n * sizeof *c->hists);
    if (c->has_tables) {
        const floe_table_room room = floe_table_room_of(&c->grid, c->field.rank);
        c->table_slots = device_memory(n * room.nslots * sizeof *c->table_slots);
        c->tables = device_memory(n * room.most * sizeof *c->tables);
        c->table_scratch = device_memory(floe_table_scratch_nbytes(&c->grid, room));
    }
    c->params = f->dev_params = device_memory(sizeof *f->dev_params);
    CU(cudaMemset(c->status, 0, sizeof *c->status));
}

static inline floe_quantizer quantizer_of(const floe_codec_params *p, floe_quantizer_kind kind)
{
    floe_quantizer z;
    floe_quantizer_init(&z, kind, p->dtype, p->bound, p->max_abs, p->has_fill, p->fill_bits);
    return z;
}

static inline void params_send(fixture *f)
{
    const floe_codec_params *p = &f->params;
    floe_dev_params d;
    d.codec = *p;
    d.quantizer = quantizer_of(p, floe_lorenzo_kind_of(p->mode));
    d.bits = quantizer_of(p, FLOE_QUANTIZER_BITS);
    CU(cudaMemcpy(f->dev_params, &d, sizeof d, cudaMemcpyHostToDevice));
}

static inline void chunks_fetch(fixture *f)
{
    fetch(f->chunks, f->call.chunks, f->call.grid.nchunks * sizeof *f->chunks);
}

/* field lies in memory of nbytes. */
static inline fixture begun(const floe_field *field, const floe_codec_params *params, const uint64_t *chunk,
                            const void *memory, uint64_t nbytes)
{
    fixture f = {.field = *field, .params = *params};
    call_open(&f, chunk);
    f.dev_values = device_memory(nbytes);
    CU(cudaMemcpy(f.dev_values, memory, nbytes, cudaMemcpyHostToDevice));
    f.call.field.data = (uint8_t *)f.dev_values + ((const uint8_t *)field->data - (const uint8_t *)memory);
    params_send(&f);
    CU(floe_lorenzo_begin_cuda(&f.call, NULL));
    f.chunks = malloc(f.call.grid.nchunks * sizeof *f.chunks);
    chunks_fetch(&f);
    return f;
}

static inline void done(fixture *f)
{
    const floe_lorenzo_encode_call *c = &f->call;
    void *all[] = {c->chunks, c->status,      c->retry,         c->place_state[0], c->place_state[1], c->hists,
                   c->tables, c->table_slots, c->table_scratch, f->dev_params,     f->dev_values};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            CU(cudaFree(all[i]));
    free(f->chunks);
}

/* ---- what the CPU reports --------------------------------------------------------------------------------------------- */

/* A chunk as the CPU codes it. data: its first byte */
typedef struct expected {
    floe_lorenzo_chunk chunk;
    floe_view view;
    kit_coded coded;
} expected;

static inline floe_field chunk_field(const fixture *f, uint64_t c, uint64_t *lo, uint64_t *extent)
{
    floe_grid_cut(f->field.rank, f->field.shape, f->call.grid.chunk, c, lo, extent);
    return floe_field_box(&f->field, lo, extent);
}

static inline expected expect(const floe_codec_params *params, const floe_field *chunk)
{
    expected e;
    floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
    uint64_t most = floe_codec_of(params->codec)->bound(params, chunk->rank, chunk->shape);
    assert_int_equal(kit_encode(&cpu, params, chunk, most, &e.coded), FLOE_OK);
    assert_int_equal(floe_lorenzo_chunk_read(e.coded.block.data, e.coded.nbytes, params->dtype, chunk->rank,
                                             chunk->shape, &e.chunk, &e.view, NULL),
                     FLOE_OK);
    return e;
}

static inline void assert_geometry(const fixture *f, uint64_t c, const floe_field *field, const floe_view *view,
                                   bool swap)
{
    const floe_dev_chunk *got = &f->chunks[c];
    uint64_t ncells = 1;
    int64_t at = (const uint8_t *)field->data - (const uint8_t *)f->field.data;
    assert_int_equal(got->swap, swap);
    assert_memory_equal(got->view.extent, view->extent, sizeof view->extent);
    assert_memory_equal(got->view.axis, view->axis, sizeof view->axis);
    assert_memory_equal(got->view.tiles, view->tiles, sizeof view->tiles);
    assert_int_equal(got->view.ntiles, view->ntiles);
    assert_int_equal(got->view.rank, view->rank);
    assert_memory_equal(&got->view.geometry, &view->geometry, sizeof view->geometry);
    assert_ptr_equal(got->origin, (uint8_t *)f->call.field.data + at);
    for (int a = 0; a < FLOE_VIEW_AXES; a++) {
        assert_int_equal(got->region_lo[a], 0);
        assert_int_equal(got->region_hi[a], view->extent[a]);
        assert_int_equal(got->stride[a], view->axis[a] < 0 ? a == FLOE_VIEW_X : field->stride[view->axis[a]]);
        ncells *= view->extent[a];
    }
    assert_int_equal(got->ncells, ncells);
    assert_int_equal(got->encoder, f->call.huffman);
    assert_int_equal(got->attempt, 0);
    for (int i = 0; i < 2; i++)
        assert_true(got->stats[i].nexceptions == 0 && got->stats[i].nliterals == 0 &&
                    got->stats[i].max_error_bits == 0 && got->stats[i].max_pw_error_bits == 0);
}

static inline void assert_quantizer(const floe_quantizer *got, const floe_quantizer *want)
{
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(floe_bits_f64(got->step), floe_bits_f64(want->step));
    assert_int_equal(floe_bits_f64(got->inverse), floe_bits_f64(want->inverse));
    assert_int_equal(floe_bits_f64(got->tolerance), floe_bits_f64(want->tolerance));
    assert_int_equal(got->fill, want->fill);
    assert_memory_equal(got->palette, want->palette, sizeof want->palette);
    assert_int_equal(got->table_size, want->table_size);
}

/* The sorted table, and that every key is found in the slots. */
static inline void assert_table(const fixture *f, uint64_t c, const expected *e)
{
    const floe_quantizer *z = &f->chunks[c].quantizer;
    const uint32_t n = e->chunk.table_size, mask = z->slots_mask;
    const uint8_t *want = e->coded.block.data + e->chunk.table_at;
    uint64_t *table = malloc(n * sizeof *table);
    floe_table_slot *slots = malloc((mask + 1) * sizeof *slots);
    fetch(table, z->table, n * sizeof *table);
    fetch(slots, z->slots, (mask + 1) * sizeof *slots);
    uint32_t nfilled = 0;
    for (uint32_t i = 0; i <= mask; i++)
        nfilled += slots[i].place != 0;
    assert_int_equal(nfilled, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = f->field.dtype == FLOE_F32 ? (uint64_t)(int64_t)(int32_t)floe_load32(want + 4 * i)
                                                  : floe_load64(want + 8 * i);
        assert_int_equal(table[i], key);
        uint32_t s = floe_table_slot_of(key) & mask;
        while (slots[s].place != 0 && slots[s].key != key)
            s = (s + 1) & mask;
        assert_int_equal(slots[s].place, i + 1);
    }
    free(table);
    free(slots);
}

static inline bool all_zero(const void *dev, uint64_t nbytes)
{
    uint8_t *host = malloc(nbytes), any = 0;
    fetch(host, dev, nbytes);
    for (uint64_t i = 0; i < nbytes; i++)
        any |= host[i];
    free(host);
    return any == 0;
}

static int ntables, nswaps;

static inline void check(const floe_field *field, const floe_codec_params *params, const uint64_t *chunk,
                         const void *memory, uint64_t nbytes)
{
    fixture f = begun(field, params, chunk, memory, nbytes);
    assert_true(all_zero(f.call.retry, 4) && all_zero(f.call.place_state[0], PLACE_NBYTES) &&
                all_zero(f.call.place_state[1], PLACE_NBYTES));
    assert_true(!f.call.huffman || all_zero(f.call.hists, f.call.grid.nchunks * sizeof *f.call.hists));
    for (uint64_t c = 0; c < f.call.grid.nchunks; c++) {
        uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
        floe_field part = chunk_field(&f, c, lo, extent);
        expected e = expect(params, &part);
        assert_geometry(&f, c, &part, &e.view, e.chunk.swap);
        nswaps += e.chunk.swap;
        const bool has_table = e.chunk.kind == FLOE_QUANTIZER_TABLE;
        floe_quantizer want =
            quantizer_of(params, has_table ? FLOE_QUANTIZER_BITS : floe_lorenzo_kind_of(params->mode));
        if (has_table)
            want.kind = e.chunk.kind, want.table_size = e.chunk.table_size;
        assert_quantizer(&f.chunks[c].quantizer, &want);
        if (has_table)
            assert_table(&f, c, &e);
        ntables += has_table;
        kit_block_free(&e.coded.block);
    }
    done(&f);
}

static inline floe_codec_params params_of(floe_dtype dtype, floe_preset preset, floe_bound_mode mode, double bound)
{
    return (floe_codec_params){
        .dtype = dtype, .codec = FLOE_CODEC_LORENZO, .preset = preset, .mode = mode, .bound = bound, .max_abs = NAN};
}

#endif
