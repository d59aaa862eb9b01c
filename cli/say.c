/* SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700
#include "cli/say.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int cli_fail(floe_status status, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fputs("floe: ", stderr);
    cli_print_safe(stderr, line);
    fputc('\n', stderr);
    return floe_status_exit_code(status);
}

int cli_fail_with(const floe_error *err) { return cli_fail(err->status, "%s", err->message); }

int cli_fail_call(floe_status status, const floe_ctx *ctx, const io_reader *reader, const io_writer *writer)
{
    if (writer && io_writer_error(writer)->status != FLOE_OK)
        return cli_fail_with(io_writer_error(writer));
    if (reader && io_reader_error(reader)->status != FLOE_OK)
        return cli_fail_with(io_reader_error(reader));
    const char *message = ctx ? floe_ctx_message(ctx) : "";
    if (message[0] == 0)
        message = floe_status_text(status);
    if (reader && status != FLOE_ERR_ARGUMENT && status != FLOE_ERR_MEMORY)
        return cli_fail(status, "'%s': %s", io_reader_name(reader), message);
    return cli_fail(status, "%s", message);
}

/* Whoever read standard output has seen enough. */
static bool reader_has_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int cli_stdout_finish(int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    if (!exit_code && reader_has_gone())
        return floe_status_exit_code(FLOE_ERR_IO);
    return exit_code ? exit_code : cli_fail(FLOE_ERR_IO, "cannot write 'standard output': %s", strerror(errno));
}

void cli_shape_text(uint32_t rank, const uint64_t *shape, char text[CLI_TEXT])
{
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < rank && n < CLI_TEXT; i++)
        n += (size_t)snprintf(text + n, CLI_TEXT - n, "%s%" PRIu64, i ? " x " : "", shape[i]);
}

void cli_nbytes_text(uint64_t nbytes, char text[CLI_TEXT])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)nbytes / 1e3;
    int unit = 0;
    if (nbytes < 1000) {
        snprintf(text, CLI_TEXT, "%" PRIu64 " bytes", nbytes);
        return;
    }
    while (value >= 999.95 && unit < 5) {
        value /= 1e3;
        unit++;
    }
    snprintf(text, CLI_TEXT, "%.1f %s", value, units[unit]);
}

void cli_layout_text(uint32_t rank, const uint64_t *shape, floe_dtype dtype, char text[2 * CLI_TEXT])
{
    char axes[CLI_TEXT], nbytes[CLI_TEXT];
    uint64_t n = floe_dtype_size(dtype);
    for (uint32_t i = 0; i < rank; i++)
        n *= shape[i];
    cli_shape_text(rank, shape, axes);
    cli_nbytes_text(n, nbytes);
    snprintf(text, 2 * CLI_TEXT, "%.100s%s, %s, %.40s", axes, rank > 1 ? ", slowest axis first" : "",
             floe_dtype_name(dtype), nbytes);
}

void cli_real_text(double value, char text[CLI_TEXT])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, CLI_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

void cli_fill_text(floe_dtype dtype, double value, int64_t integer, char text[CLI_TEXT])
{
    if (cli_dtype_is_integer(dtype))
        snprintf(text, CLI_TEXT, "%" PRId64, integer);
    else
        cli_real_text(value, text);
}

void cli_print_safe(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool c1 = c[0] == 0xC2 && c[1] >= 0x80 && c[1] <= 0x9F; /* control characters above 0x7F, in UTF-8 */
        fputc(*c < 0x20 || *c == 0x7F || c1 ? '?' : *c, out);
        c += c1;
    }
}

const char *cli_mode_name(floe_bound_mode mode)
{
    switch (mode) {
    case FLOE_BOUND_ABS: return "abs";
    case FLOE_BOUND_REL: return "rel";
    case FLOE_BOUND_PWREL: return "pwrel";
    case FLOE_BOUND_PSNR: return "psnr";
    case FLOE_BOUND_LOSSLESS: return "lossless";
    case FLOE_BOUND_RATE: return "rate";
    case FLOE_BOUND_PREC: return "prec";
    case FLOE_BOUND_RATIO: return "ratio";
    }
    return "unknown";
}

bool cli_mode_is_size(floe_bound_mode mode) { return mode == FLOE_BOUND_RATE || mode == FLOE_BOUND_PREC; }

const char *cli_preset_name(floe_preset preset)
{
    switch (preset) {
    case FLOE_PRESET_BALANCED: return "balanced";
    case FLOE_PRESET_FAST: return "fast";
    case FLOE_PRESET_BEST: return "best";
    }
    return "unknown";
}

double cli_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
