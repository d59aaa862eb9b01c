/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random fields and damaged streams, by the CPU and by every way through the GPU: the same bytes, the same judgement, the same
 * values, and not a byte beside a buffer. After each damaged stream the same contexts decode a sound one.
 *
 *     FLOE_MUTATIONS=50000 FLOE_FIELDS=20000 FLOE_FIRST=0 differential_gpu_test
 */
#include "codec/codec_device.h"
#include "tests/differential_kit.h"
#include "tests/gpu/contexts_gpu_kit.h"
#include "tests/mutation_kit.h"

enum { MOST = 3000, GUARD = 512, NSEEDS = 64, MEMORY_LIMIT = 512 << 20, ELEMS_LIMIT = 20000, ROOM = 1 << 20 };

static const random_case *now;
static uint64_t turn_now;
static const char *way_now = "";

#define CHECK(c)                                                \
    do {                                                        \
        if (!(c)) {                                             \
            random_say(now, turn_now);                          \
            fail_msg("%s: %s, line %d", way_now, #c, __LINE__); \
        }                                                       \
    } while (0)

/* One room for the values and one for the stream on the device, guards behind what is used. */
static uint8_t *dev_values, *got;
static uint64_t *dev_nbytes;

static void *device_copy(const void *host, uint64_t nbytes)
{
    void *p;
    CU(cudaMalloc(&p, nbytes ? nbytes : 1));
    CU(cudaMemcpy(p, host, nbytes, cudaMemcpyHostToDevice));
    return p;
}

static floe_device_report report_get(void)
{
    floe_device_report r;
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&r, dev_report, sizeof r, cudaMemcpyDeviceToHost));
    return r;
}

/* ---- damaged streams ------------------------------------------------------------------------------------------------- */

/* A stream to be decoded, and what the CPU makes of it. */
typedef struct trial {
    const uint8_t *src;
    uint8_t *dev_src;
    uint64_t nbytes;
    floe_field out; /* of the shape that the stream has, or else the seed's */
    uint64_t out_nbytes;
    bool same_header; /* as the seed's: decompress_async is called with the seed's params */
    floe_status status;
    uint8_t *values;
} trial;

static bool is_nan(floe_dtype dtype, uint64_t bits)
{
    return !hostile_is_integer(dtype) && (bits & ~hostile_sign(dtype)) > hostile_exponent(dtype);
}

/* A NaN that a damaged quantizer makes may have any payload. */
static bool same_values(floe_dtype dtype, const uint8_t *a, const uint8_t *b, uint64_t nbytes)
{
    for (uint64_t i = 0; i < nbytes / floe_dtype_size(dtype); i++) {
        const uint64_t x = hostile_get(dtype, a, (int64_t)i), y = hostile_get(dtype, b, (int64_t)i);
        if (x != y && !(is_nan(dtype, x) && is_nan(dtype, y)))
            return false;
    }
    return true;
}

static void check_values(const trial *t, const uint8_t *values, uint64_t nbytes, floe_status status)
{
    if (status == FLOE_OK)
        CHECK(same_values(t->out.dtype, got, values, nbytes));
    for (uint64_t i = nbytes; i < nbytes + GUARD; i++)
        CHECK(got[i] == 0xEE);
}

static floe_field place_out(const trial *t, bool on_device)
{
    floe_field f = t->out;
    f.data = on_device ? dev_values : got;
    f.place = on_device ? FLOE_DEVICE : FLOE_HOST;
    if (on_device)
        CU(cudaMemset(dev_values, 0xEE, t->out_nbytes + GUARD));
    memset(got, 0xEE, t->out_nbytes + GUARD);
    return f;
}

static void fetch_values(uint64_t nbytes) { CU(cudaMemcpy(got, dev_values, nbytes + GUARD, cudaMemcpyDeviceToHost)); }

/* Integers of codec lorenzo are not for a GPU. */
static bool is_supported(const trial *t, floe_status status)
{
    return !(hostile_is_integer(t->out.dtype) && (status == FLOE_ERR_UNSUPPORTED || status == FLOE_ERR_DEVICE));
}

static void check_waiting(const trial *t, floe_ctx *ctx, const char *way, bool from_device, bool to_device)
{
    way_now = way;
    floe_field out = place_out(t, to_device);
    const floe_status status = floe_decompress(ctx, from_device ? t->dev_src : t->src, t->nbytes, &out);
    if (!is_supported(t, status))
        return;
    if (status != t->status)
        fprintf(stderr, "%d instead of %d: %s\n", status, t->status, floe_ctx_message(ctx));
    CHECK(status == t->status);
    if (to_device)
        fetch_values(t->out_nbytes);
    check_values(t, t->values, t->out_nbytes, status);
}

/* Nothing for calls that do not. */
static bool codec_waits(void) { return floe_codec_of(now->params.codec)->device->waits; }

static void check_async(const trial *t, bool says_size)
{
    way_now = says_size ? "async, size on the device" : "async";
    if (codec_waits())
        return;
    floe_field out = place_out(t, true);
    const uint64_t size = t->nbytes;
    CU(cudaMemcpy(dev_nbytes, &size, sizeof size, cudaMemcpyHostToDevice));
    floe_status status = floe_decompress_async(gpu, t->dev_src, t->nbytes, says_size ? dev_nbytes : NULL, &now->params,
                                               &out, dev_report);
    if (status == FLOE_OK)
        status = (floe_status)report_get().status;
    CHECK(status != FLOE_OK || t->status == FLOE_OK);
    if (t->status == FLOE_OK && t->same_header)
        CHECK(status == FLOE_OK);
    fetch_values(t->out_nbytes);
    check_values(t, t->values, t->out_nbytes, status);
}

static void check_region(const trial *t, floe_ctx *ctx, bool from_device, bool to_device)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], nbytes = floe_dtype_size(t->out.dtype);
    trial part = *t;
    way_now = to_device ? "region to the device" : "region to the host";
    for (uint32_t i = 0; i < t->out.rank; i++) {
        lo[i] = t->out.shape[i] / 3;
        hi[i] = t->out.shape[i] - t->out.shape[i] / 4;
        nbytes *= part.out.shape[i] = hi[i] - lo[i];
    }
    part.out_nbytes = nbytes;
    uint8_t *values = malloc(nbytes + 1);
    floe_field host = part.out, out;
    host.data = values;
    part.status = floe_decompress_region(cpu, t->src, t->nbytes, lo, hi, &host);
    out = place_out(&part, to_device);
    const floe_status status = floe_decompress_region(ctx, from_device ? t->dev_src : t->src, t->nbytes, lo, hi, &out);
    if (is_supported(t, status)) {
        CHECK(status == part.status);
        if (to_device)
            fetch_values(nbytes);
        check_values(&part, values, nbytes, status);
    }
    free(values);
}

/* A level. A GPU has all of a stream, whose checksums show that it is as it was written, and looks at no checks of parts: it takes streams
 * that were damaged before the checksums were made. */
static void check_level(const trial *t)
{
    floe_info info = {.size = sizeof info};
    trial part = *t;
    uint64_t nbytes = floe_dtype_size(t->out.dtype);
    way_now = "level";
    if (floe_stream_info(t->src, t->nbytes, &info, NULL) != FLOE_OK || info.levels == 0 || info.raw_nbytes > ROOM)
        return;
    const uint32_t level = 1 + (uint32_t)(turn_now % info.levels);
    for (uint32_t i = 0; i < t->out.rank; i++)
        nbytes *= part.out.shape[i] = ((t->out.shape[i] - 1) >> level) + 1;
    part.out_nbytes = nbytes;
    uint8_t *values = malloc(nbytes + 1);
    floe_field host = part.out;
    host.data = values;
    part.status = floe_decompress_level(cpu, t->src, t->nbytes, level, &host);
    floe_field out = place_out(&part, true);
    const floe_status status = floe_decompress_level(gpu, t->dev_src, t->nbytes, level, &out);
    CHECK(status == part.status || status == FLOE_OK);
    fetch_values(nbytes);
    if (status == part.status)
        check_values(&part, values, nbytes, status);
    free(values);
}

/* Every other element of a row of its own, the values between untouched. */
static void check_strided(const trial *t)
{
    way_now = "strided";
    trial wide = *t;
    const uint64_t size = floe_dtype_size(t->out.dtype), n = t->out_nbytes / size;
    wide.out_nbytes = 2 * t->out_nbytes;
    if (wide.out_nbytes > ROOM)
        return;
    floe_field out = place_out(&wide, true);
    int64_t step = 2;
    for (uint32_t i = out.rank; i-- > 0; step *= (int64_t)out.shape[i])
        out.stride[i] = step;
    const floe_status status = floe_decompress(gpu, t->dev_src, t->nbytes, &out);
    if (!is_supported(t, status))
        return;
    CHECK(status == t->status);
    fetch_values(wide.out_nbytes);
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t k = 0; k < size; k++)
            CHECK(got[(2 * i + 1) * size + k] == 0xEE);
        memmove(got + i * size, got + 2 * i * size, size);
    }
    if (status == FLOE_OK)
        CHECK(same_values(t->out.dtype, got, t->values, t->out_nbytes));
}

static void check_verify(const trial *t)
{
    way_now = "verify";
    const floe_field original = random_field(now, NULL);
    const floe_status status = floe_verify(through, t->dev_src, t->nbytes, &original);
    const floe_status by_cpu = floe_verify(cpu, t->src, t->nbytes, &original);
    /* of a damaged stream of another shape either may be reported */
    CHECK(status == by_cpu || (by_cpu != FLOE_OK && status == FLOE_ERR_ARGUMENT));
}

/* In a context whose workspace is exactly what the seed needs, guarded. */
static void check_own_workspace(const trial *t)
{
    way_now = "own workspace";
    floe_ctx *ctx = NULL;
    size_t nbytes;
    floe_field f = random_field(now, dev_values);
    f.place = FLOE_DEVICE;
    if (floe_device_workspace_nbytes(gpu, &f, &now->params, &nbytes) != FLOE_OK)
        return;
    uint8_t *workspace, guard[GUARD];
    CU(cudaMalloc((void **)&workspace, nbytes + GUARD));
    CU(cudaMemset(workspace, 0xEE, nbytes + GUARD));
    const floe_ctx_options o = {.size = sizeof o, .device_workspace = workspace, .device_workspace_nbytes = nbytes};
    assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
    floe_field out = place_out(t, true);
    const floe_status status = floe_decompress(ctx, t->dev_src, t->nbytes, &out);
    CHECK(status != FLOE_OK || t->status == FLOE_OK);
    if (t->same_header) /* a damaged stream may claim more than the seed needs */
        CHECK((status == FLOE_OK) == (t->status == FLOE_OK));
    fetch_values(t->out_nbytes);
    check_values(t, t->values, t->out_nbytes, status);
    floe_ctx_free(&ctx);
    CU(cudaMemcpy(guard, workspace + nbytes, GUARD, cudaMemcpyDeviceToHost));
    for (int i = 0; i < GUARD; i++)
        CHECK(guard[i] == 0xEE);
    CU(cudaFree(workspace));
}

static void try_stream(const mutant *m, const mutant *seed, bool all)
{
    const size_t head = 100;
    trial t = {.src = m->data, .nbytes = m->nbytes, .out = random_field(now, NULL), .out_nbytes = now->nbytes};
    floe_info info = {.size = sizeof info};
    uint8_t *exact = malloc(m->nbytes ? m->nbytes : 1);
    memcpy(exact, m->data, m->nbytes);
    t.src = exact;
    t.dev_src = device_copy(exact, m->nbytes);
    t.same_header = m->nbytes >= head && seed->nbytes >= head && memcmp(m->data, seed->data, head) == 0;
    if (floe_stream_info(t.src, t.nbytes, &info, NULL) == FLOE_OK && info.raw_nbytes <= ROOM)
        t.out = floe_field_of(NULL, info.dtype, info.rank, info.shape), t.out_nbytes = info.raw_nbytes;
    t.values = malloc(t.out_nbytes + 1);
    t.out.data = t.values;
    t.status = floe_decompress(cpu, t.src, t.nbytes, &t.out);
    check_waiting(&t, gpu, "device to device", true, true);
    check_async(&t, turn_now & 1);
    const uint64_t turn = all ? UINT64_MAX : turn_now;
    if (all || turn % 4 == 0)
        check_waiting(&t, gpu, "host to device", false, true), check_region(&t, gpu, true, true);
    if (all || turn % 4 == 1)
        check_waiting(&t, gpu, "device to host", true, false), check_strided(&t), check_level(&t);
    if (all || turn % 4 == 2)
        check_waiting(&t, through, "host to host", false, false), check_region(&t, gpu, true, false);
    if (all || turn % 4 == 3)
        check_verify(&t), check_own_workspace(&t);
    CU(cudaFree(t.dev_src));
    free(t.values);
    free(exact);
}

/* A chunk's own structure for codec lorenzo; else any place, and mostly checksums that are right. */
static void damage(mutant *m, const mutant *other, const floe_info *info, uint64_t *state)
{
    if (info->codec != FLOE_CODEC_LORENZO || hostile_below(state, 3) == 0) {
        stream_damage(m, other, state);
        return;
    }
    uint64_t at = 0, left = hostile_below(state, info->nchunks ? info->nchunks : 1);
    for (uint64_t i = 0; i + FLOE_RECORD_HEAD_NBYTES <= m->nbytes; i += 8)
        if (memcmp(m->data + i, FLOE_MAGIC_RECORD, FLOE_MAGIC_NBYTES) == 0 && (at = i, left-- == 0))
            break;
    const uint64_t from = at + FLOE_RECORD_HEAD_NBYTES, n = at ? floe_load64(m->data + at + 16) : 0;
    if (n == 0 || n > m->nbytes - from)
        return;
    mutant chunk = {NULL, 0, 0}, copy = {NULL, 0, 0};
    mutant_set(&chunk, m->data + from, n);
    mutant_set(&copy, m->data + from, n);
    chunk_damage(&chunk, &copy, info->dtype, state);
    memcpy(m->data + from, chunk.data, chunk.nbytes < n ? chunk.nbytes : n); /* no other record moves */
    free(chunk.data);
    free(copy.data);
    stream_reindex(m->data, m->nbytes);
    stream_repair(m->data, m->nbytes);
    stream_reindex(m->data, m->nbytes);
    stream_repair(m->data, m->nbytes);
}

static void damaged_streams(void **unused)
{
    (void)unused;
    const uint64_t count = count_from("FLOE_MUTATIONS", is_watched() ? 40 : is_small() ? 200 : 4000);
    const uint64_t first = count_from("FLOE_FIRST", 0);
    static random_case cases[NSEEDS];
    static mutant seeds[NSEEDS];
    mutant m = {NULL, 0, 0};
    uint64_t naccepted = 0;
    for (uint64_t i = 0; i < NSEEDS; i++) {
        cases[i] = random_case_of(1000000 + first + i, i % 16 ? MOST / 4 : 2 * MOST);
        const floe_field f = random_field(&cases[i], NULL);
        mutant_resize(&seeds[i], floe_compress_bound(&f, &cases[i].params));
        uint64_t n;
        assert_int_equal(floe_compress(cpu, &f, &cases[i].params, seeds[i].data, seeds[i].nbytes, &n), FLOE_OK);
        mutant_resize(&seeds[i], n);
    }
    for (turn_now = first; turn_now < first + count; turn_now++) {
        uint64_t state = turn_now * 0x9E3779B97F4A7C15u + 5;
        const uint64_t pick = hostile_below(&state, NSEEDS);
        floe_info info = {.size = sizeof info};
        now = &cases[pick];
        assert_int_equal(floe_stream_info(seeds[pick].data, seeds[pick].nbytes, &info, NULL), FLOE_OK);
        mutant_set(&m, seeds[pick].data, seeds[pick].nbytes);
        m.nbytes = seeds[pick].nbytes;
        damage(&m, &seeds[hostile_below(&state, NSEEDS)], &info, &state);
        try_stream(&m, &seeds[pick], false);
        floe_field out = random_field(now, got);
        naccepted += floe_decompress(cpu, m.data, m.nbytes, &out) == FLOE_OK;
        if (turn_now % 16 == 0)
            try_stream(&seeds[pick], &seeds[pick], true);
    }
    print_message("%llu damaged streams, %llu of them decoded\n", (unsigned long long)count,
                  (unsigned long long)naccepted);
    for (int i = 0; i < NSEEDS; i++)
        free(cases[i].values), free(seeds[i].data);
    free(m.data);
}

/* ---- random fields --------------------------------------------------------------------------------------------------- */

/* The CPU's bytes from a field on the device and one on the host, into either memory, by calls that wait and that do not. */
static void check_compressed(const uint8_t *stream, uint64_t nbytes, uint64_t room)
{
    const floe_field host = random_field(now, NULL);
    void *values = device_copy(now->values, now->nbytes);
    uint8_t *dev_stream;
    floe_field dev = random_field(now, values);
    uint64_t n = 0;
    dev.place = FLOE_DEVICE;
    CU(cudaMalloc((void **)&dev_stream, room));
    for (int way = 0; way < 4; way++) {
        static const char *const names[] = {"device to device", "async", "device to host", "host to host"};
        way_now = names[way];
        if (way == 1 && (now->params.mode == FLOE_BOUND_PSNR || codec_waits()))
            continue;
        CU(cudaMemset(dev_stream, 0xEE, room));
        memset(got, 0xEE, room);
        if (way == 1) {
            CHECK(floe_compress_async(gpu, &dev, &now->params, dev_stream, nbytes, dev_report) == FLOE_OK);
            const floe_device_report r = report_get();
            CHECK(r.status == FLOE_OK);
            n = r.nbytes;
        } else {
            CHECK(floe_compress(way == 3 ? through : gpu, way == 3 ? &host : &dev, &now->params,
                                way == 0 ? dev_stream : got, nbytes, &n) == FLOE_OK);
        }
        if (way < 2)
            CU(cudaMemcpy(got, dev_stream, room, cudaMemcpyDeviceToHost));
        CHECK(n == nbytes);
        CHECK(memcmp(got, stream, nbytes) == 0);
        for (uint64_t i = nbytes; i < room; i++)
            CHECK(got[i] == 0xEE);
    }
    way_now = "short";
    CHECK(floe_compress(gpu, &dev, &now->params, dev_stream, nbytes - 1, &n) == FLOE_ERR_CAPACITY);
    CU(cudaFree(values));
    CU(cudaFree(dev_stream));
}

static void random_fields(void **unused)
{
    (void)unused;
    const uint64_t count = count_from("FLOE_FIELDS", is_watched() ? 15 : is_few() ? 24 : is_small() ? 60 : 2000);
    const uint64_t first = count_from("FLOE_FIRST", 0);
    for (turn_now = first; turn_now < first + count; turn_now++) {
        random_case c = random_case_of(turn_now, MOST);
        const floe_field f = random_field(&c, NULL);
        const uint64_t room = floe_compress_bound(&f, &c.params) + GUARD;
        uint64_t nbytes = 0;
        mutant m = {NULL, 0, 0};
        floe_info info = {.size = sizeof info};
        now = &c;
        way_now = "CPU";
        mutant_resize(&m, room <= ROOM ? room : ROOM);
        CHECK(floe_compress(cpu, &f, &c.params, m.data, room, &nbytes) == FLOE_OK);
        CHECK(floe_stream_info(m.data, nbytes, &info, NULL) == FLOE_OK);
        check_compressed(m.data, nbytes, room);
        m.nbytes = nbytes;
        try_stream(&m, &m, turn_now % 8 == 0);
        floe_field out = random_field(&c, got);
        way_now = "the bound";
        CHECK(floe_decompress(through, m.data, nbytes, &out) == FLOE_OK);
        CHECK(random_broken(&c, &info, got) == c.nelems);
        free(m.data);
        free(c.values);
    }
}

static int limited_open(void **state)
{
    (void)state;
    floe_ctx **const all[] = {&cpu, &gpu, &through};
    for (int i = 0; i < 3; i++) {
        const floe_ctx_options o = {.size = sizeof o,
                                    .backend = i == 0   ? FLOE_BACKEND_CPU
                                               : i == 1 ? FLOE_BACKEND_AUTO
                                                        : FLOE_BACKEND_CUDA,
                                    .threads = 1,
                                    .max_elems = ELEMS_LIMIT,
                                    .max_memory = MEMORY_LIMIT};
        if (floe_ctx_create(all[i], &o) != FLOE_OK)
            return 1;
    }
    got = malloc(ROOM + GUARD);
    CU(cudaMalloc((void **)&dev_values, ROOM + GUARD));
    CU(cudaMalloc((void **)&dev_nbytes, sizeof *dev_nbytes));
    CU(cudaMalloc((void **)&dev_report, sizeof *dev_report));
    return 0;
}

static int limited_close(void **state)
{
    free(got);
    CU(cudaFree(dev_values));
    CU(cudaFree(dev_nbytes));
    return report_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_fields), cmocka_unit_test(damaged_streams)};
    return cmocka_run_group_tests(tests, limited_open, limited_close);
}
