/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside io/: what an array file format is, and the reader and writer that all formats share. */
#ifndef FLOE_IO_FORMAT_H
#define FLOE_IO_FORMAT_H

#include <sys/stat.h>

#include "io/io.h"

/* One row for each format. A format with its own library behind it would bring its own read and write, too. */
typedef struct io_format {
    const char *name;
    const char *suffix; /* output names that end so are of this format; "" matches all */
    /* Is this such a file, by its first bytes? */
    bool (*matches)(const unsigned char *head, size_t nbytes);
    /* Reads the header: sets reader->layout and reader->payload. NULL: there is none. */
    floe_status (*header_read)(io_reader *reader, floe_error *err);
    /* The header for this array, into dst. NULL: there is none. */
    floe_status (*header_write)(const floe_field *layout, void *dst, size_t capacity, size_t *nbytes, floe_error *err);
} io_format;

extern const io_format io_format_npy;
extern const io_format io_format_raw;

enum { IO_HEADER_MAX_NBYTES = 1 << 20 };

/* Offsets: `base` is where the input starts in the file, `payload` where the elements start in the input. */
struct io_reader {
    char *name;
    const io_format *format;
    int fd;
    bool seekable;
    uint64_t base;
    uint64_t payload;
    uint64_t nbytes;      /* of the whole input, UINT64_MAX: not known */
    floe_field layout;    /* rank 0: not known */
    uint64_t expected;    /* bytes of payload, UINT64_MAX: whatever there is */
    char expected_as[96]; /* what makes so many bytes, for messages */
    size_t element_nbytes;
    unsigned char *head; /* what was read ahead of the payload's reader */
    size_t head_nbytes;
    uint64_t position; /* pipe: next byte of the input to hand out */
    struct stat stat;
    void *map;
    size_t map_nbytes;
    bool map_is_copy;
    floe_error error; /* of the source */
};

/* The first nbytes of the input (fewer where it ends), without consuming them. */
floe_status io_reader_peek(io_reader *reader, size_t nbytes, const unsigned char **head, size_t *got, floe_error *err);

/* Fails where path is named as files of another format are: .h5, .nc, ..., and .npy where the output is no array. */
floe_status io_output_refuse_foreign(const char *path, bool is_array, floe_error *err);
/* What a folder is, for a message that begins with "it is". */
const char *io_directory_kind(const char *path);

/* An unlinked temporary file for reading and writing, or -1 with err set. */
int io_spool_open(floe_error *err);
/* All of it, over short writes and interruptions; 0 or -1 with errno. */
int io_write_all(int fd, const void *src, size_t nbytes);
/* Up to nbytes, fewer only at the end of the file; at < 0: from the current position. -1 with errno. */
long long io_read_all(int fd, void *dst, size_t nbytes, long long at);

/* "6 x 241 x 480 f32" */
void io_layout_text(const floe_field *layout, char *text, size_t capacity);

floe_status io_fail(floe_error *err, floe_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The one temporary file that a signal has to remove. Arms from an open call to a commit or free. */
void io_cleanup_block(void);
void io_cleanup_unblock(void);
void io_cleanup_arm(const char *path);
void io_cleanup_disarm(void);

#endif
