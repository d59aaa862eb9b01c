/* SPDX-License-Identifier: BSD-3-Clause */
#include "field/field.h"

#include <math.h>

#include "base/bytes.h"
#include "field/range_cpu.h"

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

void floe_range_init(floe_range *range)
{
    *range =
        (floe_range){.min = NAN, .max = NAN, .least = INT64_MAX, .most = INT64_MIN, .low = INFINITY, .high = -INFINITY};
}

/* + 0.0 turns -0 into +0, so that the order of zeros does not show. */
void floe_range_merge(floe_range *into, const floe_range *part)
{
    if (part->nfinite) {
        into->min = (into->nfinite && into->min <= part->min ? into->min : part->min) + 0.0;
        into->max = (into->nfinite && into->max >= part->max ? into->max : part->max) + 0.0;
    }
    into->least = part->least < into->least ? part->least : into->least;
    into->most = part->most > into->most ? part->most : into->most;
    into->nfinite += part->nfinite;
    into->nfill += part->nfill;
    into->nnonfinite += part->nnonfinite;
    into->low = part->low < into->low ? part->low : into->low;
    into->high = part->high > into->high ? part->high : into->high;
}

/* ---- the scan ---------------------------------------------------------------------------------------------------- */

enum {
    MAX_PARTS = 256,        /* tasks of one scan: their results lie on the stack */
    PART_NELEMS = 64 << 10, /* elements worth a task */
    GATHER_NBYTES = 8192    /* strided values are gathered into blocks of this size */
};

typedef struct scan {
    const floe_field *field;
    floe_rows rows;
    floe_range_run_fn *run;
    bool has_fill;
    uint64_t fill_bits, nelems, nparts;
    floe_range part[MAX_PARTS];
} scan;

static floe_range_run_fn *run_of(const floe_cpu *cpu, floe_dtype dtype)
{
    switch (dtype) {
    case FLOE_F32: return FLOE_BY_ISA(cpu->isa, floe_range_run_f32);
    case FLOE_F64: return FLOE_BY_ISA(cpu->isa, floe_range_run_f64);
    case FLOE_I32: return FLOE_BY_ISA(cpu->isa, floe_range_integer_run_f32);
    default: return FLOE_BY_ISA(cpu->isa, floe_range_integer_run_f64);
    }
}

static void strided_run(const scan *s, const uint8_t *from, uint64_t n, floe_range *range)
{
    union {
        uint8_t bytes[GATHER_NBYTES];
        double align;
    } block;
    size_t size = floe_dtype_size(s->field->dtype);
    int64_t step = s->rows.step[0] * (int64_t)size;
    for (uint64_t i = 0; i < n;) {
        uint64_t m = floe_min64(GATHER_NBYTES / size, n - i);
        for (uint64_t j = 0; j < m; j++) {
            const uint8_t *value = from + (int64_t)(i + j) * step;
            if (size == 4)
                memcpy(block.bytes + 4 * j, value, 4);
            else
                memcpy(block.bytes + 8 * j, value, 8);
        }
        s->run(block.bytes, m, s->has_fill, s->fill_bits, range);
        i += m;
    }
}

/* Part k takes an equal share of the elements, counted along the rows. */
static void scan_part(void *arg, uint64_t k, uint32_t worker)
{
    (void)worker;
    scan *s = arg;
    int64_t size = (int64_t)floe_dtype_size(s->field->dtype);
    uint64_t share = s->nelems / s->nparts, rest = s->nelems % s->nparts;
    uint64_t at = k * share + floe_min64(k, rest), left = share + (k < rest);
    floe_range *range = &s->part[k];
    floe_range_init(range);
    while (left) {
        uint64_t row = at / s->rows.length, column = at % s->rows.length;
        uint64_t n = floe_min64(left, s->rows.length - column);
        int64_t offset = floe_rows_offset(&s->rows, 0, row) + (int64_t)column * s->rows.step[0];
        const uint8_t *from = (const uint8_t *)s->field->data + offset * size;
        if (s->rows.step[0] == 1)
            s->run(from, n, s->has_fill, s->fill_bits, range);
        else
            strided_run(s, from, n, range);
        at += n;
        left -= n;
    }
}

void floe_range_scan(const floe_cpu *cpu, const floe_field *field, bool has_fill, uint64_t fill_bits, floe_range *range)
{
    scan s = {.field = field, .has_fill = has_fill, .fill_bits = fill_bits};
    s.rows = floe_rows_of(field, NULL);
    s.run = run_of(cpu, field->dtype);
    s.nelems = s.rows.count * s.rows.length;
    s.nparts = floe_min64(MAX_PARTS, floe_ceil_div(s.nelems, PART_NELEMS));
    floe_cpu_parallel(cpu, s.nparts, scan_part, &s);
    for (uint64_t k = 0; k < s.nparts; k++)
        floe_range_merge(range, &s.part[k]);
}
