/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/wavelet/wavelet_bands.h"

#include "codec/wavelet/wavelet_records_math.h"

/* ---- passes ------------------------------------------------------------------------------------------------------------ */

/* Along the k-th axis of a step, on the lines of a box. Undone, the box has the points of these that are wanted. */
static floe_wavelet_pass pass_of(const floe_wavelet_bands *b, const floe_lattice_step *s, uint32_t k,
                                 const floe_lattice_box *box, bool inverse)
{
    const uint32_t axis = s->axis[k];
    floe_wavelet_pass p = {.shape = b->shape, .axis = axis, .bank = b->plan->bank, .inverse = inverse};
    uint64_t at[FLOE_LATTICE_RANK];
    p.first = box->lo[axis];
    p.end = box->hi[axis];
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        at[a] = a == axis ? 0 : box->lo[a];
        p.n[a] = a == axis ? s->fine[a] : box->hi[a] - box->lo[a];
    }
    p.data = b->array + floe_lattice_index(p.shape, at) * b->size;
    p.one_sided = b->plan->one_sided >> axis & 1;
    return p;
}

/* Boxes within the shape have no more tasks, and those of short lines no more points than a cache. */
uint64_t floe_wavelet_line_reals(const floe_cpu *cpu, const uint64_t shape[FLOE_LATTICE_RANK])
{
    uint64_t most = 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        floe_wavelet_pass p = {.shape = shape, .axis = a};
        memcpy(p.n, shape, sizeof p.n);
        const uint64_t workers = floe_min64(cpu->threads, floe_wavelet_ntasks(&p)), reals = floe_wavelet_task_reals(&p);
        p.n[a] = floe_min64(p.n[a], FLOE_WAVELET_SHORT);
        most = floe_max64(most, workers * floe_max64(reals, floe_wavelet_task_reals(&p)));
    }
    return most;
}

typedef struct lifting {
    const floe_wavelet_bands *b;
    const floe_wavelet_pass *pass;
} lifting;

static void lift_task(void *arg, uint64_t i, uint32_t worker)
{
    const lifting *l = arg;
    l->b->ops->lift(l->pass, i, l->b->lines + worker * floe_wavelet_task_reals(l->pass) * l->b->size);
}

static void run_pass(const floe_wavelet_bands *b, const floe_wavelet_pass *p)
{
    lifting l = {b, p};
    const uint64_t ntasks = floe_wavelet_ntasks(p);
    floe_cpu cpu = *b->cpu;
    cpu.threads = (uint32_t)floe_min64(cpu.threads, ntasks);
    floe_cpu_parallel(&cpu, ntasks, lift_task, &l);
}

bool floe_wavelet_packet_step(const floe_wavelet_plan *p, uint32_t k, floe_lattice_step *s)
{
    *s = (floe_lattice_step){.naxes = 1, .axis = {floe_lattice_slowest(p->shape)}};
    memcpy(s->coarse, p->shape, sizeof s->coarse);
    for (uint32_t i = 0; i <= k; i++) {
        memcpy(s->fine, s->coarse, sizeof s->fine);
        floe_lattice_coarsen(s);
    }
    return k < p->packet && s->fine[s->axis[0]] > 1;
}

void floe_wavelet_step_do(const floe_wavelet_bands *b, const floe_lattice_step *s)
{
    const floe_lattice_box all = floe_wavelet_whole(s->fine);
    for (uint32_t k = s->naxes; k-- > 0;) {
        const floe_wavelet_pass p = pass_of(b, s, k, &all, false);
        run_pass(b, &p);
    }
}

void floe_wavelet_step_needed(const floe_wavelet_bands *b, const floe_lattice_step *s, const floe_lattice_box *wanted,
                              floe_lattice_box *means, floe_lattice_box *cells)
{
    *means = *cells = *wanted;
    for (uint32_t k = 0; k < s->naxes; k++) {
        const uint32_t a = s->axis[k];
        const floe_wavelet_pass p = pass_of(b, s, k, wanted, true);
        const floe_wavelet_span span = b->ops->needed(&p);
        means->lo[a] = (uint64_t)span.lo[0];
        means->hi[a] = (uint64_t)span.hi[0];
        cells->lo[a] = floe_min64(means->lo[a], (uint64_t)span.lo[1]);
        cells->hi[a] = floe_max64(means->hi[a], (uint64_t)span.hi[1]);
    }
}

/* Axes that come later have means and details yet, which lie apart. */
void floe_wavelet_step_undo(const floe_wavelet_bands *b, const floe_lattice_step *s, const floe_lattice_box *wanted)
{
    const floe_lattice_box all = floe_wavelet_whole(s->fine);
    floe_lattice_box means, cells;
    wanted = wanted ? wanted : &all;
    floe_wavelet_step_needed(b, s, wanted, &means, &cells);
    for (uint32_t k = 0; k < s->naxes; k++)
        for (uint32_t part = 0; part < 1u << (s->naxes - 1 - k); part++) {
            floe_lattice_box box = *wanted;
            for (uint32_t l = k + 1; l < s->naxes; l++) {
                const uint32_t a = s->axis[l];
                const bool odd = part >> (l - k - 1) & 1;
                box.lo[a] = odd ? s->coarse[a] + cells.lo[a] : means.lo[a];
                box.hi[a] = odd ? floe_min64(s->coarse[a] + cells.hi[a], s->fine[a]) : means.hi[a];
            }
            const floe_wavelet_pass p = pass_of(b, s, k, &box, true);
            run_pass(b, &p);
        }
}

/* ---- rows of codes ----------------------------------------------------------------------------------------------------- */

typedef struct coding {
    const floe_wavelet_bands *b;
    const floe_wavelet_coding *c;
    void *records;
    floe_lattice_box cells;
    floe_wavelet_means *means; /* encode */
    double *largest;           /* of each worker: then nothing but that */
} coding;

/* Details of a class along row at[] of cells. False where there are none. */
static bool class_row(const coding *k, const uint64_t *at, uint32_t class, floe_wavelet_codes *codes)
{
    const floe_lattice_step *s = &k->c->step;
    const uint64_t *shape = k->b->shape;
    uint64_t begin = 0, count = 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        const uint32_t place = floe_lattice_place(s, a);
        const bool odd = place < s->naxes && class >> place & 1;
        count = odd ? s->fine[a] - s->coarse[a] : s->coarse[a];
        if (a < 3 && at[a] >= count)
            return false;
        begin = begin * shape[a] + (odd ? s->coarse[a] : 0) + (a < 3 ? at[a] : 0);
    }
    if (count <= k->cells.lo[3])
        return false;
    codes->values = k->b->array + (begin + k->cells.lo[3]) * k->b->size;
    codes->count = floe_min64(count, k->cells.hi[3]) - k->cells.lo[3];
    return true;
}

static int32_t row_exponent(const floe_wavelet_plan *p, const uint64_t *at)
{
    return p->packet ? p->packet_exponent[floe_wavelet_packet_band(p, at[floe_lattice_slowest(p->shape)])] : 0;
}

static void codes_row(const coding *k, uint64_t number, floe_wavelet_means *means, double *largest)
{
    const floe_lattice_step *s = &k->c->step;
    uint64_t at[FLOE_LATTICE_RANK];
    floe_lattice_box_row(&k->cells, number, at);
    const uint64_t row = floe_lattice_row(s->coarse, at), x = at[3] << s->naxes;
    const int32_t exponent = row_exponent(k->b->plan, at);
    floe_wavelet_codes codes = {.width = s->width, .apart = 1u << s->naxes};
    for (int i = 0; i < FLOE_WAVELET_SHIFTS; i++)
        codes.shift[i] = k->c->shift[i];
    for (uint32_t class = 1; class < codes.apart; class ++) {
        if (!class_row(k, at, class, &codes))
            continue;
        codes.step = floe_wavelet_step_of(k->b->plan->base, exponent + k->c->exponent[class]);
        if (k->largest) {
            const double most = k->b->ops->largest(codes.values, codes.count) / codes.step;
            *largest = most > *largest ? most : *largest;
            continue;
        }
        codes.codes = (uint8_t *)k->records + (row * floe_lattice_row_records(s) * 8 + x + class - 1) * s->width;
        if (k->means)
            k->b->ops->encode(&codes, means);
        else
            k->b->ops->decode(&codes);
    }
}

enum { TASK_ROWS = 16 };

static void codes_task(void *arg, uint64_t i, uint32_t worker)
{
    const coding *k = arg;
    const uint64_t nrows = floe_lattice_box_rows(&k->cells);
    floe_wavelet_means means = {{0}, {0}}; /* those of another worker may be in the same line of cache */
    double largest = 0;
    for (uint64_t row = i * TASK_ROWS; row < nrows && row < (i + 1) * TASK_ROWS; row++)
        codes_row(k, row, &means, &largest);
    for (int s = 0; s < FLOE_WAVELET_SHIFTS && k->means; s++) {
        k->means[worker].sum[s] += means.sum[s];
        k->means[worker].count[s] += means.count[s];
    }
    if (k->largest && largest > k->largest[worker])
        k->largest[worker] = largest;
}

static void run_codes(const coding *k)
{
    floe_cpu_parallel(k->b->cpu, floe_ceil_div(floe_lattice_box_rows(&k->cells), TASK_ROWS), codes_task, (void *)k);
}

void floe_wavelet_codes_do(const floe_wavelet_bands *b, uint32_t i, void *records, const floe_lattice_box *cells,
                           floe_wavelet_means *means)
{
    const floe_wavelet_coding *c = &b->plan->steps[i];
    const coding k = {b, c, records, cells ? *cells : floe_wavelet_whole(c->step.coarse), means, NULL};
    run_codes(&k);
}

double floe_wavelet_largest(const floe_wavelet_bands *b, uint32_t i)
{
    double largest[FLOE_CPU_MAX_THREADS] = {0}, most = 0;
    const floe_wavelet_coding *c = &b->plan->steps[i];
    const coding k = {b, c, NULL, floe_wavelet_whole(c->step.coarse), NULL, largest};
    run_codes(&k);
    for (uint32_t w = 0; w < b->cpu->threads; w++)
        most = largest[w] > most ? largest[w] : most;
    return most;
}

/* ---- anchors ----------------------------------------------------------------------------------------------------------- */

/* The step of a row of anchors, and where the row is; NULL: not in the array, of which a level may lack bands of the packet. */
static double anchor_row(const floe_wavelet_bands *b, uint64_t row, uint8_t **to)
{
    const uint64_t *m = floe_wavelet_anchors(b->plan), *n = b->shape;
    const uint64_t at[] = {row / m[2] / m[1], row / m[2] % m[1], row % m[2]};
    const bool there = at[0] < n[0] && at[1] < n[1] && at[2] < n[2];
    *to = there ? b->array + floe_lattice_row(n, at) * n[3] * b->size : NULL;
    return floe_wavelet_step_of(b->plan->base, row_exponent(b->plan, at) + b->plan->anchor_exponent);
}

void floe_wavelet_anchors_decode(const floe_wavelet_bands *b, const floe_wavelet_anchors_code *c)
{
    const uint64_t *m = floe_wavelet_anchors(b->plan);
    const bool narrow = b->size == sizeof(float);
    for (uint64_t row = 0; row < m[0] * m[1] * m[2]; row++) {
        uint8_t *at;
        const double step = anchor_row(b, row, &at);
        for (uint64_t x = 0; at && x < m[3]; x++) {
            const double v = floe_wavelet_anchor_real(
                floe_wavelet_anchor_get(c->bits, c->nbits, c->least, row * m[3] + x), step, narrow);
            floe_wavelet_real_set(at, narrow, x, v);
        }
    }
}

static int64_t whole(const floe_wavelet_bands *b, const uint8_t *at, uint64_t x, double inverse)
{
    return floe_wavelet_anchor_whole(floe_wavelet_real_at(at, b->size == sizeof(float), x), inverse);
}

bool floe_wavelet_anchors_encode(const floe_wavelet_bands *b, uint8_t *bits, floe_wavelet_anchors_code *c)
{
    const uint64_t *m = floe_wavelet_anchors(b->plan), nrows = m[0] * m[1] * m[2];
    int64_t largest = INT64_MIN;
    uint8_t *at;
    c->bits = bits;
    c->least = INT64_MAX;
    for (uint64_t row = 0; row < nrows; row++) {
        const double inverse = 1 / anchor_row(b, row, &at);
        for (uint64_t x = 0; x < m[3]; x++) {
            const int64_t q = whole(b, at, x, inverse);
            c->least = q < c->least ? q : c->least;
            largest = q > largest ? q : largest;
        }
    }
    c->nbits = largest > c->least ? floe_top_bit((uint64_t)(largest - c->least)) + 1 : 0;
    if (c->nbits > 8 * b->size)
        return false;
    memset(bits, 0, floe_ceil_div(nrows * m[3] * c->nbits, 8));
    for (uint64_t row = 0, bit = 0; row < nrows; row++) {
        const double inverse = 1 / anchor_row(b, row, &at);
        for (uint64_t x = 0; x < m[3]; x++, bit += c->nbits)
            floe_wavelet_bits_put(bits, bit, c->nbits, (uint64_t)(whole(b, at, x, inverse) - c->least));
    }
    return true;
}
