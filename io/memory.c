/* SPDX-License-Identifier: BSD-3-Clause */
/* Room for arrays that may be larger than the machine's memory: then in a file without a name. */
#define _XOPEN_SOURCE 700
#include "io/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* All of the file's blocks are had now: a full disk is an error here and not a fault at some later store. */
static floe_status map_file(io_memory *memory, int fd, floe_error *err)
{
    int failed = posix_fallocate(fd, 0, (off_t)memory->nbytes);
    if (failed)
        return io_fail(err, FLOE_ERR_IO, "cannot have a temporary file of %" PRIu64 " bytes: %s", memory->nbytes,
                       strerror(failed));
    void *data = mmap(NULL, (size_t)memory->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return io_fail(err, FLOE_ERR_MEMORY, "cannot map a temporary file of %" PRIu64 " bytes: %s", memory->nbytes,
                       strerror(errno));
    memory->data = data;
    return FLOE_OK;
}

floe_status io_memory_take(io_memory *memory, uint64_t nbytes, bool in_file, floe_error *err)
{
    *memory = (io_memory){.nbytes = nbytes ? nbytes : 1, .in_file = in_file};
    if (memory->nbytes > INT64_MAX || memory->nbytes > SIZE_MAX)
        return io_fail(err, FLOE_ERR_MEMORY, "%" PRIu64 " bytes are more than this machine can address", nbytes);
    if (!in_file) {
        memory->data = malloc((size_t)memory->nbytes);
        return memory->data ? FLOE_OK
                            : io_fail(err, FLOE_ERR_MEMORY, "%" PRIu64 " bytes of memory could not be had", nbytes);
    }
    int fd = io_spool_open(err);
    if (fd < 0)
        return FLOE_ERR_IO;
    floe_status status = map_file(memory, fd, err);
    close(fd);
    return status;
}

void io_memory_free(io_memory *memory)
{
    if (memory->data && memory->in_file)
        munmap(memory->data, (size_t)memory->nbytes);
    else
        free(memory->data);
    *memory = (io_memory){.data = NULL};
}
