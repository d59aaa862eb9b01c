/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>

#include "cli/say.h"

void cli_json_init(cli_json *json, FILE *out) { *json = (cli_json){.out = out, .first = true}; }

int cli_utf8_nbytes(const unsigned char *c)
{
    int n = c[0] < 0x80                   ? 1
            : c[0] >= 0xC2 && c[0] < 0xE0 ? 2
            : c[0] >= 0xE0 && c[0] < 0xF0 ? 3
            : c[0] >= 0xF0 && c[0] < 0xF5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    bool surrogate = c[0] == 0xED && c[1] >= 0xA0;
    bool too_large = c[0] == 0xF4 && c[1] >= 0x90;
    return overlong || surrogate || too_large ? 0 : n;
}

static void quoted(FILE *out, const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    fputc('"', out);
    while (*c) {
        int n = cli_utf8_nbytes(c);
        if (n == 0)
            fputs("\\ufffd", out);
        else if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20 || *c == 0x7F)
            fprintf(out, "\\u%04x", *c);
        else
            fwrite(c, 1, (size_t)n, out);
        c += n ? n : 1;
    }
    fputc('"', out);
}

static void start(cli_json *json, const char *key)
{
    if (json->depth > 0)
        fprintf(json->out, "%s\n%*s", json->first ? "" : ",", 2 * json->depth, "");
    json->first = false;
    if (key) {
        quoted(json->out, key);
        fputs(": ", json->out);
    }
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    start(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->first = true;
}

void cli_json_close(cli_json *json, char bracket)
{
    json->depth--;
    if (!json->first)
        fprintf(json->out, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->out);
    json->first = false;
    if (json->depth == 0)
        fputc('\n', json->out);
}

void cli_json_text(cli_json *json, const char *key, const char *value)
{
    start(json, key);
    quoted(json->out, value);
}

void cli_json_uint(cli_json *json, const char *key, uint64_t value)
{
    start(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

static void real_put(FILE *out, double value)
{
    char text[CLI_TEXT];
    cli_real_text(value, text);
    fputs(isfinite(value) ? text : "null", out);
}

void cli_json_real(cli_json *json, const char *key, double value)
{
    start(json, key);
    real_put(json->out, value);
}

void cli_json_fill(cli_json *json, floe_dtype dtype, double value, int64_t integer)
{
    char text[CLI_TEXT];
    cli_fill_text(dtype, value, integer, text);
    start(json, "fill_value");
    fputs(isfinite(value) ? text : "null", json->out);
}

void cli_json_bool(cli_json *json, const char *key, bool value)
{
    start(json, key);
    fputs(value ? "true" : "false", json->out);
}

void cli_json_uints(cli_json *json, const char *key, uint64_t count, const uint64_t *values)
{
    start(json, key);
    fputc('[', json->out);
    for (uint64_t i = 0; i < count; i++)
        fprintf(json->out, "%s%" PRIu64, i ? ", " : "", values[i]);
    fputc(']', json->out);
}

void cli_json_reals(cli_json *json, const char *key, uint64_t count, const double *values)
{
    start(json, key);
    fputc('[', json->out);
    for (uint64_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", json->out);
        real_put(json->out, values[i]);
    }
    fputc(']', json->out);
}

void cli_json_shape(cli_json *json, const char *key, uint32_t rank, const uint64_t *shape)
{
    cli_json_uints(json, key, rank, shape);
}
