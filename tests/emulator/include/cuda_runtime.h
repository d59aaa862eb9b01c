/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA C++ for a C++17 compiler without CUDA: what device code may use, with its meaning. Each thread of a block is a fiber
 * (emulator.cpp) that runs until it must wait for others, so whatever relies on lanes running in step breaks here.
 */
#ifndef FLOE_EMULATED_CUDA_RUNTIME_H
#define FLOE_EMULATED_CUDA_RUNTIME_H

#include <fenv.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <new>
#include <tuple>
#include <type_traits>

#include <cuda_runtime_api.h>

#define __host__
#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __noinline__    __attribute__((noinline))
#define __align__(n)    __attribute__((aligned(n)))
/* All threads of a block are fibers of one thread of the machine, and no other block runs on it at that time. */
#define __shared__ static thread_local

/* ---- vector types -------------------------------------------------------------------------------------------------- */

#define FLOE_EMULATED_VECTORS(type, base, align2, align4)                                      \
    struct type##1 { base x; };                                                                \
    struct __align__(align2) type##2 { base x, y; };                                           \
    struct type##3 { base x, y, z; };                                                          \
    struct __align__(align4) type##4 { base x, y, z, w; };                                     \
    static inline type##1 make_##type##1(base x) { return type##1 {x}; }                       \
    static inline type##2 make_##type##2(base x, base y) { return type##2 {x, y}; }            \
    static inline type##3 make_##type##3(base x, base y, base z) { return type##3 {x, y, z}; } \
    static inline type##4 make_##type##4(base x, base y, base z, base w) { return type##4 {x, y, z, w}; }
FLOE_EMULATED_VECTORS(char, signed char, 2, 4)
FLOE_EMULATED_VECTORS(uchar, unsigned char, 2, 4)
FLOE_EMULATED_VECTORS(short, short, 4, 8)
FLOE_EMULATED_VECTORS(ushort, unsigned short, 4, 8)
FLOE_EMULATED_VECTORS(int, int, 8, 16)
FLOE_EMULATED_VECTORS(uint, unsigned, 8, 16)
FLOE_EMULATED_VECTORS(longlong, long long, 16, 16)
FLOE_EMULATED_VECTORS(ulonglong, unsigned long long, 16, 16)
FLOE_EMULATED_VECTORS(float, float, 8, 16)
FLOE_EMULATED_VECTORS(double, double, 16, 16)

struct dim3 {
    uint32_t x, y, z;
    dim3(uint32_t a = 1, uint32_t b = 1, uint32_t c = 1) : x(a), y(b), z(c) {}
    template <class E, typename std::enable_if<std::is_enum<E>::value, int>::type = 0>
    dim3(E e) : x((uint32_t)e), y(1), z(1)
    {
    }
};

/* ---- the engine ---------------------------------------------------------------------------------------------------- */

struct floe_emulated_thread {
    uint3 thread, block;
    uint32_t lane, warp;
};
/* What the lanes of a collective brought. */
struct floe_emulated_meeting {
    uint64_t value[32];
    uint32_t lanes; /* those that came */
    uint32_t odd;   /* of these, those whose value is odd: lanes that vote for it */
};
enum floe_emulated_kind {
    FLOE_EMULATED_SYNCWARP,
    FLOE_EMULATED_SHUFFLE,
    FLOE_EMULATED_VOTE,
    FLOE_EMULATED_MATCH,
    FLOE_EMULATED_REDUCE
};
struct floe_emulated_count {
    uint32_t ntrue, nthreads;
};
extern "C" {
extern floe_emulated_thread *floe_emulated_now;
extern dim3 floe_emulated_block, floe_emulated_grid;
/* Waits until every lane of the mask that has not returned is here. The result holds until the lane waits again. */
const floe_emulated_meeting *floe_emulated_meet(uint32_t mask, floe_emulated_kind kind, uint64_t value);
/* Waits until every thread of the block that has not returned is here. counts: predicates; a GPU takes it for another barrier. */
floe_emulated_count floe_emulated_barrier(bool counts, int predicate);
/* Lets others run: first this block's, then other blocks. */
void floe_emulated_yield();
void *floe_emulated_shared();
/* Copies of `size` bytes to shared memory that arrive as late as they may: when this thread waits for what it committed, but for the last
 * groups. */
void floe_emulated_copy(void *to, const void *from, uint32_t nbytes, uint32_t size);
void floe_emulated_copy_commit();
void floe_emulated_copy_wait(uint32_t but);
[[noreturn]] void floe_emulated_die(const char *why);
}

/* A launch: body(args) runs once for each thread. args are nbytes plain bytes, copied now. */
void floe_emulated_launch(dim3 grid, dim3 block, size_t shared_nbytes, cudaStream_t stream, const void *kernel,
                          void (*body)(const void *args), const void *args, size_t nbytes);

/* A kernel with its arguments, copied and converted now. */
template <class... P> struct floe_emulated_bound {
    void (*kernel)(P...);
    std::tuple<P...> args;
};
template <class... P, class... A> floe_emulated_bound<P...> floe_emulated_bind(void (*kernel)(P...), const A &...given)
{
    return {kernel, std::tuple<P...>{static_cast<P>(given)...}};
}
/* As kernel<<<grid, block, shared_nbytes, stream>>>(args...) */
template <class... P>
void floe_emulate(dim3 grid, dim3 block, size_t shared_nbytes, cudaStream_t stream, const floe_emulated_bound<P...> &b)
{
    typedef floe_emulated_bound<P...> bound;
    floe_emulated_launch(
        grid, block, shared_nbytes, stream, (const void *)b.kernel,
        [](const void *p) { std::apply(((const bound *)p)->kernel, ((const bound *)p)->args); }, &b, sizeof b);
}

#define threadIdx (floe_emulated_now->thread)
#define blockIdx  (floe_emulated_now->block)
#define blockDim  floe_emulated_block
#define gridDim   floe_emulated_grid
static constexpr int warpSize = 32;

/* ---- blocks and warps ---------------------------------------------------------------------------------------------- */

static inline void __syncthreads() { floe_emulated_barrier(false, 0); }
static inline int __syncthreads_count(int p) { return (int)floe_emulated_barrier(true, p).ntrue; }
static inline int __syncthreads_or(int p) { return floe_emulated_barrier(true, p).ntrue != 0; }
static inline int __syncthreads_and(int p)
{
    floe_emulated_count c = floe_emulated_barrier(true, p);
    return c.ntrue == c.nthreads;
}
static inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) { floe_emulated_meet(mask, FLOE_EMULATED_SYNCWARP, 0); }
/* Which lanes run together is not promised: here each runs alone. */
static inline unsigned __activemask() { return 1u << floe_emulated_now->lane; }

template <class T> static inline uint64_t floe_emulated_bits(T v)
{
    uint64_t b = 0;
    static_assert(sizeof v <= sizeof b, "a lane exchanges at most 8 bytes");
    memcpy(&b, &v, sizeof v);
    return b;
}
template <class T> static inline T floe_emulated_value(uint64_t b)
{
    T v;
    memcpy(&v, &b, sizeof v);
    return v;
}

/* The value of lane `from`; garbage when it is not there, which CUDA leaves undefined. */
template <class T> static inline T floe_emulated_take(unsigned mask, T v, int from)
{
    static_assert(std::is_arithmetic<T>::value && sizeof v >= 4, "shuffles are of 4 or 8 bytes");
    const floe_emulated_meeting *m = floe_emulated_meet(mask, FLOE_EMULATED_SHUFFLE, floe_emulated_bits(v));
    return floe_emulated_value<T>(m->lanes >> from & 1 ? m->value[from] : 0xBADC0FFEEBADC0DEu);
}
/* Small integers become int, as for CUDA's overloads. */
#define FLOE_EMULATED_SHUFFLE_HEAD                                   \
    const int lane = (int)floe_emulated_now->lane;                   \
    const int first = lane & ~(width - 1), last = first + width - 1; \
    (void)first, (void)last;
template <class T> static inline auto __shfl_sync(unsigned mask, T v, int from, int width = 32) -> decltype(+v)
{
    FLOE_EMULATED_SHUFFLE_HEAD
    return floe_emulated_take(mask, +v, first | (from & (width - 1)));
}
template <class T> static inline auto __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32) -> decltype(+v)
{
    FLOE_EMULATED_SHUFFLE_HEAD
    return floe_emulated_take(mask, +v, lane - (int)by < first ? lane : lane - (int)by);
}
template <class T> static inline auto __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32) -> decltype(+v)
{
    FLOE_EMULATED_SHUFFLE_HEAD
    return floe_emulated_take(mask, +v, lane + (int)by > last ? lane : lane + (int)by);
}
template <class T> static inline auto __shfl_xor_sync(unsigned mask, T v, int with, int width = 32) -> decltype(+v)
{
    FLOE_EMULATED_SHUFFLE_HEAD
    return floe_emulated_take(mask, +v, (lane ^ with) > last ? lane : (lane ^ with) & 31);
}
#undef FLOE_EMULATED_SHUFFLE_HEAD

static inline unsigned __ballot_sync(unsigned mask, int p)
{
    return floe_emulated_meet(mask, FLOE_EMULATED_VOTE, p != 0)->odd;
}
static inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
static inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }

template <class T> static inline unsigned __match_any_sync(unsigned mask, T v)
{
    const uint64_t mine = floe_emulated_bits(v);
    const floe_emulated_meeting *m = floe_emulated_meet(mask, FLOE_EMULATED_MATCH, mine);
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (m->lanes >> i & (unsigned)(m->value[i] == mine)) << i;
    return r;
}
template <class T> static inline unsigned __match_all_sync(unsigned mask, T v, int *same)
{
    const uint64_t mine = floe_emulated_bits(v);
    const floe_emulated_meeting *m = floe_emulated_meet(mask, FLOE_EMULATED_MATCH, mine);
    *same = 1;
    for (int i = 0; i < 32; i++)
        if ((m->lanes >> i & 1) && m->value[i] != mine)
            *same = 0;
    return *same ? m->lanes : 0;
}

template <class T, class F> static inline T floe_emulated_reduce(unsigned mask, T v, F combine)
{
    const floe_emulated_meeting *m = floe_emulated_meet(mask, FLOE_EMULATED_REDUCE, floe_emulated_bits(v));
    const int own = (int)floe_emulated_now->lane;
    for (int i = 0; i < 32; i++)
        if ((m->lanes >> i & 1) && i != own)
            v = combine(v, floe_emulated_value<T>(m->value[i]));
    return v;
}
#define FLOE_EMULATED_REDUCTION(name, type, expression)                                          \
    static inline type __reduce_##name##_sync(unsigned mask, type v)                             \
    {                                                                                            \
        return floe_emulated_reduce(mask, v, [](type a, type b) -> type { return expression; }); \
    }
FLOE_EMULATED_REDUCTION(add, unsigned, a + b)
FLOE_EMULATED_REDUCTION(add, int, (int)((unsigned)a + (unsigned)b))
FLOE_EMULATED_REDUCTION(min, unsigned, a < b ? a : b)
FLOE_EMULATED_REDUCTION(min, int, a < b ? a : b)
FLOE_EMULATED_REDUCTION(max, unsigned, a > b ? a : b)
FLOE_EMULATED_REDUCTION(max, int, a > b ? a : b)
FLOE_EMULATED_REDUCTION(and, unsigned, a &b)
FLOE_EMULATED_REDUCTION(or, unsigned, a | b)
FLOE_EMULATED_REDUCTION(xor, unsigned, a ^ b)

/* ---- memory -------------------------------------------------------------------------------------------------------- */

/* Fibers change places only where they wait, so plain operations are atomic. */
#define FLOE_EMULATED_ATOMIC(name, type, expression)                        \
    static inline type name(type *p, type v)                                \
    {                                                                       \
        const type old = *p;                                                \
        *p = (type)(expression);                                            \
        return old;                                                         \
    }                                                                       \
    static inline type name##_block(type *p, type v) { return name(p, v); } \
    static inline type name##_system(type *p, type v) { return name(p, v); }
FLOE_EMULATED_ATOMIC(atomicAdd, int, (unsigned)old + (unsigned)v)
FLOE_EMULATED_ATOMIC(atomicAdd, unsigned, old + v)
FLOE_EMULATED_ATOMIC(atomicAdd, unsigned long long, old + v)
FLOE_EMULATED_ATOMIC(atomicAdd, float, old + v)
FLOE_EMULATED_ATOMIC(atomicAdd, double, old + v)
FLOE_EMULATED_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)v)
FLOE_EMULATED_ATOMIC(atomicSub, unsigned, old - v)
FLOE_EMULATED_ATOMIC(atomicExch, int, v)
FLOE_EMULATED_ATOMIC(atomicExch, unsigned, v)
FLOE_EMULATED_ATOMIC(atomicExch, unsigned long long, v)
FLOE_EMULATED_ATOMIC(atomicExch, float, v)
#define FLOE_EMULATED_ATOMIC_INTEGER(type)                   \
    FLOE_EMULATED_ATOMIC(atomicMin, type, old < v ? old : v) \
    FLOE_EMULATED_ATOMIC(atomicMax, type, old > v ? old : v) \
    FLOE_EMULATED_ATOMIC(atomicAnd, type, old &v)            \
    FLOE_EMULATED_ATOMIC(atomicOr, type, old | v)            \
    FLOE_EMULATED_ATOMIC(atomicXor, type, old ^ v)
FLOE_EMULATED_ATOMIC_INTEGER(int)
FLOE_EMULATED_ATOMIC_INTEGER(unsigned)
FLOE_EMULATED_ATOMIC_INTEGER(long long)
FLOE_EMULATED_ATOMIC_INTEGER(unsigned long long)
FLOE_EMULATED_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
FLOE_EMULATED_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
#define FLOE_EMULATED_CAS(type)                                  \
    static inline type atomicCAS(type *p, type expected, type v) \
    {                                                            \
        const type old = *p;                                     \
        *p = old == expected ? v : old;                          \
        return old;                                              \
    }
FLOE_EMULATED_CAS(int)
FLOE_EMULATED_CAS(unsigned)
FLOE_EMULATED_CAS(unsigned short)
FLOE_EMULATED_CAS(unsigned long long)

template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldca(const T *p) { return *p; }
template <class T> static inline T __ldcg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline T __ldlu(const T *p) { return *p; }
template <class T> static inline T __ldcv(const T *p) { return *p; }
template <class T, class V> static inline void __stwb(T *p, V v) { *p = v; }
template <class T, class V> static inline void __stcg(T *p, V v) { *p = v; }
template <class T, class V> static inline void __stcs(T *p, V v) { *p = v; }
template <class T, class V> static inline void __stwt(T *p, V v) { *p = v; }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}

static inline void __nanosleep(unsigned) { floe_emulated_yield(); }
[[noreturn]] static inline void __trap() { floe_emulated_die("__trap"); }
static inline long long clock64() { return 0; }

/* ---- arithmetic ---------------------------------------------------------------------------------------------------- */

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1u) << (31 - i);
    return r;
}
static inline unsigned long long __brevll(unsigned long long v)
{
    return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32));
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned pick)
{
    const uint64_t both = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) /* three bits of each digit count: the sign of a byte cannot be picked */
        r |= ((unsigned)(both >> (pick >> 4 * i & 7) * 8) & 255u) << 8 * i;
    return r;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned by)
{
    return (unsigned)(((uint64_t)hi << 32 | lo) << (by & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned by)
{
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (by & 31));
}
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned by)
{
    return by >= 32 ? lo : __funnelshift_l(lo, hi, by);
}
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned by)
{
    return by >= 32 ? hi : __funnelshift_r(lo, hi, by);
}
static inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ typedef unsigned __int128 wide;
    return (unsigned long long)((wide)a * b >> 64);
}
static inline long long __mul64hi(long long a, long long b)
{
    __extension__ typedef __int128 wide;
    return (long long)((wide)a * b >> 64);
}
static inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }

/* The overloads of CUDA: mixed signs become unsigned. */
#define FLOE_EMULATED_MIN_MAX(a, b, type)                                              \
    static inline type min(a x, b y) { return (type)x < (type)y ? (type)x : (type)y; } \
    static inline type max(a x, b y) { return (type)x > (type)y ? (type)x : (type)y; }
#define FLOE_EMULATED_MIN_MAX_BOTH(sign, plain) \
    FLOE_EMULATED_MIN_MAX(sign, sign, sign)     \
    FLOE_EMULATED_MIN_MAX(plain, plain, plain)  \
    FLOE_EMULATED_MIN_MAX(sign, plain, plain)   \
    FLOE_EMULATED_MIN_MAX(plain, sign, plain)
FLOE_EMULATED_MIN_MAX_BOTH(int, unsigned)
FLOE_EMULATED_MIN_MAX_BOTH(long, unsigned long)
FLOE_EMULATED_MIN_MAX_BOTH(long long, unsigned long long)
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(float a, double b) { return fmin(a, b); }
static inline double max(float a, double b) { return fmax(a, b); }
static inline double min(double a, float b) { return fmin(a, b); }
static inline double max(double a, float b) { return fmax(a, b); }
static inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
static inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
static inline int __vimin3_s32(int a, int b, int c) { return min(min(a, b), c); }
static inline int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
static inline unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c) { return min(min(a, b), c); }
static inline unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c) { return max(max(a, b), c); }
static inline int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
static inline int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
static inline int __viaddmin_s32(int a, int b, int c) { return min((int)((unsigned)a + (unsigned)b), c); }
static inline int __viaddmax_s32(int a, int b, int c) { return max((int)((unsigned)a + (unsigned)b), c); }
static inline unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return min(a + b, c); }
static inline unsigned __viaddmax_u32(unsigned a, unsigned b, unsigned c) { return max(a + b, c); }

/* A byte at a time. */
#define FLOE_EMULATED_BYTES(name, expression)                    \
    static inline unsigned name(unsigned a, unsigned b)          \
    {                                                            \
        unsigned r = 0;                                          \
        for (int i = 0; i < 32; i += 8) {                        \
            const unsigned x = a >> i & 255u, y = b >> i & 255u; \
            r |= ((unsigned)(expression)&255u) << i;             \
        }                                                        \
        return r;                                                \
    }
FLOE_EMULATED_BYTES(__vadd4, x + y)
FLOE_EMULATED_BYTES(__vsub4, x - y)
FLOE_EMULATED_BYTES(__vminu4, min(x, y))
FLOE_EMULATED_BYTES(__vmaxu4, max(x, y))
FLOE_EMULATED_BYTES(__vcmpeq4, x == y ? 255 : 0)
FLOE_EMULATED_BYTES(__vcmpne4, x != y ? 255 : 0)
FLOE_EMULATED_BYTES(__vcmpgtu4, x > y ? 255 : 0)
FLOE_EMULATED_BYTES(__vcmpltu4, x < y ? 255 : 0)
FLOE_EMULATED_BYTES(__vabsdiffu4, x > y ? x - y : y - x)

static inline unsigned __float_as_uint(float v) { return floe_emulated_value<unsigned>(floe_emulated_bits(v)); }
static inline int __float_as_int(float v) { return floe_emulated_value<int>(floe_emulated_bits(v)); }
static inline float __uint_as_float(unsigned v) { return floe_emulated_value<float>(v); }
static inline float __int_as_float(int v) { return floe_emulated_value<float>((unsigned)v); }
static inline long long __double_as_longlong(double v) { return (long long)floe_emulated_bits(v); }
static inline double __longlong_as_double(long long v) { return floe_emulated_value<double>((uint64_t)v); }
static inline int __double2hiint(double v) { return (int)(floe_emulated_bits(v) >> 32); }
static inline int __double2loint(double v) { return (int)floe_emulated_bits(v); }
static inline double __hiloint2double(int hi, int lo)
{
    return floe_emulated_value<double>((uint64_t)(unsigned)hi << 32 | (unsigned)lo);
}

/* Compiled without contraction, so each of these rounds by itself. */
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
/* Rounded down. Volatile, so that the compiler computes between the calls that set the rounding. */
template <class T> static inline T floe_emulated_fma_down(T u, T v, T w)
{
    volatile T a = u, b = v, c = w, r;
    fesetround(FE_DOWNWARD);
    r = sizeof(T) == 4 ? (T)fmaf((float)a, (float)b, (float)c) : (T)fma((double)a, (double)b, (double)c);
    fesetround(FE_TONEAREST);
    return r;
}
static inline double __fma_rd(double a, double b, double c) { return floe_emulated_fma_down(a, b, c); }
static inline float __fmaf_rd(float a, float b, float c) { return floe_emulated_fma_down(a, b, c); }
static inline float __fsub_rd(float a, float b) { return floe_emulated_fma_down(-1.0f, b, a); }
/* Conversions to integers saturate, NaN becomes 0. */
static inline int __float2int_rn(float v)
{
    return v != v ? 0 : v >= 0x1p31f ? INT32_MAX : v < -0x1p31f ? INT32_MIN : (int)rintf(v);
}
static inline int __float2int_rz(float v)
{
    return v != v ? 0 : v >= 0x1p31f ? INT32_MAX : v < -0x1p31f ? INT32_MIN : (int)v;
}
static inline int __double2int_rn(double v)
{
    return v != v ? 0 : v >= 0x1p31 - 0.5 ? INT32_MAX : v <= -0x1p31 - 0.5 ? INT32_MIN : (int)rint(v);
}
static inline long long __float2ll_rn(float v)
{
    return v != v ? 0 : v >= 0x1p63f ? INT64_MAX : v < -0x1p63f ? INT64_MIN : (long long)rintf(v);
}
static inline long long __double2ll_rn(double v)
{
    return v != v ? 0 : v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (long long)rint(v);
}
static inline float __int2float_rn(int v) { return (float)v; }
static inline float __uint2float_rn(unsigned v) { return (float)v; }
static inline float __uint2float_rz(unsigned v) { return (float)v > (double)v ? nextafterf((float)v, 0) : (float)v; }
static inline float __ll2float_rn(long long v) { return (float)v; }
static inline double __int2double_rn(int v) { return v; }
static inline double __ll2double_rn(long long v) { return (double)v; }
static inline float __double2float_rn(double v) { return (float)v; }

/* ---- the API's C++ forms ------------------------------------------------------------------------------------------- */

template <class T> static inline cudaError_t cudaMalloc(T **p, size_t nbytes) { return cudaMalloc((void **)p, nbytes); }
template <class T> static inline cudaError_t cudaMallocHost(T **p, size_t nbytes, unsigned = 0)
{
    return cudaMallocHost((void **)p, nbytes);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **p, size_t nbytes, unsigned flags)
{
    return cudaHostAlloc((void **)p, nbytes, flags);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **p, size_t nbytes, cudaStream_t stream)
{
    return cudaMallocAsync((void **)p, nbytes, stream);
}
template <class F> static inline cudaError_t cudaFuncSetAttribute(F *kernel, cudaFuncAttribute attribute, int value)
{
    return floe_emulated_attribute((const void *)kernel, attribute, value);
}
template <class F>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *nblocks, F *kernel, int nthreads,
                                                                        size_t shared_nbytes)
{
    return floe_emulated_occupancy(nblocks, (const void *)kernel, nthreads, shared_nbytes);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t nbytes, size_t offset = 0,
                                             cudaMemcpyKind = cudaMemcpyHostToDevice)
{
    memcpy((char *)&symbol + offset, from, nbytes);
    return cudaSuccess;
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t nbytes, size_t offset = 0,
                                               cudaMemcpyKind = cudaMemcpyDeviceToHost)
{
    memcpy(to, (const char *)&symbol + offset, nbytes);
    return cudaSuccess;
}

#endif
