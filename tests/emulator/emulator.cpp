/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs kernels. A worker is a thread of the machine with one block at a time; the block's threads are fibers of it. Up to
 * MAX_LIVE blocks are alive at once, but only one worker runs: the one that has the turn. It keeps the turn until its block
 * is done and the next one taken, or until all that is left of the block waits for other blocks (floe_emulated_yield).
 * So a run is the same each time. With FLOE_EMULATED_ORDER=seed lanes, warps and blocks take turns at random, the same for
 * the same seed.
 */
#include "emulator.h"

#include <link.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_LIVE = 8, MAX_WARPS = FLOE_EMULATED_MAX_THREADS / 32, MEETINGS = 33, PAGE = 4096 };

/* Lanes that met, or still wait for others. */
struct meeting {
    floe_emulated_meeting result;
    uint32_t mask;
    uint32_t unread; /* lanes that have not taken the result; those that wait while it is open */
    floe_emulated_kind kind;
    bool open;
};

struct warp {
    uint32_t ready, yielded, alive, at_barrier; /* lanes */
    uint64_t used;                              /* meetings that are open or unread */
    meeting meetings[MEETINGS];
};

/* Copies that a thread has begun. */
struct copies {
    struct pair {
        void *to;
        const void *from;
        uint32_t nbytes, size; /* of size bytes; the rest becomes 0 */
        uint64_t group;
    } * all;
    uint64_t ngroups; /* that were committed */
    uint32_t n, room;
};

struct bytes {
    char *begin, *end;
};

struct worker {
    pthread_t thread;
    sem_t turn;
    floe_fiber *home;
    /* the block */
    bool live, counting; /* counting: predicates, by the barrier that threads wait at */
    uint64_t index;
    floe_emulated_call call;
    uint32_t nthreads, nwarps, nalive, nwaiting, ntrue, current;
    floe_emulated_count counts[2]; /* of this barrier and the one before */
    uint32_t barriers, picks;
    void *shared;
    bytes statics, pages; /* its static shared memory; of that, the whole pages */
    warp warps[MAX_WARPS];
    floe_emulated_thread threads[FLOE_EMULATED_MAX_THREADS];
    copies copying[FLOE_EMULATED_MAX_THREADS];
    floe_fiber *fibers[FLOE_EMULATED_MAX_THREADS]; /* made when first needed, kept */
};

floe_emulated_thread *floe_emulated_now;
dim3 floe_emulated_block, floe_emulated_grid;

static worker *workers[MAX_LIVE];
static worker *me; /* whose turn it is */
static sem_t launch_done;
static uint64_t nblocks, next_block, order;
static uint64_t passed, patience; /* turns that blocks passed on with none of them done, and how many they may */
static uint32_t nlive;

static void say_where()
{
    const floe_emulated_thread *t = floe_emulated_now;
    if (me && t)
        fprintf(stderr, "emulator: in thread (%u, %u, %u) of block (%u, %u, %u)\n", t->thread.x, t->thread.y,
                t->thread.z, t->block.x, t->block.y, t->block.z);
}

void floe_emulated_die(const char *why)
{
    fprintf(stderr, "emulator: %s\n", why);
    say_where();
    abort();
}

/* ---- who is next --------------------------------------------------------------------------------------------------- */

static uint64_t random_next()
{
    order ^= order << 13;
    order ^= order >> 7;
    order ^= order << 17;
    return order * 0x9E3779B97F4A7C15u >> 32;
}

static int lowest(uint32_t bits) { return __builtin_ctz(bits); }

/* A ready lane of warp w, from lane `from` on and around. */
static int lane_pick(const warp *w, uint32_t from)
{
    if (order)
        from = random_next() % 32;
    const uint32_t after = w->ready & (uint32_t)(0xFFFFFFFFull << from);
    return lowest(after ? after : w->ready);
}

/* The thread that goes on: of the same warp, as long as there are some; -1: none of the block. Long loops of one warp are
 * cut, since it may wait for another one. */
static int thread_pick(worker *b)
{
    uint32_t w = b->current / 32;
    const uint32_t from = b->current % 32 + 1;
    if (order ? random_next() % 4 == 0 : ++b->picks % 4096 == 0)
        w = (w + (order ? 1 + (uint32_t)random_next() % b->nwarps : 1)) % b->nwarps;
    if (b->warps[w].ready)
        return (int)(w * 32) + lane_pick(&b->warps[w], from & 31);
    for (uint32_t i = 1; i < b->nwarps; i++) {
        w = w + 1 < b->nwarps ? w + 1 : 0;
        if (b->warps[w].ready)
            return (int)(w * 32) + lane_pick(&b->warps[w], 0);
    }
    return -1;
}

static void turn_give(worker *to)
{
    worker *from = me;
    if (to == from)
        return;
    floe_emulated_thread *now = floe_emulated_now;
    sem_post(&to->turn);
    while (sem_wait(&from->turn) != 0) {
    }
    me = from;
    floe_emulated_now = now;
}

static void *worker_main(void *arg);
static worker *worker_create()
{
    worker *w = (worker *)calloc(1, sizeof *w);
    if (!w || sem_init(&w->turn, 0, 0) != 0 || pthread_create(&w->thread, NULL, worker_main, w) != 0)
        floe_emulated_die("no memory for a block");
    return w;
}

/* A worker for block next_block; there must be a free one. */
static worker *block_open(const floe_emulated_call *call)
{
    for (int i = 0; i < MAX_LIVE; i++) {
        if (!workers[i])
            workers[i] = worker_create();
        if (workers[i]->live)
            continue;
        workers[i]->live = true;
        workers[i]->index = next_block++;
        workers[i]->call = *call;
        nlive++;
        return workers[i];
    }
    floe_emulated_die("no free worker");
}

/* The block after this one; a new one while there is room. */
static worker *block_after(worker *b)
{
    if (nlive < MAX_LIVE && next_block < nblocks)
        return block_open(&b->call);
    worker *first = NULL, *after = NULL;
    const uint64_t from = order ? b->index + random_next() % MAX_LIVE : b->index;
    for (int i = 0; i < MAX_LIVE; i++) {
        worker *w = workers[i];
        if (!w || !w->live)
            continue;
        if (!first || w->index < first->index)
            first = w;
        if (w->index > from && (!after || w->index < after->index))
            after = w;
    }
    return after ? after : first;
}

/* ---- when nobody is next ------------------------------------------------------------------------------------------- */

static const char *kind_name(floe_emulated_kind kind)
{
    static const char *const names[] = {"__syncwarp", "a shuffle", "a vote", "a match", "a reduction"};
    return names[kind];
}

static void warp_describe(uint32_t index, const warp *w)
{
    if (w->at_barrier)
        fprintf(stderr, "    warp %u: lanes %08x wait at __syncthreads\n", index, w->at_barrier);
    if (w->yielded | w->ready)
        fprintf(stderr, "    warp %u: lanes %08x run\n", index, w->yielded | w->ready);
    for (int i = 0; i < MEETINGS; i++) {
        const meeting *m = &w->meetings[i];
        if (m->open)
            fprintf(stderr, "    warp %u: lanes %08x wait in %s of lanes %08x\n", index, m->result.lanes,
                    kind_name(m->kind), m->mask);
    }
    if (~w->alive)
        fprintf(stderr, "    warp %u: lanes %08x have returned\n", index, ~w->alive);
}

[[noreturn]] static void deadlock(const char *why)
{
    fprintf(stderr, "emulator: %s\n", why);
    for (int i = 0; i < MAX_LIVE; i++) {
        const worker *b = workers[i];
        if (!b || !b->live || b->nwarps == 0)
            continue;
        fprintf(stderr, "  block %llu:\n", (unsigned long long)b->index);
        for (uint32_t w = 0; w < b->nwarps; w++)
            warp_describe(w, &b->warps[w]);
    }
    abort();
}

/* ---- fibers of a block --------------------------------------------------------------------------------------------- */

static void thread_enter(worker *b, uint32_t next)
{
    const uint32_t before = b->current;
    if (next == before)
        return;
    b->current = next;
    floe_emulated_now = &b->threads[next];
    floe_fiber_prefetch(b->fibers[next + 1 < b->nthreads ? next + 1 : 0]);
    floe_fiber_switch(b->fibers[before], b->fibers[next]);
}

static void others_run(worker *b)
{
    if (++passed > patience)
        deadlock("blocks wait for each other, or for one that never comes");
    turn_give(block_after(b));
}

/* The current thread cannot go on, or need not: others do until it is ready again. */
static void thread_wait(worker *b)
{
    for (;;) {
        const int next = thread_pick(b);
        if (next >= 0) {
            if (order && nblocks > 1 && random_next() % 256 == 0) // about once between two barriers of a block
                turn_give(block_after(b));
            thread_enter(b, (uint32_t)next);
            return;
        }
        uint32_t yielded = 0;
        for (uint32_t w = 0; w < b->nwarps; w++) {
            yielded |= b->warps[w].yielded;
            b->warps[w].ready = b->warps[w].yielded;
            b->warps[w].yielded = 0;
        }
        if (!yielded)
            deadlock("deadlock: what is waited for cannot come");
        others_run(b);
    }
}

void floe_emulated_yield()
{
    const uint32_t bit = 1u << floe_emulated_now->lane;
    warp *w = &me->warps[floe_emulated_now->warp];
    w->ready &= ~bit;
    w->yielded |= bit;
    thread_wait(me);
}

/* ---- warps --------------------------------------------------------------------------------------------------------- */

static meeting *meeting_find(warp *w, uint32_t mask, floe_emulated_kind kind)
{
    for (uint64_t used = w->used; used; used &= used - 1) {
        meeting *m = &w->meetings[__builtin_ctzll(used)];
        if (m->open && m->mask == mask && m->kind == kind)
            return m;
        if (m->open && m->mask == mask)
            floe_emulated_die("lanes of one mask do different things");
    }
    const int i = __builtin_ctzll(~w->used);
    meeting *m = &w->meetings[i];
    w->used |= 1ull << i;
    m->mask = mask;
    m->kind = kind;
    m->open = true;
    m->unread = 0;
    m->result.lanes = m->result.odd = 0;
    return m;
}

/* Closes the meeting when all are here who can come. */
static bool meeting_close(warp *w, meeting *m)
{
    if (m->result.lanes != (m->mask & w->alive))
        return false;
    m->open = false;
    m->unread = m->result.lanes;
    w->ready |= m->result.lanes;
    return true;
}

const floe_emulated_meeting *floe_emulated_meet(uint32_t mask, floe_emulated_kind kind, uint64_t value)
{
    const uint32_t lane = floe_emulated_now->lane, bit = 1u << lane;
    warp *w = &me->warps[floe_emulated_now->warp];
    if (!(mask & bit))
        floe_emulated_die("a lane is not in its own mask");
    meeting *m = meeting_find(w, mask, kind);
    m->result.value[lane] = value;
    m->result.lanes |= bit;
    m->result.odd |= (uint32_t)(value & 1) << lane;
    w->ready &= ~bit;
    if (!meeting_close(w, m) || (order && random_next() % 2))
        thread_wait(me);
    m->unread &= ~bit;
    if (!m->unread)
        w->used &= ~(1ull << (m - w->meetings));
    return &m->result;
}

/* ---- blocks -------------------------------------------------------------------------------------------------------- */

static bool barrier_close(worker *b)
{
    if (b->nwaiting != b->nalive || b->nalive == 0)
        return false;
    b->counts[b->barriers++ & 1] = {b->ntrue, b->nwaiting};
    b->nwaiting = b->ntrue = 0;
    for (uint32_t w = 0; w < b->nwarps; w++) {
        b->warps[w].ready |= b->warps[w].at_barrier;
        b->warps[w].at_barrier = 0;
    }
    return true;
}

floe_emulated_count floe_emulated_barrier(bool counts, int predicate)
{
    worker *b = me;
    if (b->nwaiting++ && b->counting != counts)
        floe_emulated_die("a thread waits at __syncthreads, another at a barrier that counts");
    b->counting = counts;
    const uint32_t bit = 1u << floe_emulated_now->lane;
    warp *w = &b->warps[floe_emulated_now->warp];
    const uint32_t number = b->barriers;
    w->ready &= ~bit;
    w->at_barrier |= bit;
    b->ntrue += predicate != 0;
    if (!barrier_close(b) || order)
        thread_wait(b);
    return b->counts[number & 1];
}

static void thread_done(worker *b)
{
    const uint32_t bit = 1u << (b->current % 32);
    warp *w = &b->warps[b->current / 32];
    w->ready &= ~bit;
    w->alive &= ~bit;
    b->nalive--;
    for (uint64_t used = w->used; used; used &= used - 1) {
        meeting *m = &w->meetings[__builtin_ctzll(used)];
        if (m->open && m->result.lanes)
            meeting_close(w, m);
    }
    barrier_close(b);
}

/* Every fiber's life: a thread of one block after another. */
static void thread_main(void *arg)
{
    worker *b = (worker *)arg;
    for (;;) {
        b->call.body(b->call.args);
        thread_done(b);
        if (b->nalive == 0) {
            const uint32_t last = b->current;
            floe_fiber_switch(b->fibers[last], b->home);
        } else {
            thread_wait(b);
        }
    }
}

static void *shared_alloc(size_t nbytes)
{
    void *p = floe_guarded_alloc(nbytes);
    if (!p)
        floe_emulated_die("no memory for a block's shared memory");
    return p;
}
void *floe_emulated_shared() { return me->shared; }

void floe_emulated_copy(void *to, const void *from, uint32_t nbytes, uint32_t size)
{
    copies *c = &me->copying[me->current];
    if (((uintptr_t)to | (uintptr_t)from) % size != 0)
        floe_emulated_die("a copy that is not aligned");
    if (nbytes != 0 && nbytes != size) /* touches all of it */
        for (uint32_t i = nbytes; i < size; i++)
            (void)((const volatile uint8_t *)from)[i];
    if (c->n == c->room) {
        c->room = 2 * c->room + 16;
        c->all = (copies::pair *)realloc(c->all, c->room * sizeof *c->all);
        if (!c->all)
            floe_emulated_die("no memory for copies");
    }
    c->all[c->n++] = {to, from, nbytes, size, c->ngroups};
}
void floe_emulated_copy_commit() { me->copying[me->current].ngroups++; }
void floe_emulated_copy_wait(uint32_t but)
{
    copies *c = &me->copying[me->current];
    uint32_t left = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->all[i].group + but >= c->ngroups)
            c->all[left++] = c->all[i];
        else
            memcpy(memset(c->all[i].to, 0, c->all[i].size), c->all[i].from, c->all[i].nbytes);
    c->n = left;
}

/* Static shared memory is this thread's thread-local memory, that of all kernels: garbage at first, as on a GPU. */
static thread_local char tls_marker;
static int tls_find(struct dl_phdr_info *info, size_t, void *found)
{
    char *begin = (char *)info->dlpi_tls_data;
    for (int i = 0; begin && i < info->dlpi_phnum; i++) {
        const size_t n = info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_TLS && &tls_marker >= begin && &tls_marker < begin + n) {
            *(bytes *)found = {begin, begin + n};
            return 1;
        }
    }
    return 0;
}
static char *page_of(char *p) { return (char *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1)); }

/* Whole pages become those of a file of garbage, each thread's own where it writes: what a block wrote is dropped by page. */
static bytes garbage_map(bytes all)
{
    const bytes pages = {page_of(all.begin + PAGE - 1), page_of(all.end)};
    if (pages.begin >= pages.end)
        return {all.end, all.end};
    const size_t n = (size_t)(pages.end - pages.begin);
    const int file = memfd_create("garbage", 0);
    if (file < 0 || ftruncate(file, (off_t)n) != 0)
        floe_emulated_die("no memory for static shared memory");
    void *filled = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (filled == MAP_FAILED)
        floe_emulated_die("no memory for static shared memory");
    memset(filled, FLOE_EMULATED_GARBAGE, n);
    munmap(filled, n);
    if (mmap(pages.begin, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED)
        floe_emulated_die("no memory for static shared memory");
    close(file);
    return pages;
}
static void static_shared_fill(worker *b)
{
#if !(defined(__clang__) && defined(FLOE_EMULATED_ASAN)) /* whose runtime keeps thread-local variables beside ours */
    if (!b->statics.begin) {
        dl_iterate_phdr(tls_find, &b->statics);
        b->pages = garbage_map(b->statics);
    } else if (b->pages.begin < b->pages.end) {
        madvise(b->pages.begin, (size_t)(b->pages.end - b->pages.begin), MADV_DONTNEED);
    }
    memset(b->statics.begin, FLOE_EMULATED_GARBAGE, (size_t)(b->pages.begin - b->statics.begin));
    memset(b->pages.end, FLOE_EMULATED_GARBAGE, (size_t)(b->statics.end - b->pages.end));
#endif
}

static void block_threads(worker *b)
{
    const dim3 g = b->call.grid, n = b->call.block;
    const uint3 block = {(unsigned)(b->index % g.x), (unsigned)(b->index / g.x % g.y),
                         (unsigned)(b->index / g.x / g.y)};
    b->nthreads = b->nalive = n.x * n.y * n.z;
    b->nwarps = (b->nthreads + 31) / 32;
    for (uint32_t i = 0; i < b->nthreads; i++) {
        b->copying[i].ngroups = b->copying[i].n = 0;
        b->threads[i] = {{i % n.x, i / n.x % n.y, i / n.x / n.y}, block, i % 32, i / 32};
        if (!b->fibers[i])
            b->fibers[i] = floe_fiber_create(thread_main, b);
    }
    for (uint32_t i = 0; i < b->nwarps; i++) {
        warp *w = &b->warps[i];
        const uint32_t lanes = b->nthreads - 32 * i;
        w->alive = w->ready = lanes >= 32 ? 0xFFFFFFFFu : (1u << lanes) - 1;
        w->yielded = w->at_barrier = 0;
        w->used = 0;
    }
    b->nwaiting = b->ntrue = b->barriers = b->picks = 0;
}

static void block_run(worker *b)
{
    block_threads(b);
    static_shared_fill(b);
    b->shared = shared_alloc(b->call.shared_nbytes);
    b->current = order ? (uint32_t)(random_next() % b->nthreads) : 0;
    floe_emulated_now = &b->threads[b->current];
    floe_fiber_switch(b->home, b->fibers[b->current]);
    floe_emulated_now = NULL;
    floe_guarded_free(b->shared, b->call.shared_nbytes, "dynamic shared memory");
    b->nwarps = 0;
}

static void *worker_main(void *arg)
{
    worker *b = (worker *)arg;
    b->home = floe_fiber_of_thread();
    for (;;) {
        while (sem_wait(&b->turn) != 0) {
        }
        me = b;
        while (b->live) {
            block_run(b);
            passed = 0;
            if (next_block < nblocks) {
                b->index = next_block++;
                if (order)
                    turn_give(block_after(b));
                continue;
            }
            b->live = false;
            nlive--;
        }
        me = NULL;
        sem_post(nlive ? &block_after(b)->turn : &launch_done);
    }
    return NULL;
}

#ifdef FLOE_EMULATED_ASAN /* reports more than we do */
static void faults_catch() {}
static void faults_release() {}
#else
/* A kernel's fault ends the program here: a test's own handler would jump out of a fiber. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction faults_before[sizeof faults / sizeof *faults];

static void fault(int number, siginfo_t *info, void *)
{
    signal(number, SIG_DFL);
    fprintf(stderr, "emulator: a kernel failed with signal %d at %p\n", number, info->si_addr);
    if (number == SIGSEGV && info->si_code == SI_KERNEL)
        fprintf(stderr, "emulator: a vector that is not aligned, or a wild address\n");
    else if (number == SIGSEGV || number == SIGBUS)
        floe_emulated_explain(info->si_addr);
    say_where();
    abort();
}
static void faults_catch()
{
    struct sigaction action = {};
    action.sa_sigaction = fault;
    action.sa_flags = SA_SIGINFO;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &action, &faults_before[i]);
}
static void faults_release()
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &faults_before[i], NULL);
}
#endif

void floe_emulated_run(const floe_emulated_call *call)
{
    static bool ready;
    if (!ready) {
        if (sem_init(&launch_done, 0, 0) != 0)
            floe_emulated_die("no semaphore");
        order = floe_emulated_setting("FLOE_EMULATED_ORDER", 0);
        patience = floe_emulated_setting("FLOE_EMULATED_PATIENCE", 1 << 22);
        ready = true;
    }
    floe_emulated_block = call->block;
    floe_emulated_grid = call->grid;
    nblocks = (uint64_t)call->grid.x * call->grid.y * call->grid.z;
    next_block = passed = 0;
    faults_catch();
    sem_post(&block_open(call)->turn);
    while (sem_wait(&launch_done) != 0) {
    }
    faults_release();
}
