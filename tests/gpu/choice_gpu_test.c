/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sample decides, on a GPU: the codec of AUTO in preset best, and the bound of a ratio, as on the CPU. */
#include "tests/gpu/api_gpu_kit.h"

static const gpu_case cases[] = {
    {"turbulence", FLOE_F32, 3, {9, 20, 26}, "rel=1e-3 preset=best"},
    {"turbulence", FLOE_F64, 3, {10, 14, 18}, "abs=1e-3 fill=none preset=best chunk=5x14x18"},
    {"noise", FLOE_F32, 3, {53, 50, 60}, "rel=1e-3 preset=best"},           /* more than one box */
    {"spikes", FLOE_F32, 3, {52, 50, 52}, "rel=0.5 fill=none preset=best"}, /* so few bytes that all of it is tried */
    {"fill", FLOE_F32, 2, {60, 70}, "rel=1e-3 preset=best"},
    {"turbulence", FLOE_F32, 2, {50, 60}, "pwrel=1e-2 preset=best"},
    {"turbulence", FLOE_F32, 1, {3000}, "psnr=50 preset=best"},
    {"constant", FLOE_F32, 3, {17, 16, 33}, "rel=1e-3 preset=best"},
    {"turbulence", FLOE_F32, 3, {40, 50, 60}, "rel=1e-3"}, /* balanced: few values, each codec codes them */
    {"turbulence", FLOE_F64, 3, {30, 60, 90}, "abs=1e-3 fill=none"},
    {"turbulence", FLOE_F32, 2, {2, 9000}, "rel=1e-3 preset=best"},
    {"turbulence", FLOE_F32, 4, {6, 20, 30, 30}, "rel=1e-4"},
    {"weather", FLOE_F32, 3, {5, 130, 170}, "rel=1e-3"},
    {"fill", FLOE_F32, 2, {260, 400}, "rel=1e-4 chunk=64x400"},
    {"turbulence", FLOE_F32, 2, {50, 60}, "pwrel=1e-2"},
    {"noise", FLOE_F32, 1, {100000}, "rel=1e-2"},
    {"steps", FLOE_F64, 3, {17, 30, 40}, "psnr=60"},
    {"hostile", FLOE_F32, 3, {40, 50, 60}, "rel=1e-3"},
    {"turbulence", FLOE_F32, 3, {3, 2, 1}, "abs=1e-3"},
    {"turbulence", FLOE_F32, 3, {17, 30, 40}, "rate=4"},
    {"turbulence", FLOE_F64, 2, {60, 70}, "rate=4.2 preset=fast"},
    {"turbulence", FLOE_F32, 3, {9, 20, 30}, "ratio=10 codec=zfp"},
    {"turbulence", FLOE_F32, 3, {10, 14, 18}, "ratio=6 preset=best chunk=5x14x18"},
    {"noise", FLOE_F32, 1, {900}, "ratio=1"},
    {"constant", FLOE_F32, 2, {20, 30}, "ratio=10"},
    {"noise", FLOE_F64, 2, {4, 16}, "ratio=1.1 codec=interp"}, /* coded in more bytes than whole words */
    {"noise", FLOE_F64, 2, {4, 16}, "ratio=1.1 codec=wavelet preset=best"},
    {"spikes", FLOE_F32, 3, {12, 30, 40}, "psnr=80 codec=interp"}, /* from here on tuners keep to another bound */
    {"spikes", FLOE_F32, 3, {12, 20, 24}, "psnr=80 codec=wavelet preset=fast"},
    {"orbitals", FLOE_F32, 3, {12, 20, 24}, "ratio=10 codec=interp preset=fast"},
    {"orbitals", FLOE_F32, 3, {12, 20, 24}, "ratio=10 codec=wavelet preset=fast"},
};

static void strides(void **state)
{
    (void)state;
    check_strided_of(9, 17, 14, "turbulence", "rel=1e-3 preset=best");
    check_strided_of(9, 17, 14, "turbulence", "rel=1e-3");
    check_strided_of(9, 17, 14, "turbulence", "ratio=12");
}

/* Where a sample leaves several codecs, one after another writes to the destination, which need hold the shortest stream alone; of the
 * first case another codec than the sample's best has that. */
static void room_for_the_shortest(void **state)
{
    (void)state;
    static const gpu_case several[] = {{"mixing", FLOE_F32, 3, {140, 31, 40}, "rel=1e-2 preset=best"},
                                       {"seismic", FLOE_F32, 3, {106, 100, 110}, "rel=1e-2 preset=best"},
                                       {"noise", FLOE_F32, 1, {1048577}, "rel=1e-5"}}; /* estimates by boxes */
    for (int i = 0; i < (is_few() || is_small() ? 1 : 3); i++) {
        encoded m = make(&several[i]);
        floe_field field = dev_field(&m);
        uint64_t nbytes = 0;
        assert_int_equal(floe_compress(gpu, &field, &m.params, m.dev_stream, m.stream_nbytes, &nbytes), FLOE_OK);
        assert_int_equal(nbytes, m.stream_nbytes);
        expect_bytes(&m, m.dev_stream, m.stream, m.stream_nbytes, m.stream_nbytes, 0xEE, "stream");
        assert_int_equal(floe_compress(gpu, &field, &m.params, m.dev_stream, m.stream_nbytes - 1, &nbytes),
                         FLOE_ERR_CAPACITY);
        unmake(&m);
    }
}

/* Calls that do not wait have no host to decide. */
static void refused_without_waiting(void **state)
{
    (void)state;
    static const struct {
        const char *params, *why;
    } calls[] = {{"rel=1e-3 preset=best", "name a codec"},
                 {"rel=1e-3", "such as lorenzo"},
                 {"rate=2", "ratio takes several rounds with the host"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        gpu_case c = {"turbulence", FLOE_F32, 2, {70, 90}, calls[i].params};
        encoded m = make(&c);
        floe_field field = dev_field(&m);
        floe_device_report *report;
        CU(cudaMalloc((void **)&report, sizeof *report));
        assert_int_equal(floe_compress_async(gpu, &field, &m.params, m.dev_stream, m.capacity, report),
                         FLOE_ERR_UNSUPPORTED);
        assert_non_null(strstr(floe_ctx_message(gpu), calls[i].why));
        CU(cudaFree(report));
        unmake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {API_GPU_TESTS, cmocka_unit_test(strides),
                                       cmocka_unit_test(room_for_the_shortest),
                                       cmocka_unit_test(refused_without_waiting)};
    the_cases = cases;
    nthe_cases = sizeof cases / sizeof *cases;
    return cmocka_run_group_tests(tests, contexts_open, contexts_close);
}
