/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers that claim anything, with next to nothing behind: a GPU reports of them what the CPU reports, and takes no memory for them. */
#include "codec/codec.h"
#include "tests/claims_kit.h"
#include "tests/gpu/contexts_gpu_kit.h"

enum { SOME = 1 << 22 }; /* bytes of a field that calls may look at */

static claim c;
static uint8_t *dev_stream, *dev_some;
static void *host_some;

static int little_memory(void **state)
{
    setenv("FLOE_EMULATED_MEMORY", "134217728", 1); /* of an emulated GPU */
    host_some = calloc(SOME, 1);
    CU(cudaMalloc((void **)&dev_stream, CLAIM_CAPACITY));
    CU(cudaMalloc((void **)&dev_some, SOME));
    return report_open(state);
}

static int memory_back(void **state)
{
    free(host_some);
    CU(cudaFree(dev_stream));
    CU(cudaFree(dev_some));
    return report_close(state);
}

static void alike(uint64_t number, const char *what, floe_status got, floe_status right)
{
    if (got != right)
        fail_msg("claim %llu, %s: status %d, %s; %s; the CPU says %d, %s", (unsigned long long)number, what, (int)got,
                 floe_ctx_message(gpu), floe_ctx_message(through), (int)right, floe_ctx_message(cpu));
}

static void alike_all(uint64_t number, const floe_field *host, const floe_field *dev)
{
    floe_field to = *host, into = *dev;
    const floe_status right = floe_decompress(cpu, c.bytes, c.nbytes, &to);
    assert_int_not_equal(right, FLOE_OK);
    alike(number, "device to device", floe_decompress(gpu, dev_stream, c.nbytes, &into), right);
    alike(number, "host to device", floe_decompress(gpu, c.bytes, c.nbytes, &into), right);
    alike(number, "device to host", floe_decompress(gpu, dev_stream, c.nbytes, &to), right);
    alike(number, "host to host", floe_decompress(through, c.bytes, c.nbytes, &to), right);
    alike(number, "verify", floe_verify(through, dev_stream, c.nbytes, host),
          floe_verify(cpu, c.bytes, c.nbytes, host));
}

static void alike_box(uint64_t number, uint64_t *random)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    floe_field to = claim_box(&c, host_some, lo, hi, random), into = to;
    into.place = FLOE_DEVICE;
    into.data = dev_some;
    const floe_status right = floe_decompress_region(cpu, c.bytes, c.nbytes, lo, hi, &to);
    alike(number, "region, device", floe_decompress_region(gpu, dev_stream, c.nbytes, lo, hi, &into), right);
    alike(number, "region, host", floe_decompress_region(gpu, c.bytes, c.nbytes, lo, hi, &into), right);
    alike(number, "region to host", floe_decompress_region(through, dev_stream, c.nbytes, lo, hi, &to), right);
}

/* The call that does not wait is given what the field is; it refuses what the others refuse. */
static void refused_later(floe_field *dev)
{
    floe_device_report report;
    const floe_status status = floe_decompress_async(gpu, dev_stream, c.nbytes, NULL, NULL, dev, dev_report);
    if (status != FLOE_OK)
        return;
    CU(cudaMemcpy(&report, dev_report, sizeof report, cudaMemcpyDeviceToHost));
    assert_int_not_equal(report.status, FLOE_OK);
}

static void claims_are_refused_alike(void **state)
{
    (void)state;
    uint64_t random = 1, nwhole = 0;
    for (uint64_t i = 0; i < (is_small() ? 300 : 1000); i += (uint64_t)one_in(10)) {
        if (!claim_make(i, &c) || !floe_codec_on_gpu(floe_codec_of(c.header.codec), c.header.dtype))
            continue;
        CU(cudaMemcpy(dev_stream, c.bytes, c.nbytes, cudaMemcpyHostToDevice));
        alike_box(i, &random);
        if (claim_nbytes(&c) > SOME)
            continue;
        floe_field host = claim_field(&c, host_some),
                   dev = floe_field_of_device(dev_some, c.header.dtype, c.header.rank, c.header.shape);
        alike_all(i, &host, &dev);
        refused_later(&dev);
        nwhole++;
    }
    assert_true(nwhole >= 10 || is_watched());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_are_refused_alike)};
    return cmocka_run_group_tests(tests, little_memory, memory_back);
}
