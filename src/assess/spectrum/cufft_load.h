/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuFFT, loaded when it is first needed: libfloe neither grows by it nor requires it, and reports clearly where it is not there.
 * What is used of its interface has been the same since it has 64-bit sizes.
 */
#ifndef FLOE_ASSESS_CUFFT_LOAD_H
#define FLOE_ASSESS_CUFFT_LOAD_H

#include <stddef.h>

#include <floe/status.h>

enum { FLOE_CUFFT_Z2Z = 0x69, FLOE_CUFFT_D2Z = 0x6a, FLOE_CUFFT_FORWARD = -1 };
enum { FLOE_CUFFT_ALLOC_FAILED = 2, FLOE_CUFFT_INTERNAL_ERROR = 5 };

/* Functions as cuFFT has them; they return 0, or what went wrong. A plan is a number. */
typedef struct floe_cufft {
    void *library;
    int (*create)(int *plan);
    int (*destroy)(int plan);
    int (*set_auto_allocation)(int plan, int on);
    int (*set_stream)(int plan, void *stream);
    int (*set_work_area)(int plan, void *work);
    int (*make_plan_many)(int plan, int rank, long long *n, long long *inembed, long long istride, long long idist,
                          long long *onembed, long long ostride, long long odist, int type, long long batch,
                          size_t *work_nbytes);
    int (*exec_d2z)(int plan, void *in, void *out);
    int (*exec_z2z)(int plan, void *in, void *out, int direction);
} floe_cufft;

/* UNSUPPORTED, and why: it is not there. */
floe_status floe_cufft_open(floe_cufft *cufft, floe_error *err);
void floe_cufft_close(floe_cufft *cufft);

#endif
