/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler can reach nothing but globals, so here is one: the name of the temporary output file. */
#define _XOPEN_SOURCE 700
#include "io/format.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static char armed_path[4096];
static volatile sig_atomic_t armed;

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { NSIGNALS = sizeof ending_signals / sizeof ending_signals[0] };

static void on_signal(int sig)
{
    if (armed)
        unlink(armed_path);
    signal(sig, SIG_DFL);
    raise(sig);
}

void io_cleanup_install(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigfillset(&action.sa_mask);
    for (int i = 0; i < NSIGNALS; i++) {
        struct sigaction old;
        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup stays nohup */
            sigaction(ending_signals[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static void mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < NSIGNALS; i++)
        sigaddset(&set, ending_signals[i]);
    sigprocmask(how, &set, NULL);
}

void io_cleanup_block(void) { mask(SIG_BLOCK); }
void io_cleanup_unblock(void) { mask(SIG_UNBLOCK); }

void io_cleanup_arm(const char *path)
{
    int n = snprintf(armed_path, sizeof armed_path, "%s", path);
    armed = n > 0 && (size_t)n < sizeof armed_path;
}

void io_cleanup_disarm(void) { armed = 0; }
