/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole streams of preset balanced on a GPU: bytes and values against the CPU's; and what is reported of streams that do not fit or
 * are damaged.
 */
#include "tests/gpu/whole_gpu_kit.h"

static const gpu_case cases[] = {
    {"turbulence",
     FLOE_F32,
     2,
     {300, 400},
     "abs=0.01 fill=none preset=balanced codec=lorenzo"}, /* some tiles are cut off */
    {"turbulence", FLOE_F64, 2, {130, 257}, "abs=1e-3 fill=none preset=balanced codec=lorenzo"},
    {"turbulence", FLOE_F32, 3, {70, 50, 100}, "rel=1e-3 preset=balanced codec=lorenzo"},
    {"turbulence", FLOE_F64, 3, {40, 32, 64}, "abs=1e-6 fill=none preset=balanced codec=lorenzo"}, /* wide groups */
    {"turbulence",
     FLOE_F32,
     3,
     {48, 32, 64},
     "abs=1e-6 fill=none preset=balanced codec=lorenzo"}, /* too wide for floats */
    {"turbulence", FLOE_F32, 1, {90000}, "rel=1e-4 preset=balanced codec=lorenzo"},
    {"turbulence", FLOE_F64, 4, {3, 12, 20, 40}, "abs=1e-3 fill=none preset=balanced codec=lorenzo"},
    {"turbulence",
     FLOE_F32,
     3,
     {2, 2, 32 * 530},
     "abs=1e-3 fill=none preset=balanced codec=lorenzo"}, /* more tiles than blocks */
    {"turbulence", FLOE_F32, 3, {70, 50, 100}, "abs=0.01 fill=none preset=balanced codec=lorenzo chunk=20x50x100"},
    {"noise", FLOE_F32, 3, {64, 48, 64}, "abs=1e-7 fill=none preset=balanced codec=lorenzo"}, /* again, bit for bit */
    {"noise", FLOE_F64, 3, {40, 48, 64}, "rel=1e-15 fill=none preset=balanced codec=lorenzo"},
    {"noise", FLOE_F32, 2, {200, 300}, "abs=1e-3 fill=none preset=balanced codec=lorenzo"},
    {"constant", FLOE_F32, 2, {200, 300}, "abs=1e-3 fill=none preset=balanced codec=lorenzo"},
    {"hostile", FLOE_F32, 3, {34, 50, 70}, "abs=1e-3 fill=none preset=balanced codec=lorenzo"},
    {"fill", FLOE_F32, 3, {40, 48, 64}, "rel=1e-3 preset=balanced codec=lorenzo"},
    {"turbulence", FLOE_F32, 3, {40, 40, 40}, "pwrel=1e-3 preset=balanced codec=lorenzo"},
    {"steps", FLOE_F32, 3, {20, 40, 40}, "lossless preset=balanced codec=lorenzo"},
    {"turbulence", FLOE_F32, 3, {1, 1, 1}, "abs=0.01 fill=none preset=balanced codec=lorenzo"},
};
enum { NCASES = sizeof cases / sizeof *cases };

/* n bytes of the stream. */
static uint32_t decode(const encoded *m, uint64_t n)
{
    floe_device_report report;
    floe_field out = m->dev_field;
    CU(cudaMemset(m->dev_field.data, 0xEE, m->nbytes + GUARD));
    CU(cudaMemcpy(m->dev_stream, m->stream, n, cudaMemcpyHostToDevice));
    assert_int_equal(floe_decompress_async(gpu, m->dev_stream, n, NULL, &m->params, &out, dev_report), FLOE_OK);
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&report, dev_report, sizeof report, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(m->got, m->dev_field.data, m->nbytes + GUARD, cudaMemcpyDeviceToHost));
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(m->got[m->nbytes + (uint64_t)i], 0xEE);
    return report.status;
}

static void decode_right(const encoded *m)
{
    assert_int_equal(decode(m, m->stream_nbytes), FLOE_OK);
    assert_memory_equal(m->got, m->decoded, m->nbytes);
}

static void same_streams(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        for (int r = 0; r < (is_small() ? 1 : 20); r++)
            encode_right(&m, r % 2 ? m.capacity : m.stream_nbytes);
        unmake(&m);
    }
}

static void same_values(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        for (int r = 0; r < (is_small() ? 1 : 20); r++)
            decode_right(&m);
        unmake(&m);
    }
}

/* Of the index, of the payload, or of the header not all fits. */
static void streams_that_do_not_fit(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i += is_small() ? 4 : 1) {
        encoded m = make(&cases[i]);
        const uint64_t n = m.stream_nbytes, room[] = {n - 1, n - 72, n / 2, 64, 0};
        for (int r = 0; r < (int)(sizeof room / sizeof *room); r++)
            assert_int_equal(encode(&m, room[r]), FLOE_ERR_CAPACITY);
        encode_right(&m, n);
        unmake(&m);
    }
}

/* One bit at a time all over the stream, and streams that are cut short. */
static void damaged_streams(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i += one_in(3)) {
        encoded m = make(&cases[i]);
        for (int r = 0; r < (is_few() ? 1 : is_small() ? 3 : 60); r++) {
            const uint64_t at = any(m.stream_nbytes);
            const bool cut = any(4) == 0;
            const uint8_t bit = cut ? 0 : (uint8_t)(1u << any(8));
            m.stream[at] ^= bit;
            assert_int_not_equal(decode(&m, cut ? at : m.stream_nbytes), FLOE_OK);
            m.stream[at] ^= bit;
        }
        decode_right(&m);
        unmake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_streams),
        cmocka_unit_test(same_values),
        cmocka_unit_test(streams_that_do_not_fit),
        cmocka_unit_test(damaged_streams),
    };
    return cmocka_run_group_tests(tests, report_open, report_close);
}
