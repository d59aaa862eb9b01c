/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/spectrum/cufft_load.h"

#include <string.h>

#include "base/try.h"

#if defined(FLOE_HAVE_CUFFT) && defined(FLOE_CUFFT_EMULATED)

#include <cufft.h>

floe_status floe_cufft_open(floe_cufft *cufft, floe_error *err)
{
    FLOE_CHECK(err, floe_emulated_cufft(), FLOE_ERR_UNSUPPORTED, "spectra on a GPU need cuFFT: it is not emulated");
    *cufft = (floe_cufft){.create = cufftCreate,
                          .destroy = cufftDestroy,
                          .set_auto_allocation = cufftSetAutoAllocation,
                          .set_stream = cufftSetStream,
                          .set_work_area = cufftSetWorkArea,
                          .make_plan_many = cufftMakePlanMany64,
                          .exec_d2z = cufftExecD2Z,
                          .exec_z2z = cufftExecZ2Z};
    return FLOE_OK;
}

void floe_cufft_close(floe_cufft *cufft) { memset(cufft, 0, sizeof *cufft); }

#elif defined(FLOE_HAVE_CUFFT)

#include <cuda_runtime_api.h>
#include <dlfcn.h>

/* The library of our own CUDA runtime's release first, then whatever a link without number leads to, then where the toolkit was
 * when floe was built. cuFFT's number was one below the release's ever since. */
static void *library_load(void)
{
    static const char *const names[] = {CUDART_VERSION >= 13000   ? "libcufft.so.12"
                                        : CUDART_VERSION >= 12000 ? "libcufft.so.11"
                                                                  : "libcufft.so.10",
                                        "libcufft.so", FLOE_CUFFT_DIR "/libcufft.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); /* stays: the next call finds it at once */
    return library;
}

floe_status floe_cufft_open(floe_cufft *cufft, floe_error *err)
{
    *cufft = (floe_cufft){.library = library_load()};
    const struct {
        const char *name;
        void *function;
    } wanted[] = {{"cufftCreate", &cufft->create},
                  {"cufftDestroy", &cufft->destroy},
                  {"cufftSetAutoAllocation", &cufft->set_auto_allocation},
                  {"cufftSetStream", &cufft->set_stream},
                  {"cufftSetWorkArea", &cufft->set_work_area},
                  {"cufftMakePlanMany64", &cufft->make_plan_many},
                  {"cufftExecD2Z", &cufft->exec_d2z},
                  {"cufftExecZ2Z", &cufft->exec_z2z}};
    FLOE_CHECK(err, cufft->library, FLOE_ERR_UNSUPPORTED, "spectra on a GPU need cuFFT, which is not there: %.150s",
               dlerror());
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *const function = dlsym(cufft->library, wanted[i].name);
        if (!function) {
            floe_cufft_close(cufft);
            return floe_fail(err, FLOE_ERR_UNSUPPORTED, "this libcufft.so has no %s: it is too old", wanted[i].name);
        }
        memcpy(wanted[i].function, &function, sizeof function);
    }
    return FLOE_OK;
}

void floe_cufft_close(floe_cufft *cufft)
{
    if (cufft->library)
        dlclose(cufft->library);
    memset(cufft, 0, sizeof *cufft);
}

#else

floe_status floe_cufft_open(floe_cufft *cufft, floe_error *err)
{
    memset(cufft, 0, sizeof *cufft);
    return floe_fail(err, FLOE_ERR_UNSUPPORTED, "spectra on a GPU need cuFFT, and this floe was built without it");
}

void floe_cufft_close(floe_cufft *cufft) { (void)cufft; }

#endif
