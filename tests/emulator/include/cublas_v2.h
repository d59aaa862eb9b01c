/* SPDX-License-Identifier: BSD-3-Clause */
/* What the examples need of cuBLAS; tests/emulator/emulator_cublas.cpp. */
#ifndef CUBLAS_V2_H
#define CUBLAS_V2_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7
} cublasStatus_t;
typedef enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 } cublasOperation_t;
typedef struct cublasContext *cublasHandle_t;

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
/* y = alpha op(A) x + beta y, A by columns; here only CUBLAS_OP_T. */
cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const float *alpha,
                           const float *a, int lda, const float *x, int incx, const float *beta, float *y, int incy);

#ifdef __cplusplus
}
#endif
#endif
