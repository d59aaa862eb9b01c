/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/lost.h"

#include <inttypes.h>
#include <string.h>

#include "cli/say.h"

void cli_lost_add(void *user, uint64_t chunk, const uint64_t *lo, const uint64_t *hi, const char *why)
{
    cli_lost *lost = user;
    const uint64_t i = lost->count++;
    lost->nchunks += i == 0 || chunk != lost->last;
    lost->last = chunk;
    if (i >= CLI_LOST_NAMED)
        return;
    lost->first[i].chunk = chunk;
    memcpy(lost->first[i].lo, lo, sizeof lost->first[i].lo);
    memcpy(lost->first[i].hi, hi, sizeof lost->first[i].hi);
    if (!lost->out)
        return;
    cli_progress_erase(lost->progress);
    fputs("lost ", lost->out); /* the library's message names chunk and box */
    cli_print_safe(lost->out, *why ? why : "a chunk");
    fputc('\n', lost->out);
}

void cli_lost_finish(const cli_lost *lost)
{
    if (lost->out && lost->count > CLI_LOST_NAMED)
        fprintf(lost->out, "lost %" PRIu64 " more\n", lost->count - CLI_LOST_NAMED);
}

void cli_lost_json(const cli_lost *lost, cli_json *json, uint32_t rank)
{
    cli_json_uint(json, "chunks_lost", lost->nchunks);
    cli_json_open(json, "lost", '[');
    for (uint64_t i = 0; i < lost->count && i < CLI_LOST_NAMED; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_uint(json, "chunk", lost->first[i].chunk);
        cli_json_shape(json, "start", rank, lost->first[i].lo);
        cli_json_shape(json, "end", rank, lost->first[i].hi);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}
