/* SPDX-License-Identifier: BSD-3-Clause */
/* The one routine of cuBLAS that the examples call: a thread an element of y, summed in order. */
#include "cublas_v2.h"
#include "cuda_runtime.h"

#include <stdlib.h>

struct cublasContext {
    cudaStream_t stream;
};

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = (cublasHandle_t)calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

namespace
{

struct gemv_job {
    int n, count; /* values of a sum, sums */
    float alpha, beta;
    const float *a, *x;
    int lda, incx, incy;
    float *y;
};

__global__ void gemv_kernel(gemv_job job)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0;
    if (i >= job.count)
        return;
    for (int j = 0; j < job.n; j++)
        sum += job.a[(size_t)i * (size_t)job.lda + (size_t)j] * job.x[j * job.incx];
    float *y = &job.y[i * job.incy];
    *y = job.alpha * sum + (job.beta == 0 ? 0 : job.beta * *y);
}

} // namespace

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const float *alpha,
                           const float *a, int lda, const float *x, int incx, const float *beta, float *y, int incy)
{
    const gemv_job job = {m, n, *alpha, *beta, a, x, lda, incx, incy, y};
    if (op != CUBLAS_OP_T || m < 1 || n < 1 || lda < m || incx < 1 || incy < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    floe_emulate(dim3((unsigned)(n + 31) / 32), dim3(32), 0, handle->stream, floe_emulated_bind(gemv_kernel, job));
    return CUBLAS_STATUS_SUCCESS;
}
