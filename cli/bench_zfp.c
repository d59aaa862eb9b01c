/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer that nearly everyone has: zfp, serial, fixed accuracy. */
#include "cli/bench.h"

#include "cli/say.h"

#ifdef HAVE_ZFP
#include <zfp.h>

bool bench_zfp_is_there(void) { return true; }

static zfp_field *field_of(const floe_field *field, void *data)
{
    zfp_type type = field->dtype == FLOE_F64 ? zfp_type_double : zfp_type_float;
    const uint64_t *n = field->shape; /* slowest first; zfp wants the fastest first */
    switch (field->rank) {
    case 1: return zfp_field_1d(data, type, n[0]);
    case 2: return zfp_field_2d(data, type, n[1], n[0]);
    case 3: return zfp_field_3d(data, type, n[2], n[1], n[0]);
    default: return zfp_field_4d(data, type, n[3], n[2], n[1], n[0]);
    }
}

/* One round trip; the times of both ways. false: zfp refused. */
static bool round_trip(zfp_stream *zfp, zfp_field *original, zfp_field *decoded, size_t *nbytes, double *in,
                       double *out)
{
    double started = cli_seconds();
    zfp_stream_rewind(zfp);
    *nbytes = zfp_compress(zfp, original);
    *in = cli_seconds() - started;
    started = cli_seconds();
    zfp_stream_rewind(zfp);
    bool ok = zfp_decompress(zfp, decoded) != 0;
    *out = cli_seconds() - started;
    return ok && *nbytes > 0;
}

int bench_zfp(const bench_array *array, uint32_t repeats, double *seconds, bench_row *row)
{
    zfp_stream *zfp = zfp_stream_open(NULL);
    zfp_field *original = field_of(&array->original, array->original.data);
    zfp_field *decoded = field_of(&array->original, array->decoded.data);
    floe_info info = {.mode = FLOE_BOUND_ABS, .abs_bound = row->abs_bound};
    size_t nbytes = 0, capacity;
    bool ok = true;
    zfp_stream_set_accuracy(zfp, row->abs_bound);
    zfp_stream_set_execution(zfp, zfp_exec_serial);
    capacity = zfp_stream_maximum_size(zfp, original);
    bitstream *bits = capacity <= array->capacity ? stream_open(array->stream, array->capacity) : NULL;
    zfp_stream_set_bit_stream(zfp, bits);
    for (uint32_t i = 0; i <= repeats && bits && ok; i++) { /* the first is the warm-up */
        double in, out;
        ok = round_trip(zfp, original, decoded, &nbytes, &in, &out) && bench_check(array, &info, &row->max_error);
        if (i > 0) {
            seconds[i - 1] = in;
            seconds[repeats + i - 1] = out;
        }
    }
    row->stream_nbytes = nbytes;
    if (bits && ok) {
        row->compress = bench_speed_of(seconds, repeats, array->nbytes);
        row->decompress = bench_speed_of(seconds + repeats, repeats, array->nbytes);
    }
    int failed = bits == NULL ? cli_fail(FLOE_ERR_CAPACITY, "zfp needs a larger buffer than floe")
                 : ok         ? 0
                              : cli_fail(FLOE_ERR_BOUND, "zfp missed the bound on %s", array->name);
    if (bits)
        stream_close(bits);
    zfp_field_free(original);
    zfp_field_free(decoded);
    zfp_stream_close(zfp);
    return failed;
}

#else

bool bench_zfp_is_there(void) { return false; }

int bench_zfp(const bench_array *array, uint32_t repeats, double *seconds, bench_row *row)
{
    (void)array;
    (void)repeats;
    (void)seconds;
    (void)row;
    return cli_fail(FLOE_ERR_UNSUPPORTED, "--peers: this build was made without libzfp");
}

#endif
