/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/spectrum/fft.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_PRIME = 31 }; /* a factor costs as its square; from about here on a convolution costs less */

/* One factor: radix inputs, m * s apart, become radix neighbours, s apart. s counts lanes too. */
typedef struct pass {
    const double *restrict re, *restrict im;
    double *restrict out_re, *restrict out_im;
    uint64_t radix, m, s;
    uint64_t step; /* of the roots: length / (radix * m) */
    const floe_fft *fft;
} pass;

void floe_fft_root(uint64_t k, uint64_t n, double *re, double *im)
{
    const double pi = 3.14159265358979323846;
    const int below = 2 * k > n; /* the half whose sine is negative mirrors the other; so do quarters and eighths */
    const uint64_t half = below ? n - k : k;
    const int left = 4 * half > n;
    const uint64_t quarter = left ? n - 2 * half : 2 * half; /* of 2 n, at most a quarter */
    const int steep = 4 * quarter > n;
    const double angle =
        steep ? pi / 4 * ((double)(n - 2 * quarter) / (double)n * 2) : pi * ((double)quarter / (double)n);
    const double c = steep ? sin(angle) : cos(angle), s = steep ? cos(angle) : sin(angle);
    *re = left ? -c : c;
    *im = below ? s : -s;
}

/* ---- factors --------------------------------------------------------------------------------------------------------- */

static uint64_t radix_of(uint64_t n)
{
    if (n % 4 == 0)
        return 4;
    for (uint64_t r = 2; r * r <= n; r++)
        if (n % r == 0)
            return r;
    return n;
}

/* Has n no prime above most? */
static bool is_smooth(uint64_t n, uint64_t most)
{
    for (uint64_t r = 2; r <= most; r++)
        while (n % r == 0)
            n /= r;
    return n == 1;
}

static void pass_2(const pass *a)
{
    const uint64_t apart = a->m * a->s;
    for (uint64_t p = 0; p < a->m; p++) {
        const double wr = a->fft->root_re[p * a->step], wi = a->fft->root_im[p * a->step];
        const double *restrict xr = a->re + p * a->s, *restrict xi = a->im + p * a->s;
        double *restrict yr = a->out_re + 2 * p * a->s, *restrict yi = a->out_im + 2 * p * a->s;
        for (uint64_t q = 0; q < a->s; q++) {
            const double dr = xr[q] - xr[q + apart], di = xi[q] - xi[q + apart];
            yr[q] = xr[q] + xr[q + apart], yi[q] = xi[q] + xi[q + apart];
            yr[q + a->s] = dr * wr - di * wi, yi[q + a->s] = dr * wi + di * wr;
        }
    }
}

static void pass_4(const pass *a)
{
    const uint64_t s = a->s, apart = a->m * s;
    const double *root_re = a->fft->root_re, *root_im = a->fft->root_im;
    for (uint64_t p = 0; p < a->m; p++) {
        const uint64_t w = p * a->step;
        const double wr1 = root_re[w], wi1 = root_im[w], wr2 = root_re[2 * w], wi2 = root_im[2 * w];
        const double wr3 = root_re[3 * w], wi3 = root_im[3 * w];
        const double *restrict xr = a->re + p * s, *restrict xi = a->im + p * s;
        double *restrict yr = a->out_re + 4 * p * s, *restrict yi = a->out_im + 4 * p * s;
        for (uint64_t q = 0; q < s; q++) {
            const double ar = xr[q] + xr[q + 2 * apart], ai = xi[q] + xi[q + 2 * apart];
            const double br = xr[q] - xr[q + 2 * apart], bi = xi[q] - xi[q + 2 * apart];
            const double cr = xr[q + apart] + xr[q + 3 * apart], ci = xi[q + apart] + xi[q + 3 * apart];
            const double dr = xr[q + apart] - xr[q + 3 * apart], di = xi[q + apart] - xi[q + 3 * apart];
            const double er = br + di, ei = bi - dr, fr = ar - cr, fi = ai - ci, gr = br - di, gi = bi + dr;
            yr[q] = ar + cr, yi[q] = ai + ci;
            yr[q + s] = er * wr1 - ei * wi1, yi[q + s] = er * wi1 + ei * wr1;
            yr[q + 2 * s] = fr * wr2 - fi * wi2, yi[q + 2 * s] = fr * wi2 + fi * wr2;
            yr[q + 3 * s] = gr * wr3 - gi * wi3, yi[q + 3 * s] = gr * wi3 + gi * wr3;
        }
    }
}

/* An odd radix r: sums and differences of inputs j and r - j meet cosines and sines. Inlined where r is a constant. */
static inline __attribute__((always_inline)) void pass_odd(const pass *a, const uint64_t r)
{
    const uint64_t s = a->s, apart = a->m * s, half = (r - 1) / 2, turn = a->fft->length / r;
    double cosine[MAX_PRIME], sine[MAX_PRIME];
    for (uint64_t j = 0; j < r; j++)
        cosine[j] = a->fft->root_re[j * turn], sine[j] = -a->fft->root_im[j * turn];
    for (uint64_t p = 0; p < a->m; p++) {
        double wr[MAX_PRIME], wi[MAX_PRIME];
        for (uint64_t k = 0; k < r; k++)
            wr[k] = a->fft->root_re[k * p * a->step], wi[k] = a->fft->root_im[k * p * a->step];
        const double *restrict xr = a->re + p * s, *restrict xi = a->im + p * s;
        double *restrict yr = a->out_re + r * p * s, *restrict yi = a->out_im + r * p * s;
        for (uint64_t q = 0; q < s; q++) {
            double sr[MAX_PRIME / 2], si[MAX_PRIME / 2], dr[MAX_PRIME / 2], di[MAX_PRIME / 2];
            double sum_re = xr[q], sum_im = xi[q];
            for (uint64_t j = 1; j <= half; j++) {
                const uint64_t up = q + j * apart, down = q + (r - j) * apart;
                sr[j - 1] = xr[up] + xr[down], si[j - 1] = xi[up] + xi[down];
                dr[j - 1] = xr[up] - xr[down], di[j - 1] = xi[up] - xi[down];
                sum_re += sr[j - 1], sum_im += si[j - 1];
            }
            yr[q] = sum_re, yi[q] = sum_im;
            for (uint64_t k = 1; k <= half; k++) {
                double ar = xr[q], ai = xi[q], br = 0, bi = 0;
                for (uint64_t j = 1; j <= half; j++) {
                    const uint64_t at = j * k % r;
                    ar += sr[j - 1] * cosine[at], ai += si[j - 1] * cosine[at];
                    br += dr[j - 1] * sine[at], bi += di[j - 1] * sine[at];
                }
                const double er = ar + bi, ei = ai - br, fr = ar - bi, fi = ai + br;
                const uint64_t up = q + k * s, down = q + (r - k) * s;
                yr[up] = er * wr[k] - ei * wi[k], yi[up] = er * wi[k] + ei * wr[k];
                yr[down] = fr * wr[r - k] - fi * wi[r - k], yi[down] = fr * wi[r - k] + fi * wr[r - k];
            }
        }
    }
}

static void pass_run(const pass *a)
{
    switch (a->radix) {
    case 2: pass_2(a); break;
    case 3: pass_odd(a, 3); break;
    case 4: pass_4(a); break;
    case 5: pass_odd(a, 5); break;
    default: pass_odd(a, a->radix);
    }
}

/* All factors of length, back and forth between the planes at from and at to; returns where the last one wrote. */
static double *factors_run(const floe_fft *f, uint64_t lanes, double *from, double *to)
{
    const uint64_t plane = f->length * lanes;
    uint64_t s = lanes;
    for (uint64_t left = f->length; left > 1;) {
        const uint64_t radix = radix_of(left);
        const pass a = {from, from + plane, to, to + plane, radix, left / radix, s, f->length / left, f};
        pass_run(&a);
        left /= radix, s *= radix;
        double *const read = from;
        from = to, to = read;
    }
    return from;
}

/* ---- convolution ----------------------------------------------------------------------------------------------------- */

static void multiply(double *re, double *im, double by_re, double by_im, uint64_t lanes)
{
    for (uint64_t q = 0; q < lanes; q++) {
        const double r = re[q] * by_re - im[q] * by_im;
        im[q] = re[q] * by_im + im[q] * by_re;
        re[q] = r;
    }
}

/* j k = (j j + k k - (k - j)^2) / 2: a product with the chirp, a convolution with its conjugate, and again the chirp. */
static double *convolution_run(const floe_fft *f, uint64_t lanes, double *work)
{
    const uint64_t plane = f->length * lanes, filled = f->n * lanes;
    for (uint64_t k = 0; k < f->n; k++)
        multiply(work + k * lanes, work + plane + k * lanes, f->chirp_re[k], f->chirp_im[k], lanes);
    memset(work + filled, 0, (plane - filled) * sizeof *work);
    memset(work + plane + filled, 0, (plane - filled) * sizeof *work);
    double *at = factors_run(f, lanes, work, work + 2 * plane), *other = at == work ? work + 2 * plane : work;
    for (uint64_t k = 0; k < f->length; k++) {
        multiply(at + k * lanes, at + plane + k * lanes, f->kernel_re[k], f->kernel_im[k], lanes);
        for (uint64_t q = k * lanes; q < (k + 1) * lanes;
             q++) /* the way back is the way there with the parts swapped */
            other[q] = at[plane + q], other[plane + q] = at[q];
    }
    at = factors_run(f, lanes, other, at);
    other = at == work ? work + 2 * plane : work;
    for (uint64_t k = 0; k < f->n; k++) {
        for (uint64_t q = k * lanes; q < (k + 1) * lanes; q++)
            other[q] = at[plane + q], other[plane + q] = at[q];
        multiply(other + k * lanes, other + plane + k * lanes, f->chirp_re[k], f->chirp_im[k], lanes);
    }
    return other;
}

static void convolution_begin(floe_fft *f, double *work)
{
    uint64_t square = 0; /* k k modulo 2 n */
    memset(work, 0, 2 * f->length * sizeof *work);
    for (uint64_t k = 0; k < f->n; k++) {
        floe_fft_root(square, 2 * f->n, &f->chirp_re[k], &f->chirp_im[k]);
        square = (square + 2 * k + 1) % (2 * f->n);
        const uint64_t mirrored = k ? f->length - k : 0;
        work[k] = work[mirrored] = f->chirp_re[k] / (double)f->length;
        work[f->length + k] = work[f->length + mirrored] = -f->chirp_im[k] / (double)f->length;
    }
    const double *const kernel = factors_run(f, 1, work, work + 2 * f->length);
    memcpy(f->kernel_re, kernel, f->length * sizeof *kernel);
    memcpy(f->kernel_im, kernel + f->length, f->length * sizeof *kernel);
}

/* ---- all of it ------------------------------------------------------------------------------------------------------- */

void floe_fft_take(floe_fft *f, uint64_t n, floe_arena *arena)
{
    *f = (floe_fft){.n = n, .length = n};
    if (!is_smooth(n, MAX_PRIME))
        for (f->length = 2 * n - 1; !is_smooth(f->length, 5);)
            f->length++;
    f->root_re = floe_arena_take(arena, f->length, sizeof(double));
    f->root_im = floe_arena_take(arena, f->length, sizeof(double));
    if (f->length == n)
        return;
    f->chirp_re = floe_arena_take(arena, n, sizeof(double));
    f->chirp_im = floe_arena_take(arena, n, sizeof(double));
    f->kernel_re = floe_arena_take(arena, f->length, sizeof(double));
    f->kernel_im = floe_arena_take(arena, f->length, sizeof(double));
}

void floe_fft_begin(floe_fft *f, double *work)
{
    for (uint64_t k = 0; k < f->length; k++)
        floe_fft_root(k, f->length, &f->root_re[k], &f->root_im[k]);
    if (f->length != f->n)
        convolution_begin(f, work);
}

double *floe_fft_run(const floe_fft *f, uint64_t lanes, double *work)
{
    return f->length == f->n ? factors_run(f, lanes, work, work + 2 * f->length * lanes)
                             : convolution_run(f, lanes, work);
}
