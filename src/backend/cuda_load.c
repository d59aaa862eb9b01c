/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr1, secure_getenv */
#include "backend/cuda.h"

#include "base/try.h"

#ifdef FLOE_CUDA_LOADED

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libfloe_cuda.so"
enum { PATH_NBYTES = 4096 };

/* What the jumps go by: the functions in the order of their names, as both libraries have them. NULL: not loaded. */
_Atomic(const void *) floe_cuda_entries;
extern const char floe_cuda_entries_id[]; /* version and names, as a library that fits has them */

int floe_cuda_absent(void);
int floe_cuda_absent(void) { return cudaErrorNoDevice; }

/* The folder of whatever this code is part of; "" where that cannot be found out. */
static void own_folder(char folder[PATH_NBYTES])
{
    Dl_info info;
    struct link_map *map = NULL;
    ssize_t n = 0;
    folder[0] = '\0';
    if (dladdr1(&floe_cuda_entries, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0])
        n = snprintf(folder, PATH_NBYTES, "%s", map->l_name);
    else /* the program itself, whose name may be anything */
        n = readlink("/proc/self/exe", folder, PATH_NBYTES);
    folder[n > 0 && n < PATH_NBYTES ? n : 0] = '\0';
    char *const slash = strrchr(folder, '/');
    folder[slash ? slash - folder : 0] = '\0';
}

/* A library that is there but cannot be loaded ends the search: it means more than that the next place has none. */
static void *library_open(void)
{
    enum { FLAGS = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };
    static const char *const below[] = {"/" LIBRARY, "/../" FLOE_LIBDIR "/" LIBRARY};
    const char *const wish = secure_getenv("FLOE_CUDA_LIBRARY");
    char folder[PATH_NBYTES], path[PATH_NBYTES + 256];
    if (wish && *wish)
        return dlopen(wish, FLAGS);
    own_folder(folder);
    for (size_t i = 0; folder[0] && i < sizeof below / sizeof *below; i++) {
        snprintf(path, sizeof path, "%s%s", folder, below[i]);
        if (access(path, F_OK) == 0)
            return dlopen(path, FLAGS);
    }
    return dlopen(LIBRARY, FLAGS);
}

floe_status floe_cuda_load(floe_error *err)
{
    if (atomic_load_explicit(&floe_cuda_entries, memory_order_acquire))
        return FLOE_OK;
    void *const library = library_open();
    FLOE_CHECK(err, library, FLOE_ERR_DEVICE, "there is no GPU backend: %.200s", dlerror());
    const char *const id = dlsym(library, "floe_cuda_library_id");
    const void *const entries = dlsym(library, "floe_cuda_library_entries");
    FLOE_CHECK(err, id && entries && strcmp(id, floe_cuda_entries_id) == 0, FLOE_ERR_DEVICE,
               "the GPU backend is of another version of floe: " LIBRARY " is %.40s, libfloe is %.40s",
               id ? id : "none", floe_cuda_entries_id);
    atomic_store_explicit(&floe_cuda_entries, entries, memory_order_release);
    return FLOE_OK;
}

const char *floe_cuda_loaded_from(void)
{
    Dl_info info;
    const void *const entries = atomic_load_explicit(&floe_cuda_entries, memory_order_acquire);
    return entries && dladdr(entries, &info) ? info.dli_fname : "";
}

#else

floe_status floe_cuda_load(floe_error *err)
{
#ifdef FLOE_HAVE_CUDA_BUILD
    (void)err;
    return FLOE_OK;
#else
    return floe_fail(err, FLOE_ERR_DEVICE, "this build of floe has no CUDA, it runs on the CPU only");
#endif
}

const char *floe_cuda_loaded_from(void) { return ""; }

#endif
