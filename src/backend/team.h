/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that share one loop after another. They start when a loop first has work for them, and sleep between loops. Where
 * no more threads can be had, a loop goes on with those that there are. Used by one thread at a time. */
#ifndef FLOE_BACKEND_TEAM_H
#define FLOE_BACKEND_TEAM_H

#include <stdint.h>

typedef struct floe_team floe_team;

/* For loops of at most `threads` threads, the caller among them. NULL: no memory. */
floe_team *floe_team_create(uint32_t threads);
void floe_team_free(floe_team **team);

/* share(arg, worker) on the caller, which is worker 0, and at once on others, which are 1..threads-1. A share returns when no
 * work is left; those that come later are not called. On the caller alone: from inside a share, and in a forked child. */
typedef void (*floe_share_fn)(void *arg, uint32_t worker);
void floe_team_run(floe_team *team, uint32_t threads, floe_share_fn share, void *arg);

#endif
