/* SPDX-License-Identifier: BSD-3-Clause */
/* The primitives on a GPU: the bytes that the CPU writes, and no more. FLOE_GPU_TEST=small: less of it. */
#include <stdio.h>

#include "tests/gpu/gpu_kit.h"

#include "prim/prim_test_kit.h"

/* The emulator needs a microsecond for each step of a warp. */
#ifdef FLOE_EMULATED_CUDA_RUNTIME_API_H
enum { ALL_PATTERNS = 2049, LARGE = 20011 };
static const uint64_t sizes[] = {0, 1, 31, 32, 33, 1023, 1024, 1025};
#else
enum { ALL_PATTERNS = 70001, LARGE = 1000007 };
static const uint64_t sizes[] = {0, 1, 31, 32, 33, 1023, 1024, 1025, 2048, 4096, 4097, 2048 * 2048 + 1};
#endif
enum { NSIZES = sizeof sizes / sizeof *sizes, NSMALL = 6 };

/* Says which case it is. */
static void case_fails(const char *what, int call, int type, int pattern, uint64_t n)
{
    fail_msg("%s: call %d, type %d, pattern %d, n %llu", what, call, type, pattern, (unsigned long long)n);
}

typedef struct pair {
    floe_cpu cpu;
    kit_side host, dev;
    void *back; /* what the device wrote */
    uint64_t n;
} pair;

static uint64_t scratch_nbytes(const pair *p)
{
    uint64_t most = 0, nbytes = 0;
    for (int call = 0; call < FLOE_PRIM_CALLS; call++) {
        assert_int_equal(floe_prim_workspace(&p->dev.prim, (floe_prim_call)call, FLOE_PRIM_U64, p->n, &nbytes, NULL),
                         FLOE_OK);
        most = floe_max64(most, nbytes);
    }
    return most;
}

static void pair_open(pair *p, uint64_t n)
{
    *p = (pair){.host = {.host = true}, .n = n};
    assert_int_equal(floe_cpu_init(&p->cpu, 2, FLOE_ISA_PLAIN, NULL), FLOE_OK);
    p->host.prim.cpu = &p->cpu;
    cudaStream_t stream;
    CU(cudaStreamCreate(&stream));
    p->dev.prim.stream = stream;
    p->host.in = calloc(1, kit_nbytes(n));
    p->host.out = calloc(1, kit_nbytes(n));
    p->back = malloc(kit_nbytes(n));
    CU(cudaMalloc(&p->dev.in, kit_nbytes(n)));
    CU(cudaMalloc(&p->dev.out, kit_nbytes(n)));
    CU(cudaMalloc(&p->dev.scratch, scratch_nbytes(p) + 1));
}

static void pair_close(pair *p)
{
    free(p->host.in);
    free(p->host.out);
    free(p->host.prim.workspace);
    free(p->back);
    CU(cudaFree(p->dev.in));
    CU(cudaFree(p->dev.out));
    CU(cudaFree(p->dev.scratch));
    CU(cudaStreamDestroy((cudaStream_t)p->dev.prim.stream));
}

static void pair_fill(pair *p, floe_prim_type t, kit_pattern pattern)
{
    kit_fill(p->host.in, t, pattern, p->n);
    CU(cudaMemcpy(p->dev.in, p->host.in, kit_nbytes(p->n), cudaMemcpyHostToDevice));
}

static void pair_clear(pair *p)
{
    memset(p->host.out, 0xA5, kit_nbytes(p->n));
    CU(cudaMemsetAsync(p->dev.out, 0xA5, kit_nbytes(p->n), (cudaStream_t)p->dev.prim.stream));
}

static bool pair_agrees(pair *p)
{
    cudaStream_t stream = (cudaStream_t)p->dev.prim.stream;
    CU(cudaMemcpyAsync(p->back, p->dev.out, kit_nbytes(p->n), cudaMemcpyDeviceToHost, stream));
    CU(cudaStreamSynchronize(stream));
    return memcmp(p->back, p->host.out, kit_nbytes(p->n)) == 0;
}

static void run_case(pair *p, floe_prim_type t, kit_pattern pattern)
{
    pair_fill(p, t, pattern);
    for (int call = 0; call < kit_calls(t); call++) {
        floe_error err = {0};
        if (!kit_goes_on(call))
            pair_clear(p);
        if (kit_run(&p->host, call, t, p->n, &err) != FLOE_OK || kit_run(&p->dev, call, t, p->n, &err) != FLOE_OK)
            case_fails(err.message, call, t, pattern, p->n);
        if (!pair_agrees(p))
            case_fails("bytes differ", call, t, pattern, p->n);
    }
}

static void run_size(uint64_t n, bool all_patterns)
{
    pair p;
    pair_open(&p, n);
    for (int t = FLOE_PRIM_U32; t <= FLOE_PRIM_F64; t++)
        for (int pattern = 0; pattern < KIT_PATTERNS; pattern++)
            if (all_patterns || pattern == KIT_NUMBERS || pattern == KIT_SPECIAL)
                run_case(&p, (floe_prim_type)t, (kit_pattern)pattern);
    pair_close(&p);
}

static void every_call_writes_the_cpus_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < (is_small() ? NSMALL : NSIZES); i += one_in(4))
        run_size(sizes[i], false);
}

static void whatever_the_values(void **state)
{
    (void)state;
    if (!is_small())
        run_size(ALL_PATTERNS, true);
}

static void large_arrays_too(void **state)
{
    (void)state;
    pair p;
    if (is_small())
        return;
    pair_open(&p, LARGE);
    for (int t = FLOE_PRIM_U32; t <= FLOE_PRIM_F64; t++)
        run_case(&p, (floe_prim_type)t, KIT_NUMBERS);
    pair_close(&p);
}

/* Nothing waits, allocates or looks at the host: a call can be captured, and replayed on other data. */
static void calls_can_be_captured(void **state)
{
    enum { N = 5000 };
    const floe_prim_type t = FLOE_PRIM_U32;
    pair p;
    (void)state;
    pair_open(&p, N);
    cudaStream_t stream = (cudaStream_t)p.dev.prim.stream;
    for (int call = 0; call < KIT_CALLS; call++) {
        cudaGraph_t graph;
        cudaGraphExec_t replayed;
        floe_error err = {0};
        CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        floe_status status = kit_run(&p.dev, call, t, N, &err);
        CU(cudaStreamEndCapture(stream, &graph));
        if (status != FLOE_OK)
            case_fails(err.message, call, t, 0, N);
        CU(cudaGraphInstantiate(&replayed, graph, 0));
        for (int pattern = 0; pattern < 2; pattern++) {
            pair_fill(&p, t, (kit_pattern)pattern);
            pair_clear(&p);
            CU(cudaGraphLaunch(replayed, stream));
            assert_int_equal(kit_run(&p.host, call, t, N, &err), FLOE_OK);
            if (!pair_agrees(&p))
                case_fails("replayed, bytes differ", call, t, pattern, N);
        }
        CU(cudaGraphExecDestroy(replayed));
        CU(cudaGraphDestroy(graph));
    }
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_writes_the_cpus_bytes),
        cmocka_unit_test(whatever_the_values),
        cmocka_unit_test(large_arrays_too),
        cmocka_unit_test(calls_can_be_captured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
