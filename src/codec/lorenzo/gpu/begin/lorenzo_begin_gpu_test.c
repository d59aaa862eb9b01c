/* SPDX-License-Identifier: BSD-3-Clause */
/* How chunks begin on a GPU, against what the CPU writes for them: views and votes, tables of values, the second attempt,
 * squared errors. FLOE_GPU_TEST=small: less of it. With --bench: how long begin and squared errors take instead. */
#include "tests/gpu/lorenzo_begin_gpu_kit.h"

/* ---- views --------------------------------------------------------------------------------------------------------- */

static void views_and_votes(void **state)
{
    (void)state;
    static const struct {
        uint64_t shape[4], chunk[4];
        uint32_t rank;
    } cases[] = {
        {{1000}, {1000}, 1},
        {{70000}, {9000}, 1},
        {{40, 300}, {16, 300}, 2},
        {{50, 3}, {50, 3}, 2},
        {{20, 30, 40}, {16, 30, 40}, 3},
        {{33, 20, 35}, {10, 7, 9}, 3},
        {{1, 20, 30, 40}, {1, 20, 30, 40}, 4},
        {{5, 20, 30, 3}, {2, 20, 30, 3}, 4},
        {{6, 12, 20, 24}, {6, 12, 20, 24}, 4},
        {{7, 9, 20, 24}, {3, 9, 20, 24}, 4},
        {{2, 2, 9, 9}, {1, 2, 9, 9}, 4},
    };
    static const char *kinds[] = {"turbulence", "hostile", "noise"};
    enum { N = 70000 };
    double *data = malloc(N * sizeof *data);
    nswaps = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int d = FLOE_F32; d <= FLOE_F64; d++) {
            uint64_t n = kit_cells(cases[k].rank, cases[k].shape);
            assert_true(n <= N);
            for (int i = 0; i < (is_small() ? 1 : 3); i++) {
                floe_field f = kit_chunk(data, (floe_dtype)d, cases[k].rank, cases[k].shape);
                floe_codec_params p = params_of((floe_dtype)d, i % 2 ? FLOE_PRESET_FAST : FLOE_PRESET_BALANCED,
                                                i == 2 ? FLOE_BOUND_PWREL : FLOE_BOUND_ABS, 1e-3);
                assert_int_equal(synth_fill(kinds[i], (floe_dtype)d, f.rank, f.shape, 3, 0, n, data), FLOE_OK);
                check(&f, &p, cases[k].chunk, data, n * floe_dtype_size((floe_dtype)d));
            }
        }
    assert_true(nswaps > 0);
    free(data);
}

/* Four axes, smooth along one or the other of two, transposed, turned, with gaps. */
static void votes_on_strided_fields(void **state)
{
    (void)state;
    enum { N = 20 };
    static const uint64_t all[4] = {N, N, N, N};
    float *data = malloc(N * N * N * N * sizeof *data);
    nswaps = 0;
    for (int trial = 0; trial < (is_small() ? 3 : 30); trial++) {
        for (size_t i = 0; i < (size_t)N * N * N * N; i++) {
            const double a = (double)(i / (N * N * N)), b = (double)(i / (N * N) % N);
            data[i] = (float)(trial % 3 ? sin(a * (trial % 5)) + sin(b * (trial % 7)) : 0) + (float)draw(100) * 1e-3f;
        }
        floe_field whole = kit_chunk(data, FLOE_F32, 4, all), f = whole;
        int64_t at = 0;
        uint64_t chunk[4];
        for (int i = 0; i < 4; i++) {
            const int swap = i + (int)draw(4 - (uint64_t)i);
            int64_t stride = f.stride[swap];
            f.stride[swap] = f.stride[i];
            const uint64_t step = 1 + draw(2), lo = draw(N / 4);
            f.shape[i] = 2 + draw((N - 1 - lo) / step - 1);
            f.shape[i] = i == 3 && f.shape[i] < 9 ? 9 : f.shape[i];
            f.stride[i] = stride * (int64_t)(i == 3 ? 1 : step);
            at += (int64_t)lo * stride;
            if (draw(3) == 0) {
                at += (int64_t)(f.shape[i] - 1) * f.stride[i];
                f.stride[i] = -f.stride[i];
            }
            chunk[i] = 1 + draw(f.shape[i]);
        }
        chunk[2] = f.shape[2], chunk[3] = f.shape[3];
        f.data = data + at;
        floe_codec_params p = params_of(FLOE_F32, FLOE_PRESET_FAST, FLOE_BOUND_ABS, 1e-3);
        check(&f, &p, chunk, data, N * N * N * N * sizeof *data);
    }
    assert_true(is_small() || nswaps > 5);
    free(data);
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

static void put(void *data, floe_dtype dtype, uint64_t i, double v)
{
    if (dtype == FLOE_F32)
        ((float *)data)[i] = (float)v;
    else
        ((double *)data)[i] = v;
}

static double with_small_values(int kind, uint64_t i, uint64_t nvalues)
{
    static const double odd[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, -9999};
    const double v = ((double)((i * 2654435761u) % nvalues) - (double)(nvalues / 3)) * (kind % 2 ? 0.25 : 1e-300);
    return kind >= 2 && i % 3 == 0 ? odd[i / 3 % 6] : kind == 4 ? NAN : v;
}

static void check_table_of(floe_codec_params p, uint64_t n, uint64_t chunk, uint64_t nvalues, int kind, void *data)
{
    const floe_dtype dtype = p.dtype;
    p.has_fill = kind == 3;
    p.fill_bits = p.has_fill ? floe_value_bits(dtype, -9999) : 0;
    for (uint64_t i = 0; i < n; i++)
        put(data, dtype, i, with_small_values(dtype == FLOE_F32 ? kind | 1 : kind, i, nvalues));
    floe_field f = kit_chunk(data, dtype, 1, &n);
    check(&f, &p, &chunk, data, n * floe_dtype_size(dtype));
}

static void check_table(floe_dtype dtype, uint64_t n, uint64_t chunk, uint64_t nvalues, int kind, void *data)
{
    check_table_of(params_of(dtype, FLOE_PRESET_FAST, FLOE_BOUND_LOSSLESS, 0), n, chunk, nvalues, kind, data);
}

/* The number of values on either side of each limit. */
static void tables(void **state)
{
    (void)state;
    enum { N = 600000 };
    double *data = malloc(N * sizeof *data);
    ntables = 0;
    for (int d = FLOE_F32; d <= FLOE_F64; d++) {
        for (int kind = 0; kind < 5; kind++) {
            check_table((floe_dtype)d, 7, 7, 1, kind, data);
            check_table((floe_dtype)d, 8, 8, 1, kind, data);
            check_table((floe_dtype)d, 8000, 8000, 1000, kind, data);
            check_table((floe_dtype)d, 8000, 8000, 1001, kind, data);
            check_table((floe_dtype)d, 9000, 2500, 300, kind, data);
        }
        if (is_small())
            continue;
        check_table((floe_dtype)d, 200000, 140000, 4096, 1, data);
        check_table((floe_dtype)d, 200000, 200000, 4097, 2, data);
        check_table((floe_dtype)d, 200000, 200000, 20000, 0, data);
        check_table((floe_dtype)d, 524288, 524288, 65536, 0, data);
        check_table((floe_dtype)d, 524287, 524287, 65536, 0, data);
        check_table((floe_dtype)d, 524296, 524296, 65537, 0, data);
        check_table((floe_dtype)d, N, N, N, 0, data);
    }
    assert_true(ntables > 20);
    free(data);
}

/* Values that lie 1/4 apart, 500 in each of two chunks; then one too many, and a bound within which they are near. */
static void tables_within_a_bound(void **state)
{
    (void)state;
    enum { N = 130000 };
    double *data = malloc(N * sizeof *data);
    for (int d = FLOE_F32; d <= FLOE_F64; d++)
        for (int kind = 1; kind < (is_small() ? 2 : 4); kind += 2) {
            floe_codec_params p = params_of((floe_dtype)d, FLOE_PRESET_BALANCED, FLOE_BOUND_ABS, 0.01);
            p.tables = 378; /* up to 504 values */
            ntables = 0;
            check_table_of(p, N, N / 2, 500, kind, data);
            assert_int_equal(ntables, 2);
            check_table_of(p, N, N, 505, 1, data);
            p.bound = 0.126;
            check_table_of(p, N, N / 2, 500, 1, data);
            assert_int_equal(ntables, 2);
        }
    free(data);
}

/* Keys that all want the same slots, as far as the hash goes: neighbours in the order of the hash. */
static void tables_with_collisions(void **state)
{
    (void)state;
    enum { N = 40000, KEYS = 3000 };
    float *data = malloc(N * sizeof *data);
    uint32_t nkeys = 0, keys[KEYS];
    for (uint32_t bits = 0; nkeys < KEYS && bits < 0x7F800000u; bits++)
        if (floe_table_slot_of(bits) >= FLOE_TABLE_SLOTS - 2)
            keys[nkeys++] = bits;
    for (uint64_t i = 0; i < N; i++)
        data[i] = floe_f32_of(keys[draw(nkeys)]);
    const uint64_t n = N;
    floe_field f = kit_chunk(data, FLOE_F32, 1, &n);
    floe_codec_params p = params_of(FLOE_F32, FLOE_PRESET_FAST, FLOE_BOUND_LOSSLESS, 0);
    ntables = 0;
    check(&f, &p, &n, data, sizeof *data * N);
    assert_int_equal(ntables, 1);
    free(data);
}

static void tables_of_strided_chunks(void **state)
{
    (void)state;
    enum { N = 24 };
    static const uint64_t all[3] = {N, N, N};
    double data[N * N * N];
    for (size_t i = 0; i < N * N * N; i++)
        data[i] = (double)draw(100) + (i % 2 ? 0.5 : 0);
    floe_field f = kit_chunk(data, FLOE_F64, 3, all);
    floe_codec_params p = params_of(FLOE_F64, FLOE_PRESET_BALANCED, FLOE_BOUND_LOSSLESS, 0);
    check(&f, &p, (const uint64_t[]){10, 11, 12}, data, sizeof data);
    f.data = data + N * N * N - 1; /* backwards, every other one, with axes exchanged */
    f.stride[0] = -1, f.stride[1] = -2 * N * N, f.stride[2] = -2 * N;
    f.shape[1] = f.shape[2] = N / 2;
    check(&f, &p, (const uint64_t[]){24, 12, 12}, data, sizeof data);
    check(&f, &p, (const uint64_t[]){24, 5, 7}, data, sizeof data);
}

/* A mode that might have been lossless and is not: no table is looked for. */
static void no_tables_where_there_is_a_bound(void **state)
{
    (void)state;
    const uint64_t n = 1000;
    float data[1000] = {0};
    floe_field field = kit_chunk(data, FLOE_F32, 1, &n);
    floe_codec_params lossless = params_of(FLOE_F32, FLOE_PRESET_FAST, FLOE_BOUND_LOSSLESS, 0);
    fixture f = begun(&field, &lossless, &n, data, sizeof data);
    assert_int_equal(f.chunks[0].quantizer.kind, FLOE_QUANTIZER_TABLE);
    f.params.mode = FLOE_BOUND_ABS;
    f.params.bound = 0.5;
    params_send(&f);
    CU(floe_lorenzo_begin_cuda(&f.call, NULL));
    chunks_fetch(&f);
    floe_quantizer want = quantizer_of(&f.params, FLOE_QUANTIZER_LINEAR);
    assert_quantizer(&f.chunks[0].quantizer, &want);
    done(&f);
}

/* ---- the second attempt -------------------------------------------------------------------------------------------- */

static void judges(void **state)
{
    (void)state;
    const uint64_t n = 3000, chunk = 1000;
    float data[3000] = {0};
    floe_field field = kit_chunk(data, FLOE_F32, 1, &n);
    for (int preset = 0; preset < 2; preset++)
        for (int mode = FLOE_BOUND_ABS; mode <= FLOE_BOUND_PWREL; mode += 2) {
            floe_codec_params p = params_of(FLOE_F32, (floe_preset)preset, (floe_bound_mode)mode, 0.1);
            fixture f = begun(&field, &p, &chunk, data, sizeof data);
            uint32_t retry = 9;
            CU(floe_lorenzo_decide_retry_cuda(&f.call, NULL));
            fetch(&retry, f.call.retry, sizeof retry);
            assert_int_equal(retry, 0);
            f.chunks[0].stats[0].nliterals = 250;
            f.chunks[1].stats[0].nliterals = 251;
            f.chunks[2].stats[0].nliterals = 1000;
            CU(cudaMemcpy(f.call.chunks, f.chunks, 3 * sizeof *f.chunks, cudaMemcpyHostToDevice));
            if (f.call.huffman)
                CU(cudaMemset(f.call.hists, 1, 3 * sizeof *f.call.hists));
            CU(floe_lorenzo_decide_retry_cuda(&f.call, NULL));
            fetch(&retry, f.call.retry, sizeof retry);
            assert_int_equal(retry, 1);
            chunks_fetch(&f);
            floe_quantizer bits = quantizer_of(&p, FLOE_QUANTIZER_BITS);
            assert_int_equal(f.chunks[0].attempt, 0);
            assert_int_not_equal(f.chunks[0].quantizer.kind, FLOE_QUANTIZER_BITS);
            for (int c = 1; c < 3; c++) {
                assert_int_equal(f.chunks[c].attempt, 1);
                assert_quantizer(&f.chunks[c].quantizer, &bits);
                assert_true(!f.call.huffman || all_zero(&f.call.hists[c], sizeof *f.call.hists));
            }
            assert_true(!f.call.huffman || !all_zero(&f.call.hists[0], sizeof *f.call.hists));
            done(&f);
        }
}

/* ---- squared errors ------------------------------------------------------------------------------------------------ */

static double error_on_cpu(const fixture *f, const floe_codec_params *params)
{
    double total = 0;
    floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
    for (uint64_t c = 0; c < f->call.grid.nchunks; c++) {
        uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
        floe_field part = chunk_field(f, c, lo, extent);
        double sum;
        kit_block *scratch = kit_scratch(floe_codec_of(params->codec)->workspace(&cpu, params, part.rank, part.shape));
        floe_arena arena = floe_arena_of(scratch->data, scratch->nbytes);
        const floe_chunk_encode call = {.cpu = &cpu, .params = params, .chunk = &part, .scratch = &arena};
        assert_int_equal(floe_codec_of(params->codec)->squared_error(&call, &sum, NULL), FLOE_OK);
        total += sum;
    }
    return total;
}

static void check_error(const fixture *f, const floe_codec_params *params)
{
    const floe_lorenzo_encode_call *c = &f->call;
    double got, want = error_on_cpu(f, params);
    floe_lorenzo_error_job job = {*params, c->grid, c->chunks, NULL, NULL};
    job.tiles = device_memory(c->grid.nchunks * c->grid.slots * sizeof *job.tiles);
    job.sum = device_memory(sizeof *job.sum);
    CU(floe_lorenzo_squared_error_cuda(&job, NULL));
    fetch(&got, job.sum, sizeof got);
    CU(cudaFree(job.tiles));
    CU(cudaFree(job.sum));
    assert_int_equal(floe_bits_f64(got), floe_bits_f64(want));
}

static void squared_errors(void **state)
{
    (void)state;
    static const struct {
        uint64_t shape[4], chunk[4];
        uint32_t rank;
    } cases[] = {{{40000}, {30000}, 1},       {{300, 150}, {128, 150}, 2},         {{40, 40, 70}, {16, 40, 70}, 3},
                 {{9, 31, 7}, {9, 31, 7}, 3}, {{3, 6, 20, 40}, {2, 6, 20, 40}, 4}, {{400, 200, 3}, {400, 200, 3}, 3}};
    static const char *kinds[] = {"turbulence", "hostile", "noise"};
    enum { N = 240000 };
    double *data = malloc(N * sizeof *data);
    for (size_t k = is_small() ? 3 : 0; k < (is_small() ? 5 : 6); k++)
        for (int d = FLOE_F32; d <= FLOE_F64; d++)
            for (int i = 0; i < 3; i++) {
                uint64_t n = kit_cells(cases[k].rank, cases[k].shape);
                floe_field field = kit_chunk(data, (floe_dtype)d, cases[k].rank, cases[k].shape);
                floe_codec_params p = params_of((floe_dtype)d, FLOE_PRESET_FAST, FLOE_BOUND_ABS, 1e-2);
                assert_int_equal(synth_fill(kinds[i], (floe_dtype)d, field.rank, field.shape, 3, 0, n, data), FLOE_OK);
                fixture f = begun(&field, &p, cases[k].chunk, data, n * floe_dtype_size((floe_dtype)d));
                for (double bound = 1e-7; bound < 1e3; bound *= 100) {
                    p.bound = bound;
                    p.max_abs = i == 1 ? NAN : 3;
                    check_error(&f, &p);
                }
                p.mode = FLOE_BOUND_PWREL;
                p.bound = 1e-3;
                p.has_fill = true;
                p.fill_bits = floe_value_bits((floe_dtype)d, -9999);
                check_error(&f, &p);
                done(&f);
            }
    free(data);
}

/* ---- bench --------------------------------------------------------------------------------------------------------- */

static double elapsed(cudaEvent_t begin, cudaEvent_t end)
{
    float ms;
    CU(cudaEventSynchronize(end));
    CU(cudaEventElapsedTime(&ms, begin, end));
    return 1e3 * (double)ms;
}

/* 512^3 values of so many kinds in chunks of 64 MiB: begin, tables included; then a trial of psnr. */
static void bench_lossless(uint64_t nvalues)
{
    static const uint64_t shape[3] = {512, 512, 512}, chunk[3] = {64, 512, 512};
    const uint64_t n = kit_cells(3, shape);
    float *data = malloc(n * sizeof *data);
    cudaEvent_t e[3];
    for (uint64_t i = 0; i < n; i++)
        data[i] = (float)draw(nvalues) * 0.25f;
    floe_field field = kit_chunk(data, FLOE_F32, 3, shape);
    floe_codec_params p = params_of(FLOE_F32, FLOE_PRESET_FAST, FLOE_BOUND_LOSSLESS, 0);
    fixture f = begun(&field, &p, chunk, data, n * sizeof *data);
    floe_lorenzo_error_job job = {p, f.call.grid, f.call.chunks, NULL, NULL};
    job.params.mode = FLOE_BOUND_ABS;
    job.params.bound = 1e-2;
    job.tiles = device_memory(f.call.grid.nchunks * f.call.grid.slots * sizeof *job.tiles);
    job.sum = device_memory(sizeof *job.sum);
    for (int i = 0; i < 3; i++)
        CU(cudaEventCreate(&e[i]));
    for (int run = 0; run < 5; run++) {
        CU(cudaEventRecord(e[0], NULL));
        CU(floe_lorenzo_begin_cuda(&f.call, NULL));
        CU(cudaEventRecord(e[1], NULL));
        CU(floe_lorenzo_squared_error_cuda(&job, NULL));
        CU(cudaEventRecord(e[2], NULL));
        printf("512^3 f32 of %8llu values: table %d, begin %8.1f us, squared error %8.1f us\n",
               (unsigned long long)nvalues, f.chunks[0].quantizer.kind == FLOE_QUANTIZER_TABLE, elapsed(e[0], e[1]),
               elapsed(e[1], e[2]));
    }
    for (int i = 0; i < 3; i++)
        cudaEventDestroy(e[i]);
    CU(cudaFree(job.tiles));
    CU(cudaFree(job.sum));
    done(&f);
    free(data);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        for (uint64_t nvalues = 16; nvalues < (uint64_t)1 << 25; nvalues *= 16)
            bench_lossless(nvalues);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_and_votes),
        cmocka_unit_test(votes_on_strided_fields),
        cmocka_unit_test(tables),
        cmocka_unit_test(tables_within_a_bound),
        cmocka_unit_test(tables_with_collisions),
        cmocka_unit_test(tables_of_strided_chunks),
        cmocka_unit_test(no_tables_where_there_is_a_bound),
        cmocka_unit_test(judges),
        cmocka_unit_test(squared_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
