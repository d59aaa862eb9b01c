/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700
#include "io/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

floe_status io_fail(floe_error *err, floe_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

int io_write_all(int fd, const void *src, size_t nbytes)
{
    const unsigned char *from = src;
    while (nbytes > 0) {
        ssize_t n = write(fd, from, nbytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        from += n;
        nbytes -= (size_t)n;
    }
    return 0;
}

long long io_read_all(int fd, void *dst, size_t nbytes, long long at)
{
    size_t got = 0;
    while (got < nbytes) {
        unsigned char *to = (unsigned char *)dst + got;
        ssize_t n = at < 0 ? read(fd, to, nbytes - got) : pread(fd, to, nbytes - got, (off_t)at + (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (long long)got;
}

int io_spool_open(floe_error *err)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];
    if (!dir || !*dir)
        dir = "/tmp";
    if (snprintf(path, sizeof path, "%s/floe-spool-XXXXXX", dir) >= (int)sizeof path) {
        io_fail(err, FLOE_ERR_IO, "the path in TMPDIR is too long");
        return -1;
    }
    io_cleanup_block(); /* between mkstemp and unlink the file has a name */
    int fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    else
        io_fail(err, FLOE_ERR_IO, "cannot make a temporary file in '%s': %s", dir, strerror(errno));
    io_cleanup_unblock();
    return fd;
}

void io_layout_text(const floe_field *layout, char *text, size_t capacity)
{
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < layout->rank && n < capacity; i++)
        n += (size_t)snprintf(text + n, capacity - n, "%s%" PRIu64, i ? " x " : "", layout->shape[i]);
    if (n < capacity)
        snprintf(text + n, capacity - n, " %s", floe_dtype_name(layout->dtype));
}

const char *io_directory_kind(const char *path)
{
    static const char *const marks[] = {"zarr.json", ".zarray", ".zgroup"};
    char name[4096];
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (snprintf(name, sizeof name, "%s/%s", path, marks[i]) < (int)sizeof name && access(name, F_OK) == 0)
            return "a Zarr store: save an array of it with np.save(OUT, zarr.open(IN)['NAME'][...])";
    return "a directory";
}
