/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed of the primitives, on the CPU and where there is one on the GPU.
 *
 *   prim_bench [LOG2_ELEMENTS [REPEATS [THREADS]]]      2^26 elements, 11 repeats, all processors unless given
 *
 * GB/s: bytes that must move (each input read once, each output written once) over the median time; copy: that over what
 * a copy of 2^LOG2_ELEMENTS floats reaches in the same run. Of the GPU the time between two events: all launches of a call.
 */
#include "base/arena.h"
#include "bench/bench_kit.h"
#include "prim/prim.h"

enum { MAX_REPEATS = 1000, BINS = 4096 };

typedef struct arrays { /* n elements each */
    float *in;
    double *wide;
    uint32_t *keys, *index; /* below BINS; below n, each once, in no order */
    uint8_t *flags;         /* one in four */
    void *out, *out2;       /* 8 bytes an element */
    uint64_t *count;
} arrays;
enum { NARRAYS = 8 };
static const uint32_t element_nbytes[NARRAYS] = {4, 8, 4, 4, 1, 8, 8, 8};

static void **array_at(arrays *a, int i)
{
    void **all[NARRAYS] = {(void **)&a->in,    (void **)&a->wide, (void **)&a->keys, (void **)&a->index,
                           (void **)&a->flags, &a->out,           &a->out2,          (void **)&a->count};
    return all[i];
}

typedef struct place {
    floe_prim prim;
    arrays a;
    uint64_t n;
} place;

/* ---- the calls ---------------------------------------------------------- */

static floe_status copy_floats(const place *p, floe_error *err)
{
    (void)err;
#ifdef FLOE_HAVE_CUDA_BUILD
    if (!p->prim.cpu)
        return cudaMemcpyAsync(p->a.out, p->a.in, p->n * 4, cudaMemcpyDeviceToDevice, (cudaStream_t)p->prim.stream)
                   ? FLOE_ERR_DEVICE
                   : FLOE_OK;
#endif
    memcpy(p->a.out, p->a.in, p->n * 4); /* by one thread */
    return FLOE_OK;
}
static floe_prim_array in_f32(const place *p) { return (floe_prim_array){FLOE_PRIM_F32, p->a.in, p->n}; }
static floe_prim_array in_f64(const place *p) { return (floe_prim_array){FLOE_PRIM_F64, p->a.wide, p->n}; }
static floe_prim_array keys(const place *p) { return (floe_prim_array){FLOE_PRIM_U32, p->a.keys, p->n}; }
static floe_prim_array indexes(const place *p) { return (floe_prim_array){FLOE_PRIM_U32, p->a.index, p->n}; }
static floe_status sum_f32(const place *p, floe_error *err)
{
    return floe_prim_reduce(&p->prim, FLOE_PRIM_SUM, in_f32(p), p->a.out, err);
}
static floe_status sum_f64(const place *p, floe_error *err)
{
    return floe_prim_reduce(&p->prim, FLOE_PRIM_SUM, in_f64(p), p->a.out, err);
}
static floe_status max_f32(const place *p, floe_error *err)
{
    return floe_prim_reduce(&p->prim, FLOE_PRIM_MAX, in_f32(p), p->a.out, err);
}
static floe_status scan_u32(const place *p, floe_error *err)
{
    return floe_prim_scan(&p->prim, FLOE_PRIM_EXCLUSIVE, keys(p), FLOE_PRIM_U32, p->a.out, err);
}
static floe_status scan_u64(const place *p, floe_error *err)
{
    return floe_prim_scan(&p->prim, FLOE_PRIM_EXCLUSIVE, keys(p), FLOE_PRIM_U64, p->a.out, err);
}
static floe_status scan_f32(const place *p, floe_error *err)
{
    return floe_prim_scan(&p->prim, FLOE_PRIM_INCLUSIVE, in_f32(p), FLOE_PRIM_F32, p->a.out, err);
}
static floe_status histogram(const place *p, floe_error *err)
{
    return floe_prim_histogram(&p->prim, p->a.keys, p->n, (floe_prim_bins){FLOE_PRIM_U32, BINS, p->a.out, p->a.count},
                               err);
}
static floe_status compact(const place *p, floe_error *err)
{
    floe_prim_keep keep = {FLOE_PRIM_KEEP_BYTES, p->a.flags};
    return floe_prim_compact(&p->prim, in_f32(p), keep, (floe_prim_kept){p->a.out, NULL, p->a.count}, err);
}
static floe_status flag(const place *p, floe_error *err)
{
    floe_prim_keep keep = {FLOE_PRIM_KEEP_MAGNITUDE, p->a.in};
    return floe_prim_flag(&p->prim, in_f32(p), keep, p->a.out, err);
}
static floe_status select_f32(const place *p, floe_error *err)
{
    return floe_prim_select(&p->prim, in_f32(p), p->n / 10 * 9, true, p->a.out, err);
}
static floe_status select_f64(const place *p, floe_error *err)
{
    return floe_prim_select(&p->prim, in_f64(p), p->n / 10 * 9, true, p->a.out, err);
}
static floe_status sort_f32(const place *p, floe_error *err)
{
    return floe_prim_sort(&p->prim, in_f32(p), p->a.out, NULL, err);
}
static floe_status sort_pairs(const place *p, floe_error *err)
{
    return floe_prim_sort(&p->prim, in_f32(p), p->a.out, &(floe_prim_values){4, p->a.index, p->a.out2}, err);
}
static floe_status sort_f64(const place *p, floe_error *err)
{
    return floe_prim_sort(&p->prim, in_f64(p), p->a.out, NULL, err);
}
static floe_status gather(const place *p, floe_error *err)
{
    return floe_prim_gather(&p->prim, in_f32(p), indexes(p), p->a.out, err);
}
static floe_status scatter(const place *p, floe_error *err)
{
    return floe_prim_scatter(&p->prim, in_f32(p), indexes(p), p->a.out, p->n, err);
}

typedef struct bench_call {
    const char *name;
    floe_status (*run)(const place *p, floe_error *err);
    double nbytes; /* of an element */
} bench_call;

static const bench_call calls[] = {
    {"copy f32", copy_floats, 8},
    {"sum f32", sum_f32, 4},
    {"sum f64", sum_f64, 8},
    {"max f32", max_f32, 4},
    {"scan u32", scan_u32, 8},
    {"scan u32 to u64", scan_u64, 12},
    {"scan f32", scan_f32, 8},
    {"histogram, 4096 bins", histogram, 4},
    {"compact f32 by bytes", compact, 6},
    {"flag f32 (a map)", flag, 5},
    {"select f32", select_f32, 4},
    {"select f64", select_f64, 8},
    {"sort f32", sort_f32, 8},
    {"sort f32 with u32", sort_pairs, 16},
    {"sort f64", sort_f64, 16},
    {"gather f32, at random", gather, 12},
    {"scatter f32, at random", scatter, 12},
};
enum { NCALLS = sizeof calls / sizeof *calls };

/* ---- time -------------------------------------------------------------------------------------------------------- */

static void call_once(const place *p, const bench_call *c)
{
    floe_error err = {0};
    if (c->run(p, &err) != FLOE_OK)
        DIE("%s: %s", c->name, err.message);
}

static double seconds_cpu(const place *p, const bench_call *c)
{
    const double started = bench_now();
    call_once(p, c);
    return bench_now() - started;
}

#ifdef FLOE_HAVE_CUDA_BUILD
static double seconds_gpu(const place *p, const bench_call *c)
{
    static cudaEvent_t from, to;
    float ms;
    if (!from) {
        CU(cudaEventCreate(&from));
        CU(cudaEventCreate(&to));
    }
    CU(cudaEventRecord(from, (cudaStream_t)p->prim.stream));
    call_once(p, c);
    CU(cudaEventRecord(to, (cudaStream_t)p->prim.stream));
    CU(cudaEventSynchronize(to));
    CU(cudaEventElapsedTime(&ms, from, to));
    return 1e-3 * (double)ms;
}

static bool gpu_open(place *gpu, const place *cpu)
{
    if (!bench_has_gpu())
        return false;
    *gpu = (place){.n = cpu->n};
    for (int i = 0; i < NARRAYS; i++) {
        arrays from = cpu->a;
        CU(cudaMalloc(array_at(&gpu->a, i), cpu->n * element_nbytes[i]));
        CU(cudaMemcpy(*array_at(&gpu->a, i), *array_at(&from, i), cpu->n * element_nbytes[i], cudaMemcpyHostToDevice));
    }
    return true;
}
#else
static double seconds_gpu(const place *p, const bench_call *c) { return (void)p, (void)c, 0; }
static bool gpu_open(place *gpu, const place *cpu) { return (void)gpu, (void)cpu, false; }
#endif

static double median(const place *p, const bench_call *c, int repeats)
{
    static double t[MAX_REPEATS];
    for (int i = -2; i < repeats; i++)
        t[i < 0 ? 0 : i] = p->prim.cpu ? seconds_cpu(p, c) : seconds_gpu(p, c);
    return bench_median(t, repeats);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static uint32_t draw(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static void arrays_make(place *p)
{
    for (int i = 0; i < NARRAYS; i++) {
        void *room = malloc(p->n * element_nbytes[i]);
        if (!room)
            DIE("out of memory");
        *array_at(&p->a, i) = memset(room, 0, p->n * element_nbytes[i]);
    }
    for (uint64_t i = 0; i < p->n; i++) {
        p->a.wide[i] = ((double)draw() + (double)draw() - (double)draw() - (double)draw()) * 0x1p-30;
        p->a.in[i] = (float)p->a.wide[i];
        p->a.keys[i] = draw() % BINS;
        p->a.flags[i] = draw() % 4 == 0;
        p->a.index[i] = (uint32_t)((i * 0x9E3779B1u) % p->n); /* n is a power of two, the factor odd */
    }
}

/* The most that any call needs. */
static uint64_t workspace_nbytes(const place *p)
{
    uint64_t most = 0, nbytes = 0;
    floe_error err = {0};
    for (int call = 0; call < FLOE_PRIM_CALLS; call++) {
        uint64_t extra = call == FLOE_PRIM_HISTOGRAM ? BINS : 4;
        if (floe_prim_workspace(&p->prim, (floe_prim_call)call, FLOE_PRIM_F64, p->n, extra, &nbytes, &err) != FLOE_OK)
            DIE("%s", err.message);
        most = nbytes > most ? nbytes : most;
    }
    return (most + FLOE_ARENA_ALIGN - 1) / FLOE_ARENA_ALIGN * FLOE_ARENA_ALIGN;
}

static void workspace_make(place *p)
{
    p->prim.workspace_nbytes = workspace_nbytes(p);
#ifdef FLOE_HAVE_CUDA_BUILD
    if (!p->prim.cpu) {
        CU(cudaMalloc(&p->prim.workspace, p->prim.workspace_nbytes));
        return;
    }
#endif
    p->prim.workspace = aligned_alloc(FLOE_ARENA_ALIGN, p->prim.workspace_nbytes);
    if (!p->prim.workspace)
        DIE("out of memory");
}

int main(int argc, char **argv)
{
    int log2n = argc > 1 ? atoi(argv[1]) : 26, repeats = argc > 2 ? atoi(argv[2]) : 11;
    floe_cpu cpu;
    if (log2n < 4 || log2n > 31 || repeats < 1 || repeats > MAX_REPEATS ||
        floe_cpu_init(&cpu, argc > 3 ? (uint32_t)atoi(argv[3]) : 0, FLOE_ISA_AUTO, NULL) != FLOE_OK)
        DIE("usage: prim_bench [LOG2_ELEMENTS [REPEATS [THREADS]]]");
    place host = {.prim = {.cpu = &cpu}, .n = UINT64_C(1) << log2n}, dev;
    arrays_make(&host);
    workspace_make(&host);
    bool gpu = gpu_open(&dev, &host);
    if (gpu)
        workspace_make(&dev);
    double copy[2] = {0};
    printf("2^%d elements, %u threads, medians of %d\n%-24s %10s %6s", log2n, cpu.threads, repeats, "", "CPU GB/s",
           "copy");
    puts(gpu ? "   GPU GB/s   copy" : "");
    for (int i = 0; i < NCALLS; i++) {
        printf("%-24s", calls[i].name);
        for (int g = 0; g <= gpu; g++) {
            double speed = calls[i].nbytes * (double)host.n / median(g ? &dev : &host, &calls[i], repeats);
            copy[g] = i == 0 ? speed : copy[g];
            printf(" %10.1f %4.0f %%", 1e-9 * speed, 100 * speed / copy[g]);
        }
        puts("");
        fflush(stdout);
    }
    return 0;
}
