/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/spectrum/fourier_device.h"

#include "backend/cuda.h"
#include "base/hd.h"
#include "base/try.h"

static floe_status cufft_status(int error, const char *what, floe_error *err)
{
    const bool of_memory =
        error == FLOE_CUFFT_ALLOC_FAILED || (error == FLOE_CUFFT_INTERNAL_ERROR && floe_cuda_is_short());
    FLOE_CHECK(err, !error, of_memory ? FLOE_ERR_MEMORY : FLOE_ERR_DEVICE, "cuFFT: %s failed (cufftResult %d)%s", what,
               error, of_memory ? ", as device memory is short" : "");
    return FLOE_OK;
}

static floe_status plan_create(const floe_fourier_device *f, floe_fourier_plan *plan, floe_error *err)
{
    FLOE_TRY(cufft_status(f->cufft.create(&plan->number), "cufftCreate", err));
    plan->is_there = true;
    return cufft_status(f->cufft.set_auto_allocation(plan->number, 0), "cufftSetAutoAllocation", err);
}

/* Real to complex in place, rows padded; as many batches as the fourth axis has elements. */
static floe_status inner_plan(floe_fourier_device *f, const uint64_t *shape, floe_error *err)
{
    const long long width = (long long)(shape[3] / 2 + 1);
    long long n[3], in[3], out[3];
    const int rank = shape[1] > 1 ? 3 : shape[2] > 1 ? 2 : 1;
    for (int i = 0; i < rank; i++)
        n[i] = in[i] = out[i] = (long long)shape[4 - rank + i];
    in[rank - 1] = 2 * width, out[rank - 1] = width;
    const long long gap = (long long)(shape[1] * shape[2]) * width;
    FLOE_TRY(plan_create(f, &f->inner, err));
    FLOE_TRY(cufft_status(f->cufft.make_plan_many(f->inner.number, rank, n, in, 1, 2 * gap, out, 1, gap, FLOE_CUFFT_D2Z,
                                                  (long long)shape[0], &f->inner.work_nbytes),
                          "cufftMakePlanMany64", err));
    return FLOE_OK;
}

/* All lines along the slowest of four axes: their elements lie a field of three axes apart. */
static floe_status outer_plan(floe_fourier_device *f, const uint64_t *shape, floe_error *err)
{
    long long n = (long long)shape[0], gap = (long long)(shape[1] * shape[2] * (shape[3] / 2 + 1));
    FLOE_TRY(plan_create(f, &f->outer, err));
    FLOE_TRY(cufft_status(f->cufft.make_plan_many(f->outer.number, 1, &n, &n, gap, 1, &n, gap, 1, FLOE_CUFFT_Z2Z, gap,
                                                  &f->outer.work_nbytes),
                          "cufftMakePlanMany64", err));
    return FLOE_OK;
}

floe_status floe_fourier_device_open(floe_fourier_device *f, const uint64_t *shape, floe_error *err)
{
    *f = (floe_fourier_device){.work_nbytes = 0};
    FLOE_TRY(floe_cufft_open(&f->cufft, err));
    floe_status status = shape[3] > 1 ? inner_plan(f, shape, err) : FLOE_OK;
    if (status == FLOE_OK && shape[0] > 1)
        status = outer_plan(f, shape, err);
    f->work_nbytes = floe_max64(f->inner.work_nbytes, f->outer.work_nbytes);
    if (status != FLOE_OK)
        floe_fourier_device_close(f);
    return status;
}

/* A plan that requests no work area must not get one: cuFFT takes it for what it may use, and fails where it is the data. */
static floe_status plan_place(const floe_fourier_device *f, const floe_fourier_plan *plan, void *dev_work, void *stream,
                              floe_error *err)
{
    FLOE_TRY(cufft_status(f->cufft.set_stream(plan->number, stream), "cufftSetStream", err));
    if (!plan->work_nbytes)
        return FLOE_OK;
    return cufft_status(f->cufft.set_work_area(plan->number, dev_work), "cufftSetWorkArea", err);
}

floe_status floe_fourier_device_run(const floe_fourier_device *f, double *dev_data, void *dev_work, void *stream,
                                    floe_error *err)
{
    if (f->inner.is_there) { /* a single value is its own transform */
        FLOE_TRY(plan_place(f, &f->inner, dev_work, stream, err));
        FLOE_TRY(cufft_status(f->cufft.exec_d2z(f->inner.number, dev_data, dev_data), "cufftExecD2Z", err));
    }
    if (!f->outer.is_there)
        return FLOE_OK;
    FLOE_TRY(plan_place(f, &f->outer, dev_work, stream, err));
    return cufft_status(f->cufft.exec_z2z(f->outer.number, dev_data, dev_data, FLOE_CUFFT_FORWARD), "cufftExecZ2Z",
                        err);
}

void floe_fourier_device_close(floe_fourier_device *f)
{
    if (f->inner.is_there)
        f->cufft.destroy(f->inner.number);
    if (f->outer.is_there)
        f->cufft.destroy(f->outer.number);
    f->inner.is_there = f->outer.is_there = false;
    floe_cufft_close(&f->cufft);
}
