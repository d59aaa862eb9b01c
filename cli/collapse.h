/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a bound so wide that nearly all values of a field may become one? A sample of the values reports it, taken while they pass. */
#ifndef FLOE_CLI_COLLAPSE_H
#define FLOE_CLI_COLLAPSE_H

#include <stdbool.h>

#include <floe/floe.h>

#include "cli/say.h"

enum { CLI_COLLAPSE_SAMPLES = 16384 };

/* The field is cut into as many parts, each of `step` elements; of each one element is kept. Which one is drawn, the same for the
 * same field, so that a sample does not follow an axis. */
typedef struct cli_collapse {
    floe_dtype dtype;
    uint64_t nelems, step, count;
    double value[CLI_COLLAPSE_SAMPLES]; /* NaN: not seen yet */
} cli_collapse;

void cli_collapse_init(cli_collapse *c, const floe_field *layout);

/* These bytes stand at offset in the field; they may come in any order, and more than once. */
void cli_collapse_see(cli_collapse *c, uint64_t offset, const void *src, size_t nbytes);

/* What is known of the field once it is compressed. No value became one that is farther off than `error`. */
typedef struct cli_collapse_facts {
    floe_bound_mode mode;
    double error;
    double min, max; /* of the field; NaN: not known */
    bool has_fill;
    double fill;
} cli_collapse_facts;

/* A sentence where 99.9 % of the values may have become one though they differed, else "". Sorts the sample. */
void cli_collapse_judge(cli_collapse *c, const cli_collapse_facts *facts, char text[4 * CLI_TEXT]);

#endif
