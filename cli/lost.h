/* SPDX-License-Identifier: BSD-3-Clause */
/* The chunks, and parts of chunks, that salvaging could not decode: named as they come, and kept for the JSON. */
#ifndef FLOE_CLI_LOST_H
#define FLOE_CLI_LOST_H

#include <stdbool.h>

#include <floe/floe.h>

#include "cli/json.h"
#include "cli/progress.h"

enum { CLI_LOST_NAMED = 1000 }; /* so many are named: a damaged header may claim any number */

typedef struct cli_lost {
    FILE *out; /* where each is named; NULL: nowhere */
    cli_progress *progress;
    uint64_t count, nchunks; /* boxes, and the chunks of which they are */
    uint64_t last;           /* chunk */
    struct {
        uint64_t chunk, lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    } first[CLI_LOST_NAMED];
} cli_lost;

/* A `damaged` of floe_stream_options; user is the cli_lost. */
void cli_lost_add(void *lost, uint64_t chunk, const uint64_t *lo, const uint64_t *hi, const char *why);
/* After the last one: prints that there were more than are named. */
void cli_lost_finish(const cli_lost *lost);
/* "chunks_lost" and "lost". */
void cli_lost_json(const cli_lost *lost, cli_json *json, uint32_t rank);

#endif
