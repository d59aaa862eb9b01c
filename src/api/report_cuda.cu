/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/report_cuda.h"

#include "backend/device.cuh"
#include "base/hd.h"

namespace
{

struct totals {
    unsigned long long nexceptions, max_error_bits, max_pw_error_bits;
};

FLOE_DEV unsigned long long larger(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

FLOE_DEV totals joined(totals t)
{
    for (int d = 16; d > 0; d /= 2) {
        t.nexceptions += __shfl_xor_sync(FLOE_ALL_LANES, t.nexceptions, d);
        t.max_error_bits = larger(t.max_error_bits, __shfl_xor_sync(FLOE_ALL_LANES, t.max_error_bits, d));
        t.max_pw_error_bits = larger(t.max_pw_error_bits, __shfl_xor_sync(FLOE_ALL_LANES, t.max_pw_error_bits, d));
    }
    return t;
}

/* One warp; a thread adds up each 32nd chunk. */
__global__ void report_kernel(const uint32_t *status, const floe_dev_chunk *chunks, uint64_t nchunks, uint64_t nbytes,
                              const uint64_t *dev_nbytes, bool pwrel, floe_device_report *report)
{
    totals t = {0, 0, 0};
    for (uint64_t c = threadIdx.x; chunks && c < nchunks; c += FLOE_WARP) {
        const floe_dev_gathered *g = &chunks[c].gathered[chunks[c].attempt];
        t.nexceptions += g->nexceptions;
        t.max_error_bits = larger(t.max_error_bits, g->max_error_bits);
        t.max_pw_error_bits = larger(t.max_pw_error_bits, g->max_pw_error_bits);
    }
    t = joined(t);
    if (threadIdx.x != 0)
        return;
    const bool errors = chunks != NULL;
    report->status = *status;
    report->reserved = 0;
    report->nbytes = *status ? 0 : dev_nbytes ? *dev_nbytes : nbytes;
    report->nexceptions = t.nexceptions;
    report->max_error = errors ? floe_f64_of(t.max_error_bits) : floe_f64_of(0x7FF8000000000000u);
    report->max_pw_error = errors && pwrel ? floe_f64_of(t.max_pw_error_bits) : floe_f64_of(0x7FF8000000000000u);
}

} // namespace

int floe_report_cuda(const uint32_t *status, const floe_dev_chunk *chunks, uint64_t nchunks, uint64_t nbytes,
                     const uint64_t *dev_nbytes, bool pwrel, floe_device_report *report, void *stream)
{
    FLOE_LAUNCH(report_kernel, 1, FLOE_WARP, 0, (cudaStream_t)stream, status, chunks, nchunks, nbytes, dev_nbytes,
                pwrel, report);
    return (int)cudaGetLastError();
}
