/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/bench.h"

#include <string.h>

#include "cli/json.h"
#include "cli/say.h"

/* The processor's name as the system reports it, or "". */
static void processor_name(char *name, size_t capacity)
{
    char line[256];
    FILE *in = fopen("/proc/cpuinfo", "r");
    name[0] = 0;
    while (in && !name[0] && fgets(line, sizeof line, in)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(name, capacity, "%.*s", (int)capacity - 1, colon + 2);
    }
    if (in)
        fclose(in);
}

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static int name_width(const bench_row *rows, uint32_t count)
{
    int width = 5;
    for (uint32_t i = 0; i < count; i++)
        width = (int)strlen(rows[i].array) > width ? (int)strlen(rows[i].array) : width;
    return width;
}

void bench_table_print(FILE *out, const bench_row *rows, uint32_t count)
{
    char processor[128];
    const int width = name_width(rows, count);
    processor_name(processor, sizeof processor);
    fprintf(out, "floe %s%s%s; MB/s of uncompressed data, min / median / max of %u; %% of memcpy (median)\n",
            floe_version(), processor[0] ? " on " : "", processor, count ? rows[0].repeats : 0);
    fprintf(out, "%-*s  %-14s %3s %9s  %-22s %5s  %-22s %5s  %8s\n", width, "array", "coder", "thr", "ratio",
            "compress", "copy", "decompress", "copy", "memcpy");
    for (uint32_t i = 0; i < count; i++) {
        const bench_row *r = &rows[i];
        fprintf(out, "%-*s  %-14s %3u %9.2f  %6.0f %7.0f %7.0f %4.1f%%  %6.0f %7.0f %7.0f %4.1f%%  %8.0f\n", width,
                r->array, r->coder, r->threads, (double)r->raw_nbytes / (double)r->stream_nbytes, r->compress.min,
                r->compress.median, r->compress.max, percent(r->compress.median, r->copy.median), r->decompress.min,
                r->decompress.median, r->decompress.max, percent(r->decompress.median, r->copy.median), r->copy.median);
    }
}

void bench_link_print(FILE *out, const bench_row *rows, uint32_t count, double bytes_per_s)
{
    const int width = name_width(rows, count);
    fprintf(
        out,
        "\nover a link of %g MB/s: milliseconds, times as fast as sent raw, and the MB/s of a link that breaks even; "
        "computed from the medians above\n",
        bytes_per_s / 1e6);
    fprintf(out, "%-*s  %-14s %3s %9s  %9s %7s %8s  %6s %10s %7s %8s\n", width, "array", "coder", "thr", "raw",
            "serial", "gain", "even", "chunks", "overlapped", "gain", "even");
    for (uint32_t i = 0; i < count; i++) {
        const bench_row *r = &rows[i];
        const bench_transfer t = bench_transfer_of(r, bytes_per_s);
        fprintf(out, "%-*s  %-14s %3u %9.2f  %9.2f %7.2f %8.0f  %6llu %10.2f %7.2f %8.0f\n", width, r->array, r->coder,
                r->threads, 1e3 * t.raw, 1e3 * t.serial, t.raw / t.serial, t.serial_breaks_even / 1e6,
                (unsigned long long)r->nchunks, 1e3 * t.overlapped, t.raw / t.overlapped,
                t.overlapped_breaks_even / 1e6);
    }
}

static void json_speed(cli_json *json, const char *key, const bench_speed *speed)
{
    cli_json_open(json, key, '{');
    cli_json_real(json, "min", speed->min);
    cli_json_real(json, "median", speed->median);
    cli_json_real(json, "max", speed->max);
    cli_json_close(json, '}');
}

static void json_transfer(cli_json *json, const bench_transfer *t)
{
    cli_json_open(json, "link", '{');
    cli_json_real(json, "raw_seconds", t->raw);
    cli_json_real(json, "serial_seconds", t->serial);
    cli_json_real(json, "overlapped_seconds", t->overlapped);
    cli_json_real(json, "serial_breaks_even", t->serial_breaks_even / 1e6);
    cli_json_real(json, "overlapped_breaks_even", t->overlapped_breaks_even / 1e6);
    cli_json_close(json, '}');
}

void bench_json_print(FILE *out, const bench_row *rows, uint32_t count, double bytes_per_s)
{
    cli_json json;
    char processor[128];
    processor_name(processor, sizeof processor);
    cli_json_init(&json, out);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "command", "bench");
    cli_json_text(&json, "version", floe_version());
    cli_json_text(&json, "processor", processor);
    cli_json_text(&json, "unit", "MB/s");
    if (bytes_per_s > 0)
        cli_json_real(&json, "link_speed", bytes_per_s / 1e6);
    cli_json_open(&json, "rows", '[');
    for (uint32_t i = 0; i < count; i++) {
        const bench_row *r = &rows[i];
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "array", r->array);
        cli_json_text(&json, "coder", r->coder);
        cli_json_uint(&json, "threads", r->threads);
        cli_json_uint(&json, "repeats", r->repeats);
        cli_json_uint(&json, "raw_nbytes", r->raw_nbytes);
        cli_json_uint(&json, "stream_nbytes", r->stream_nbytes);
        cli_json_uint(&json, "chunks", r->nchunks);
        cli_json_real(&json, "ratio", (double)r->raw_nbytes / (double)r->stream_nbytes);
        cli_json_real(&json, "abs_bound", r->abs_bound);
        cli_json_real(&json, "max_error", r->max_error);
        json_speed(&json, "compress", &r->compress);
        json_speed(&json, "decompress", &r->decompress);
        json_speed(&json, "memcpy", &r->copy);
        if (bytes_per_s > 0) {
            const bench_transfer t = bench_transfer_of(r, bytes_per_s);
            json_transfer(&json, &t);
        }
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}
