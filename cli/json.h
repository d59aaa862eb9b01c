/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes one JSON value, indented. Inside an array the key is NULL. NaN and infinities, which JSON lacks, become null. */
#ifndef FLOE_CLI_JSON_H
#define FLOE_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <floe/floe.h>

typedef struct cli_json {
    FILE *out;
    int depth;
    bool first; /* nothing stands in the innermost object or array yet */
} cli_json;

/* Bytes of the UTF-8 character at c: 0 where there is none. */
int cli_utf8_nbytes(const unsigned char *c);

void cli_json_init(cli_json *json, FILE *out);
void cli_json_open(cli_json *json, const char *key, char bracket);      /* '{' or '[' */
void cli_json_close(cli_json *json, char bracket);                      /* '}' or ']' */
void cli_json_text(cli_json *json, const char *key, const char *value); /* bytes that are no UTF-8 become U+FFFD */
void cli_json_uint(cli_json *json, const char *key, uint64_t value);
void cli_json_real(cli_json *json, const char *key, double value);
void cli_json_bool(cli_json *json, const char *key, bool value);
/* "fill_value", as cli_fill_text. */
void cli_json_fill(cli_json *json, floe_dtype dtype, double value, int64_t integer);
/* Rows of numbers, on one line. */
void cli_json_uints(cli_json *json, const char *key, uint64_t count, const uint64_t *values);
void cli_json_reals(cli_json *json, const char *key, uint64_t count, const double *values);
void cli_json_shape(cli_json *json, const char *key, uint32_t rank, const uint64_t *shape);

#endif
