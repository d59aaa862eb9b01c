/* SPDX-License-Identifier: BSD-3-Clause */
/* cuFFT's stand-in: one axis after another by the definition of the transform, kernels on the plan's stream. In place only, as
 * floe asks for it; each axis goes to memory of the plan's own and back. A work area is requested as cuFFT does, for long axes
 * only; a plan that needs none must not get one that is the data. */
#include <math.h>

#include "backend/device.cuh"
#include "include/cufft.h"

#include "emulator.h"

namespace
{

enum { INVALID_PLAN = 1, ALLOC_FAILED = 2, INVALID_VALUE = 4, INTERNAL_ERROR = 5, EXEC_FAILED = 6, NO_WORKSPACE = 13 };
enum { MAX_PLANS = 64, D2Z = 0x6a, Z2Z = 0x69, THREADS = 64, SHORT = 24 };

struct plan_state {
    bool is_used, is_made;
    int rank, type;
    long long n[3], row, gap, stride,
        batch; /* row: of the last axis in the output; gap: from one of a batch to the next */
    size_t area_nbytes;
    void *stream, *area, *work;
};
plan_state plans[MAX_PLANS];

plan_state *plan_of(int plan) { return plan > 0 && plan < MAX_PLANS && plans[plan].is_used ? &plans[plan] : nullptr; }

/* Lines of n complex numbers, `stride` apart, line l at l / near * far + l % near. */
struct lines {
    long long n, stride, near_count, far_gap, count;
};

__device__ void term_add(double re, double im, long long jk, long long n, double *sum)
{
    const double angle = -2 * 3.14159265358979323846 * ((double)(jk % n) / (double)n);
    sum[0] += re * cos(angle) - im * sin(angle);
    sum[1] += re * sin(angle) + im * cos(angle);
}

/* Rows of n real numbers, 2 row apart, to row coefficients each; a thread a coefficient. */
__global__ void rows_kernel(const double *in, double *out, long long n, long long row, long long nrows)
{
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    double sum[2] = {0, 0};
    if (i >= nrows * row)
        return;
    for (long long j = 0; j < n; j++)
        term_add(in[2 * (i / row) * row + j], 0, j * (i % row), n, sum);
    out[2 * i] = sum[0], out[2 * i + 1] = sum[1];
}

/* A thread a coefficient of a line. */
__global__ void lines_kernel(const double *in, double *out, lines l)
{
    const long long i = (long long)blockIdx.x * THREADS + threadIdx.x, line = i / l.n, k = i % l.n;
    double sum[2] = {0, 0};
    if (line >= l.count)
        return;
    const long long first = line / l.near_count * l.far_gap + line % l.near_count;
    for (long long j = 0; j < l.n; j++) {
        const long long at = first + j * l.stride;
        term_add(in[2 * at], in[2 * at + 1], j * k, l.n, sum);
    }
    const long long to = first + k * l.stride;
    out[2 * to] = sum[0], out[2 * to + 1] = sum[1];
}

unsigned blocks_of(long long n) { return (unsigned)((n + THREADS - 1) / THREADS); }

int back_copy(const plan_state *p, void *data, long long ncomplex)
{
    (void)cudaMemcpyAsync(data, p->work, 16 * (size_t)ncomplex, cudaMemcpyDeviceToDevice, (cudaStream_t)p->stream);
    return cudaGetLastError() != cudaSuccess;
}

int line_axis(const plan_state *p, double *data, const lines &l, long long ncomplex)
{
    FLOE_LAUNCH(lines_kernel, blocks_of(l.n * l.count), THREADS, 0, (cudaStream_t)p->stream, (const double *)data,
                (double *)p->work, l);
    return back_copy(p, data, ncomplex);
}

} // namespace

int floe_emulated_cufft(void) { return floe_emulated_setting("FLOE_EMULATED_CUFFT", 1) != 0; }

int cufftCreate(int *plan)
{
    for (int i = 1; i < MAX_PLANS; i++)
        if (!plans[i].is_used) {
            plans[i] = plan_state();
            plans[i].is_used = true;
            *plan = i;
            return 0;
        }
    return ALLOC_FAILED; /* somebody does not destroy plans */
}

int cufftDestroy(int plan)
{
    if (!plan_of(plan))
        return INVALID_PLAN;
    plans[plan].is_used = false;
    return cudaFree(plans[plan].work) ? INVALID_VALUE : 0;
}

int cufftSetAutoAllocation(int plan, int on) { return !plan_of(plan) ? INVALID_PLAN : on ? INVALID_VALUE : 0; }

int cufftSetStream(int plan, void *stream)
{
    if (!plan_of(plan))
        return INVALID_PLAN;
    plans[plan].stream = stream;
    return 0;
}

int cufftSetWorkArea(int plan, void *work)
{
    if (!plan_of(plan) || !work || (uintptr_t)work % 256)
        return INVALID_VALUE;
    plans[plan].area = work;
    return 0;
}

int cufftMakePlanMany64(int plan, int rank, long long *n, long long *inembed, long long istride, long long idist,
                        long long *onembed, long long ostride, long long odist, int type, long long batch,
                        size_t *work_nbytes)
{
    plan_state *p = plan_of(plan);
    if (!p || p->is_made || rank < 1 || rank > 3 || batch < 1 || istride != ostride || !inembed || !onembed)
        return INVALID_VALUE;
    for (int i = 0; i < rank; i++) {
        p->n[i] = n[i];
        if (n[i] < 1 || (i < rank - 1 && (inembed[i] != n[i] || onembed[i] != n[i])))
            return INVALID_VALUE;
    }
    p->rank = rank, p->type = type, p->batch = batch;
    p->row = type == D2Z ? onembed[rank - 1] : n[rank - 1];
    p->gap = odist, p->stride = ostride;
    const bool rows = type == D2Z && p->row == n[rank - 1] / 2 + 1 && inembed[rank - 1] == 2 * p->row && istride == 1 &&
                      idist == 2 * odist;
    if (!rows && !(type == Z2Z && rank == 1 && idist == odist && idist == 1))
        return INVALID_VALUE;
    const size_t nbytes = 16 * (size_t)(type == D2Z ? odist * batch : n[0] * ostride);
    for (int i = 0; i < rank; i++)
        p->area_nbytes = n[i] > SHORT ? nbytes : p->area_nbytes;
    *work_nbytes = p->area_nbytes;
    p->is_made = !cudaMalloc(&p->work, nbytes);
    (void)cudaGetLastError();               /* cuFFT has a runtime of its own, */
    return p->is_made ? 0 : INTERNAL_ERROR; /* and this number for it */
}

/* What is wrong with the work area. */
static int area_check(const plan_state *p, const void *data)
{
    if (p->area_nbytes && !p->area)
        return NO_WORKSPACE;
    return p->area == data ? EXEC_FAILED : 0;
}

int cufftExecD2Z(int plan, void *in, void *out)
{
    plan_state *p = plan_of(plan);
    if (!p || !p->is_made || p->type != D2Z || in != out)
        return INVALID_VALUE;
    if (area_check(p, in))
        return area_check(p, in);
    const long long total = p->gap * p->batch;
    FLOE_LAUNCH(rows_kernel, blocks_of(total), THREADS, 0, (cudaStream_t)p->stream, (const double *)in,
                (double *)p->work, p->n[p->rank - 1], p->row, total / p->row);
    if (back_copy(p, out, total))
        return INVALID_VALUE;
    long long stride = p->row;
    for (int a = p->rank - 2; a >= 0; stride *= p->n[a--]) {
        const lines l = {p->n[a], stride, stride, stride * p->n[a], total / p->n[a]};
        if (line_axis(p, (double *)out, l, total))
            return INVALID_VALUE;
    }
    return 0;
}

int cufftExecZ2Z(int plan, void *in, void *out, int direction)
{
    plan_state *p = plan_of(plan);
    if (!p || !p->is_made || p->type != Z2Z || in != out || direction != -1)
        return INVALID_VALUE;
    if (area_check(p, in))
        return area_check(p, in);
    const lines l = {p->n[0], p->stride, p->batch, p->stride * p->n[0], p->batch};
    return line_axis(p, (double *)out, l, p->n[0] * p->stride);
}
