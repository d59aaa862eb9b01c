/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing. Three ways to the target:
 *   a file                    a temporary file in its folder; commit syncs it and renames it
 *   a pipe, a device          written as it goes
 *   the same, to be read back an unlinked temporary file, copied to the target by commit
 */
#define _XOPEN_SOURCE 700
#include "io/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { BUFFER_NBYTES = 1 << 18 };

struct io_writer {
    char *name;
    char *target;    /* with symbolic links followed; NULL: standard output */
    char *temporary; /* NULL: the target is no file */
    int fd;          /* where bytes go until commit */
    int out;         /* held back: the target; else -1 */
    bool force;
    unsigned char *buffer;
    size_t buffered;
    uint64_t nwritten;
    floe_error error; /* of the sink */
};

static floe_status fail_write(io_writer *writer, floe_error *err)
{
    return io_fail(err, FLOE_ERR_IO, "cannot write '%s': %s", writer->name, strerror(errno));
}

/* Of what is held back, the disk of the temporary file is full, and not that of the output. */
static floe_status write_here(io_writer *writer, const void *src, size_t nbytes, floe_error *err)
{
    if (io_write_all(writer->fd, src, nbytes) == 0)
        return FLOE_OK;
    return writer->out < 0 ? fail_write(writer, err)
                           : io_fail(err, FLOE_ERR_IO, "cannot write the temporary copy of '%s': %s", writer->name,
                                     strerror(errno));
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* The target's folder, to be freed. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static floe_status open_temporary(io_writer *writer, mode_t mode, floe_error *err)
{
    char *folder = folder_of(writer->target);
    size_t capacity = folder ? strlen(folder) + 64 : 0;
    writer->temporary = folder ? malloc(capacity) : NULL;
    if (!writer->temporary) {
        free(folder);
        return io_fail(err, FLOE_ERR_MEMORY, "out of memory");
    }
    io_cleanup_block();
    for (int i = 0; i < 100 && writer->fd < 0; i++) {
        snprintf(writer->temporary, capacity, "%s/.floe-%ld-%d.part", folder, (long)getpid(), i);
        writer->fd = open(writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (writer->fd < 0 && errno != EEXIST)
            break;
    }
    if (writer->fd >= 0)
        io_cleanup_arm(writer->temporary);
    int error = errno;
    io_cleanup_unblock();
    free(folder);
    if (writer->fd >= 0)
        return FLOE_OK;
    free(writer->temporary);
    writer->temporary = NULL;
    return io_fail(err, FLOE_ERR_IO, "cannot create '%s': %s", writer->name, strerror(error));
}

static floe_status hold_back(io_writer *writer, floe_error *err)
{
    writer->out = writer->fd;
    writer->fd = io_spool_open(err);
    return writer->fd < 0 ? FLOE_ERR_IO : FLOE_OK;
}

static floe_status open_stdout(io_writer *writer, const io_writer_options *options, floe_error *err)
{
    if (!options->may_be_terminal && isatty(STDOUT_FILENO))
        return io_fail(err, FLOE_ERR_ARGUMENT, "will not write binary data to a terminal; use -o FILE or a pipe");
    writer->fd = dup(STDOUT_FILENO);
    if (writer->fd < 0)
        return fail_write(writer, err);
    return options->read_back ? hold_back(writer, err) : FLOE_OK;
}

static floe_status open_file(io_writer *writer, const io_writer_options *options, floe_error *err)
{
    struct stat st;
    const struct stat *in = options->input ? &options->input->stat : NULL;
    bool exists = stat(writer->target, &st) == 0;
    if (!exists && errno != ENOENT) /* a name that is too long, a folder that is none */
        return io_fail(err, FLOE_ERR_IO, "cannot create '%s': %s", writer->name, strerror(errno));
    if (!exists && lstat(writer->target, &st) == 0)
        return io_fail(err, FLOE_ERR_ARGUMENT, "'%s' is a symbolic link to a file that does not exist", writer->name);
    if (exists && S_ISDIR(st.st_mode))
        return io_fail(err, FLOE_ERR_ARGUMENT, "'%s' is a directory", writer->name);
    if (exists && !S_ISREG(st.st_mode)) {
        writer->fd = open(writer->target, O_WRONLY | O_CLOEXEC);
        if (writer->fd < 0)
            return fail_write(writer, err);
        return options->read_back ? hold_back(writer, err) : FLOE_OK;
    }
    if (exists && in && S_ISREG(in->st_mode) && in->st_dev == st.st_dev && in->st_ino == st.st_ino)
        return io_fail(err, FLOE_ERR_ARGUMENT, "'%s' is the input itself; give another output", writer->name);
    if (exists && !options->force)
        return io_fail(err, FLOE_ERR_ARGUMENT, "'%s' exists already; --force replaces it", writer->name);
    floe_status status = open_temporary(writer, 0666, err);
    if (status == FLOE_OK && exists) /* a replaced file keeps its mode; where that fails, it keeps the default */
        (void)!fchmod(writer->fd, st.st_mode & 07777);
    return status;
}

floe_status io_writer_open(io_writer **out, const char *path, const io_writer_options *options, floe_error *err)
{
    io_writer *writer = calloc(1, sizeof *writer);
    bool to_stdout = strcmp(path, "-") == 0;
    floe_status status = FLOE_OK;
    *out = NULL;
    if (!writer)
        return io_fail(err, FLOE_ERR_MEMORY, "out of memory");
    writer->fd = writer->out = -1;
    writer->force = options->force;
    writer->name = strdup(to_stdout ? "standard output" : path);
    writer->buffer = malloc(BUFFER_NBYTES);
    if (!to_stdout) {
        char *real = realpath(path, NULL); /* replacing the file behind a link, not the link */
        writer->target = real ? real : strdup(path);
    }
    if (!writer->name || !writer->buffer || (!to_stdout && !writer->target))
        status = io_fail(err, FLOE_ERR_MEMORY, "out of memory");
    else if (path[0] == 0)
        status = io_fail(err, FLOE_ERR_ARGUMENT, "the name of the output is empty");
    else if (to_stdout)
        status = open_stdout(writer, options, err);
    else if ((status = io_output_refuse_foreign(path, options->is_array, err)) == FLOE_OK)
        status = open_file(writer, options, err);
    if (status == FLOE_OK)
        *out = writer;
    else
        io_writer_free(&writer);
    return status;
}

void io_writer_free(io_writer **writer)
{
    io_writer *w = *writer;
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    if (w->out >= 0)
        close(w->out);
    if (w->temporary) {
        unlink(w->temporary);
        io_cleanup_disarm();
    }
    free(w->temporary);
    free(w->target);
    free(w->buffer);
    free(w->name);
    free(w);
    *writer = NULL;
}

const char *io_writer_name(const io_writer *writer) { return writer->name; }

/* As -, or by a name such as /dev/stdout. */
bool io_writer_is_stdout(const io_writer *writer)
{
    struct stat target, out;
    if (!writer->target || writer->temporary)
        return !writer->target;
    return fstat(writer->out >= 0 ? writer->out : writer->fd, &target) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
           target.st_dev == out.st_dev && target.st_ino == out.st_ino;
}

const floe_error *io_writer_error(const io_writer *writer) { return &writer->error; }

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static floe_status flush(io_writer *writer, floe_error *err)
{
    size_t nbytes = writer->buffered;
    writer->buffered = 0;
    return write_here(writer, writer->buffer, nbytes, err);
}

static floe_status sink_write(void *user, const void *src, size_t nbytes)
{
    io_writer *writer = user;
    writer->nwritten += nbytes;
    if (nbytes > BUFFER_NBYTES - writer->buffered) {
        floe_status status = flush(writer, &writer->error);
        if (status != FLOE_OK)
            return status;
    }
    if (nbytes > BUFFER_NBYTES)
        return write_here(writer, src, nbytes, &writer->error);
    if (nbytes > 0)
        memcpy(writer->buffer + writer->buffered, src, nbytes);
    writer->buffered += nbytes;
    return FLOE_OK;
}

floe_sink io_writer_sink(io_writer *writer) { return (floe_sink){.user = writer, .write = sink_write}; }

floe_status io_writer_begin(io_writer *writer, const floe_field *layout, floe_error *err)
{
    unsigned char header[1024];
    size_t nbytes, n = strlen(writer->name), m = strlen(io_format_npy.suffix);
    if (n <= m || strcasecmp(writer->name + n - m, io_format_npy.suffix) != 0)
        return FLOE_OK;
    floe_status status = io_format_npy.header_write(layout, header, sizeof header, &nbytes, err);
    if (status == FLOE_OK && sink_write(writer, header, nbytes) != FLOE_OK)
        status = io_fail(err, FLOE_ERR_IO, "%s", writer->error.message);
    return status;
}

floe_status io_writer_read_back(io_writer *writer, io_reader **out, floe_error *err)
{
    floe_status status = flush(writer, err);
    io_reader *reader = calloc(1, sizeof *reader);
    *out = NULL;
    if (reader)
        reader->fd = -1;
    if (status == FLOE_OK && reader) {
        reader->name = strdup(writer->name);
        reader->format = &io_format_raw;
        reader->fd = dup(writer->fd);
        reader->seekable = true;
        reader->nbytes = writer->nwritten;
        reader->expected = UINT64_MAX;
    }
    if (status == FLOE_OK && (!reader || !reader->name || reader->fd < 0))
        status = io_fail(err, FLOE_ERR_MEMORY, "out of memory");
    if (status == FLOE_OK)
        *out = reader;
    else if (reader)
        io_reader_free(&reader);
    return status;
}

/* ---- committing -------------------------------------------------------------------------------------------------- */

static floe_status copy_to_target(io_writer *writer, floe_error *err)
{
    long long at = 0, n;
    while ((n = io_read_all(writer->fd, writer->buffer, BUFFER_NBYTES, at)) > 0) {
        if (io_write_all(writer->out, writer->buffer, (size_t)n) != 0)
            return fail_write(writer, err);
        at += n;
    }
    return n < 0 ? io_fail(err, FLOE_ERR_IO, "cannot read a temporary file: %s", strerror(errno)) : FLOE_OK;
}

/* Without force the name must still be free: link fails where rename would silently replace. */
static int give_name(io_writer *writer)
{
    if (!writer->force && link(writer->temporary, writer->target) == 0)
        return unlink(writer->temporary);
    if (!writer->force && errno == EEXIST)
        return -1;
    return rename(writer->temporary, writer->target); /* forced, or a file system without hard links */
}

static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd); /* not every file system can; the file itself is synced */
        close(fd);
    }
    free(folder);
}

static floe_status commit_file(io_writer *writer, floe_error *err)
{
    if (fsync(writer->fd) != 0 && errno != EINVAL)
        return fail_write(writer, err);
    int fd = writer->fd;
    writer->fd = -1;
    if (close(fd) != 0)
        return fail_write(writer, err);
    io_cleanup_block();
    int failed = give_name(writer), error = errno;
    if (!failed) {
        io_cleanup_disarm();
        free(writer->temporary);
        writer->temporary = NULL;
    }
    io_cleanup_unblock();
    if (failed && error == EEXIST)
        return io_fail(err, FLOE_ERR_ARGUMENT, "'%s' appeared meanwhile; --force replaces it", writer->name);
    if (failed)
        return io_fail(err, FLOE_ERR_IO, "cannot create '%s': %s", writer->name, strerror(error));
    sync_folder(writer->target);
    return FLOE_OK;
}

floe_status io_writer_commit(io_writer *writer, floe_error *err)
{
    floe_status status = flush(writer, err);
    if (status == FLOE_OK && writer->temporary)
        return commit_file(writer, err);
    if (status == FLOE_OK && writer->out >= 0)
        status = copy_to_target(writer, err);
    return status;
}
