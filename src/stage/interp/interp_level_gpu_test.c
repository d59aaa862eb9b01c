/* SPDX-License-Identifier: BSD-3-Clause */
/* A step of stage interp on a GPU: codes, the lattice, what is apart, and the way back are those of the CPU, whatever its axes. */
#include "tests/gpu/gpu_kit.h"
#include "tests/hostile_kit.h"

#include "field/dtype_math.h"
#include "stage/interp/interp.h"
#include "stage/interp/interp_cuda.h"

#define FILL 1e9

typedef struct sample {
    floe_dtype dtype;
    uint64_t fine[FLOE_LATTICE_RANK];
    uint32_t naxes, axis[FLOE_LATTICE_AXES], predictor, width;
    bool mean, log, last, squares;
} sample;

static const sample samples[] = {
    {FLOE_F32, {1, 20, 38, 256}, 3, {1, 2, 3}, FLOE_INTERP_NATURAL, 1, false, false, true, false},
    {FLOE_F64, {2, 14, 20, 140}, 3, {1, 2, 3}, FLOE_INTERP_NOT_A_KNOT, 1, false, false, true, false},
    {FLOE_F32, {1, 9, 22, 61}, 3, {1, 2, 3}, FLOE_INTERP_NATURAL, 1, false, false, true, false},
    {FLOE_F32, {3, 8, 17, 128}, 3, {1, 2, 3}, FLOE_INTERP_NOT_A_KNOT, 2, false, false, false, false},
    {FLOE_F64, {2, 19, 18, 64}, 3, {1, 2, 3}, FLOE_INTERP_LINEAR, 1, false, false, true, false},
    {FLOE_F64, {1, 40, 9, 131}, 3, {1, 2, 3}, FLOE_INTERP_NATURAL, 2, false, false, false, false},
    {FLOE_F32, {1, 9, 22, 37}, 3, {1, 2, 3}, FLOE_INTERP_NATURAL, 1, true, false, true, false},
    {FLOE_F64, {4, 9, 12, 37}, 3, {3, 0, 2}, FLOE_INTERP_NOT_A_KNOT, 2, true, false, false, false},
    {FLOE_F32, {5, 7, 11, 18}, 2, {3, 1}, FLOE_INTERP_NATURAL, 2, true, true, true, false},
    {FLOE_F32, {5, 6, 13, 9}, 2, {0, 2}, FLOE_INTERP_LINEAR, 1, false, false, true, false},
    {FLOE_F64, {1, 1, 3, 700}, 1, {3}, FLOE_INTERP_NATURAL, 1, false, false, true, false},
    {FLOE_F32, {6, 70, 2, 5}, 1, {1}, FLOE_INTERP_NOT_A_KNOT, 2, false, true, false, false},
    {FLOE_F32, {1, 2, 2, 2}, 3, {1, 2, 3}, FLOE_INTERP_NATURAL, 1, false, false, true, false},
    {FLOE_F32, {1, 33, 5, 4}, 3, {2, 3, 1}, FLOE_INTERP_NATURAL, 1, false, false, false, false},
    {FLOE_F64, {2, 30, 35, 67}, 3, {1, 3, 2}, FLOE_INTERP_NATURAL, 1, true, false, true, false},
    {FLOE_F32, {1, 31, 34, 66}, 3, {3, 1, 2}, FLOE_INTERP_NOT_A_KNOT, 2, true, false, true, true},
    {FLOE_F32, {2, 21, 33, 65}, 3, {3, 2, 1}, FLOE_INTERP_NATURAL, 2, false, true, true, false},
    {FLOE_F32, {1, 37, 40, 128}, 3, {1, 2, 3}, FLOE_INTERP_NATURAL, 2, true, true, true, false},
    {FLOE_F32, {2, 37, 20, 90}, 3, {1, 2, 3}, FLOE_INTERP_NATURAL, 1, false, false, true, true},
    {FLOE_F32, {1, 16, 34, 127}, 2, {1, 2}, FLOE_INTERP_NATURAL, 1, false, false, true, false},
    {FLOE_F32, {1, 45, 34, 128}, 2, {1, 2}, FLOE_INTERP_NATURAL, 1, true, false, false, false},
    {FLOE_F64, {1, 1, 150, 77}, 2, {2, 3}, FLOE_INTERP_NATURAL, 1, false, false, true, true},
    {FLOE_F64, {3, 70, 2, 130}, 1, {1}, FLOE_INTERP_LINEAR, 1, false, false, true, true},
    {FLOE_F32, {9, 12, 15, 3}, 3, {0, 1, 2}, FLOE_INTERP_NATURAL, 1, true, false, true, false},
    {FLOE_F64, {7, 17, 13, 5}, 3, {2, 0, 1}, FLOE_INTERP_NATURAL, 2, false, false, true, false},
    {FLOE_F32, {1, 2, 47, 90}, 2, {2, 3}, FLOE_INTERP_NATURAL, 1, false, false, true, false},
    {FLOE_F32, {3, 31, 2, 62}, 2, {1, 3}, FLOE_INTERP_NATURAL, 2, true, false, false, false},
    {FLOE_F64, {1, 39, 29, 33}, 2, {2, 1}, FLOE_INTERP_NOT_A_KNOT, 1, true, false, true, false},
    {FLOE_F32, {1, 35, 31, 7}, 2, {1, 2}, FLOE_INTERP_NATURAL, 2, false, true, true, false},
    {FLOE_F32, {1, 3, 67, 70}, 1, {2}, FLOE_INTERP_NATURAL, 1, false, false, false, false},
    {FLOE_F32, {1, 1, 1, 1999}, 1, {3}, FLOE_INTERP_NATURAL, 2, false, true, true, false},
    {FLOE_F64, {1, 1, 2, 3}, 2, {2, 3}, FLOE_INTERP_NATURAL, 1, true, false, true, false},
    /* so many columns that they are long */
    {FLOE_F32, {50, 18, 17, 9}, 3, {1, 2, 3}, FLOE_INTERP_NATURAL, 1, false, false, false, false},
};

/* Memory that both machines have. */
typedef struct twin {
    void *host, *dev;
    uint64_t nbytes;
} twin;

static twin twin_of(uint64_t nbytes)
{
    twin t = {calloc(1, nbytes), NULL, nbytes};
    CU(cudaMalloc(&t.dev, nbytes));
    CU(cudaMemset(t.dev, 0, nbytes));
    return t;
}
static void twin_send(const twin *t) { CU(cudaMemcpy(t->dev, t->host, t->nbytes, cudaMemcpyHostToDevice)); }
static void twin_check(const twin *t, const char *what)
{
    uint8_t *got = malloc(t->nbytes);
    CU(cudaMemcpy(got, t->dev, t->nbytes, cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < t->nbytes; i++)
        if (got[i] != ((const uint8_t *)t->host)[i])
            fail_msg("%s: byte %llu of %llu", what, (unsigned long long)i, (unsigned long long)t->nbytes);
    free(got);
}
static void twin_free(twin *t)
{
    CU(cudaFree(t->dev));
    free(t->host);
}

/* Smooth but for some noise: points of the lattice of this shape, which lie so far apart in the field. One of `every` is anything. */
static void fill(const sample *s, const twin *t, const uint64_t *shape, const uint64_t *far, uint64_t seed,
                 uint64_t every)
{
    uint64_t state = seed;
    for (uint64_t i = 0; i < t->nbytes / floe_dtype_size(s->dtype); i++) {
        uint64_t at[FLOE_LATTICE_RANK], bits;
        floe_lattice_point_of(shape, i, at);
        const double place = 0.11 * (double)(at[3] * far[3]) + 0.07 * (double)(at[2] * far[2]) +
                             0.05 * (double)(at[1] * far[1]) + (double)(at[0] * far[0]);
        bits = hostile_bits(s->dtype, sin(place) * 3 + hostile_uniform(&state) * 0.02);
        if (every && hostile_below(&state, every) == 0)
            bits = hostile_below(&state, 3) ? hostile_special(s->dtype, hostile_random(&state))
                                            : hostile_bits(s->dtype, FILL);
        if (every && !s->last && !isfinite(hostile_value(s->dtype, bits))) /* clean already */
            bits = hostile_bits(s->dtype, NAN);
        hostile_put(s->dtype, t->host, (int64_t)i, bits);
    }
    twin_send(t);
}

static int gpu_do(bool narrow, bool encode, const floe_interp_dev_job *j, const floe_interp_dev_check *c)
{
    if (encode)
        return narrow ? floe_interp_encode_f32(j, c, NULL) : floe_interp_encode_f64(j, c, NULL);
    return narrow ? floe_interp_decode_f32(j, NULL) : floe_interp_decode_f64(j, NULL);
}

static void cpu_do(const sample *s, bool encode, const floe_interp_job *job, floe_interp_found *found)
{
    const floe_interp_ops *ops = floe_interp_ops_of(s->dtype, FLOE_ISA_PLAIN);
    void *scratch = malloc(FLOE_INTERP_TILE_REALS * floe_dtype_size(s->dtype));
    const floe_interp_tiles tiles = floe_interp_tiles_of(job);
    for (uint64_t i = 0; i < tiles.count; i++) {
        const floe_lattice_box box = floe_interp_tile(&tiles, i);
        if (encode)
            ops->encode(job, &box, scratch, found);
        else
            ops->decode(job, &box, scratch);
    }
    free(scratch);
}

static void a_step(const sample *s, uint64_t seed, uint64_t every)
{
    floe_lattice_step step = {.naxes = s->naxes, .width = s->width};
    const floe_interp_rule rule = {s->predictor, s->mean, s->dtype == FLOE_F32 ? (double)0.01f : 0.01};
    memcpy(step.axis, s->axis, sizeof step.axis);
    memcpy(step.fine, s->fine, sizeof step.fine);
    floe_lattice_coarsen(&step);
    const uint64_t size = floe_dtype_size(s->dtype), nrecords = floe_lattice_nrecords(&step);
    const uint64_t row = floe_ceil_div(s->fine[3], 64) * 8;
    twin coarse = twin_of(floe_lattice_points(step.coarse) * size),
         fine = twin_of(floe_lattice_points(step.fine) * size);
    twin original = twin_of(fine.nbytes), records = twin_of(nrecords * 8 * s->width), status = twin_of(64);
    twin apart = twin_of(s->fine[0] * s->fine[1] * s->fine[2] * row);
    floe_interp_dev_found *dev_found, got;
    floe_interp_found found = {.squares = 0};
    CU(cudaMalloc((void **)&dev_found, sizeof *dev_found));
    CU(cudaMemset(dev_found, 0, sizeof *dev_found));
    uint64_t far[FLOE_LATTICE_RANK], near[] = {1, 1, 1, 1};
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        far[a] = floe_lattice_is_active(&step, a) ? 2 : 1;
    fill(s, &coarse, step.coarse, far, seed, 0);
    fill(s, &original, s->fine, near, seed + 1, every);
    floe_interp_job job = {.step = &step,
                           .rule = &rule,
                           .coarse = coarse.host,
                           .records = records.host,
                           .last = s->last,
                           .tolerance = 0.0049};
    job.log = s->log;
    job.fine = floe_lattice_view_lattice(fine.host, s->fine);
    job.original = job.values = floe_lattice_view_lattice(original.host, s->fine);
    job.apart = apart.host;
    job.fill = every % 2 ? hostile_bits(s->dtype, FILL) : floe_dtype_sign(s->dtype);
    job.squares = s->squares;
    floe_interp_dev_job dev = {.step = step,
                               .rule = rule,
                               .coarse = coarse.dev,
                               .records = records.dev,
                               .nrecords = nrecords,
                               .log = s->log,
                               .last = s->last,
                               .status = status.dev};
    floe_interp_dev_check check = {.log = s->log,
                                   .squares = s->squares,
                                   .tolerance = job.tolerance,
                                   .fill = job.fill,
                                   .apart = apart.dev,
                                   .found = dev_found};
    dev.fine = floe_lattice_view_lattice(fine.dev, s->fine);
    dev.original = check.values = floe_lattice_view_lattice(original.dev, s->fine);
    memcpy(check.shape, s->fine, sizeof check.shape);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        job.box.hi[a] = job.field[a] = dev.box.hi[a] = s->fine[a];
        job.unit[a] = dev.unit[a] = 1;
    }
    cpu_do(s, true, &job, &found);
    CU(gpu_do(s->dtype == FLOE_F32, true, &dev, &check));
    CU(cudaDeviceSynchronize());
    twin_check(&records, "codes");
    twin_check(&apart, "apart");
    twin_check(&fine, "lattice");
    CU(cudaMemcpy(&got, dev_found, sizeof got, cudaMemcpyDeviceToHost));
    assert_true(found.max_error < INFINITY && found.max_pw_error < INFINITY);
    assert_int_equal(got.max_error, floe_bits_f64(found.max_error));
    assert_int_equal(got.max_pw_error, floe_bits_f64(found.max_pw_error));
    assert_int_equal(got.squares, found.squares);
    for (uint64_t part = 1; part <= 4; part++) { /* all, and boxes */
        uint64_t at = 0;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
            job.box.lo[a] = dev.box.lo[a] = s->fine[a] - 1 - (s->fine[a] - 1) / part;
            job.box.hi[a] = dev.box.hi[a] = s->fine[a] - (s->fine[a] - 1 - job.box.lo[a]) / part * (part > 2);
            at += job.box.lo[a] * (uint64_t)dev.fine.stride[a];
        }
        job.fine.data = (uint8_t *)fine.host + at * size;
        dev.fine.data = (uint8_t *)fine.dev + at * size;
        memset(fine.host, 0xEE, fine.nbytes);
        CU(cudaMemset(fine.dev, 0xEE, fine.nbytes));
        cpu_do(s, false, &job, NULL);
        CU(gpu_do(s->dtype == FLOE_F32, false, &dev, NULL));
        CU(cudaDeviceSynchronize());
        twin_check(&fine, "values");
    }
    CU(cudaFree(dev_found));
    twin *const owned[] = {&coarse, &fine, &original, &records, &status, &apart};
    for (size_t i = 0; i < HOSTILE_COUNT(owned); i++)
        twin_free(owned[i]);
}

static void steps(void **unused)
{
    (void)unused;
    static const uint64_t rates[] = {0, 60, 61, 5000, 50001}; /* odd: with a fill value */
    for (size_t i = 0; i < HOSTILE_COUNT(samples); i++)
        for (size_t k = 0; k < HOSTILE_COUNT(rates); k++)
            a_step(&samples[i], i + 100 * k, rates[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
