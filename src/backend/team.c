/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "backend/backend.h"

#include <stdlib.h>

#ifdef FLOE_HAVE_THREADS
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* Sleeping and waking takes tens of microseconds, and the next loop of a call is often sooner. */
enum { SPINS = 3000 };

static void spin(void)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#endif
}

struct floe_team {
    pthread_mutex_t mutex;
    pthread_cond_t begun, left;
    /* written under the mutex */
    atomic_uint turn;    /* changes when there is something to do */
    atomic_uint wanted;  /* threads that may have joined the loop; 0: none may */
    atomic_uint working; /* threads that are in it, the caller not counted */
    uint32_t joined;
    bool ending;
    floe_share_fn share;
    void *arg;
    /* the caller's own */
    bool running;
    pid_t owner; /* the process that has the threads; 0: there are none yet */
    uint32_t capacity, nthreads;
    pthread_t threads[];
};

floe_team *floe_team_create(uint32_t threads)
{
    floe_team *t = calloc(1, sizeof *t + threads * sizeof *t->threads);
    if (!t)
        return NULL;
    t->capacity = threads;
    pthread_mutex_init(&t->mutex, NULL); /* with default attributes these three cannot fail on Linux */
    pthread_cond_init(&t->begun, NULL);
    pthread_cond_init(&t->left, NULL);
    return t;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Mutex held. */
static void turn_await(floe_team *t)
{
    const unsigned seen = t->turn;
    pthread_mutex_unlock(&t->mutex);
    for (int i = 0; i < SPINS && t->turn == seen; i++)
        spin();
    pthread_mutex_lock(&t->mutex);
    while (t->turn == seen)
        pthread_cond_wait(&t->begun, &t->mutex);
}

/* Mutex held. */
static void loop_join(floe_team *t)
{
    const uint32_t worker = ++t->joined;
    t->working++;
    pthread_mutex_unlock(&t->mutex);
    t->share(t->arg, worker);
    pthread_mutex_lock(&t->mutex);
    t->wanted = 0; /* all work is taken */
    if (--t->working == 0)
        pthread_cond_signal(&t->left);
}

static void *thread_run(void *arg)
{
    floe_team *t = arg;
    pthread_mutex_lock(&t->mutex);
    while (!t->ending) {
        if (t->joined < t->wanted)
            loop_join(t);
        else
            turn_await(t);
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

/* ---- the caller -------------------------------------------------------------------------------------------------- */

static void loop_open(floe_team *t, uint32_t threads, floe_share_fn share, void *arg)
{
    pthread_mutex_lock(&t->mutex);
    t->share = share;
    t->arg = arg;
    t->joined = 0;
    t->wanted = threads - 1;
    t->turn++;
    pthread_mutex_unlock(&t->mutex);
    if (threads > t->nthreads)
        pthread_cond_broadcast(&t->begun);
    else
        for (uint32_t i = 1; i < threads; i++)
            pthread_cond_signal(&t->begun);
}

/* As long as there is work for another one. The next loop tries again to start one that failed. */
static void threads_start(floe_team *t, uint32_t threads)
{
    while (t->nthreads + 1 < threads && t->wanted > 0 &&
           pthread_create(&t->threads[t->nthreads], NULL, thread_run, t) == 0)
        t->nthreads++;
}

static void loop_close(floe_team *t)
{
    pthread_mutex_lock(&t->mutex);
    t->wanted = 0;
    pthread_mutex_unlock(&t->mutex);
    for (int i = 0; i < SPINS && t->working; i++)
        spin();
    pthread_mutex_lock(&t->mutex);
    while (t->working)
        pthread_cond_wait(&t->left, &t->mutex);
    pthread_mutex_unlock(&t->mutex);
}

void floe_team_run(floe_team *t, uint32_t threads, floe_share_fn share, void *arg)
{
    const pid_t self = getpid();
    if (t->running || (t->owner && t->owner != self)) {
        share(arg, 0);
        return;
    }
    t->owner = self;
    t->running = true;
    loop_open(t, threads < t->capacity ? threads : t->capacity, share, arg);
    threads_start(t, threads < t->capacity ? threads : t->capacity);
    share(arg, 0);
    loop_close(t);
    t->running = false;
}

/* A forked child has none of the threads, and perhaps a mutex that one of them held: there is but memory to give back. */
void floe_team_free(floe_team **team)
{
    floe_team *t = *team;
    if (t && (!t->owner || t->owner == getpid())) {
        pthread_mutex_lock(&t->mutex);
        t->ending = true;
        t->turn++;
        pthread_cond_broadcast(&t->begun);
        pthread_mutex_unlock(&t->mutex);
        for (uint32_t i = 0; i < t->nthreads; i++)
            pthread_join(t->threads[i], NULL);
        pthread_cond_destroy(&t->left);
        pthread_cond_destroy(&t->begun);
        pthread_mutex_destroy(&t->mutex);
    }
    free(t);
    *team = NULL;
}

#else /* one thread */

struct floe_team {
    char none;
};

floe_team *floe_team_create(uint32_t threads)
{
    (void)threads;
    return calloc(1, sizeof(floe_team));
}
void floe_team_free(floe_team **team)
{
    free(*team);
    *team = NULL;
}
void floe_team_run(floe_team *team, uint32_t threads, floe_share_fn share, void *arg)
{
    (void)team, (void)threads;
    share(arg, 0);
}

#endif
