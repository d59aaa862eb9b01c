/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/say.h"

void cli_progress_start(cli_progress *progress, const char *what, bool quiet)
{
    *progress = (cli_progress){.what = what, .enabled = !quiet && isatty(STDERR_FILENO), .started = cli_seconds()};
}

int cli_progress_update(void *user, uint64_t done, uint64_t total)
{
    static const char bar[] = "########################################";
    enum { WIDTH = sizeof bar - 1 };
    cli_progress *progress = user;
    if (!progress->enabled || total == 0)
        return 0;
    double now = cli_seconds(), share = (double)done / (double)total;
    if (now - progress->started < 1.0 || now - progress->drawn < 0.1)
        return 0;
    int filled = share >= 1 ? WIDTH : (int)(share * WIDTH);
    double left = share > 0.01 ? (now - progress->started) * (1 - share) / share : 0;
    fprintf(stderr, "\r%s [%.*s%*s] %3.0f %%, %.0f s left \033[K", progress->what, filled, bar, WIDTH - filled, "",
            100 * share, left);
    progress->drawn = now;
    progress->shown = true;
    return 0;
}

void cli_progress_erase(cli_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

void cli_progress_stop(cli_progress *progress)
{
    cli_progress_erase(progress);
    progress->enabled = false;
}
