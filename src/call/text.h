/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, shapes and boxes as text, in messages and parameters. The same in every locale. */
#ifndef FLOE_CALL_TEXT_H
#define FLOE_CALL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <floe/floe.h>

enum {
    FLOE_NUMBER_TEXT = 32,
    FLOE_SHAPE_TEXT = 21 * FLOE_MAX_RANK,   /* 20 digits of a uint64_t and an x each */
    FLOE_BOX_TEXT = 2 * FLOE_SHAPE_TEXT + 2 /* lo:hi each */
};

/* All nbytes of text as a decimal number ("-1.5e-3", also nan, inf, -inf, in any case); correctly rounded. */
bool floe_number_parse(const char *text, size_t nbytes, double *value);
/* The shortest of 15 to 17 digits that reads back the same. Returns text. */
const char *floe_number_format(double value, char text[FLOE_NUMBER_TEXT]);

/* "64x64x64": 1 to 4 whole numbers. */
bool floe_shape_parse(const char *text, size_t nbytes, uint32_t *rank, uint64_t shape[FLOE_MAX_RANK]);
const char *floe_shape_format(uint32_t rank, const uint64_t *shape, char text[FLOE_SHAPE_TEXT]);
/* "0:64,16:32" */
const char *floe_box_format(uint32_t rank, const uint64_t *lo, const uint64_t *hi, char text[FLOE_BOX_TEXT]);

#endif
