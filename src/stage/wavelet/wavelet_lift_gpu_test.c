/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage wavelet on a GPU: passes, codes, what they are off, and the way back are those of the CPU, whatever the extents. */
#include "tests/gpu/gpu_kit.h"
#include "tests/hostile_kit.h"

#include "codec/wavelet/wavelet_bands.h"
#include "stage/wavelet/wavelet_cuda.h"

enum { MOST = 70, LARGEST = 300, LONGEST = 9000 /* of one more extent */ };

typedef struct sample {
    floe_dtype dtype;
    uint64_t shape[FLOE_LATTICE_RANK], fine[FLOE_LATTICE_RANK];
    uint32_t naxes, axis[FLOE_LATTICE_AXES], packet;
    floe_wavelet_bank bank;
    bool one_sided;
} sample;

/* An array, and the two of a GPU. */
typedef struct arrays {
    uint64_t nbytes;
    void *host, *got, *dev[2], *status;
} arrays;

static arrays arrays_of(const sample *s, uint64_t seed)
{
    const uint64_t size = floe_dtype_size(s->dtype), count = floe_lattice_points(s->shape);
    arrays a = {.nbytes = count * size};
    uint64_t state = seed;
    a.host = malloc(a.nbytes);
    a.got = malloc(a.nbytes);
    for (uint64_t i = 0; i < count; i++)
        hostile_put(s->dtype, a.host, (int64_t)i,
                    hostile_bits(s->dtype, sin((double)i * 0.07) * 3 + hostile_uniform(&state) - 0.5));
    for (int k = 0; k < 2; k++) {
        CU(cudaMalloc(&a.dev[k], a.nbytes));
        CU(cudaMemcpy(a.dev[k], a.host, a.nbytes, cudaMemcpyHostToDevice));
    }
    CU(cudaMalloc(&a.status, 4));
    CU(cudaMemset(a.status, 0, 4));
    return a;
}

static void arrays_free(arrays *a)
{
    for (int k = 0; k < 2; k++)
        CU(cudaFree(a->dev[k]));
    CU(cudaFree(a->status));
    free(a->host);
    free(a->got);
}

/* What lies beside the box is as it was, in both. */
static void compare(const sample *s, arrays *a, uint32_t at, const char *what)
{
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(a->got, a->dev[at], a->nbytes, cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < a->nbytes; i++)
        if (((uint8_t *)a->got)[i] != ((uint8_t *)a->host)[i])
            fail_msg("%s: bank %d, axis %u of %llu points, ends %d: value %llu", what, (int)s->bank, s->axis[0],
                     (unsigned long long)s->fine[s->axis[0]], s->one_sided,
                     (unsigned long long)(i / floe_dtype_size(s->dtype)));
}

static floe_wavelet_bands bands_of(const sample *s, const floe_cpu *cpu, const floe_wavelet_plan *plan, void *array)
{
    return floe_wavelet_bands_of(cpu, s->dtype, plan, array, malloc(8 * floe_wavelet_line_reals(cpu, s->shape)));
}

static void lift(const sample *s, const floe_wavelet_dev_lift *l, uint32_t *at)
{
    CU(s->dtype == FLOE_F32 ? floe_wavelet_lift_f32(l, at, NULL) : floe_wavelet_lift_f64(l, at, NULL));
}

static void codes(const sample *s, const floe_wavelet_dev_codes *c, int what)
{
    static int (*const narrow[])(const floe_wavelet_dev_codes *, uint32_t, void *) = {
        floe_wavelet_largest_f32, floe_wavelet_encode_codes_f32, floe_wavelet_decode_codes_f32};
    static int (*const wide[])(const floe_wavelet_dev_codes *, uint32_t, void *) = {
        floe_wavelet_largest_f64, floe_wavelet_encode_codes_f64, floe_wavelet_decode_codes_f64};
    CU((s->dtype == FLOE_F32 ? narrow : wide)[what](c, 1, NULL));
}

/* Codes of the details of step i; the array becomes what they stand for. */
static void code(const sample *s, const floe_wavelet_bands *b, arrays *a, uint32_t at, uint32_t i, bool in_place)
{
    floe_wavelet_coding *k = &((floe_wavelet_plan *)(uintptr_t)b->plan)->steps[i];
    floe_wavelet_coding_lay(k);
    const uint64_t nbytes = floe_wavelet_records_nbytes(k), nrecords = nbytes / floe_context_record_nbytes(&k->spec);
    floe_wavelet_dev_codes c = {
        .array = a->dev[at], .in_place = in_place, .step = k->step, .nrecords = nrecords, .nbands = 1};
    c.status = a->status;
    for (uint32_t before = 0; before < i; before++)
        for (uint32_t n = 0; n < b->plan->steps[before].step.naxes; n++)
            c.depth[b->plan->steps[before].step.axis[n]]++;
    struct {
        double largest;
        unsigned long long cuts;
        floe_wavelet_means means;
    } out = {.largest = in_place ? 0 : floe_wavelet_largest(b, i)}, got, *dev;
    uint8_t *records = calloc(1, nbytes), *from = malloc(nbytes);
    memcpy(c.shape, s->shape, sizeof c.shape);
    CU(cudaMalloc((void **)&dev, sizeof *dev));
    CU(cudaMemset(dev, 0, sizeof *dev));
    CU(cudaMalloc(&c.records, nbytes));
    CU(cudaMemset(c.records, 0xEE, nbytes));
    c.largest = (unsigned long long *)(void *)&dev->largest;
    c.means = &dev->means;
    if (s->packet) {
        c.axis = floe_lattice_slowest(s->shape);
        c.nbands = s->packet + 1;
        for (uint64_t z = s->shape[c.axis]; z-- > 0;)
            c.begin[floe_wavelet_packet_band(b->plan, z)] = z;
    }
    for (uint32_t band = 0; band < c.nbands; band++)
        for (uint32_t class = 1; class < 1u << k->step.naxes; class ++)
            c.steps[band][class] = floe_wavelet_step_of(
                b->plan->base, k->exponent[class] + (s->packet ? b->plan->packet_exponent[band] : 0));
    floe_wavelet_codes_do(b, i, records, NULL, &out.means);
    for (uint64_t n = 0; n < nbytes / k->step.width; n++) {
        const int32_t code = k->step.width == 1 ? (int8_t)records[n] : ((const int16_t *)(const void *)records)[n];
        out.cuts += abs(code) == (k->step.width == 1 ? INT8_MAX : INT16_MAX);
    }
    if (!in_place)
        codes(s, &c, 0);
    c.largest = &dev->cuts;
    codes(s, &c, 1);
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&got, dev, sizeof got, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(from, c.records, nbytes, cudaMemcpyDeviceToHost));
    assert_true(memcmp(&got, &out, sizeof out) == 0);
    assert_true(memcmp(from, records, nbytes) == 0);
    for (int n = 0; n < FLOE_WAVELET_SHIFTS; n++)
        k->shift[n] = (int8_t)floe_wavelet_shift_of(out.means.sum[n], out.means.count[n]);
    floe_wavelet_codes_do(b, i, records, NULL, NULL);
    codes(s, &c, 2);
    if (!in_place)
        compare(s, a, at, "details of codes");
    CU(cudaFree(dev));
    CU(cudaFree(c.records));
    free(records);
    free(from);
}

static void a_step(const sample *s, uint64_t seed)
{
    const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
    floe_wavelet_plan *plan = calloc(1, sizeof *plan);
    floe_wavelet_coding *k = &plan->steps[0];
    arrays a = arrays_of(s, seed);
    uint32_t at = seed % 2;
    memcpy(plan->shape, s->shape, sizeof plan->shape);
    plan->bank = s->bank;
    plan->one_sided = s->one_sided ? 15 : 0;
    plan->nsteps = 1;
    plan->packet = s->packet;
    plan->base = 0.01;
    for (int i = 0; i < FLOE_LATTICE_CLASSES; i++)
        plan->packet_exponent[i] = (int8_t)(3 * i), k->exponent[i] = (int8_t)(-5 * i);
    k->step = (floe_lattice_step){.naxes = s->naxes, .width = 2};
    memcpy(k->step.axis, s->axis, sizeof k->step.axis);
    memcpy(k->step.fine, s->fine, sizeof k->step.fine);
    floe_lattice_coarsen(&k->step);
    const floe_wavelet_bands b = bands_of(s, &cpu, plan, a.host);
    floe_wavelet_dev_lift l = {
        .array = {a.dev[0], a.dev[1]}, .step = k->step, .bank = s->bank, .one_sided = plan->one_sided};
    memcpy(l.shape, s->shape, sizeof l.shape);
    l.status = a.status;
    floe_wavelet_step_do(&b, &k->step);
    lift(s, &l, &at);
    compare(s, &a, at, "means and details");
    for (k->step.width = 2; k->step.width > 0; k->step.width--) /* of one byte, where they fit */
        code(s, &b, &a, at, 0, false);
    l.inverse = true;
    floe_wavelet_step_undo(&b, &k->step, NULL);
    lift(s, &l, &at);
    compare(s, &a, at, "values");
    assert_int_equal(at, seed % 2);
    arrays_free(&a);
    free(b.lines);
    free(plan);
}

static const floe_dtype dtypes[] = {FLOE_F32, FLOE_F64};

/* Along an axis, or along one and the last, which a pass does both, in a box of a larger array. */
static void every_extent(void **unused)
{
    uint64_t turn = 0;
    (void)unused;
    for (int bank = 0; bank < FLOE_WAVELET_BANKS; bank++)
        for (uint64_t n = 2; n <= MOST; n += (uint64_t)(is_watched() ? 11 : few_in(3)))
            for (int ends = 0; ends <= floe_wavelet_interpolates((floe_wavelet_bank)bank); ends++)
                for (int k = 0; k < 2; k++, turn++) {
                    const uint32_t way = (uint32_t)(turn % 7);
                    sample s = {.dtype = dtypes[turn % 2], .shape = {2, 3, 2, 7}, .fine = {2, 2, 1, 6}, .naxes = 1};
                    s.axis[0] = way % 4;
                    s.bank = (floe_wavelet_bank)bank;
                    s.one_sided = ends;
                    s.fine[s.axis[0]] = n;
                    s.shape[s.axis[0]] = n + turn % 3;
                    if (way > 3) {
                        s.axis[s.naxes++] = 3;
                        s.fine[3] = 2 + (turn % 4 ? turn % 9 : 5 * turn % (MOST - 1));
                        s.shape[3] = s.fine[3] + turn / 2 % 2;
                    }
                    a_step(&s, turn);
                }
}

/* Several axes, rows of several strips, of lanes that share a warp; packets. */
static void several_axes(void **unused)
{
    static const sample samples[] = {
        {FLOE_F32, {1, 9, 22, 61}, {1, 9, 22, 61}, 3, {1, 2, 3}, 0, FLOE_WAVELET_DD66, true},
        {FLOE_F64, {3, 8, 17, 131}, {3, 8, 17, 131}, 3, {1, 2, 3}, 0, FLOE_WAVELET_97, false},
        {FLOE_F32, {7, 6, 5, 13}, {7, 6, 5, 13}, 3, {0, 1, 3}, 0, FLOE_WAVELET_84, false},
        {FLOE_F64, {5, 7, 11, 18}, {5, 7, 11, 18}, 2, {3, 1}, 0, FLOE_WAVELET_DD84, true},
        {FLOE_F32, {1, 41, 13, 37}, {1, 41, 13, 37}, 2, {2, 3}, 3, FLOE_WAVELET_DD64, false},
        {FLOE_F64, {1, 1, 23, 90}, {1, 1, 23, 90}, 1, {3}, 2, FLOE_WAVELET_DD44, true},
        {FLOE_F32, {1, 1, 1, 4001}, {1, 1, 1, 4001}, 1, {3}, 0, FLOE_WAVELET_DD66, true},
        {FLOE_F64, {1, 1, 1, 3000}, {1, 1, 1, 2999}, 1, {3}, 0, FLOE_WAVELET_HAAR, false},
        {FLOE_F32, {1, 1, 701, 35}, {1, 1, 701, 34}, 2, {2, 3}, 0, FLOE_WAVELET_DD84, false},
        {FLOE_F32, {1, 3, 2, 2}, {1, 3, 2, 2}, 3, {1, 2, 3}, 0, FLOE_WAVELET_53, true},
        {FLOE_F32, {2, 5, 81, 140}, {2, 5, 81, 139}, 1, {1}, 0, FLOE_WAVELET_97, false},
        {FLOE_F64, {2, 81, 140, 5}, {2, 81, 140, 5}, 1, {3}, 0, FLOE_WAVELET_DD44, true},
    };
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(samples); i++)
        a_step(&samples[i], i);
}

/* Lines of several segments, which end near the end of one: each bank needs as many points around as it ever does. Those of the longest
 * are longer. */
static void ends_of_segments(void **unused)
{
    uint64_t turn = 0;
    (void)unused;
    for (int bank = 0; bank < FLOE_WAVELET_BANKS; bank++)
        for (uint64_t n = 120; n <= LARGEST; n += 3 * (uint64_t)few_in(5), turn++) {
            sample s = {.dtype = FLOE_F32, .shape = {1, 1, 1, 1}, .naxes = 1, .bank = (floe_wavelet_bank)bank};
            s.axis[0] = turn % 3 ? 1 : 3;
            s.shape[s.axis[0]] = n;
            if (turn % 3 == 1) {
                s.axis[s.naxes++] = 3;
                s.shape[3] = n % 8 ? 3 : 40 + n % 50;
            }
            if (n == LARGEST) {
                s.axis[0] = 1;
                s.shape[1] = LONGEST - turn % 2;
            }
            s.one_sided = turn / 3 % 2 && floe_wavelet_interpolates(s.bank);
            memcpy(s.fine, s.shape, sizeof s.fine);
            a_step(&s, turn);
        }
}

/* ---- points in their places --------------------------------------------------------------------------------------------- */

static void lift_places(const sample *s, const floe_wavelet_dev_places *p)
{
    CU(s->dtype == FLOE_F32 ? floe_wavelet_lift_places_f32(p, NULL) : floe_wavelet_lift_places_f64(p, NULL));
}

static void add_pass(floe_wavelet_dev_place *to, const uint8_t *depth, uint32_t axis)
{
    floe_wavelet_dev_pass_at *pass = &to->pass[to->npasses++];
    pass->axis = (uint8_t)axis;
    memcpy(pass->depth, depth, sizeof pass->depth);
}

/* Packet and steps of a plan. */
static void add_passes(const floe_wavelet_plan *plan, floe_wavelet_dev_place *to)
{
    uint8_t depth[FLOE_LATTICE_RANK] = {0};
    floe_lattice_step packet;
    for (uint32_t k = 0; floe_wavelet_packet_step(plan, k, &packet); k++) {
        add_pass(to, depth, packet.axis[0]);
        depth[packet.axis[0]]++;
    }
    memset(depth, 0, sizeof depth);
    for (uint32_t i = 0; i < plan->nsteps; i++) {
        const floe_lattice_step *s = &plan->steps[i].step;
        for (uint32_t k = s->naxes; k-- > 0;)
            add_pass(to, depth, s->axis[k]);
        for (uint32_t k = 0; k < s->naxes; k++)
            depth[s->axis[k]]++;
    }
}

static void lift_host(const floe_wavelet_bands *b, bool inverse)
{
    const floe_wavelet_plan *plan = b->plan;
    const uint32_t n = plan->packet + plan->nsteps;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = inverse ? n - 1 - i : i;
        floe_lattice_step step;
        if (k >= plan->packet)
            step = plan->steps[k - plan->packet].step;
        else if (!floe_wavelet_packet_step(plan, k, &step))
            continue;
        if (inverse)
            floe_wavelet_step_undo(b, &step, NULL);
        else
            floe_wavelet_step_do(b, &step);
    }
}

/* Arrays of one shape, with all steps that they have; each has a bank and a packet of its own. */
static void all_steps(const sample *s, uint64_t seed)
{
    enum { ARRAYS = 3 };
    const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
    floe_wavelet_plan *plans = calloc(ARRAYS, sizeof *plans);
    floe_wavelet_dev_places p = {.n = ARRAYS};
    floe_wavelet_bands b[ARRAYS];
    arrays a[ARRAYS];
    memcpy(p.shape, s->shape, sizeof p.shape);
    for (uint32_t k = 0; k < ARRAYS; k++) {
        const uint32_t slowest = floe_lattice_slowest(s->shape), packet = (s->packet + k) % 4;
        const bool stack = slowest < FLOE_LATTICE_RANK - 1 && s->shape[slowest] >> packet > 1;
        const floe_wavelet_bank bank = (floe_wavelet_bank)((s->bank + k) % FLOE_WAVELET_BANKS);
        const floe_wavelet_structure way = {.bank = bank,
                                            .one_sided = s->one_sided && floe_wavelet_interpolates(bank) ? 13 : 0,
                                            .packet = stack ? packet : 0,
                                            .theta = 10};
        floe_wavelet_plan_of(s->shape, &way, &plans[k]);
        plans[k].base = 0.01;
        a[k] = arrays_of(s, seed + k);
        b[k] = bands_of(s, &cpu, &plans[k], a[k].host);
        p.at[k] = (floe_wavelet_dev_place){.array = a[k].dev[0], .bank = bank, .one_sided = plans[k].one_sided};
        if (k != seed % ARRAYS) { /* the others begin with another array */
            p.at[k].from = a[k].dev[1];
            CU(cudaMemset(a[k].dev[0], 0x5A, a[k].nbytes));
        }
        add_passes(&plans[k], &p.at[k]);
    }
    p.status = a[0].status;
    lift_places(s, &p);
    for (uint32_t k = 0; k < ARRAYS; k++) {
        const sample own = {.dtype = s->dtype,
                            .shape = {s->shape[0], s->shape[1], s->shape[2], s->shape[3]},
                            .packet = plans[k].packet};
        p.at[k].from = NULL;
        lift_host(&b[k], false);
        for (uint32_t i = 0; i < plans[k].nsteps; i++)
            code(&own, &b[k], &a[k], 0, i, true);
        lift_host(&b[k], true);
    }
    p.inverse = true;
    lift_places(s, &p);
    for (uint32_t k = 0; k < ARRAYS; k++) {
        compare(s, &a[k], 0, "values of all steps");
        arrays_free(&a[k]);
        free(b[k].lines);
    }
    free(plans);
}

static void points_in_their_places(void **unused)
{
    static const sample samples[] = {
        {FLOE_F32, {1, 9, 22, 61}, {0}, 0, {0}, 0, FLOE_WAVELET_DD44, true},
        {FLOE_F64, {3, 8, 17, 31}, {0}, 0, {0}, 1, FLOE_WAVELET_97, true},
        {FLOE_F32, {7, 6, 5, 13}, {0}, 0, {0}, 0, FLOE_WAVELET_HAAR, false},
        {FLOE_F64, {1, 5, 11, 18}, {0}, 0, {0}, 2, FLOE_WAVELET_DD66, true},
        {FLOE_F32, {1, 1, 23, 90}, {0}, 0, {0}, 0, FLOE_WAVELET_DD84, false},
        {FLOE_F32, {1, 1, 1, 9001}, {0}, 0, {0}, 0, FLOE_WAVELET_DD66, true},
        {FLOE_F64, {1, 1, 130, 70}, {0}, 0, {0}, 1, FLOE_WAVELET_53, true},
        {FLOE_F32, {1, 1, 2, 5}, {0}, 0, {0}, 0, FLOE_WAVELET_DD64, true},
        {FLOE_F32, {1, 1, 1, 3}, {0}, 0, {0}, 0, FLOE_WAVELET_84, true},
        {FLOE_F32, {1, 17, 33, 41}, {0}, 0, {0}, 3, FLOE_WAVELET_84, true},
        /* Two points of a row take the room of three. Parts are so large where there are at most 20 processors. */
        {FLOE_F32, {1, 7, 4000, 6}, {0}, 0, {0}, 0, FLOE_WAVELET_DD66, true},
    };
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(samples); i++)
        all_steps(&samples[i], i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_extent), cmocka_unit_test(several_axes),
                                       cmocka_unit_test(ends_of_segments), cmocka_unit_test(points_in_their_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
