/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of cuFFT that floe uses, done by definition: slow, and as exact as can be. FLOE_EMULATED_CUFFT=0: it is not there. */
#ifndef FLOE_EMULATED_CUFFT_H
#define FLOE_EMULATED_CUFFT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

int floe_emulated_cufft(void);

int cufftCreate(int *plan);
int cufftDestroy(int plan);
int cufftSetAutoAllocation(int plan, int on);
int cufftSetStream(int plan, void *stream);
int cufftSetWorkArea(int plan, void *work);
int cufftMakePlanMany64(int plan, int rank, long long *n, long long *inembed, long long istride, long long idist,
                        long long *onembed, long long ostride, long long odist, int type, long long batch,
                        size_t *work_nbytes);
int cufftExecD2Z(int plan, void *in, void *out);
int cufftExecZ2Z(int plan, void *in, void *out, int direction);

#ifdef __cplusplus
}
#endif
#endif
