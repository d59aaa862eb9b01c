/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wavelet_bench [--repeats N] [--threads N] [--gpu] [SIZE...]     sizes 256 512 1024, 5 repeats, all threads, and all
 *                                                               machines, not the GPU alone, unless given
 *
 * Wavelet compression in stages, as studies of it have them: the transform of f32, the largest hundredth of the coefficients found,
 * by digits and by a sort, the others set to 0, and the way back. Of SIZE^3 values, in 3-D and in 2-D, on one thread, on all,
 * and on a GPU where there is one, of which the last rows are the transform and select alone. `by hand` is stage wavelet as codec
 * wavelet runs it, worklets are one source for all machines (bench/worklets/). Every result is compared with the first
 * machine's by hand. Times are medians; spread: (slowest - fastest) / median; growth: time a value over that of the size before.
 */
#include <math.h>

#include <floe/floe.h>

#include "bench/bench_kit.h"
#include "codec/wavelet/wavelet_bands.h"
#include "synth/synth.h"
#include "bench/worklets/wavelet_select.h"
#include "bench/worklets/wavelet_worklets.h"

#ifdef FLOE_HAVE_CUDA_BUILD
#include "backend/cuda.h"
#endif

enum { LEVELS = 5, KEEP = 100, MOST_REPEATS = 100, MOST_SIZES = 8, LEAST = 4 };

static int repeats = 5;

/* Memory of a machine, and waiting until all that was started there is done. */
typedef struct place {
    void *(*take)(uint64_t nbytes);
    void (*give)(void *p);
    void (*copy)(void *to, const void *from, uint64_t nbytes);
    void (*wait)(void);
} place;

static void host_copy(void *to, const void *from, uint64_t nbytes) { memcpy(to, from, nbytes); }
static void host_wait(void) {}
static const place host = {bench_alloc, free, host_copy, host_wait};
#ifdef FLOE_HAVE_CUDA_BUILD
static void dev_give(void *p) { CU(cudaFree(p)); }
static void dev_copy(void *to, const void *from, uint64_t n) { CU(cudaMemcpy(to, from, n, cudaMemcpyDefault)); }
static void dev_wait(void) { CU(cudaDeviceSynchronize()); }
static const place dev = {bench_dev_alloc, dev_give, dev_copy, dev_wait};
#endif

typedef struct machine {
    char name[32];
    floe_cpu cpu;
    bool gpu;
    const place *at;
} machine;

/* Arrays are of the machine's memory. */
typedef struct study {
    const machine *m;
    uint64_t shape[FLOE_LATTICE_RANK], n, nbytes;
    floe_wavelet_dev_lift steps[LEVELS];
    uint32_t nsteps, at;
    void *array[2], *values, *scratch, *lines; /* values: on the host */
    uint64_t scratch_nbytes, *found;
    uint32_t *status;
    floe_wavelet_plan plan;
    bool worklets;
} study;

enum { FORWARD, INVERSE, SELECT, SORT, ZERO, STAGES };
static const char *const stage_names[STAGES] = {"transform", "reconstruction", "select", "sort", "zero the rest"};
static double before[2][3][STAGES + 1]; /* seconds a value of the size before, by rank, machine, and row */

#define FL_ERR(call)                           \
    do {                                       \
        floe_error err = {0};                  \
        if ((call) != FLOE_OK)                 \
            DIE("%s: %s", #call, err.message); \
    } while (0)

/* ---- stages --------------------------------------------------------------------------------------------------------------- */

static floe_prim prim_of(const study *s)
{
    return (floe_prim){
        .cpu = s->m->gpu ? NULL : &s->m->cpu, .workspace = s->scratch, .workspace_nbytes = s->scratch_nbytes};
}

static void lift_in_place(study *s, const floe_lattice_step *step, bool inverse)
{
    const floe_wavelet_bands b = floe_wavelet_bands_of(&s->m->cpu, FLOE_F32, &s->plan, s->array[s->at], s->lines);
    if (inverse)
        floe_wavelet_step_undo(&b, step, NULL);
    else
        floe_wavelet_step_do(&b, step);
}

/* All coefficients end in one array: where passes leave a step's in the other one, boxes are brought to where the next step ends there. */
static void lift(study *s, bool inverse)
{
    const floe_prim p = prim_of(s);
    for (uint32_t i = 0; i < s->nsteps; i++) {
        floe_wavelet_dev_lift *l = &s->steps[inverse ? s->nsteps - 1 - i : i];
        l->inverse = inverse;
        if (!s->m->gpu && !s->worklets) {
            lift_in_place(s, &l->step, inverse);
            continue;
        }
        if (i > 0 && (s->worklets ? l->step.naxes : floe_wavelet_dev_passes(&l->step)) % 2) {
            FL_ERR(floe_select_copy_box(&p, s->array, s->at, s->shape, inverse ? l->step.coarse : l->step.fine, &err));
            s->at = !s->at;
        }
        if (s->worklets)
            FL_ERR(floe_wavelet_worklets(&p, true, l, &s->at, &err));
#ifdef FLOE_HAVE_CUDA_BUILD
        else
            CU(floe_wavelet_lift_f32(l, &s->at, NULL));
#endif
    }
}

static floe_prim_array coefficients(const study *s) { return (floe_prim_array){FLOE_PRIM_F32, s->array[s->at], s->n}; }

static void run_stage(study *s, int stage)
{
    const floe_prim p = prim_of(s);
    switch (stage) {
    case FORWARD: lift(s, false); break;
    case INVERSE: lift(s, true); break;
    case SELECT: FL_ERR(floe_select_largest(&p, coefficients(s), s->n / KEEP + 1, s->found, &err)); break;
    case SORT: FL_ERR(floe_prim_sort(&p, coefficients(s), s->array[!s->at], &err)); break;
    default: FL_ERR(floe_select_keep_largest(&p, FLOE_PRIM_F32, s->array[s->at], s->n, s->found, &err));
    }
}

static double run_once(study *s, int first, int last)
{
    s->m->at->wait();
    const double from = bench_now();
    run_stage(s, first);
    if (last != first)
        run_stage(s, last);
    s->m->at->wait();
    return bench_now() - from;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------------- */

typedef struct times {
    double seconds[STAGES + 1][MOST_REPEATS]; /* [STAGES]: transform and select as one */
} times;

static void report(const study *s, int rank, double *last, const char *name, double *seconds, double *by_worklets)
{
    const double median = bench_median(seconds, repeats), spread = (seconds[repeats - 1] - seconds[0]) / median;
    for (int a = 4 - rank; a < 4; a++)
        printf(a == 4 - rank ? "| %llu" : " x %llu", (unsigned long long)s->shape[a]);
    printf(" | %s | %s | %.2f | %.2f | %.0f %%", s->m->name, name, 1e3 * median, 1e-9 * (double)s->nbytes / median,
           100 * spread);
    if (*last > 0)
        printf(" | %.2f", median / (double)s->n / *last);
    else
        printf(" | ");
    *last = median / (double)s->n;
    if (by_worklets)
        printf(" | %.2f | %.2f |\n", 1e3 * bench_median(by_worklets, repeats),
               bench_median(by_worklets, repeats) / median);
    else
        puts(" | | |");
    fflush(stdout);
}

/* All stages, once each; the first time results are kept, or compared. */
static void turn(study *s, times *t, int i, void **kept)
{
    s->m->at->copy(s->array[s->at = 0], s->values, s->nbytes);
    if (s->m->gpu && !s->worklets) {
        t->seconds[STAGES][i] = run_once(s, FORWARD, SELECT);
        s->at = 0;
        s->m->at->copy(s->array[0], s->values, s->nbytes);
    }
    t->seconds[FORWARD][i] = run_once(s, FORWARD, FORWARD);
    if (!s->worklets)
        for (int stage = SELECT; stage <= ZERO; stage++)
            t->seconds[stage][i] = run_once(s, stage, stage);
    else
        for (int stage = SELECT; stage <= ZERO; stage += ZERO - SELECT)
            run_stage(s, stage);
    t->seconds[INVERSE][i] = run_once(s, INVERSE, INVERSE);
    if (i > 0)
        return;
    void *got = bench_alloc(s->nbytes);
    s->m->at->copy(got, s->array[s->at], s->nbytes);
    if (!*kept)
        *kept = got;
    else if (memcmp(got, *kept, s->nbytes) != 0)
        DIE("%s, %s: other values than the first machine's by hand", s->m->name, s->worklets ? "worklets" : "by hand");
    if (*kept != got)
        free(got);
}

static void study_run(const machine *m, int machine_index, int rank, uint64_t size, void *values, void **kept)
{
    study s = {.m = m, .values = values, .shape = {1, 1, 1, 1}};
    static times hand, maps;
    s.shape[3] = s.shape[2] = s.shape[1] = size;
    if (rank == 2) {
        const uint64_t n = size * size * size;
        for (s.shape[2] = (uint64_t)sqrt((double)n); n % s.shape[2]; s.shape[2]--)
            continue;
        s.shape[3] = n / s.shape[2];
        s.shape[1] = 1;
    }
    s.n = floe_lattice_points(s.shape);
    s.nbytes = s.n * sizeof(float);
    memcpy(s.plan.shape, s.shape, sizeof s.shape);
    s.plan.bank = FLOE_WAVELET_97;
    for (int k = 0; k < 2; k++)
        s.array[k] = m->at->take(s.nbytes);
    s.found = m->at->take(sizeof *s.found);
    s.status = m->at->take(sizeof *s.status);
    s.lines = bench_alloc(floe_wavelet_line_reals(&m->cpu, s.shape) * sizeof(float));
    floe_prim p = prim_of(&s);
    FL_ERR(floe_prim_workspace(&p, FLOE_PRIM_SORT, FLOE_PRIM_F32, s.n, &s.scratch_nbytes, &err));
    s.scratch_nbytes = floe_max64(s.scratch_nbytes, floe_select_workspace(&p, FLOE_PRIM_F32, s.n));
    s.scratch = m->at->take(s.scratch_nbytes);
    uint64_t fine[FLOE_LATTICE_RANK];
    memcpy(fine, s.shape, sizeof fine);
    for (; s.nsteps < LEVELS && fine[2] > LEAST; s.nsteps++) {
        floe_wavelet_dev_lift *l = &s.steps[s.nsteps];
        *l = (floe_wavelet_dev_lift){.array = {s.array[0], s.array[1]}, .bank = FLOE_WAVELET_97, .status = s.status};
        memcpy(l->shape, s.shape, sizeof fine);
        memcpy(l->step.fine, fine, sizeof fine);
        for (uint32_t a = 0; a < (uint32_t)rank; a++)
            l->step.axis[l->step.naxes++] = 4 - (uint32_t)rank + a;
        floe_lattice_coarsen(&l->step);
        memcpy(fine, l->step.coarse, sizeof fine);
    }
    for (int i = 0; i < repeats; i++) {
        s.worklets = false;
        turn(&s, &hand, i, kept);
        s.worklets = true;
        turn(&s, &maps, i, kept);
    }
    double *last = before[rank - 2][machine_index];
    for (int stage = 0; stage < STAGES; stage++)
        report(&s, rank, &last[stage], stage_names[stage], hand.seconds[stage],
               stage <= INVERSE ? maps.seconds[stage] : NULL);
    if (m->gpu)
        report(&s, rank, &last[STAGES], "transform and select", hand.seconds[STAGES], NULL);
    void *const taken[] = {s.array[0], s.array[1], s.found, s.status, s.scratch};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        m->at->give(taken[i]);
    free(s.lines);
}

int main(int argc, char **argv)
{
    machine machines[3] = {{.name = "1 thread", .at = &host}, {.at = &host}};
    uint64_t sizes[MOST_SIZES] = {256, 512, 1024};
    int nmachines = 1, nsizes = 3, ngiven = 0, threads = 0;
    bool gpu_alone = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--repeats") == 0 && i + 1 < argc)
            repeats = atoi(argv[++i]);
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--gpu") == 0)
            gpu_alone = true;
        else if (atoi(argv[i]) > LEAST && atoi(argv[i]) <= 1290 && ngiven < MOST_SIZES)
            sizes[ngiven++] = (uint64_t)atoi(argv[i]);
        else
            DIE("wavelet_bench [--repeats N] [--threads N] [--gpu] [SIZE...], sizes from %d to 1290", LEAST + 1);
    }
    nsizes = ngiven ? ngiven : nsizes;
    if (repeats < 1 || repeats > MOST_REPEATS || threads < 0)
        DIE("1 to %d repeats, and threads from 0, which is all, on", MOST_REPEATS);
    FL_ERR(floe_cpu_init(&machines[0].cpu, 1, FLOE_ISA_AUTO, &err));
    FL_ERR(floe_cpu_init(&machines[1].cpu, (uint32_t)threads, FLOE_ISA_AUTO, &err));
    if (machines[1].cpu.threads > 1) {
        snprintf(machines[1].name, sizeof machines[1].name, "%u threads", machines[1].cpu.threads);
        nmachines++;
    }
#ifdef FLOE_HAVE_CUDA_BUILD
    if (bench_has_gpu()) {
        FL_ERR(floe_cuda_load(&err));
        machines[nmachines++] = (machine){.name = "GPU", .cpu = machines[0].cpu, .gpu = true, .at = &dev};
    }
#endif
    const int first = gpu_alone ? nmachines - 1 : 0;
    if (gpu_alone && !machines[first].gpu)
        DIE("there is no GPU here");
    puts("| size | machine | stage | ms | GB/s | spread | growth | worklets, ms | over by hand |\n"
         "|---|---|---|---:|---:|---:|---:|---:|---:|");
    for (int i = 0; i < nsizes; i++)
        for (int rank = 3; rank >= 2; rank--) {
            const uint64_t n = sizes[i] * sizes[i] * sizes[i], shape[] = {sizes[i], sizes[i], sizes[i]};
            void *values = bench_alloc(n * sizeof(float)), *kept = NULL;
            if (synth_fill("turbulence", FLOE_F32, 3, shape, 1, 0, n, values) != FLOE_OK)
                DIE("no field of size %llu", (unsigned long long)sizes[i]);
            for (int k = first; k < nmachines; k++)
                study_run(&machines[k], k, rank, sizes[i], values, &kept);
            free(values);
            free(kept);
        }
    return 0;
}
