/* SPDX-License-Identifier: BSD-3-Clause */
/* In front of each source of libfloe, where the GPU backend is a library of its own. Functions of the CUDA runtime have other names
 * there: a program that links libfloe.a and a runtime of its own has those, and libfloe that of libfloe_cuda.so. Linking fails
 * where one is missing here. */
#define cudaDeviceGetAttribute           floe_rt_cudaDeviceGetAttribute
#define cudaDeviceGetStreamPriorityRange floe_rt_cudaDeviceGetStreamPriorityRange
#define cudaEventCreateWithFlags         floe_rt_cudaEventCreateWithFlags
#define cudaEventDestroy                 floe_rt_cudaEventDestroy
#define cudaEventRecord                  floe_rt_cudaEventRecord
#define cudaEventSynchronize             floe_rt_cudaEventSynchronize
#define cudaFree                         floe_rt_cudaFree
#define cudaFreeHost                     floe_rt_cudaFreeHost
#define cudaGetDevice                    floe_rt_cudaGetDevice
#define cudaGetDeviceCount               floe_rt_cudaGetDeviceCount
#define cudaGetErrorString               floe_rt_cudaGetErrorString
#define cudaGetLastError                 floe_rt_cudaGetLastError
#define cudaMalloc                       floe_rt_cudaMalloc
#define cudaMallocHost                   floe_rt_cudaMallocHost
#define cudaMemcpy2DAsync                floe_rt_cudaMemcpy2DAsync
#define cudaMemcpyAsync                  floe_rt_cudaMemcpyAsync
#define cudaMemGetInfo                   floe_rt_cudaMemGetInfo
#define cudaMemsetAsync                  floe_rt_cudaMemsetAsync
#define cudaPointerGetAttributes         floe_rt_cudaPointerGetAttributes
#define cudaSetDevice                    floe_rt_cudaSetDevice
#define cudaStreamCreateWithFlags        floe_rt_cudaStreamCreateWithFlags
#define cudaStreamCreateWithPriority     floe_rt_cudaStreamCreateWithPriority
#define cudaStreamDestroy                floe_rt_cudaStreamDestroy
#define cudaStreamSynchronize            floe_rt_cudaStreamSynchronize
#define cudaStreamWaitEvent              floe_rt_cudaStreamWaitEvent
