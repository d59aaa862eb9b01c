/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of a .floe input, and whether its end is there. */
#ifndef FLOE_CLI_STREAM_HEAD_H
#define FLOE_CLI_STREAM_HEAD_H

#include "cli/say.h"

/* Does a seekable reader begin as a .floe stream does? Said after a failure to read, *failed is its exit code. */
bool cli_stream_is(io_reader *reader, int *failed);

/* No header is larger. */
enum { CLI_STREAM_HEAD_NBYTES = 1 << 20 };

/* Reads the header of a seekable reader: 0, or the exit code after saying what is wrong. */
int cli_stream_head(io_reader *reader, floe_info *info);

#endif
