/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA's language for a C++ compiler: what kernels of floe use of it, run by the emulator on the CPU. Thread indices, warp
 * and block operations, atomics, bit tricks, vector types. What is missing here is missing from floe's kernels: add it when
 * it is needed. Each block runs on a thread of its own, so that what is __shared__ is thread_local.
 */
#ifndef FLOE_EMULATED_CUDA_RUNTIME_H
#define FLOE_EMULATED_CUDA_RUNTIME_H

#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <math.h>
#include <functional>
#include <algorithm>
#define __global__ static
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__
#define __align__(n) __attribute__((aligned(n)))
#define __shared__   static thread_local
struct uint2 {
    uint32_t x, y;
};
struct __align__(16) uint4 { uint32_t x, y, z, w; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(8) float2 { float x, y; };
struct __align__(16) double2 { double x, y; };
struct __align__(16) int4 { int x, y, z, w; };
struct uint3 {
    uint32_t x, y, z;
};
struct __align__(16) ulonglong2 { unsigned long long x, y; };
struct __align__(8) int2 { int x, y; };
struct uchar4 {
    uint8_t x, y, z, w;
};
static inline float4 make_float4(float a, float b, float c, float d) { return {a, b, c, d}; }
static inline uint4 make_uint4(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return {a, b, c, d}; }
static inline uint2 make_uint2(uint32_t a, uint32_t b) { return {a, b}; }
static inline float2 make_float2(float a, float b) { return {a, b}; }
static inline double2 make_double2(double a, double b) { return {a, b}; }
static inline ulonglong2 make_ulonglong2(unsigned long long a, unsigned long long b) { return {a, b}; }
struct dim3 {
    uint32_t x, y, z;
    dim3(uint32_t a = 1, uint32_t b = 1, uint32_t c = 1) : x(a), y(b), z(c) {}
};
struct emulated_thread {
    dim3 t, b;
    int lane, warp;
};
extern thread_local emulated_thread *emulated_now;
extern thread_local dim3 emulated_bdim, emulated_gdim;
#define threadIdx (emulated_now->t)
#define blockIdx  (emulated_now->b)
#define blockDim  emulated_bdim
#define gridDim   emulated_gdim
#define warpSize  32
extern "C" void *floe_emulated_shared();
extern "C" void floe_emulated_yield();
uint64_t *emulated_collective(uint32_t mask, uint64_t v, uint32_t *arrived);
void emulated_barrier();
int emulated_barrier_or(int p, int mode);
void floe_emulate(dim3 g, dim3 b, size_t shared, void *stream, std::function<void()> f);
static inline void __syncthreads() { emulated_barrier(); }
static inline int __syncthreads_or(int p) { return emulated_barrier_or(p, 0); }
static inline int __syncthreads_and(int p) { return emulated_barrier_or(p, 1); }
static inline int __syncthreads_count(int p) { return emulated_barrier_or(p, 2); }
static inline void __syncwarp(uint32_t m = ~0u)
{
    uint32_t a;
    emulated_collective(m, 0, &a);
}
template <class T> static inline uint64_t emulated_pack(T v)
{
    uint64_t b = 0;
    static_assert(sizeof(T) <= 8, "");
    memcpy(&b, &v, sizeof v);
    return b;
}
template <class T> static inline T emulated_unpack(uint64_t b)
{
    T v;
    memcpy(&v, &b, sizeof v);
    return v;
}
template <class T> static inline T __shfl_sync(uint32_t m, T v, int src, int w = 32)
{
    uint32_t a;
    uint64_t *p = emulated_collective(m, emulated_pack(v), &a);
    int l = emulated_now->lane;
    return emulated_unpack<T>(p[(l / w * w) + (src & (w - 1))]);
}
template <class T> static inline T __shfl_up_sync(uint32_t m, T v, uint32_t d, int w = 32)
{
    uint32_t a;
    uint64_t *p = emulated_collective(m, emulated_pack(v), &a);
    int l = emulated_now->lane;
    return (l % w) >= (int)d ? emulated_unpack<T>(p[l - d]) : v;
}
template <class T> static inline T __shfl_down_sync(uint32_t m, T v, uint32_t d, int w = 32)
{
    uint32_t a;
    uint64_t *p = emulated_collective(m, emulated_pack(v), &a);
    int l = emulated_now->lane;
    return (l % w) + (int)d < w ? emulated_unpack<T>(p[l + d]) : v;
}
template <class T> static inline T __shfl_xor_sync(uint32_t m, T v, int x, int w = 32)
{
    uint32_t a;
    uint64_t *p = emulated_collective(m, emulated_pack(v), &a);
    int l = emulated_now->lane;
    return emulated_unpack<T>(p[l ^ x]);
}
static inline uint32_t __ballot_sync(uint32_t m, int p)
{
    uint32_t a, r = 0;
    uint64_t *v = emulated_collective(m, p != 0, &a);
    for (int i = 0; i < 32; i++)
        if (a >> i & 1)
            r |= (uint32_t)v[i] << i;
    return r;
}
static inline int __any_sync(uint32_t m, int p) { return __ballot_sync(m, p) != 0; }
static inline int __all_sync(uint32_t m, int p)
{
    uint32_t a;
    uint64_t *v = emulated_collective(m, p != 0, &a);
    for (int i = 0; i < 32; i++)
        if ((a >> i & 1) && !v[i])
            return 0;
    return 1;
}
template <class T> static inline uint32_t __match_any_sync(uint32_t m, T x)
{
    uint32_t a, r = 0;
    uint64_t k = emulated_pack(x);
    uint64_t *v = emulated_collective(m, k, &a);
    for (int i = 0; i < 32; i++)
        if ((a >> i & 1) && v[i] == k)
            r |= 1u << i;
    return r;
}
#define EMULATED_RED(name, init, op)                                \
    template <class T> static inline T name(uint32_t m, T x)        \
    {                                                               \
        uint32_t a;                                                 \
        uint64_t *v = emulated_collective(m, emulated_pack(x), &a); \
        bool first = true;                                          \
        T r = x;                                                    \
        for (int i = 0; i < 32; i++)                                \
            if (a >> i & 1) {                                       \
                T y = emulated_unpack<T>(v[i]);                     \
                if (first) {                                        \
                    r = y;                                          \
                    first = false;                                  \
                } else                                              \
                    r = (op);                                       \
            }                                                       \
        return r;                                                   \
    }
EMULATED_RED(__reduce_add_sync, 0, (T)(r + y))
EMULATED_RED(__reduce_min_sync, 0, y < r ? y : r) EMULATED_RED(__reduce_max_sync, 0, y > r ? y : r)
    EMULATED_RED(__reduce_or_sync, 0, (T)(r | y)) EMULATED_RED(__reduce_and_sync, 0, (T)(r &y))
        EMULATED_RED(__reduce_xor_sync, 0, (T)(r ^ y)) static inline uint32_t __activemask()
{
    return ~0u;
}
#define EMULATED_INT(T)                                                                                    \
    static inline T atomicAdd(T *p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }            \
    static inline T atomicOr(T *p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }              \
    static inline T atomicAnd(T *p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST); }            \
    static inline T atomicXor(T *p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST); }            \
    static inline T atomicExch(T *p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); }          \
    static inline T atomicCAS(T *p, T c, T v)                                                              \
    {                                                                                                      \
        __atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                  \
        return c;                                                                                          \
    }                                                                                                      \
    static inline T atomicMax(T *p, T v)                                                                   \
    {                                                                                                      \
        T o = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                        \
        while (o < v && !__atomic_compare_exchange_n(p, &o, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) \
            ;                                                                                              \
        return o;                                                                                          \
    }                                                                                                      \
    static inline T atomicMin(T *p, T v)                                                                   \
    {                                                                                                      \
        T o = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                        \
        while (o > v && !__atomic_compare_exchange_n(p, &o, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) \
            ;                                                                                              \
        return o;                                                                                          \
    }                                                                                                      \
    static inline T atomicSub(T *p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST); }
EMULATED_INT(uint32_t)
EMULATED_INT(int) EMULATED_INT(unsigned long long) EMULATED_INT(long long)
#define atomicOr_block  atomicOr
#define atomicAdd_block atomicAdd
    static inline int __popc(uint32_t x)
{
    return __builtin_popcount(x);
}
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((uint32_t)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((uint64_t)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline uint32_t __brev(uint32_t x)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}
static inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t s)
{
    uint64_t v = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t n = s >> (4 * i) & 15;
        uint32_t y = (uint32_t)(v >> (8 * (n & 7))) & 255;
        if (n & 8)
            y = (y & 128) ? 255 : 0;
        r |= y << (8 * i);
    }
    return r;
}
static inline uint32_t __funnelshift_l(uint32_t lo, uint32_t hi, uint32_t s)
{
    s &= 31;
    return (uint32_t)((((uint64_t)hi << 32 | lo) << s) >> 32);
}
static inline uint32_t __funnelshift_r(uint32_t lo, uint32_t hi, uint32_t s)
{
    s &= 31;
    return (uint32_t)(((uint64_t)hi << 32 | lo) >> s);
}
static inline uint32_t __funnelshift_rc(uint32_t lo, uint32_t hi, uint32_t s)
{
    s = s > 32 ? 32 : s;
    return (uint32_t)(((uint64_t)hi << 32 | lo) >> s);
}
static inline uint32_t __funnelshift_lc(uint32_t lo, uint32_t hi, uint32_t s)
{
    s = s > 32 ? 32 : s;
    return s == 32 ? lo : (uint32_t)((((uint64_t)hi << 32 | lo) << s) >> 32);
}
static inline uint32_t __umulhi(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline T __ldlu(const T *p) { return *p; }
template <class T> static inline T __ldcv(const T *p) { return *(const volatile T *)p; }
template <class T> static inline void __stcs(T *p, T v) { *p = v; }
template <class T> static inline void __stcg(T *p, T v) { *p = v; }
template <class T> static inline void __stwt(T *p, T v) { *p = v; }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(uint32_t) { floe_emulated_yield(); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline uint32_t __float_as_uint(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float __uint_as_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline int __float_as_int(float f)
{
    int u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float __int_as_float(int u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline long long __double_as_longlong(double f)
{
    long long u;
    memcpy(&u, &f, 8);
    return u;
}
static inline double __longlong_as_double(long long u)
{
    double f;
    memcpy(&f, &u, 8);
    return f;
}
static inline int __double2hiint(double f) { return (int)((uint64_t)__double_as_longlong(f) >> 32); }
static inline int __double2loint(double f) { return (int)__double_as_longlong(f); }
static inline double __hiloint2double(int h, int l)
{
    return __longlong_as_double((long long)((uint64_t)(uint32_t)h << 32 | (uint32_t)l));
}
static inline int __vimin3_s32(int a, int b, int c) { return std::min(a, std::min(b, c)); }
static inline int __vimax3_s32(int a, int b, int c) { return std::max(a, std::max(b, c)); }
static inline uint32_t __vminu4(uint32_t a, uint32_t b)
{
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t x = a >> (8 * i) & 255, y = b >> (8 * i) & 255;
        r |= (x < y ? x : y) << (8 * i);
    }
    return r;
}
static inline uint32_t __vmaxu4(uint32_t a, uint32_t b)
{
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t x = a >> (8 * i) & 255, y = b >> (8 * i) & 255;
        r |= (x > y ? x : y) << (8 * i);
    }
    return r;
}
#define EMULATED_MM(T)                                      \
    static inline T min(T a, T b) { return a < b ? a : b; } \
    static inline T max(T a, T b) { return a > b ? a : b; }
EMULATED_MM(int)
EMULATED_MM(uint32_t) EMULATED_MM(long) EMULATED_MM(unsigned long) EMULATED_MM(long long)
    EMULATED_MM(unsigned long long) static inline uint32_t min(uint32_t a, int b)
{
    return min(a, (uint32_t)b);
}
static inline uint32_t min(int a, uint32_t b) { return min((uint32_t)a, b); }
static inline uint32_t max(uint32_t a, int b) { return max(a, (uint32_t)b); }
static inline uint32_t max(int a, uint32_t b) { return max((uint32_t)a, b); }
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline long long clock64() { return 0; }
#include <cuda_runtime_api.h>

#endif
