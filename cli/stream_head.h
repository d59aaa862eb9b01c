/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of a .floe input, and whether its end is there. */
#ifndef FLOE_CLI_STREAM_HEAD_H
#define FLOE_CLI_STREAM_HEAD_H

#include "cli/say.h"

/* Opens a .floe stream and reads its header: 0, or the exit code after saying what is wrong. A pipe stays one; what is no stream is
 * refused before the rest of it is read. *reader must be freed either way. */
int cli_stream_open(const char *path, io_reader **reader, floe_info *info);

/* Does a reader that is at its start begin as a .floe stream does? Said after a failure to read, *failed is its exit code. */
bool cli_stream_is(io_reader *reader, int *failed);

/* No header is larger. */
enum { CLI_STREAM_HEAD_NBYTES = 1 << 20 };

/* Reads the header of such a reader, of which it keeps what it reads: 0, or the exit code after saying what is wrong. */
int cli_stream_head(io_reader *reader, floe_info *info);

#endif
