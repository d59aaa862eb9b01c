/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of a .floe input, and whether its end is there. */
#ifndef FLOE_CLI_STREAM_HEAD_H
#define FLOE_CLI_STREAM_HEAD_H

#include "cli/say.h"

/* Reads the header of a seekable reader: 0, or the exit code after saying what is wrong. */
int cli_stream_head(io_reader *reader, floe_info *info);

#endif
