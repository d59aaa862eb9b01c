/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading: a file by pread, a pipe strictly forward with the first bytes kept, or a pipe turned into a file (spool). */
#define _XOPEN_SOURCE 700
#include "io/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

static const io_format *const formats[] = {&io_format_npy, &io_format_raw};
enum { NFORMATS = sizeof formats / sizeof formats[0] };

static floe_status fail_read(io_reader *reader, floe_error *err)
{
    return io_fail(err, FLOE_ERR_IO, "cannot read '%s': %s", reader->name, strerror(errno));
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static floe_status open_input(io_reader *reader, const char *path, floe_error *err)
{
    bool from_stdin = strcmp(path, "-") == 0;
    reader->fd = from_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0)
        return io_fail(err, FLOE_ERR_IO, "cannot open '%s': %s", reader->name, strerror(errno));
    if (fstat(reader->fd, &reader->stat) != 0)
        return fail_read(reader, err);
    if (S_ISDIR(reader->stat.st_mode))
        return io_fail(err, FLOE_ERR_IO, "cannot read '%s': it is %s", reader->name, io_directory_kind(path));
    if (isatty(reader->fd))
        return io_fail(err, FLOE_ERR_ARGUMENT, "will not read binary data from a terminal; give a file or a pipe");
    reader->seekable = S_ISREG(reader->stat.st_mode);
    if (reader->seekable) {
        off_t at = from_stdin ? lseek(reader->fd, 0, SEEK_CUR) : 0;
        reader->base = at > 0 ? (uint64_t)at : 0;
        uint64_t end = (uint64_t)reader->stat.st_size;
        reader->nbytes = end > reader->base ? end - reader->base : 0;
    }
    return FLOE_OK;
}

static floe_status find_format(io_reader *reader, floe_error *err)
{
    const unsigned char *head;
    size_t got, n = strlen(reader->name);
    floe_status status = io_reader_peek(reader, 16, &head, &got, err);
    if (status != FLOE_OK)
        return status;
    int i = 0;
    while (!formats[i]->matches(head, got))
        i++;
    reader->format = formats[i];
    for (int j = 0; j < NFORMATS; j++) {
        size_t m = strlen(formats[j]->suffix);
        if (m > 0 && n > m && strcasecmp(reader->name + n - m, formats[j]->suffix) == 0 && i != j)
            return io_fail(err, FLOE_ERR_FORMAT, "'%s' is no %s file, whatever its name says", reader->name,
                           formats[j]->suffix);
    }
    return reader->format->header_read ? reader->format->header_read(reader, err) : FLOE_OK;
}

floe_status io_reader_open(io_reader **out, const char *path, floe_error *err)
{
    io_reader *reader = calloc(1, sizeof *reader);
    *out = NULL;
    if (!reader)
        return io_fail(err, FLOE_ERR_MEMORY, "out of memory");
    reader->fd = -1;
    reader->nbytes = reader->expected = UINT64_MAX;
    reader->name = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    floe_status status = reader->name ? open_input(reader, path, err) : io_fail(err, FLOE_ERR_MEMORY, "out of memory");
    if (status == FLOE_OK)
        status = find_format(reader, err);
    if (status == FLOE_OK && reader->layout.rank > 0)
        status = io_reader_expect(reader, &reader->layout, err);
    if (status == FLOE_OK)
        *out = reader;
    else
        io_reader_free(&reader);
    return status;
}

void io_reader_free(io_reader **reader)
{
    io_reader *r = *reader;
    if (!r)
        return;
    if (r->map && r->map_is_copy)
        free(r->map);
    else if (r->map)
        munmap(r->map, r->map_nbytes);
    if (r->fd >= 0)
        close(r->fd);
    free(r->head);
    free(r->name);
    free(r);
    *reader = NULL;
}

const char *io_reader_name(const io_reader *reader) { return reader->name; }
const char *io_reader_format(const io_reader *reader) { return reader->format->name; }
const floe_field *io_reader_layout(const io_reader *reader) { return reader->layout.rank ? &reader->layout : NULL; }
bool io_reader_is_seekable(const io_reader *reader) { return reader->seekable; }
const floe_error *io_reader_error(const io_reader *reader) { return &reader->error; }

uint64_t io_reader_nbytes(const io_reader *reader)
{
    if (reader->nbytes == UINT64_MAX)
        return UINT64_MAX;
    return reader->nbytes > reader->payload ? reader->nbytes - reader->payload : 0;
}

floe_status io_reader_peek(io_reader *reader, size_t nbytes, const unsigned char **head, size_t *got, floe_error *err)
{
    if (nbytes > reader->head_nbytes) {
        unsigned char *grown = realloc(reader->head, nbytes);
        if (!grown)
            return io_fail(err, FLOE_ERR_MEMORY, "out of memory");
        reader->head = grown;
        const size_t old = reader->head_nbytes;
        long long n =
            io_read_all(reader->fd, grown + old, nbytes - old, reader->seekable ? (long long)(reader->base + old) : -1);
        if (n < 0)
            return fail_read(reader, err);
        reader->head_nbytes = old + (size_t)n;
    }
    *head = reader->head;
    *got = nbytes < reader->head_nbytes ? nbytes : reader->head_nbytes;
    return FLOE_OK;
}

floe_status io_reader_keep(io_reader *reader, size_t nbytes, floe_error *err)
{
    const unsigned char *head;
    size_t got;
    return io_reader_peek(reader, (size_t)reader->payload + nbytes, &head, &got, err);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Elements of a raw array that would have such a size; "" where neither would. */
static const char *other_elements(const io_reader *reader, uint64_t nbytes)
{
    if (reader->layout.rank)
        return "";
    return reader->element_nbytes == 4 && nbytes == 2 * reader->expected   ? ": are they f64 or i64?"
           : reader->element_nbytes == 8 && 2 * nbytes == reader->expected ? ": are they f32 or i32?"
                                                                           : "";
}

static floe_status fail_size(const io_reader *reader, const char *has, uint64_t nbytes, floe_error *err)
{
    if (nbytes == 0 && !*has)
        return io_fail(err, FLOE_ERR_FORMAT, "'%s' is empty, but %s needs %" PRIu64 " bytes", reader->name,
                       reader->expected_as, reader->expected);
    return io_fail(err, FLOE_ERR_FORMAT, "'%s' has %s%" PRIu64 " bytes, but %s needs %" PRIu64 "%s", reader->name, has,
                   nbytes, reader->expected_as, reader->expected, other_elements(reader, nbytes));
}

floe_status io_reader_expect(io_reader *reader, const floe_field *layout, floe_error *err)
{
    uint64_t nelems;
    floe_status status = floe_field_nelems(layout, &nelems);
    if (status != FLOE_OK)
        return io_fail(err, status, "the shape is not valid or too large");
    reader->element_nbytes = floe_dtype_size(layout->dtype);
    reader->expected = nelems * reader->element_nbytes;
    io_layout_text(layout, reader->expected_as, sizeof reader->expected_as);
    uint64_t nbytes = io_reader_nbytes(reader);
    if (nbytes != UINT64_MAX && nbytes != reader->expected)
        return fail_size(reader, "", nbytes, err);
    return FLOE_OK;
}

floe_status io_reader_finish(io_reader *reader, floe_error *err)
{
    unsigned char byte;
    if (reader->seekable || reader->expected == UINT64_MAX)
        return FLOE_OK;
    uint64_t end = reader->payload + reader->expected;
    bool more = reader->head_nbytes > end || (reader->position >= end && io_read_all(reader->fd, &byte, 1, -1) > 0);
    return more ? fail_size(reader, "more than ", reader->expected, err) : FLOE_OK;
}

/* ---- spool ------------------------------------------------------------------------------------------------------- */

enum { FOOTER = 40 /* bytes, of a .floe stream: docs/format/container.md */ };

/* The size of a stream whose footer is among these bytes of it; UINT64_MAX: none is. */
static uint64_t stream_nbytes(const unsigned char *bytes, size_t nbytes, uint64_t offset)
{
    static const unsigned char magic[8] = {0xF3, 'I', 'N', 'D', 'E', 'X', '\r', '\n'};
    for (size_t i = (size_t)(-offset % 8); i + FOOTER <= nbytes; i += 8) {
        uint64_t size = 0;
        if (memcmp(bytes + i, magic, sizeof magic) != 0)
            continue;
        for (size_t b = 8; b-- > 0;)
            size = size << 8 | bytes[i + 24 + b];
        if (size == offset + i + FOOTER)
            return size;
    }
    return UINT64_MAX;
}

/* Copies what is left of the pipe behind the head; one byte more than expected, or than a .floe stream has, is enough to know that it is
 * too much. */
static floe_status spool_copy(io_reader *reader, int fd, uint64_t *total, floe_error *err)
{
    enum { PIECE = 1 << 20 };
    const bool is_known = reader->expected != UINT64_MAX;
    uint64_t most = is_known ? reader->payload + reader->expected : stream_nbytes(reader->head, reader->head_nbytes, 0);
    unsigned char *buffer = malloc(FOOTER + PIECE), *piece = buffer + FOOTER;
    size_t before = reader->head_nbytes < FOOTER ? reader->head_nbytes : FOOTER; /* bytes in front of a piece */
    floe_status status = buffer ? FLOE_OK : io_fail(err, FLOE_ERR_MEMORY, "out of memory");
    *total = reader->head_nbytes;
    if (status == FLOE_OK && io_write_all(fd, reader->head, reader->head_nbytes) != 0)
        status = io_fail(err, FLOE_ERR_IO, "cannot write the temporary copy of standard input: %s", strerror(errno));
    if (status == FLOE_OK)
        memcpy(piece - before, reader->head + reader->head_nbytes - before, before);
    while (status == FLOE_OK && *total <= most) {
        const uint64_t room = most - *total;
        long long n = io_read_all(reader->fd, piece, room < PIECE ? (size_t)room + 1 : PIECE, -1);
        if (n < 0)
            status = fail_read(reader, err);
        else if (n > 0 && io_write_all(fd, piece, (size_t)n) != 0)
            status =
                io_fail(err, FLOE_ERR_IO, "cannot write the temporary copy of standard input: %s", strerror(errno));
        if (n <= 0)
            break;
        if (!is_known && most == UINT64_MAX)
            most = stream_nbytes(piece - before, before + (size_t)n, *total - before);
        memmove(piece - FOOTER, piece + n - FOOTER, FOOTER);
        before = before + (size_t)n < FOOTER ? before + (size_t)n : FOOTER;
        *total += (uint64_t)n;
    }
    free(buffer);
    return status;
}

floe_status io_reader_spool(io_reader *reader, floe_error *err)
{
    uint64_t total;
    if (reader->seekable)
        return FLOE_OK;
    int fd = io_spool_open(err);
    if (fd < 0)
        return FLOE_ERR_IO;
    floe_status status = spool_copy(reader, fd, &total, err);
    if (status != FLOE_OK) {
        close(fd);
        return status;
    }
    close(reader->fd);
    reader->fd = fd;
    reader->seekable = true;
    reader->base = 0;
    reader->nbytes = total;
    uint64_t nbytes = io_reader_nbytes(reader);
    if (reader->expected == UINT64_MAX || nbytes == reader->expected)
        return FLOE_OK;
    return nbytes > reader->expected ? fail_size(reader, "more than ", reader->expected, err)
                                     : fail_size(reader, "", nbytes, err);
}

/* ---- the source -------------------------------------------------------------------------------------------------- */

/* Hands out the head first, then what follows it in the file or the pipe. */
static long long input_read(io_reader *reader, uint64_t at, unsigned char *dst, size_t nbytes)
{
    size_t from_head = 0;
    if (at < reader->head_nbytes) {
        const size_t left = reader->head_nbytes - (size_t)at;
        from_head = nbytes < left ? nbytes : left;
        memcpy(dst, reader->head + at, from_head);
    }
    const long long from = reader->seekable ? (long long)(reader->base + at + from_head) : -1;
    long long n = from_head < nbytes ? io_read_all(reader->fd, dst + from_head, nbytes - from_head, from) : 0;
    if (n < 0)
        return -1;
    reader->position = at + from_head + (uint64_t)n;
    return (long long)from_head + n;
}

static floe_status source_read(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    io_reader *reader = user;
    uint64_t at = reader->payload + offset;
    *got = 0;
    if (!reader->seekable && reader->position != at && /* past a .npy header, or back within the head that has it */
        (reader->position > reader->head_nbytes || at > reader->head_nbytes))
        return io_fail(&reader->error, FLOE_ERR_IO, "'%s' is a pipe and cannot be read again", reader->name);
    const long long n = input_read(reader, at, dst, nbytes);
    if (n < 0)
        return fail_read(reader, &reader->error);
    *got = (size_t)n;
    if ((size_t)n < nbytes && reader->expected != UINT64_MAX && offset + (uint64_t)n < reader->expected)
        return fail_size(reader, "", offset + (uint64_t)n, &reader->error);
    if (offset + (uint64_t)n > reader->expected)
        return fail_size(reader, "more than ", reader->expected, &reader->error);
    return FLOE_OK;
}

floe_source io_reader_source(io_reader *reader)
{
    return (floe_source){
        .user = reader, .read = source_read, .nbytes_total = io_reader_nbytes(reader), .seekable = reader->seekable};
}

/* ---- mapping ----------------------------------------------------------------------------------------------------- */

static floe_status map_by_copy(io_reader *reader, uint64_t nbytes, floe_error *err)
{
    reader->map = malloc((size_t)nbytes);
    reader->map_is_copy = true;
    if (!reader->map)
        return io_fail(err, FLOE_ERR_MEMORY, "out of memory: '%s' needs %" PRIu64 " bytes", reader->name, nbytes);
    long long n = io_read_all(reader->fd, reader->map, (size_t)nbytes, (long long)(reader->base + reader->payload));
    if (n < 0)
        return fail_read(reader, err);
    if ((uint64_t)n < nbytes)
        return io_fail(err, FLOE_ERR_IO, "'%s' became shorter while it was read", reader->name);
    return FLOE_OK;
}

floe_status io_reader_map(io_reader *reader, const void **data, uint64_t *nbytes, floe_error *err)
{
    static const uint64_t nothing;
    uint64_t start = reader->base + reader->payload;
    *nbytes = io_reader_nbytes(reader);
    *data = &nothing;
    if (!reader->seekable)
        return io_fail(err, FLOE_ERR_INTERNAL, "'%s' is a pipe and cannot be mapped", reader->name);
    if (*nbytes == 0)
        return FLOE_OK;
    if (reader->map == NULL && start % 8 == 0) { /* the whole file: an offset would have to be a multiple of a page */
        reader->map_nbytes = (size_t)(start + *nbytes);
        reader->map = mmap(NULL, reader->map_nbytes, PROT_READ, MAP_PRIVATE, reader->fd, 0);
        if (reader->map == MAP_FAILED)
            reader->map = NULL;
    }
    if (reader->map == NULL) {
        floe_status status = map_by_copy(reader, *nbytes, err);
        if (status != FLOE_OK)
            return status;
    }
    *data = reader->map_is_copy ? reader->map : (unsigned char *)reader->map + start;
    return FLOE_OK;
}
