/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is garbage at first and guarded at both ends. Allocations of the API lie in pages of their own, up against a
 * stretch that nobody may touch, and are never given out again; device memory is in reach only while the device works.
 */
#include "emulator.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef FLOE_EMULATED_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

/* Changing a page costs a third of a microsecond, twice for each step: of large allocations only the beginning. */
enum : size_t { MOST_GUARDED_NBYTES = 16 << 20, FIRST_GUARDED_NBYTES = 1 << 20 };
enum : size_t { PAGE = 4096, ALIGN = 256, GUARD_NBYTES = 1 << 20, SHEET_NBYTES = 16 << 20 };

[[noreturn]] static void overwritten(const char *what, size_t nbytes)
{
    fprintf(stderr, "emulator: written past the ends of %s of %zu bytes\n", what, nbytes);
    abort();
}

/* ---- small, for one block ------------------------------------------------------------------------------------------ */

void *floe_guarded_alloc(size_t nbytes)
{
    void *block = NULL;
    if (posix_memalign(&block, ALIGN, nbytes + 2 * ALIGN) != 0)
        return NULL;
    char *p = (char *)block + ALIGN;
    memset(block, FLOE_EMULATED_GUARD, nbytes + 2 * ALIGN);
    memset(p, FLOE_EMULATED_GARBAGE, nbytes);
    POISON(block, ALIGN);
    POISON(p + nbytes, ALIGN);
    return p;
}

void floe_guarded_free(void *p, size_t nbytes, const char *what)
{
    const unsigned char *at = (const unsigned char *)p;
    UNPOISON(at - ALIGN, nbytes + 2 * ALIGN);
    for (size_t i = 0; i < ALIGN; i++)
        if (at[i - ALIGN] != FLOE_EMULATED_GUARD || at[nbytes + i] != FLOE_EMULATED_GUARD)
            overwritten(what, nbytes);
    free((char *)p - ALIGN);
}

/* ---- allocations --------------------------------------------------------------------------------------------------- */

static size_t up(size_t n, size_t step) { return (n + step - 1) / step * step; }
static char *first_page(void *p) { return (char *)((uintptr_t)p / PAGE * PAGE); }
static size_t page_nbytes(void *p, size_t nbytes) { return up((size_t)((char *)p - first_page(p)) + nbytes, PAGE); }

/* A file of garbage: mapped as often as needed, it takes memory only where an allocation is written. */
static int sheet()
{
    static int fd = -1;
    if (fd >= 0)
        return fd;
    fd = memfd_create("garbage", 0);
    char *all = fd >= 0 && ftruncate(fd, SHEET_NBYTES) == 0
                    ? (char *)mmap(NULL, SHEET_NBYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                    : (char *)MAP_FAILED;
    if (all == MAP_FAILED)
        floe_emulated_die("no memory for garbage");
    memset(all, FLOE_EMULATED_GARBAGE, SHEET_NBYTES);
    munmap(all, SHEET_NBYTES);
    return fd;
}

void *floe_pages_alloc(size_t nbytes)
{
    if (nbytes > SIZE_MAX / 4)
        return NULL;
    const size_t inner = up(up(nbytes, ALIGN), PAGE);
    char *all =
        (char *)mmap(NULL, inner + 2 * GUARD_NBYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    char *begin = all + GUARD_NBYTES, *p = begin + (inner - up(nbytes, ALIGN));
    for (size_t at = 0; at < inner; at += SHEET_NBYTES) {
        const size_t n = inner - at < SHEET_NBYTES ? inner - at : (size_t)SHEET_NBYTES;
        if (mmap(begin + at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, sheet(), 0) ==
            MAP_FAILED)
            return NULL;
    }
    POISON(begin, (size_t)(p - begin));
    POISON(p + nbytes, (size_t)(begin + inner - (p + nbytes)));
    return p;
}

void floe_pages_free(void *p, size_t nbytes, const char *what)
{
    char *begin = first_page(p);
    const size_t inner = page_nbytes(p, nbytes);
    UNPOISON(begin, inner);
    for (const char *at = begin; at < begin + inner; at++) {
        if (at == p)
            at += nbytes;
        if (at < begin + inner && (unsigned char)*at != FLOE_EMULATED_GARBAGE)
            overwritten(what, nbytes);
    }
    mmap(begin, inner, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

void floe_pages_reach(void *p, size_t nbytes, bool within)
{
    const size_t all = page_nbytes(p, nbytes);
    const size_t guarded = all <= MOST_GUARDED_NBYTES ? all : FIRST_GUARDED_NBYTES;
    if (mprotect(first_page(p), guarded, within ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
        floe_emulated_die("mprotect failed");
}
