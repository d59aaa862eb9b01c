/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link makes of measured speeds: an array that is sent as it is, and one that is compressed, sent and decompressed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/say.h"

int bench_link_parse(const char *text, double *bytes_per_s)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8}};
    char *end;
    const double n = strtod(text, &end);
    for (uint32_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && n > 0 && n < 1e9) {
            *bytes_per_s = n * units[i].bytes;
            return 0;
        }
    return cli_fail(FLOE_ERR_ARGUMENT, "--link '%s' is no speed such as 1GB/s: units are kB/s MB/s GB/s Mbit/s Gbit/s",
                    text);
}

/* With n chunks the slowest of three steps sets the pace, and one chunk's time in the others is added. Sending is as slow as raw
 * where the link is as fast as breaks_even has it: either it is that slowest step, or another one is. */
bench_transfer bench_transfer_of(const bench_row *row, double bytes_per_s)
{
    const double raw = (double)row->raw_nbytes, stream = (double)row->stream_nbytes, n = (double)row->nchunks;
    const double in = raw / (1e6 * row->compress.median), out = raw / (1e6 * row->decompress.median);
    const double send = stream / bytes_per_s, coding = fmax(in, out), saved = fmax(raw - stream, 0);
    return (bench_transfer){
        .raw = raw / bytes_per_s,
        .serial = in + send + out,
        .overlapped = (in + send + out + (n - 1) * fmax(coding, send)) / n,
        .serial_breaks_even = saved / (in + out),
        .overlapped_breaks_even =
            fmin(n * saved / (in + out), fmax(n * raw - stream, 0) / (in + out + (n - 1) * coding)),
    };
}
