/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A field past 2^32 elements through the command, as a pipe: made piece by piece, compressed, decompressed, and every value
 * compared with what was made. Neither side may ever hold more than a limit of memory.
 *
 *     large_check FLOE OUT.floe [KIND [SHAPE [LIMIT_MIB]]]       make large
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "synth/synth.h"

#define BOUND 0.01
enum { PIECE = 1 << 22 };

static int fail(const char *what)
{
    fprintf(stderr, "large_check: %s\n", what);
    return 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Starts the command with its standard input (is_input) or output at the other end of a pipe; returns our end. */
static FILE *start(char *const *argv, int is_input, pid_t *child)
{
    int ends[2];
    if (pipe(ends) != 0 || (*child = fork()) < 0)
        return NULL;
    int theirs = ends[!is_input], ours = ends[is_input];
    if (*child == 0) {
        dup2(theirs, is_input ? STDIN_FILENO : STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(argv[0], argv);
        _exit(127);
    }
    close(theirs);
    return fdopen(ours, is_input ? "wb" : "rb");
}

/* Waits for it; prints time and peak memory. 0: it succeeded within the limit. */
static int finish(const char *what, pid_t child, double started, double nbytes, long limit_mib)
{
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return fail("the command failed");
    double seconds = now() - started;
    printf("%-10s %7.1f s %7.0f MB/s, peak memory %ld MiB\n", what, seconds, nbytes / seconds / 1e6,
           usage.ru_maxrss / 1024);
    return usage.ru_maxrss / 1024 < limit_mib ? 0 : fail("too much memory");
}

static uint64_t parse_shape(const char *text, uint64_t *shape, uint32_t *rank)
{
    uint64_t n = 1;
    char *at;
    for (*rank = 0; *rank < FLOE_MAX_RANK; text = at + 1) {
        n *= shape[*rank] = strtoull(text, &at, 10);
        ++*rank;
        if (*at != 'x')
            return n;
    }
    return 0;
}

static uint64_t count_bad(const float *made, const float *got, size_t n, double *worst)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        double error = fabs((double)made[i] - (double)got[i]); /* exact: the field is smooth and of order 1 */
        bad += !(error <= BOUND);
        *worst = error > *worst ? error : *worst;
    }
    return bad;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fail("usage: large_check FLOE OUT.floe [KIND [SHAPE [LIMIT_MIB]]]");
    char *floe = argv[1], *out = argv[2], *kind = argc > 3 ? argv[3] : "turbulence";
    char *text = argc > 4 ? argv[4] : "1040x2048x2048";
    long limit = argc > 5 ? atol(argv[5]) : 1024;
    uint64_t shape[FLOE_MAX_RANK], n, bad = 0;
    uint32_t rank;
    float *made = malloc(PIECE * sizeof *made), *got = malloc(PIECE * sizeof *got);
    if ((n = parse_shape(text, shape, &rank)) == 0 || !made || !got)
        return fail("bad shape, or no memory");
    double nbytes = 4.0 * (double)n, worst = 0, started = now();
    pid_t child;
    char *const compress[] = {floe,  "compress", "-",        "-o",     out,    "--shape", text,      "--dtype",
                              "f32", "--bound",  "abs=0.01", "--fill", "none", "--force", "--quiet", NULL};
    char *const decompress[] = {floe, "decompress", out, "-o", "-", "--quiet", NULL};

    FILE *pipe_in = start(compress, 1, &child);
    for (uint64_t first = 0; pipe_in && first < n; first += PIECE) {
        size_t count = n - first < PIECE ? (size_t)(n - first) : PIECE;
        if (synth_fill(kind, FLOE_F32, rank, shape, 0, first, count, made) != FLOE_OK ||
            fwrite(made, sizeof *made, count, pipe_in) != count)
            return fail("the field could not be made or passed on");
    }
    if (!pipe_in || fclose(pipe_in) != 0 || finish("compress", child, started, nbytes, limit))
        return 1;

    started = now();
    FILE *pipe_out = start(decompress, 0, &child);
    for (uint64_t first = 0; pipe_out && first < n; first += PIECE) {
        size_t count = n - first < PIECE ? (size_t)(n - first) : PIECE;
        if (synth_fill(kind, FLOE_F32, rank, shape, 0, first, count, made) != FLOE_OK ||
            fread(got, sizeof *got, count, pipe_out) != count)
            return fail("the decompressed field is too short");
        bad += count_bad(made, got, count, &worst);
    }
    if (!pipe_out || fgetc(pipe_out) != EOF || finish("decompress", child, started, nbytes, limit))
        return fail("decompressing failed");
    printf("%llu values (2^32 is 4294967296), %.1f GB: %llu outside the bound, largest error %g of %g\n",
           (unsigned long long)n, nbytes / 1e9, (unsigned long long)bad, worst, BOUND);
    return bad != 0;
}
