/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage context on a GPU: counts, tables and chunks are those of the CPU, for grids of any shape at once; and back. */
#include <stdio.h>

#include "tests/gpu/gpu_kit.h"
#include "tests/hostile_kit.h"

#include "stage/context/context.h"
#include "stage/context/context_cuda.h"

typedef struct sample {
    uint64_t planes, rows, columns;
    uint32_t most, width, window;
    bool with_planes;
    uint32_t dense; /* of 100 codes so many are not 0 */
    int32_t largest;
} sample;

enum { ALL_ONES = INT16_MAX + 1 /* codes whose raw bits are all 1 */ };
static const sample samples[] = {
    {1, 3, 2, 64, 2, 1, false, 30, 32767},      {5, 7, 40, 64, 1, 4, false, 10, 3},
    {3, 130, 33, 64, 1, 8, false, 60, 127},     {6, 20, 31, 128, 2, 2, true, 20, 9},
    {9, 70, 5, 256, 1, 1, true, 40, 90},        {4, 5, 37, 1024, 2, 8, true, 50, 4000},
    {1, 300, 64, 256, 0, 1, false, 15, 0},      {2, 40, 100, 64, 1, 4, false, 0, 1},
    {1, 100, 1, 32, 2, 4, false, 100, 20},      {30, 66, 10, 1024, 1, 4, true, 30, 20},
    {2, 16, 2, 64, 2, 1, false, 100, ALL_ONES}, /* not to be lifted */
};
enum { N = HOSTILE_COUNT(samples) };

/* A grid on both machines. */
typedef struct both {
    floe_context_spec spec;
    floe_context_grid grid;
    uint8_t *records, *dev_records, *stream; /* stream: the CPU's chunks */
    uint64_t nbytes, *places;
    uint32_t counts[FLOE_CONTEXT_COUNTS];
    floe_context_tables tables;
} both;

static void fill_records(const sample *s, both *b, uint64_t seed)
{
    const uint64_t n = b->nbytes / floe_context_record_nbytes(&b->spec);
    uint64_t state = seed;
    for (uint64_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < 8; c++) {
            const bool is = c < 7 && hostile_below(&state, 100) < s->dense;
            const int32_t size =
                s->largest ? 1 + (int32_t)(hostile_below(&state, 10) ? hostile_below(&state, 2) % (uint64_t)s->largest
                                                                     : hostile_below(&state, (uint64_t)s->largest))
                           : 1;
            const int32_t v = !is ? 0 : s->largest == ALL_ONES ? -INT16_MAX : hostile_below(&state, 2) ? size : -size;
            if (s->width == 0)
                b->records[i] = (uint8_t)((c ? b->records[i] : 0) | (is ? 1u << c : 0));
            else if (s->width == 1)
                ((int8_t *)b->records)[8 * i + c] = (int8_t)v;
            else
                ((int16_t *)(void *)b->records)[8 * i + c] = (int16_t)v;
        }
}

/* Counts, tables and chunks by the CPU. */
static void code_by_cpu(both *b)
{
    const floe_context_ops *ops = floe_context_ops_of(FLOE_ISA_PLAIN);
    floe_context_scratch *scratch = malloc(sizeof *scratch);
    floe_ans_symbol *symbols = calloc(FLOE_CONTEXT_COUNTS, sizeof *symbols);
    const uint64_t n = floe_context_nchunks(&b->grid);
    memset(b->counts, 0, sizeof b->counts);
    for (uint64_t i = 0; i < n; i++) {
        const floe_context_chunk c = floe_context_chunk_of(&b->grid, i);
        ops->count(&b->spec, &c, b->records, b->counts, scratch);
    }
    floe_context_tables_build(&(floe_cpu){.threads = 1}, &b->spec, b->counts, &b->tables);
    floe_context_symbols_of(&b->spec, &b->tables, symbols);
    b->places = calloc(n + 1, sizeof *b->places);
    b->stream = malloc(64 + n * 132 + b->nbytes * 40);
    for (uint64_t i = 0; i < n; i++) {
        const floe_context_chunk c = floe_context_chunk_of(&b->grid, i);
        b->places[i + 1] = b->places[i] + ops->encode(&b->spec, &c, b->records, symbols, scratch);
        floe_ans_encoder_end(&scratch->encoder, c.lanes, b->stream + b->places[i]);
    }
    free(scratch);
    free(symbols);
}

static both both_of(const sample *s, uint64_t seed)
{
    both b = {.spec = {.width = s->width, .window = s->window, .planes = s->with_planes}};
    b.grid = floe_context_grid_of(s->planes, s->rows, s->columns, s->most,
                                  s->with_planes ? floe_context_even_rows(s->planes, s->rows, s->most) : s->most);
    b.nbytes = s->planes * s->rows * s->columns * floe_context_record_nbytes(&b.spec);
    b.records = malloc(b.nbytes);
    fill_records(s, &b, seed);
    code_by_cpu(&b);
    CU(cudaMalloc((void **)&b.dev_records, b.nbytes));
    CU(cudaMemcpy(b.dev_records, b.records, b.nbytes, cudaMemcpyHostToDevice));
    return b;
}

static void *device_zeros(uint64_t nbytes)
{
    void *p;
    CU(cudaMalloc(&p, nbytes));
    CU(cudaMemset(p, 0, nbytes));
    return p;
}

/* Room for tokens: none, for all, for a part. */
enum { ROOMS = 3 };
static const uint64_t rooms[ROOMS] = {0, 1 << 22, 60000};

static floe_context_job job_of(both *all, floe_context_dev_grid *grids, uint64_t ntokens)
{
    floe_context_job job = {.ans_begin = FLOE_ANS_BEGIN, .every = 1};
    uint64_t nwords = 0, nwindows = 0;
    for (uint32_t i = 0; i < N; i++) {
        floe_context_dev_grid *g = &grids[i];
        *g = floe_context_dev_grid_of(&all[i].spec, &all[i].grid, all[i].dev_records);
        g->tables = g->counts = i;
        g->first = job.nchunks;
        floe_context_job_add(&job, g);
        g->first_window = nwindows;
        nwindows += (uint64_t)g->nchunks * floe_context_chunk_windows(g);
        nwords += all[i].nbytes * 12 + 200 * g->nchunks;
    }
    job.grids = device_zeros(N * sizeof *grids);
    CU(cudaMemcpy(job.grids, grids, N * sizeof *grids, cudaMemcpyHostToDevice));
    job.tickets = device_zeros(N * sizeof *job.tickets);
    job.tables = device_zeros(N * FLOE_CONTEXT_RUN * sizeof *job.tables);
    job.status = device_zeros(sizeof *job.status);
    job.counts = device_zeros((N + 1) * FLOE_CONTEXT_COUNTS * sizeof *job.counts);
    job.done = device_zeros(sizeof *job.done);
    job.bytes = device_zeros(N * sizeof *job.bytes);
    job.slots = device_zeros(nwords * sizeof *job.slots);
    job.slot_ends = device_zeros((job.nchunks + 1) * sizeof *job.slot_ends);
    job.sizes = device_zeros(job.nchunks * sizeof *job.sizes);
    job.windows = ntokens ? device_zeros(nwindows * sizeof *job.windows) : NULL;
    job.ntokens = ntokens;
    job.tokens = device_zeros((ntokens + 1) * sizeof *job.tokens);
    job.tokens_taken = device_zeros(sizeof *job.tokens_taken);
    return job;
}

static void job_free(const floe_context_job *job)
{
    void *const owned[] = {job->grids,   job->tickets, job->tables,      job->status,    job->counts,
                           job->done,    job->bytes,   job->slots,       job->slot_ends, job->sizes,
                           job->windows, job->tokens,  job->tokens_taken};
    for (size_t i = 0; i < HOSTILE_COUNT(owned); i++)
        CU(cudaFree(owned[i]));
}

static void check_encoded(const floe_context_job *job, const both *b, uint32_t i, const floe_context_dev_grid *g)
{
    static uint32_t counts[FLOE_CONTEXT_COUNTS];
    static floe_context_dev_bytes bytes;
    uint8_t wanted[FLOE_CONTEXT_TABLES_NBYTES];
    floe_cursor to = floe_cursor_of(wanted, sizeof wanted);
    CU(cudaMemcpy(counts, job->counts + (uint64_t)i * FLOE_CONTEXT_COUNTS, sizeof counts, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(&bytes, job->bytes + i, sizeof bytes, cudaMemcpyDeviceToHost));
    assert_memory_equal(counts, b->counts, sizeof counts);
    floe_context_tables_write(&b->spec, &b->tables, &to);
    assert_int_equal(bytes.nbytes, to.at - wanted + 2);
    assert_memory_equal(bytes.bytes + 2, wanted, bytes.nbytes - 2);
    for (uint32_t c = 0; c < g->nchunks; c++) {
        uint64_t end;
        uint32_t size;
        const uint64_t n = b->places[c + 1] - b->places[c];
        uint8_t *got = malloc(n);
        CU(cudaMemcpy(&end, job->slot_ends + 1 + g->first + c, sizeof end, cudaMemcpyDeviceToHost));
        CU(cudaMemcpy(&size, job->sizes + g->first + c, sizeof size, cudaMemcpyDeviceToHost));
        assert_int_equal(4 * (uint64_t)size, n);
        CU(cudaMemcpy(got, (const uint8_t *)(job->slots + end) - n, n, cudaMemcpyDeviceToHost));
        assert_memory_equal(got, b->stream + b->places[c], n);
        free(got);
    }
}

static void check_decoded(const both *b, uint32_t width)
{
    const uint64_t nbytes = b->spec.width == 2 && width == 1 ? b->nbytes / 2 : b->nbytes;
    uint8_t *got = malloc(nbytes);
    CU(cudaMemcpy(got, b->dev_records, nbytes, cudaMemcpyDeviceToHost));
    if (b->spec.width == width)
        assert_memory_equal(got, b->records, nbytes);
    for (uint64_t i = 0; b->spec.width != width && i < nbytes; i++) {
        int16_t wide;
        memcpy(&wide, (const uint8_t *)b->records + 2 * i, sizeof wide);
        assert_int_equal((int8_t)got[i], wide > 127 ? 127 : wide < -127 ? -127 : wide);
    }
    free(got);
}

/* Words of a chunk, or the flag that its states are not lifted. */
typedef enum damage { NONE, WORDS, FLAG } damage;

/* The CPU's chunks with the tables that the GPU has built. */
static void decode(floe_context_job *job, both *all, const floe_context_dev_grid *grids, damage damaged)
{
    uint64_t nbytes = 0, n = 0, *places = calloc(2 * job->nchunks, sizeof *places);
    uint8_t *src;
    uint32_t status;
    for (uint32_t i = 0; i < N; i++)
        nbytes += all[i].places[grids[i].nchunks];
    CU(cudaMalloc((void **)&src, nbytes));
    nbytes = 0;
    for (uint32_t i = 0; i < N; i++) {
        const uint64_t size = all[i].places[grids[i].nchunks];
        CU(cudaMemcpy(src + nbytes, all[i].stream, size, cudaMemcpyHostToDevice));
        for (uint32_t c = 0; c < 2 * grids[i].nchunks; c++)
            places[n++] = nbytes + all[i].places[(c + 1) / 2];
        CU(cudaMemset(all[i].dev_records, 0xEE, all[i].nbytes));
        nbytes += size;
    }
    if (damaged == WORDS)
        CU(cudaMemset(src + nbytes / 2, 0x5A, 3));
    if (damaged == FLAG)
        CU(cudaMemset(src, all[0].stream[0] ^ FLOE_ANS_UNLIFTED, 1));
    CU(cudaMemset(job->status, 0, sizeof *job->status));
    job->places = device_zeros(n * sizeof *places);
    job->src = src;
    CU(cudaMemcpy((void *)(uintptr_t)job->places, places, n * sizeof *places, cudaMemcpyHostToDevice));
    CU(cudaMemset(job->tickets, 0, N * sizeof *job->tickets));
    CU(floe_context_decode_cuda(job, NULL));
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&status, job->status, sizeof status, cudaMemcpyDeviceToHost));
    assert_int_equal(status, damaged ? FLOE_ERR_FORMAT : FLOE_OK);
    for (uint32_t i = 0; i < N && !damaged; i++)
        check_decoded(&all[i], grids[i].spec.width);
    CU(cudaFree(src));
    CU(cudaFree((void *)(uintptr_t)job->places));
    free(places);
}

static void bytes_of_the_cpu(void **unused)
{
    (void)unused;
    static both all[N];
    floe_context_dev_grid grids[N];
    for (uint32_t i = 0; i < N; i++)
        all[i] = both_of(&samples[i], i + 1);
    assert_true(all[N - 1].stream[0] & FLOE_ANS_UNLIFTED);
    floe_context_job job;
    for (uint32_t r = 0; r < ROOMS; r++) {
        uint64_t taken;
        if (r)
            job_free(&job);
        job = job_of(all, grids, rooms[r]);
        CU(floe_context_count_cuda(&job, NULL));
        CU(floe_context_tables_cuda(&job, NULL));
        CU(cudaMemset(job.tickets, 0, N * sizeof *job.tickets));
        CU(floe_context_encode_cuda(&job, NULL));
        CU(cudaDeviceSynchronize());
        for (uint32_t i = 0; i < N; i++)
            check_encoded(&job, &all[i], i, &grids[i]);
        CU(cudaMemcpy(&taken, job.tokens_taken, sizeof taken, cudaMemcpyDeviceToHost));
        assert_true(r == 0 ? taken == 0 : r == 1 ? taken > 0 && taken <= rooms[r] : taken > rooms[r]);
    }
    decode(&job, all, grids, NONE);
    for (uint32_t i = 0; i < N; i++) /* codes of 2 bytes, read as those of 1, are cut */
        grids[i].spec.width -= grids[i].spec.width == 2;
    const uint64_t tables_at = offsetof(floe_context_dev_grid, tables);
    for (uint32_t i = 0; i < N; i++) /* what kernels have set stays */
        CU(cudaMemcpy(&grids[i].tables, (const uint8_t *)(job.grids + i) + tables_at, sizeof grids[i].tables,
                      cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(job.grids, grids, N * sizeof *grids, cudaMemcpyHostToDevice));
    decode(&job, all, grids, NONE);
    decode(&job, all, grids, WORDS);
    decode(&job, all, grids, FLAG);
    job_free(&job);
    for (uint32_t i = 0; i < N; i++) {
        CU(cudaFree(all[i].dev_records));
        free(all[i].records);
        free(all[i].stream);
        free(all[i].places);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_of_the_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
