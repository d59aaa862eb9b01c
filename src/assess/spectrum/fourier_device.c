/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/spectrum/fourier_device.h"

#include "base/try.h"

static floe_status cufft_status(int error, const char *what, floe_error *err)
{
    FLOE_CHECK(err, !error, error == FLOE_CUFFT_ALLOC_FAILED ? FLOE_ERR_MEMORY : FLOE_ERR_DEVICE,
               "cuFFT: %s failed (cufftResult %d)", what, error);
    return FLOE_OK;
}

static floe_status plan_create(floe_fourier_device *f, int *plan, bool *has, floe_error *err)
{
    FLOE_TRY(cufft_status(f->cufft.create(plan), "cufftCreate", err));
    *has = true;
    return cufft_status(f->cufft.set_auto_allocation(*plan, 0), "cufftSetAutoAllocation", err);
}

static void work_add(floe_fourier_device *f, size_t nbytes)
{
    f->work_nbytes = nbytes > f->work_nbytes ? nbytes : f->work_nbytes; /* one after the other */
}

/* Real to complex in place, rows padded; as many batches as the fourth axis has elements. */
static floe_status inner_plan(floe_fourier_device *f, const uint64_t *shape, floe_error *err)
{
    const long long width = (long long)(shape[3] / 2 + 1);
    long long n[3], in[3], out[3];
    const int rank = shape[1] > 1 ? 3 : shape[2] > 1 ? 2 : 1;
    size_t nbytes = 0;
    for (int i = 0; i < rank; i++)
        n[i] = in[i] = out[i] = (long long)shape[4 - rank + i];
    in[rank - 1] = 2 * width, out[rank - 1] = width;
    const long long gap = (long long)(shape[1] * shape[2]) * width;
    FLOE_TRY(plan_create(f, &f->inner, &f->has_inner, err));
    FLOE_TRY(cufft_status(f->cufft.make_plan_many(f->inner, rank, n, in, 1, 2 * gap, out, 1, gap, FLOE_CUFFT_D2Z,
                                                  (long long)shape[0], &nbytes),
                          "cufftMakePlanMany64", err));
    work_add(f, nbytes);
    return FLOE_OK;
}

/* All lines along the slowest of four axes: their elements lie a field of three axes apart. */
static floe_status outer_plan(floe_fourier_device *f, const uint64_t *shape, floe_error *err)
{
    long long n = (long long)shape[0], gap = (long long)(shape[1] * shape[2] * (shape[3] / 2 + 1));
    size_t nbytes = 0;
    FLOE_TRY(plan_create(f, &f->outer, &f->has_outer, err));
    FLOE_TRY(
        cufft_status(f->cufft.make_plan_many(f->outer, 1, &n, &n, gap, 1, &n, gap, 1, FLOE_CUFFT_Z2Z, gap, &nbytes),
                     "cufftMakePlanMany64", err));
    work_add(f, nbytes);
    return FLOE_OK;
}

floe_status floe_fourier_device_open(floe_fourier_device *f, const uint64_t *shape, floe_error *err)
{
    *f = (floe_fourier_device){.has_inner = false};
    FLOE_TRY(floe_cufft_open(&f->cufft, err));
    floe_status status = shape[3] > 1 ? inner_plan(f, shape, err) : FLOE_OK;
    if (status == FLOE_OK && shape[0] > 1)
        status = outer_plan(f, shape, err);
    if (status != FLOE_OK)
        floe_fourier_device_close(f);
    return status;
}

static floe_status plan_place(const floe_fourier_device *f, int plan, void *dev_work, void *stream, floe_error *err)
{
    FLOE_TRY(cufft_status(f->cufft.set_stream(plan, stream), "cufftSetStream", err));
    return cufft_status(f->cufft.set_work_area(plan, dev_work), "cufftSetWorkArea", err);
}

floe_status floe_fourier_device_run(const floe_fourier_device *f, double *dev_data, void *dev_work, void *stream,
                                    floe_error *err)
{
    if (!f->has_inner) /* a single value is its own transform */
        return FLOE_OK;
    FLOE_TRY(plan_place(f, f->inner, dev_work, stream, err));
    FLOE_TRY(cufft_status(f->cufft.exec_d2z(f->inner, dev_data, dev_data), "cufftExecD2Z", err));
    if (!f->has_outer)
        return FLOE_OK;
    FLOE_TRY(plan_place(f, f->outer, dev_work, stream, err));
    return cufft_status(f->cufft.exec_z2z(f->outer, dev_data, dev_data, FLOE_CUFFT_FORWARD), "cufftExecZ2Z", err);
}

void floe_fourier_device_close(floe_fourier_device *f)
{
    if (f->has_inner)
        f->cufft.destroy(f->inner);
    if (f->has_outer)
        f->cufft.destroy(f->outer);
    f->has_inner = f->has_outer = false;
    floe_cufft_close(&f->cufft);
}
