/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole streams of fields of few tiles, those of f32 made by one kernel: bytes against the CPU's, and what is reported where they do not fit.
 * Each failure is followed by a stream that is right: a call leaves no trace for the next.
 */
#include "tests/gpu/whole_gpu_kit.h"

static const gpu_case cases[] = {
    {"turbulence", FLOE_F32, 3, {70, 50, 100}, "abs=0.01 fill=none preset=fast"},
    {"turbulence", FLOE_F64, 3, {40, 32, 64}, "abs=1e-4 fill=none preset=fast"},
    {"turbulence", FLOE_F32, 2, {300, 400}, "rel=1e-3 preset=fast"},
    {"turbulence", FLOE_F64, 2, {130, 257}, "rel=1e-3 fill=none preset=fast"},
    {"turbulence", FLOE_F32, 1, {90000}, "rel=1e-4 preset=fast"},
    {"turbulence", FLOE_F32, 4, {3, 12, 20, 40}, "abs=1e-3 fill=none preset=fast"},
    {"turbulence", FLOE_F32, 3, {2, 2, 32 * 530}, "abs=1e-3 fill=none preset=fast"}, /* more tiles than blocks */
    {"noise", FLOE_F32, 3, {64, 48, 64}, "abs=1e-7 fill=none preset=fast"},          /* again, bit for bit */
    {"noise", FLOE_F64, 3, {40, 48, 64}, "rel=1e-15 fill=none preset=fast"},
    {"hostile", FLOE_F32, 3, {34, 50, 70}, "abs=1e-3 fill=none preset=fast"},
    {"fill", FLOE_F32, 3, {40, 48, 64}, "rel=1e-3 preset=fast"},
    {"turbulence", FLOE_F32, 3, {40, 40, 40}, "pwrel=1e-3 preset=fast"},
    {"steps", FLOE_F32, 3, {20, 40, 40}, "lossless preset=fast"},
    {"turbulence", FLOE_F32, 3, {1, 1, 1}, "abs=0.01 fill=none preset=fast"}, /* a payload of few bytes */
};
enum { NCASES = sizeof cases / sizeof *cases };

static void same_streams(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        for (int r = 0; r < (is_small() ? 2 : 20); r++)
            encode_right(&m, r % 2 ? m.capacity : m.stream_nbytes);
        unmake(&m);
    }
}

/* Of the index, of the payload, or of the header not all fits. */
static void streams_that_do_not_fit(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        const uint64_t n = m.stream_nbytes, room[] = {n - 1, n - 8, n - 72, n / 2, n / 3, 64, 8, 0};
        const int step = is_few() ? 3 : 1;
        for (int r = i % step; r < (int)(sizeof room / sizeof *room); r += step) {
            assert_int_equal(encode(&m, room[r]), FLOE_ERR_CAPACITY);
            if (r % 3 == 0 && !is_few())
                encode_right(&m, n);
        }
        encode_right(&m, n);
        unmake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_streams),
        cmocka_unit_test(streams_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, report_open, report_close);
}
