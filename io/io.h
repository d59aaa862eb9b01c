/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files in and out for the command: raw arrays, .npy arrays, floe streams, standard input and output.
 *
 * A reader gives the payload of its input (the elements of an array, or the bytes of a stream) as a floe_source. A writer
 * takes a payload as a floe_sink and shows it under its name only when it is whole: see io_writer_commit.
 * Every function that fails reports why, and where, in err (may be NULL).
 */
#ifndef FLOE_IO_IO_H
#define FLOE_IO_IO_H

#include <stdbool.h>

#include <floe/floe.h>

/* ---- reading --------------------------------------------------------------------------------------------------- */

typedef struct io_reader io_reader;

/* Opens a file, or standard input for "-". The format is found by its first bytes: .npy, else raw. */
floe_status io_reader_open(io_reader **reader, const char *path, floe_error *err);
void io_reader_free(io_reader **reader);

/* The path, or "standard input". */
const char *io_reader_name(const io_reader *reader);
/* "raw" or "npy". */
const char *io_reader_format(const io_reader *reader);
/* What the file holds about its array; NULL when it holds nothing (raw). */
const floe_field *io_reader_layout(const io_reader *reader);
/* Before a raw input is taken for elements: fails where it begins as a file of another format does (HDF5, NetCDF, ...), and reports
 * how to make an array of it. */
floe_status io_reader_refuse_foreign(io_reader *reader, floe_error *err);
/* Bytes of the payload; UINT64_MAX while not known (a pipe). */
uint64_t io_reader_nbytes(const io_reader *reader);
bool io_reader_is_seekable(const io_reader *reader);

/* Says that the payload must be the elements of this field. A wrong size fails with FLOE_ERR_FORMAT and both numbers:
 * now where the size is known, else as soon as the source is read to a wrong end, or by io_reader_finish. */
floe_status io_reader_expect(io_reader *reader, const floe_field *layout, floe_error *err);
/* After the last read: fails when a pipe holds more than was expected. */
floe_status io_reader_finish(io_reader *reader, floe_error *err);

/* Copies a pipe to an unlinked file in $TMPDIR (else /tmp), so that it can be read again. Nothing to do for a file. */
floe_status io_reader_spool(io_reader *reader, floe_error *err);

/* Reads the first bytes and keeps them, from where the source has them then. As long as the source of a pipe is read no further, it can be
 * read from the start again. */
floe_status io_reader_keep(io_reader *reader, size_t nbytes, floe_error *err);

/* The payload as a source. io_reader_error is its last failure, with a message; status FLOE_OK when there was none. */
floe_source io_reader_source(io_reader *reader);
const floe_error *io_reader_error(const io_reader *reader);

/* The whole payload of a seekable reader in memory, aligned to 8 bytes, read-only, until the reader is freed. */
floe_status io_reader_map(io_reader *reader, const void **data, uint64_t *nbytes, floe_error *err);

/* ---- writing --------------------------------------------------------------------------------------------------- */

typedef struct io_writer io_writer;

typedef struct io_writer_options {
    bool force;             /* an existing file may be replaced */
    bool read_back;         /* io_writer_read_back will be called */
    bool is_array;          /* of elements: a name in .npy is one to write, other formats are not */
    bool may_be_terminal;   /* text: standard output may be a terminal */
    const io_reader *input; /* its file is never replaced; NULL: no such file */
} io_writer_options;

/* Opens a temporary file beside path; "-" is standard output. Devices and pipes are written as they are.
 * Refuses (FLOE_ERR_ARGUMENT) a name that belongs to another format, an existing file without force, and the file that input reads, with or without. */
floe_status io_writer_open(io_writer **writer, const char *path, const io_writer_options *options, floe_error *err);
/* Removes the temporary file unless it was committed. */
void io_writer_free(io_writer **writer);

/* The path, or "standard output". */
const char *io_writer_name(const io_writer *writer);
bool io_writer_is_stdout(const io_writer *writer);

/* Optional, before the first byte: what follows is this array; writes a header where the name ends in .npy. */
floe_status io_writer_begin(io_writer *writer, const floe_field *layout, floe_error *err);

/* The payload as a sink. io_writer_error is its last failure, with a message; status FLOE_OK when there was none. */
floe_sink io_writer_sink(io_writer *writer);
const floe_error *io_writer_error(const io_writer *writer);

/* What was written so far, to be checked before it is committed. */
floe_status io_writer_read_back(io_writer *writer, io_reader **reader, floe_error *err);

/* Flushes to the disk and gives the file its name, in this order: a run that is killed never leaves a file that only
 * looks whole. */
floe_status io_writer_commit(io_writer *writer, floe_error *err);

/* ---- memory ---------------------------------------------------------------------------------------------------- */

typedef struct io_memory {
    void *data;
    uint64_t nbytes;
    bool in_file;
} io_memory;

/* Room for nbytes, aligned for every type: on the heap, or in an unlinked file in $TMPDIR (else /tmp), which the system
 * writes out where memory is short. *memory must be freed either way. */
floe_status io_memory_take(io_memory *memory, uint64_t nbytes, bool in_file, floe_error *err);
void io_memory_free(io_memory *memory);

/* ---- signals --------------------------------------------------------------------------------------------------- */

/* Once, at the start: SIGINT, SIGTERM, SIGHUP and SIGQUIT remove the temporary file before they end the program; a closed pipe or
 * a file size limit becomes an error of write instead of a signal. A mapped input that was cut short ends it with a message and
 * the exit code of FLOE_ERR_FORMAT. */
void io_cleanup_install(void);

/* Once, before any file is opened: takes the places of standard streams that are closed, or an output could become one. Such
 * a stream cannot be used: it is open the wrong way round. */
void io_standard_streams_hold(void);

#endif
