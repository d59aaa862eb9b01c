/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of kinds, and how a piece of a field is cut into segments of rows that threads make independently. */
#include "synth_plan.h"

#ifdef FLOE_HAVE_THREADS
#include <pthread.h>
#include <unistd.h>
#endif
#include <stdatomic.h>
#include <stdlib.h>

static const synth_entry entries[] = {
    {{"turbulence", "velocity of a turbulent flow: -5/3 spectrum, smooth at the grid, patchy small scales"},
     synth_turbulence_prepare,
     synth_turbulence_values,
     NULL},
    {{"seismic", "wavefield: exactly quiet but for a few sharp expanding fronts"},
     synth_seismic_prepare,
     synth_seismic_values,
     NULL},
    {{"lognormal", "density with clumps and voids over many orders of magnitude"},
     synth_lognormal_prepare,
     synth_lognormal_values,
     NULL},
    {{"mixing", "two fluids at rest, exactly constant, and a rough mixing layer between them"},
     synth_mixing_prepare,
     synth_mixing_values,
     NULL},
    {{"weather", "smooth maps; levels of the slowest axis have nothing to do with one another"},
     synth_weather_prepare,
     synth_weather_values,
     NULL},
    {{"orbitals", "oscillating wave packets with decaying envelopes, large quiet areas"},
     synth_orbitals_prepare,
     synth_orbitals_values,
     NULL},
    {{"particles", "unsorted coordinates of particles in clusters and between them"},
     NULL,
     synth_particles_values,
     NULL},
    {{"terrain", "whole-number heights with a flat sea of exact zeros"},
     synth_terrain_prepare,
     synth_terrain_values,
     NULL},
    {{"fill", "smooth ocean with continents of the fill value 9.96921e36"},
     synth_fill_prepare,
     synth_fill_values,
     NULL},
    {{"packed", "smooth values on a decimal grid of 0.01"}, synth_smooth_prepare, synth_packed_values, NULL},
    {{"spikes", "smooth, with one value in a thousand far off"}, synth_smooth_prepare, synth_spikes_values, NULL},
    {{"ramp", "linear along every axis"}, NULL, synth_ramp_values, NULL},
    {{"steps", "constant blocks of odd sizes"}, NULL, synth_steps_values, NULL},
    {{"constant", "one value everywhere"}, NULL, synth_constant_values, NULL},
    {{"noise", "white noise, uniform in [-1, 1)"}, NULL, synth_noise_values, NULL},
    {{"hostile", "NaN payloads, infinities, -0, subnormals, huge beside tiny, and smooth stretches between"},
     NULL,
     NULL,
     synth_hostile_bits},
};

uint32_t synth_count(void) { return (uint32_t)(sizeof entries / sizeof entries[0]); }

const synth_kind *synth_kind_at(uint32_t i) { return i < synth_count() ? &entries[i].kind : NULL; }

static const synth_entry *entry_find(const char *name)
{
    for (uint32_t i = 0; name && i < synth_count(); i++) {
        if (strcmp(entries[i].kind.name, name) == 0)
            return &entries[i];
    }
    return NULL;
}

const synth_kind *synth_find(const char *name)
{
    const synth_entry *entry = entry_find(name);
    return entry ? &entry->kind : NULL;
}

/* Pads the shape, checks it, and counts its elements. */
static floe_status shape_check(synth_plan *plan, const uint64_t *shape, size_t size, uint64_t *nelems)
{
    uint64_t limit = (uint64_t)INT64_MAX / size;
    uint64_t total = 1;
    int empty = 0;
    for (uint32_t a = 0; a < SYNTH_AXES; a++)
        plan->n[a] = a + plan->rank < SYNTH_AXES ? 1 : shape[a + plan->rank - SYNTH_AXES];
    for (uint32_t a = 0; a < SYNTH_AXES; a++) {
        if (plan->n[a] == 0)
            empty = 1;
        else if (total > limit / plan->n[a])
            return FLOE_ERR_ARGUMENT;
        else
            total *= plan->n[a];
    }
    *nelems = empty ? 0 : total;
    return FLOE_OK;
}

/* Segment s of the field, clipped to the elements first .. last. */
static synth_span span_of(const synth_plan *plan, uint64_t nseg, uint64_t s, uint64_t first, uint64_t last)
{
    synth_span span;
    uint64_t row = s / nseg;
    uint64_t x = (s % nseg) * plan->seg;
    uint64_t length = plan->n[SYNTH_FAST] - x < plan->seg ? plan->n[SYNTH_FAST] - x : plan->seg;
    span.index = row * plan->n[SYNTH_FAST] + x;
    span.pos[3] = x;
    span.pos[2] = row % plan->n[2];
    span.pos[1] = row / plan->n[2] % plan->n[1];
    span.pos[0] = row / plan->n[2] / plan->n[1];
    span.from = first > span.index ? (uint32_t)(first - span.index) : 0;
    span.to = last - span.index < length ? (uint32_t)(last - span.index + 1) : (uint32_t)length;
    return span;
}

/* scale times a value, as the nearest integer (ties to even) from -most - 1 to most. */
static int64_t integer_of(double value, double scale, int64_t most)
{
    const double scaled = value * scale, half = 0x1p52; /* there a double has no fraction left */
    if (scaled >= (double)most)
        return most;
    if (scaled <= -(double)most - 1)
        return -most - 1;
    if (scaled >= half || scaled <= -half)
        return (int64_t)scaled;
    return (int64_t)(scaled < 0 ? (scaled - half) + half : (scaled + half) - half);
}

/* n values in the dtype, which is not f64. */
static void values_store(floe_dtype dtype, const double *values, size_t n, uint8_t *dst)
{
    for (size_t i = 0; dtype == FLOE_F32 && i < n; i++) {
        const float v = (float)values[i];
        memcpy(dst + 4 * i, &v, sizeof v);
    }
    for (size_t i = 0; dtype == FLOE_I32 && i < n; i++) {
        const int32_t v = (int32_t)integer_of(values[i], 1e3, INT32_MAX);
        memcpy(dst + 4 * i, &v, sizeof v);
    }
    for (size_t i = 0; dtype == FLOE_I64 && i < n; i++) {
        const int64_t v = integer_of(values[i], 1e6, INT64_MAX);
        memcpy(dst + 8 * i, &v, sizeof v);
    }
}

/* Makes one span and stores it, in the dtype, at dst, which stands for element `first` of the field. */
static void span_store(const synth_entry *entry, const synth_plan *plan, const synth_span *span, uint64_t first,
                       void *dst)
{
    union {
        double values[SYNTH_SEG];
        uint64_t bits[SYNTH_SEG];
    } out;
    size_t n = span->to - span->from;
    uint64_t at = span->index + span->from - first;
    const size_t size = floe_dtype_size(plan->dtype);
    uint8_t *to = (uint8_t *)dst + at * size;
    if (entry->values)
        entry->values(plan, span, out.values);
    else
        entry->bits(plan, span, out.bits);
    if (plan->dtype == FLOE_F64 || (!entry->values && size == 8)) {
        memcpy(to, out.values + span->from, n * sizeof(double));
    } else if (entry->values) {
        values_store(plan->dtype, out.values + span->from, n, to);
    } else {
        for (size_t i = 0; i < n; i++) {
            uint32_t word = (uint32_t)out.bits[span->from + i];
            memcpy(to + 4 * i, &word, sizeof word);
        }
    }
}

/* Pieces of a field, which threads take one after another. */
typedef struct making {
    const synth_entry *entry;
    const synth_plan *plan;
    uint64_t first, last, nseg, end;
    atomic_uint_fast64_t next; /* segment */
    void *dst;
} making;
enum { SEGMENTS_AT_ONCE = 16, MOST_THREADS = 64 };

static void *make_some(void *arg)
{
    making *m = arg;
    for (uint64_t s0; (s0 = atomic_fetch_add(&m->next, SEGMENTS_AT_ONCE)) < m->end;)
        for (uint64_t s = s0; s < s0 + SEGMENTS_AT_ONCE && s < m->end; s++) {
            synth_span span = span_of(m->plan, m->nseg, s, m->first, m->last);
            span_store(m->entry, m->plan, &span, m->first, m->dst);
        }
    return NULL;
}

#ifdef FLOE_HAVE_THREADS
static long nthreads_of(const making *m)
{
    const char *text = getenv("OMP_NUM_THREADS");
    const long pieces = (long)((m->end - m->next) / SEGMENTS_AT_ONCE) + 1;
    long n = text ? strtol(text, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    n = n < MOST_THREADS ? n : MOST_THREADS;
    return n < pieces ? n : pieces;
}

/* Threads that cannot be had are done without. */
static void make_all(making *m)
{
    pthread_t threads[MOST_THREADS];
    const long wanted = nthreads_of(m) - 1;
    long n = 0;
    while (n < wanted && pthread_create(&threads[n], NULL, make_some, m) == 0)
        n++;
    make_some(m);
    while (n > 0)
        pthread_join(threads[--n], NULL);
}
#else
static void make_all(making *m) { make_some(m); }
#endif

static void make(const synth_entry *entry, const synth_plan *plan, uint64_t first, uint64_t count, void *dst)
{
    const uint64_t nx = plan->n[SYNTH_FAST], nseg = (nx - 1) / plan->seg + 1, last = first + count - 1;
    making m = {.entry = entry, .plan = plan, .first = first, .last = last, .nseg = nseg, .dst = dst};
    m.next = first / nx * nseg + first % nx / plan->seg;
    m.end = last / nx * nseg + last % nx / plan->seg + 1;
    make_all(&m);
}

static void plan_free(synth_plan *plan)
{
    for (size_t i = 0; i < sizeof plan->waves / sizeof plan->waves[0]; i++)
        free(plan->waves[i].table);
    free(plan->own);
    free(plan);
}

/* The key of a kind depends on its name, not on its place in the table. */
static uint64_t key_of(const char *name, uint64_t seed)
{
    uint64_t key = synth_mix(seed ^ SYNTH_PHI);
    for (; *name; name++)
        key = synth_hash(key, (unsigned char)*name);
    return key;
}

floe_status synth_fill(const char *kind, floe_dtype dtype, uint32_t rank, const uint64_t *shape, uint64_t seed,
                       uint64_t first, uint64_t count, void *dst)
{
    const synth_entry *entry = entry_find(kind);
    size_t size = floe_dtype_size(dtype);
    if (!entry || size == 0 || rank < 1 || rank > SYNTH_AXES || !shape)
        return FLOE_ERR_ARGUMENT;
    synth_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return FLOE_ERR_MEMORY;
    plan->dtype = dtype;
    plan->rank = rank;
    plan->key = key_of(kind, seed);
    uint64_t nelems;
    floe_status status = shape_check(plan, shape, size, &nelems);
    if (status == FLOE_OK && (first > nelems || count > nelems - first))
        status = FLOE_ERR_ARGUMENT;
    if (status == FLOE_OK && count > 0 && (!dst || (uintptr_t)dst % size != 0))
        status = FLOE_ERR_ARGUMENT;
    if (status == FLOE_OK && count > 0) {
        plan->seg = plan->n[SYNTH_FAST] < SYNTH_SEG ? (uint32_t)plan->n[SYNTH_FAST] : SYNTH_SEG;
        status = entry->prepare ? entry->prepare(plan) : FLOE_OK;
        if (status == FLOE_OK)
            make(entry, plan, first, count, dst);
    }
    plan_free(plan);
    return status;
}
