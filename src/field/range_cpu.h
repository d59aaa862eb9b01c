/* SPDX-License-Identifier: BSD-3-Clause */
/* The range scan of contiguous values, for each element type and instruction set. */
#ifndef FLOE_FIELD_RANGE_CPU_H
#define FLOE_FIELD_RANGE_CPU_H

#include "field/field.h"

/* Adds n values of the type in the name. Min and max may be zeros of either sign. */
typedef void floe_range_run_fn(const void *x, uint64_t n, bool has_fill, uint64_t fill_bits, floe_range *range);
floe_range_run_fn floe_range_run_f32_plain, floe_range_run_f64_plain, floe_range_run_f32_avx2, floe_range_run_f64_avx2;
/* The same of integers as wide as that type. */
floe_range_run_fn floe_range_integer_run_f32_plain, floe_range_integer_run_f64_plain;
floe_range_run_fn floe_range_integer_run_f32_avx2, floe_range_integer_run_f64_avx2;

#endif
