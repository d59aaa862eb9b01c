/* SPDX-License-Identifier: BSD-3-Clause */
/* Norms against the transforms that they are of; every structure there and back; sizes that no structure exceeds; what the tuner tries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KIT_FAIL fail_msg
#include "codec/wavelet/wavelet_encoder.h"
#include "tests/codec_kit.h"

enum { LINE = 2048, DEEP = 6 };

/* An array of f64 on one thread, whose plan the caller has made. */
static floe_wavelet_bands bands_of(const floe_cpu *cpu, const floe_wavelet_plan *plan, double *array)
{
    void *lines = malloc(floe_wavelet_line_reals(cpu, plan->shape) * sizeof(double));
    return floe_wavelet_bands_of(cpu, FLOE_F64, plan, array, lines);
}

/* What a 1 in the middle of a band adds. */
static void norms(void **unused)
{
    static const uint64_t shape[] = {1, 1, 1, LINE};
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_PLAIN);
    (void)unused;
    for (int bank = 0; bank < FLOE_WAVELET_BANKS; bank++) {
        static double x[LINE];
        floe_wavelet_plan plan;
        floe_wavelet_plan_of(shape, &(floe_wavelet_structure){.bank = (floe_wavelet_bank)bank}, &plan);
        const floe_wavelet_bands b = bands_of(&cpu, &plan, x);
        for (uint32_t depth = 1; depth <= DEEP; depth++)
            for (int high = 0; high < 2; high++) {
                const uint64_t n = LINE >> depth;
                double sum = 0;
                memset(x, 0, sizeof x);
                x[(high ? n : 0) + n / 2] = 1;
                for (uint32_t i = depth; i-- > 0;)
                    floe_wavelet_step_undo(&b, &plan.steps[i].step, NULL);
                for (int i = 0; i < LINE; i++)
                    sum += x[i] * x[i];
                assert_true(fabs(32 * log2(sum) - floe_wavelet_norm((floe_wavelet_bank)bank, high, depth)) <= 1);
            }
        free(b.lines);
    }
    assert_int_equal(floe_wavelet_norm(FLOE_WAVELET_DD66, false, 8), 184 + 64);
    assert_int_equal(floe_wavelet_norm(FLOE_WAVELET_DD66, true, 0), 0);
}

/* Whole codes of a fine step are near the values, whatever the structure. */
static void one_structure(const uint64_t *shape, const floe_wavelet_structure *s)
{
    const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
    const floe_codec_params params = {.dtype = FLOE_F64, .mode = FLOE_BOUND_ABS, .bound = 1e-3, .max_abs = NAN};
    const uint64_t n = kit_cells(4, shape);
    uint64_t state = n + s->bank;
    floe_wavelet_encoder e;
    floe_arena plan = floe_arena_plan();
    assert_true(floe_wavelet_encoder_begin(&e, &cpu, &params, 4, shape, 0));
    floe_wavelet_encoder_take(&e, true, &plan);
    kit_block *scratch = kit_scratch(plan.used);
    floe_arena arena = floe_arena_of(scratch->data, scratch->nbytes);
    floe_wavelet_encoder_take(&e, true, &arena);
    e.bound = params.bound;
    e.max_abs = 1;
    floe_wavelet_plan_make(&e, s);
    double *x = (double *)(void *)e.bands.array, *kept = (double *)(void *)e.kept;
    for (uint64_t i = 0; i < n; i++)
        x[i] = kept[i] = (double)hostile_below(&state, 1000) / 500 - 1;
    floe_wavelet_array_forward(&e);
    assert_true(floe_wavelet_array_code(&e));
    floe_wavelet_array_back(&e);
    for (uint64_t i = 0; i < e.chunk.plan.nsteps; i++)
        assert_true(floe_wavelet_records_nbytes(&e.chunk.plan.steps[i]) <= e.needs.step_records);
    for (uint64_t i = 0; i < n; i++)
        assert_true(fabs(x[i] - kept[i]) < 0.02);
}

static void structures(void **unused)
{
    static const uint64_t shapes[][4] = {
        {1, 1, 1, 300}, {1, 1, 40, 31}, {1, 9, 20, 33}, {7, 9, 10, 11}, {1, 3, 5, 200}};
    (void)unused;
    for (uint64_t k = 0; k < HOSTILE_COUNT(shapes); k++)
        for (int bank = 0; bank < FLOE_WAVELET_BANKS; bank++)
            for (uint32_t how = 0; how < 5 + 15; how++) { /* a packet, or any axes are frozen */
                const uint32_t slowest = floe_lattice_slowest(shapes[k]);
                floe_wavelet_structure s = {.bank = (floe_wavelet_bank)bank, .theta = 10 - how % 3, .coarse = 8};
                s.one_sided = floe_wavelet_interpolates(s.bank) ? (3 * (uint32_t)bank + how) & 15 : 0;
                s.frozen = how < 5 ? 0 : how - 5;
                s.packet = how > 1 && how < 5 && slowest < 3 ? how - 1 : 0;
                one_structure(shapes[k], &s);
            }
}

/* Bands follow one another, the coarsest first, and each has what its passes leave. */
static void packet_bands(void **unused)
{
    (void)unused;
    for (uint64_t n = 1; n < 50; n++) {
        const floe_wavelet_plan p = {.shape = {1, n, 1, 7}, .packet = 3};
        const uint64_t means[] = {n, (n + 1) / 2, (n + 3) / 4, (n + 7) / 8};
        for (uint64_t i = 0; i < n && n > 1; i++) {
            const uint32_t want = i < means[3] ? 0 : i < means[2] ? 1 : i < means[1] ? 2 : 3;
            assert_int_equal(floe_wavelet_packet_band(&p, i), want);
        }
    }
}

static void steps(void **unused)
{
    (void)unused;
    for (int32_t e = -240; e <= 240; e++)
        assert_true(fabs(floe_wavelet_step_of(3, e) / (3 * exp2(e / 8.)) - 1) < 1e-15);
}

/* Many codes make entropy chunks short, in preset best so many more. A header of version 1 has none that are. */
static void short_chunks(void **unused)
{
    static floe_wavelet_chunk c, read;
    const uint64_t shape[] = {1, 64, 64, 64};
    const floe_wavelet_structure s = {.bank = FLOE_WAVELET_DD66, .theta = 10, .coarse = 8};
    uint8_t bytes[1024] = {0};
    (void)unused;
    c.kind = FLOE_LATTICE_CODED;
    for (int best = 0; best < 2; best++) {
        const floe_preset preset = best ? FLOE_PRESET_BEST : FLOE_PRESET_BALANCED;
        const uint64_t times = best ? 8 : 1;
        assert_int_equal(floe_wavelet_shorter_for(preset, 2000 * times, 1000, true), FLOE_WAVELET_SHORTER);
        assert_int_equal(floe_wavelet_shorter_for(preset, 2000 * times, 1000, false), FLOE_WAVELET_SHORTER - 1);
        assert_int_equal(floe_wavelet_shorter_for(preset, 250 * times, 1000, true), 1);
        assert_int_equal(floe_wavelet_shorter_for(preset, 140 * times, 1000, true), 0);
    }
    for (int best = 0; best < 2; best++) {
        floe_wavelet_plan_of(shape, &s, &c.plan);
        c.plan.base = c.plan.unit = 1;
        for (uint32_t i = 0; i < c.plan.nsteps; i++)
            c.plan.steps[i].ncodes = i == 0 ? floe_context_nrecords(&c.plan.steps[i].grid) : 0;
        const uint64_t nchunks = c.plan.steps[0].nchunks;
        floe_wavelet_chunk_shorten(&c, best ? FLOE_PRESET_BEST : FLOE_PRESET_BALANCED, 1000);
        assert_int_equal(c.plan.steps[0].shorter, best ? 0 : FLOE_WAVELET_SHORTER - 1);
        assert_int_equal(c.plan.steps[1].shorter, 0);
        assert_int_equal(c.shorter[FLOE_WAVELET_CORRECTIONS], 0);
        assert_true(best ? c.plan.steps[0].nchunks == nchunks : c.plan.steps[0].nchunks > nchunks);
        floe_cursor to = floe_cursor_of(bytes, sizeof bytes);
        floe_wavelet_header_write(&c, true, &to);
        assert_int_equal(bytes[0], FLOE_WAVELET_VERSION);
        for (uint8_t version = 0; version <= FLOE_WAVELET_VERSION + 1; version++) {
            floe_reader from = floe_reader_of(bytes, sizeof bytes);
            bytes[0] = version;
            memcpy(read.plan.shape, shape, sizeof shape);
            const floe_status status = floe_wavelet_header_read(&read, true, &from, NULL);
            const bool known = version <= FLOE_WAVELET_VERSION && version != FLOE_WAVELET_NO_VERSION;
            assert_int_equal(status, known && (version > 1 || (version == 1 && best)) ? FLOE_OK : FLOE_ERR_FORMAT);
            if (status == FLOE_OK)
                assert_int_equal(read.plan.steps[0].shorter,
                                 c.plan.steps[0].shorter | (version < 4 ? FLOE_WAVELET_TALL : 0));
        }
    }
}

/* Whatever a header says, there are no more entropy chunks than there is room for; and they reach about as far along planes as along rows. */
static void even_chunks(void **unused)
{
    (void)unused;
    for (uint64_t planes = 1; planes < 300; planes += 1 + planes / 20)
        for (uint64_t rows = 1; rows < 300; rows += 1 + rows / 20) {
            const floe_context_grid most = floe_wavelet_grid_of(planes, rows, 2, FLOE_WAVELET_SHORTER);
            for (uint32_t s = 0; s <= FLOE_WAVELET_SHORTER; s++) {
                const floe_context_grid even = floe_wavelet_grid_of(planes, rows, 2, s),
                                        tall = floe_wavelet_grid_of(planes, rows, 2, s | FLOE_WAVELET_TALL);
                assert_true(floe_context_nchunks(&even) <= floe_context_nchunks(&most));
                if (s < FLOE_WAVELET_SHORTER)
                    assert_true(floe_context_nchunks(&tall) <= floe_context_nchunks(&most));
                assert_true(even.piece[0] * even.piece[1] <= (uint32_t)FLOE_CONTEXT_ROWS >> s);
            }
        }
    for (uint64_t planes = 1; planes < 200; planes++) /* nor fewer records a chunk than a GPU's decoder has room for */
        for (uint64_t rows = 1; rows < 200; rows++) {
            const floe_context_grid most = floe_wavelet_grid_of(planes, rows, 1, FLOE_WAVELET_SHORTER);
            assert_true(floe_context_nchunks(&most) <= planes * rows / 16 + 1);
        }
    for (uint32_t s = 0; s <= FLOE_WAVELET_SHORTER; s++) {
        const floe_context_grid cube = floe_wavelet_grid_of(256, 256, 2, s),
                                stack = floe_wavelet_grid_of(4, 4096, 2, s);
        assert_true(cube.piece[0] <= 2 * cube.piece[1] && cube.piece[1] <= 2 * cube.piece[0]);
        assert_true(cube.piece[0] * cube.piece[1] == (uint32_t)FLOE_CONTEXT_ROWS >> s);
        assert_int_equal(stack.piece[0], 4);
        assert_int_equal(stack.piece[1], FLOE_CONTEXT_ROWS >> s >> 2);
    }
}

/* Runs of a step follow one another, up to the last chunk; those of groups that a level takes have all that it needs of the step. */
static void check_runs(const floe_wavelet_plan *p)
{
    const uint32_t slowest = floe_lattice_slowest(p->shape);
    for (uint32_t i = 0; i < p->nsteps; i++) {
        const floe_wavelet_coding *c = &p->steps[i];
        uint64_t ends[FLOE_WAVELET_STEPS], end = 0, records = 0;
        for (uint32_t j = i + 1; j-- > 0; end = ends[j]) {
            const floe_wavelet_run r = floe_wavelet_run_of(p, i, j);
            const floe_context_chunk last = floe_context_chunk_of(&c->grid, r.end - 1);
            assert_true(r.chunk == end && r.record == records && r.end - r.chunk == floe_context_nchunks(&r.grid));
            assert_true(j < i || r.end > 0);
            records += floe_context_nrecords(&r.grid);
            assert_true(last.first < records);
            ends[j] = r.end;
        }
        assert_true(end == c->nchunks && records == floe_context_nrecords(&c->grid));
        for (uint32_t level = 0; level < 8; level++) {
            const floe_wavelet_level l = floe_wavelet_level_of(p, level);
            floe_lattice_box cells = floe_wavelet_whole(c->step.coarse);
            if (p->packet)
                cells.hi[slowest] = ((cells.hi[slowest] - 1) >> l.kept) + 1;
            const floe_context_box box = floe_records_cells_box(&c->grid, &c->step, &cells);
            for (uint64_t k = l.step <= i ? ends[l.step] : c->nchunks; k < c->nchunks; k++)
                assert_false(floe_context_is_wanted(&c->grid, k, &box));
        }
    }
}

static void runs(void **unused)
{
    static const uint64_t shapes[][4] = {{1, 1, 1, 300},  {1, 1, 400, 31}, {1, 70, 20, 33},
                                         {47, 9, 10, 11}, {1, 5, 6, 200},  {1, 1, 3000, 70}};
    uint64_t napart = 0;
    (void)unused;
    for (uint64_t k = 0; k < HOSTILE_COUNT(shapes); k++)
        for (uint32_t how = 0; how < 5 * 2 * 4; how++) {
            static floe_wavelet_plan p;
            const floe_wavelet_structure s = {.packet = floe_lattice_slowest(shapes[k]) < 3 ? how % 4 : 0};
            floe_wavelet_plan_of(shapes[k], &s, &p);
            p.apart = how / 4 % 2;
            for (uint32_t i = 0; i < p.nsteps; i++) {
                p.steps[i].shorter = how / 8;
                floe_wavelet_coding_lay(&p.steps[i]);
                napart += floe_wavelet_run_of(&p, i, i).end < p.steps[i].nchunks;
            }
            check_runs(&p);
        }
    assert_true(napart > 50);
}

/* A field for the tuner, whose trials all take as many bits of codes; and what it tries: cells of the boxes and number of trials. */
typedef struct tuning {
    floe_wavelet_encoder e;
    bool uneven;
    uint64_t codes; /* eighths of a bit for each value of a box */
    uint64_t ncells, nboxes, tried;
} tuning;

static void begin_box(void *user, bool large)
{
    tuning *t = user;
    uint64_t part[FLOE_LATTICE_RANK];
    floe_wavelet_trial_shape(&t->e, large, part);
    t->ncells = floe_lattice_points(part);
    t->nboxes++;
    t->e.uneven = t->uneven;
}

static void try_boxes(void *user, floe_wavelet_trial *trials, uint32_t n)
{
    tuning *t = user;
    for (uint32_t i = 0; i < n; i++)
        trials[i].codes = trials[i].bits = t->codes * t->ncells / 8;
    t->tried += n * t->ncells;
}

/* Of a small field the tuner tries a small box, unless that shows too little. */
static void small_fields(void **unused)
{
    static const uint64_t cube[] = {64, 64, 64}, n = 64 * 64 * 64;
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_PLAIN);
    const floe_codec_params params = {.dtype = FLOE_F32};
    (void)unused;
    for (int i = 0; i < 4; i++) {
        tuning t = {.uneven = i & 1, .codes = i & 2 ? 3 : 12};
        floe_wavelet_trials trials = {begin_box, try_boxes, NULL, &t};
        assert_true(floe_wavelet_encoder_begin(&t.e, &cpu, &params, 3, cube, 0));
        floe_wavelet_search(&t.e, &trials);
        assert_int_equal(t.nboxes, i == 0 ? 1 : 2);
        assert_int_equal(t.ncells, i == 0 ? n / 8 : i == 2 ? n / 4 : n / 2);
        assert_true(t.tried < (i == 0 ? 2 * n : 8 * n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(norms),        cmocka_unit_test(structures),
                                       cmocka_unit_test(packet_bands), cmocka_unit_test(steps),
                                       cmocka_unit_test(short_chunks), cmocka_unit_test(even_chunks),
                                       cmocka_unit_test(runs),         cmocka_unit_test(small_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
