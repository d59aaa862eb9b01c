/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulation that keeps snapshots: heat spreads over a plate, and every so many steps the field is compressed within an
 * error and written to a file of its own. In the end a part of the last file is decoded and compared with the field.
 *
 *   snapshots [FOLDER]
 *
 * By itself, against an installed floe: cc snapshots.c $(pkg-config --cflags --libs floe) -o snapshots
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <floe/floe.h>

enum { NY = 300, NX = 400, STEPS = 300, EVERY = 100 };
static const uint64_t shape[] = {NY, NX}; /* slowest axis first */
static const double bound = 1e-3;
static const char wish[] = "abs=1e-3 fill=none preset=fast";

static float now[NY][NX], next[NY][NX];

/* What is needed for each snapshot, and made once. */
typedef struct keeper {
    floe_ctx *ctx; /* its scratch memory stays from call to call */
    floe_params params;
    uint64_t capacity, nbytes;
    void *stream; /* capacity bytes, of which nbytes are the last snapshot */
} keeper;

static int say(const keeper *k, const char *what)
{
    fprintf(stderr, "snapshots: %s: %s\n", what, k->ctx ? floe_ctx_message(k->ctx) : "no context");
    return 1;
}

/* ---- the simulation ------------------------------------------------------------------------------------------------ */

static void heat_begin(void)
{
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            now[y][x] = y / 60 % 2 && x / 80 % 2 ? 400.0f : 300.0f;
}

/* The rim keeps its temperature. */
static void heat_step(void)
{
    for (int y = 1; y < NY - 1; y++)
        for (int x = 1; x < NX - 1; x++)
            next[y][x] =
                now[y][x] + 0.2f * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1] - 4 * now[y][x]);
    for (int y = 1; y < NY - 1; y++)
        for (int x = 1; x < NX - 1; x++)
            now[y][x] = next[y][x];
}

/* ---- snapshots ----------------------------------------------------------------------------------------------------- */

static int keeper_open(keeper *k, const floe_field *field)
{
    floe_error error;
    *k = (keeper){0};
    if (floe_params_parse(&k->params, wish, &error) != FLOE_OK) {
        fprintf(stderr, "snapshots: %s\n", error.message);
        return 1;
    }
    if (floe_ctx_create(&k->ctx, NULL) != FLOE_OK)
        return say(k, "context");
    k->capacity = floe_compress_bound(field, &k->params); /* enough whatever the values are */
    k->stream = malloc((size_t)k->capacity);
    return k->stream == NULL;
}

static void keeper_close(keeper *k)
{
    floe_ctx_free(&k->ctx);
    free(k->stream);
}

static int snapshot_write(keeper *k, const floe_field *field, const char *name)
{
    floe_stats stats = {.size = sizeof stats};
    if (floe_compress(k->ctx, field, &k->params, k->stream, k->capacity, &k->nbytes) != FLOE_OK)
        return say(k, name);
    floe_ctx_stats(k->ctx, &stats);
    printf("%s: %" PRIu64 " bytes for %" PRIu64 ", largest error %.2g\n", name, k->nbytes, stats.raw_nbytes,
           stats.max_error);
    FILE *file = fopen(name, "wb");
    if (file == NULL)
        return perror(name), 1;
    const size_t written = fwrite(k->stream, 1, (size_t)k->nbytes, file);
    if (fclose(file) != 0 || written != k->nbytes)
        return perror(name), 1;
    return 0;
}

static int snapshot_read(keeper *k, const char *name)
{
    FILE *file = fopen(name, "rb");
    if (file == NULL)
        return perror(name), 1;
    k->nbytes = fread(k->stream, 1, (size_t)k->capacity, file);
    return fclose(file) != 0;
}

/* Rows 100 to 109 of the stream that was read, against those of the field: only what they touch is decoded. */
static int rows_compare(keeper *k)
{
    enum { FIRST = 100, ROWS = 10 };
    static float rows[ROWS][NX];
    const uint64_t lo[] = {FIRST, 0}, hi[] = {FIRST + ROWS, NX}, box[] = {ROWS, NX};
    floe_field out = floe_field_of(rows, FLOE_F32, 2, box);
    double largest = 0;
    if (floe_decompress_region(k->ctx, k->stream, k->nbytes, lo, hi, &out) != FLOE_OK)
        return say(k, "rows");
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < NX; x++) {
            const double difference = (double)rows[y][x] - (double)now[FIRST + y][x];
            const double error = difference < 0 ? -difference : difference;
            largest = error > largest ? error : largest;
        }
    printf("rows %d to %d: largest error %.2g\n", FIRST, FIRST + ROWS - 1, largest);
    return !(largest <= bound);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    const floe_field field = floe_field_of(now, FLOE_F32, 2, shape);
    char name[4096];
    keeper k;
    int failed = keeper_open(&k, &field);
    heat_begin();
    for (int step = 1; step <= STEPS && !failed; step++) {
        heat_step();
        if (step % EVERY)
            continue;
        snprintf(name, sizeof name, "%s/snapshot_%04d.floe", folder, step);
        failed = snapshot_write(&k, &field, name);
    }
    failed = failed || snapshot_read(&k, name);
    if (!failed && floe_verify(k.ctx, k.stream, k.nbytes, &field) != FLOE_OK) /* all values, exactly */
        failed = say(&k, name);
    failed = failed || rows_compare(&k);
    keeper_close(&k);
    return failed;
}
