/* SPDX-License-Identifier: BSD-3-Clause */
/* A bar on standard error: only on a terminal, only for work of more than a second, gone when the work is done. */
#ifndef FLOE_CLI_PROGRESS_H
#define FLOE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_progress {
    const char *what; /* "compressing" */
    bool enabled;
    bool shown;
    double started, drawn;
} cli_progress;

void cli_progress_start(cli_progress *progress, const char *what, bool quiet);
/* A floe_progress_fn; user is the cli_progress. */
int cli_progress_update(void *progress, uint64_t done, uint64_t total);
/* Erases the bar, before something else is printed; the next update draws it again. */
void cli_progress_erase(cli_progress *progress);
/* Erases it for good. */
void cli_progress_stop(cli_progress *progress);

#endif
