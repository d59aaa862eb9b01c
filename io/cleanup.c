/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler can reach nothing but globals, so here is one: the name of the temporary output file. */
#define _XOPEN_SOURCE 700
#include "io/format.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static char armed_path[4096];
static volatile sig_atomic_t armed;

static const int ending_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1,
                                     SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM}; /* SIGPROF is that of profilers */
enum { NSIGNALS = sizeof ending_signals / sizeof ending_signals[0] };

static void on_signal(int sig)
{
    if (armed)
        unlink(armed_path);
    signal(sig, SIG_DFL);
    raise(sig);
}

/* Behind the new end of a mapped file there is nothing to read. */
static void on_lost_input(int sig, siginfo_t *info, void *unused)
{
    static const char text[] = "floe: an input became shorter while it was read\n";
    (void)unused;
    if (info->si_code != BUS_ADRERR) {
        on_signal(sig);
        return;
    }
    if (armed)
        unlink(armed_path);
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(floe_status_exit_code(FLOE_ERR_FORMAT));
}

void io_standard_streams_hold(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1)
            (void)!open("/dev/null",
                        fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* the least number that is free is fd */
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
    struct sigaction lost = {.sa_sigaction = on_lost_input, .sa_flags = SA_SIGINFO};
    sigfillset(&lost.sa_mask);
    sigaction(SIGBUS, &lost, NULL);
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
