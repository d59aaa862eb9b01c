/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibers: by hand on x86-64, by ucontext elsewhere. AddressSanitizer is told of every change of stack. */
#include "emulator.h"

#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#ifdef FLOE_EMULATED_ASAN
#include <sanitizer/common_interface_defs.h>
enum { STACK_NBYTES = 512 << 10 };
#else
enum { STACK_NBYTES = 256 << 10 };
#endif

struct floe_fiber {
    void *sp; /* of a fiber that does not run */
    void (*main)(void *);
    void *arg;
    void *stack; /* lowest byte */
    size_t stack_nbytes;
#ifdef FLOE_EMULATED_ASAN
    void *fake_stack;
#endif
#if !defined(__x86_64__)
    ucontext_t context;
#endif
};

static floe_fiber *arriving; /* the fiber that is switched to, and from which; one launch at a time runs */
static floe_fiber *leaving;

static void fiber_arrived()
{
#ifdef FLOE_EMULATED_ASAN
    const void *stack;
    size_t nbytes;
    __sanitizer_finish_switch_fiber(arriving->fake_stack, &stack, &nbytes);
    if (!leaving->stack) { /* a thread's own stack: learnt when it is left for the first time */
        leaving->stack = (void *)stack;
        leaving->stack_nbytes = nbytes;
    }
#endif
}

extern "C" void floe_fiber_begin()
{
    fiber_arrived();
    floe_fiber *me = arriving;
    me->main(me->arg);
    floe_emulated_die("a fiber ended");
}

#if defined(__x86_64__)
/* Saves what a call preserves, then goes on where the other stack was left. */
extern "C" void floe_fiber_jump(void **save, void *sp);
asm(R"(
    .text
    .p2align 4
    .globl floe_fiber_jump
    .hidden floe_fiber_jump
    .type floe_fiber_jump, @function
floe_fiber_jump:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size floe_fiber_jump, . - floe_fiber_jump
)");
static void fiber_prepare(floe_fiber *f)
{
    static unsigned nfibers;
    /* not all at the same place of a page, or they would all want the same lines of the cache */
    void **sp = (void **)((char *)f->stack + f->stack_nbytes - nfibers++ % 64 * 320);
    *--sp = NULL; /* where floe_fiber_begin would return to; keeps the stack aligned as at a call */
    *--sp = (void *)floe_fiber_begin;
    for (int i = 0; i < 6; i++)
        *--sp = NULL;
    f->sp = sp;
}
static void fiber_jump(floe_fiber *from, floe_fiber *to) { floe_fiber_jump(&from->sp, to->sp); }
#else
static void fiber_prepare(floe_fiber *f)
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = f->stack_nbytes;
    makecontext(&f->context, floe_fiber_begin, 0);
}
static void fiber_jump(floe_fiber *from, floe_fiber *to) { swapcontext(&from->context, &to->context); }
#endif

floe_fiber *floe_fiber_create(void (*main)(void *), void *arg)
{
    floe_fiber *f = (floe_fiber *)calloc(1, sizeof *f);
    /* pages are taken as they are touched; the lowest one stays out of reach */
    void *stack = mmap(NULL, STACK_NBYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!f || stack == MAP_FAILED || mprotect(stack, 4096, PROT_NONE) != 0)
        floe_emulated_die("no memory for a thread's stack");
    f->main = main;
    f->arg = arg;
    f->stack = stack;
    f->stack_nbytes = STACK_NBYTES;
    fiber_prepare(f);
    return f;
}

floe_fiber *floe_fiber_of_thread() { return (floe_fiber *)calloc(1, sizeof(floe_fiber)); }

void floe_fiber_prefetch(const floe_fiber *f) { __builtin_prefetch(f->sp); }

void floe_fiber_switch(floe_fiber *from, floe_fiber *to)
{
    leaving = from;
    arriving = to;
#ifdef FLOE_EMULATED_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_nbytes);
#endif
    fiber_jump(from, to);
    fiber_arrived();
}
