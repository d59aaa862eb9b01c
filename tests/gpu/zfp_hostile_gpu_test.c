/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare zfp streams and indexes that are cut, damaged or made up: nothing bad comes of them on a GPU, and it shows what the CPU
 * reports.
 *
 *     ZFP_MUTATIONS=1000 zfp_hostile_gpu_test
 */
#include "base/bytes.h"
#include "base/checksum.h"
#include "codec/zfp/stream/zfp_index_file.h"
#include "tests/gpu/zfp_gpu_kit.h"

enum { MUTATIONS = 2, FEW = 32 }; /* mutations of each sample */

/* A stream and its index, in host memory, as somebody may have left them. */
typedef struct files {
    uint8_t *data, *index; /* index may be NULL */
    uint64_t nbytes, index_nbytes;
} files;

static files files_of(const sample *s, bool with_index)
{
    files f = {malloc(s->nbytes + 1), NULL, s->nbytes, 0};
    memcpy(f.data, s->data, s->nbytes);
    if (with_index) {
        f.index = malloc(s->index.nbytes + 1);
        f.index_nbytes = s->index.nbytes;
        memcpy(f.index, s->index.data, s->index.nbytes);
    }
    return f;
}

static void files_free(files *f)
{
    free(f->data);
    free(f->index);
}

/* What the call that does not wait reports of them. */
static floe_status async_status(const sample *s, const files *f)
{
    const uint64_t whole = floe_ceil_div(f->nbytes, 8) * 8;
    void *values, *data = dev_alloc(whole + 8), *index = dev_alloc(f->index_nbytes);
    const floe_zfp_report sizes = {.nbytes = f->nbytes, .index_nbytes = f->index_nbytes};
    floe_zfp_report *reports = dev_alloc(2 * sizeof *reports);
    floe_field out = dev_field(&s->c, &values);
    const floe_zfp_index x = {.size = sizeof x, .spec = s->index.spec, .data = index, .capacity = f->index_nbytes};
    CU(cudaMemcpy(data, f->data, f->nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(reports, &sizes, sizeof sizes, cudaMemcpyHostToDevice));
    if (f->index)
        CU(cudaMemcpy(index, f->index, f->index_nbytes, cudaMemcpyHostToDevice));
    OK(gpu,
       floe_zfp_decompress_async(gpu, data, whole + 8, reports, &s->stream, f->index ? &x : NULL, &out, reports + 1));
    const floe_zfp_report report = report_of(reports + 1);
    assert_int_equal(report.nbytes, report.status ? 0 : f->nbytes);
    assert_int_equal(report.index_nbytes, report.status ? 0 : f->index_nbytes);
    void *all[] = {values, data, index, reports};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU(cudaFree(all[i]));
    return (floe_status)report.status;
}

/* The same verdict, in the same words, on both sides; and the same values where it is well. */
static floe_status judge(const sample *s, const files *f, bool device)
{
    zfp_case want = zfp_case_twin(&s->c), got = zfp_case_twin(&s->c);
    floe_field out = field_of(&want), back = field_of(&got);
    memory data = memory_with(device, f->data, f->nbytes), index = memory_with(device, f->index, f->index_nbytes);
    const floe_status status =
        floe_zfp_decompress(cpu, f->data, f->nbytes, &s->stream, f->index, f->index_nbytes, &out);
    assert_int_equal(
        floe_zfp_decompress(through, data.p, f->nbytes, &s->stream, f->index ? index.p : NULL, f->index_nbytes, &back),
        status);
    assert_string_equal(floe_ctx_message(through), floe_ctx_message(cpu));
    if (status == FLOE_OK)
        assert_memory_equal(got.memory, want.memory, s->c.nbytes);
    memory_free(&data);
    memory_free(&index);
    zfp_case_free(&want);
    zfp_case_free(&got);
    return status;
}

/* Makes the checksums of a file right, whatever it holds: the work of somebody who means harm. */
static void forge(files *f)
{
    floe_store64(f->index + 80, floe_checksum(f->data, f->nbytes));
    floe_store64(f->index + 96,
                 floe_checksum(f->index + FLOE_ZFPX_HEADER_NBYTES, f->index_nbytes - FLOE_ZFPX_HEADER_NBYTES));
    floe_store64(f->index + 104, floe_xxh3(f->index, 104));
}

static void mutate(uint8_t *bytes, uint64_t first, uint64_t nbytes, uint64_t *state)
{
    const uint64_t at = first + hostile_below(state, nbytes - first);
    bytes[at] =
        (uint8_t)(hostile_below(state, 2) ? bytes[at] ^ (uint64_t)1 << hostile_below(state, 8) : hostile_random(state));
}

/* Of what can be in a file. */
static void damage(const sample *s, files *f, uint64_t *state)
{
    const uint64_t body = FLOE_ZFPX_HEADER_NBYTES + 16; /* behind the spec, which calls that do not wait are given */
    switch (hostile_below(state, f->index ? 6 : 2)) {
    case 0: mutate(f->data, s->stream.header_nbits / 8 + 1, f->nbytes, state); break;
    case 1: f->nbytes = hostile_below(state, f->nbytes + 1); break;
    case 2: mutate(f->index, 0, f->index_nbytes, state); break;
    case 3: f->index_nbytes = hostile_below(state, f->index_nbytes + 1); break;
    case 4:
        mutate(f->index, body, f->index_nbytes, state);
        forge(f);
        break;
    default:
        mutate(f->index, hostile_below(state, 2) ? body : 16, body + 32, state);
        mutate(f->data, s->stream.header_nbits / 8 + 1, f->nbytes, state);
        memcpy(f->index + FLOE_ZFPX_HEADER_NBYTES, (const uint8_t *)s->index.data + FLOE_ZFPX_HEADER_NBYTES, 16);
        forge(f);
    }
}

static void nothing_bad_comes_of_damage(void **unused)
{
    const char *text = getenv("ZFP_MUTATIONS");
    const uint64_t turns = text ? strtoull(text, NULL, 10) : MUTATIONS;
    uint64_t state = 11, fine = 0, bad = 0;
    (void)unused;
    for (uint64_t n = 0; n < 16 * ZFP_KINDS; n += (uint64_t)one_in(5)) {
        sample s;
        small_sample(n, &s);
        for (uint64_t turn = 0; turn < turns; turn++) {
            files f = files_of(&s, hostile_below(&state, 4) > 0);
            damage(&s, &f, &state);
            const floe_status status = judge(&s, &f, turn % 2);
            fine += status == FLOE_OK;
            bad += status != FLOE_OK;
            if (f.nbytes >= s.stream.header_nbits / 8 + 1 && async_status(&s, &f) != status)
                fail_msg("%s: the CPU says %d, the GPU %d", s.c.text, (int)status, (int)async_status(&s, &f));
            files_free(&f);
        }
        sample_free(&s);
    }
    assert_in_range(bad, fine / 4, UINT64_MAX);
    assert_in_range(fine, 10, UINT64_MAX);
}

/* The index of another stream, of another shape, and of another spec than the call gives. */
static void other_indexes(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < FEW; n += (uint64_t)one_in(5)) {
        sample s, t;
        small_sample(n, &s);
        small_sample(n + 16, &t);
        files f = files_of(&s, false), other = files_of(&t, true);
        f.index = other.index, f.index_nbytes = other.index_nbytes;
        assert_int_equal(judge(&s, &f, n % 2), FLOE_ERR_FORMAT);
        assert_int_equal(async_status(&s, &f), FLOE_ERR_FORMAT);
        files_free(&f);
        free(other.data);
        f = files_of(&s, true);
        s.index.spec.chunk++;
        assert_int_equal(judge(&s, &f, n % 2), FLOE_OK); /* it holds its spec itself */
        assert_int_equal(async_status(&s, &f), FLOE_ERR_FORMAT);
        files_free(&f);
        sample_free(&s);
        sample_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_bad_comes_of_damage), cmocka_unit_test(other_indexes)};
    return cmocka_run_group_tests(tests, contexts_open, contexts_close);
}
