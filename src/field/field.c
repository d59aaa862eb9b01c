/* SPDX-License-Identifier: BSD-3-Clause */
#include "field/field.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hd.h"
#include "base/try.h"
#include "field/dtype_math.h"
#include "field/fill_math.h"
#include "field/runs_math.h"

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

static bool dtype_is_known(floe_dtype dtype) { return dtype >= FLOE_F32 && dtype <= FLOE_I64; }

size_t floe_dtype_size(floe_dtype dtype) { return !dtype_is_known(dtype) ? 0 : floe_dtype_is_narrow(dtype) ? 4 : 8; }

const char *floe_dtype_name(floe_dtype dtype)
{
    static const char *const names[] = {"unknown", "f32", "f64", "i32", "i64"};
    return names[dtype_is_known(dtype) ? dtype : 0];
}

floe_status floe_dtype_parse(const char *text, floe_dtype *dtype)
{
    static const struct {
        const char *name;
        floe_dtype dtype;
    } names[] = {{"f32", FLOE_F32},   {"float32", FLOE_F32}, {"float", FLOE_F32},  {"<f4", FLOE_F32},
                 {"f64", FLOE_F64},   {"float64", FLOE_F64}, {"double", FLOE_F64}, {"<f8", FLOE_F64},
                 {"i32", FLOE_I32},   {"int32", FLOE_I32},   {"<i4", FLOE_I32},    {"i64", FLOE_I64},
                 {"int64", FLOE_I64}, {"<i8", FLOE_I64}};
    for (size_t i = 0; text && dtype && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i].name) == 0) {
            *dtype = names[i].dtype;
            return FLOE_OK;
        }
    return FLOE_ERR_ARGUMENT;
}

uint64_t floe_value_bits(floe_dtype dtype, double value) { return floe_fill_bits_of(dtype, value); }

double floe_value_of(floe_dtype dtype, uint64_t bits) { return floe_fill_value_of(dtype, bits); }

bool floe_fill_named(floe_dtype dtype, const floe_params *params, uint64_t *bits)
{
    *bits = params->fill == FLOE_FILL_VALUE     ? floe_value_bits(dtype, params->fill_value)
            : params->fill == FLOE_FILL_INTEGER ? floe_integer_pattern(dtype, params->fill_integer)
                                                : 0;
    return params->fill == FLOE_FILL_VALUE || params->fill == FLOE_FILL_INTEGER;
}

/* A real is rounded; but neither to an infinity, nor to 0, nor to an integer. */
static bool rounds_to(double v, floe_dtype dtype)
{
    const double there = floe_value_of(dtype, floe_value_bits(dtype, v));
    if (floe_dtype_is_integer(dtype))
        return there == v;
    return isfinite(v) == isfinite(there) && (v == 0) == (there == 0);
}

floe_status floe_fill_check(floe_dtype dtype, const floe_params *params, floe_error *err)
{
    const int64_t v = params->fill_integer;
    FLOE_CHECK(err,
               params->fill != FLOE_FILL_INTEGER ||
                   (floe_dtype_is_integer(dtype) && floe_integer_of(dtype, floe_integer_pattern(dtype, v)) == v),
               FLOE_ERR_ARGUMENT, "the fill value %lld is no value of %s", (long long)v, floe_dtype_name(dtype));
    FLOE_CHECK(err, params->fill != FLOE_FILL_VALUE || rounds_to(params->fill_value, dtype), FLOE_ERR_ARGUMENT,
               "the fill value %.15g is no value of %s", params->fill_value, floe_dtype_name(dtype));
    return FLOE_OK;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Counts elements. A 0 in the shape makes the field empty, but the other axes must still multiply to less than 2^63
 * bytes, so that no product of a shape ever overflows. */
static floe_status shape_check(const floe_field *f, uint64_t *nelems, floe_error *err)
{
    size_t size = floe_dtype_size(f->dtype);
    FLOE_CHECK(err, size, FLOE_ERR_ARGUMENT, "unknown element type %d", (int)f->dtype);
    FLOE_CHECK(err, f->rank >= 1 && f->rank <= FLOE_MAX_RANK, FLOE_ERR_ARGUMENT, "%u axes; a field has 1 to %d",
               f->rank, FLOE_MAX_RANK);
    uint64_t nbytes = size;
    bool empty = false;
    for (uint32_t i = 0; i < f->rank; i++) {
        uint64_t extent = f->shape[i] ? f->shape[i] : 1;
        empty |= f->shape[i] == 0;
        FLOE_CHECK(err, floe_mul64(nbytes, extent, &nbytes) && nbytes <= INT64_MAX, FLOE_ERR_ARGUMENT,
                   "the shape has 2^63 bytes or more (axis %u has %llu elements)", i, (unsigned long long)f->shape[i]);
    }
    *nelems = empty ? 0 : nbytes / size;
    return FLOE_OK;
}

floe_status floe_field_nelems(const floe_field *field, uint64_t *nelems)
{
    return field && nelems ? shape_check(field, nelems, NULL) : FLOE_ERR_ARGUMENT;
}

/* Bytes that the field reaches below and above its data pointer; false when they pass 2^63. */
static bool span(const floe_field *f, uint64_t *below, uint64_t *above)
{
    uint64_t size = floe_dtype_size(f->dtype);
    *below = 0, *above = size;
    for (uint32_t i = 0; i < f->rank; i++) {
        uint64_t reach, *side = f->stride[i] < 0 ? below : above;
        if (!floe_mul64(f->shape[i] - 1, floe_runs_distance(f->stride[i]), &reach) ||
            !floe_mul64(reach, size, &reach) || !floe_add64(*side, reach, side) || *side > INT64_MAX)
            return false;
    }
    return *below <= INT64_MAX - *above;
}

/* No two elements share an address if each stride leaps over all that the smaller ones reach. Arrays made by slicing and
 * transposing are all of this kind; the few others without sharing are refused too. */
static bool apart(const floe_field *f)
{
    uint32_t axes[FLOE_MAX_RANK];
    uint64_t reach = 0;
    for (uint32_t k = floe_runs_axes(f->rank, f->shape, f->stride, axes); k-- > 0;) {
        uint64_t stride = floe_runs_distance(f->stride[axes[k]]);
        if (stride <= reach)
            return false;
        reach += (f->shape[axes[k]] - 1) * stride; /* no overflow: span() has passed */
    }
    return true;
}

/* The stride of an axis of one element may be any number, and nothing goes along it: as that of a contiguous field it can be
 * multiplied, and is not 0. */
static void strides_resolve(floe_field *f)
{
    bool given = false;
    for (uint32_t i = 0; i < f->rank; i++)
        given |= f->stride[i] != 0;
    int64_t stride = 1;
    for (uint32_t i = f->rank; i-- > 0;) {
        if (!given || f->shape[i] == 1)
            f->stride[i] = stride;
        stride *= (int64_t)(f->shape[i] ? f->shape[i] : 1);
    }
}

static floe_status memory_check(const floe_field *f, bool writable, floe_error *err)
{
    uint64_t below, above;
    uintptr_t at = (uintptr_t)f->data;
    FLOE_CHECK(err, f->data, FLOE_ERR_ARGUMENT, "the field has no data");
    FLOE_CHECK(err, at % floe_dtype_size(f->dtype) == 0, FLOE_ERR_ARGUMENT,
               "the data is not aligned to its %d-byte elements", (int)floe_dtype_size(f->dtype));
    FLOE_CHECK(err, span(f, &below, &above) && below <= at && above <= UINTPTR_MAX - at, FLOE_ERR_ARGUMENT,
               "the strides reach past the end of memory");
    FLOE_CHECK(err, !writable || apart(f), FLOE_ERR_ARGUMENT,
               "elements of the output overlap: its strides are too small for its shape");
    return FLOE_OK;
}

floe_status floe_field_check(const floe_field *field, bool writable, floe_field *resolved, floe_error *err)
{
    uint64_t nelems = 0;
    FLOE_CHECK(err, field, FLOE_ERR_ARGUMENT, "no field given");
    FLOE_TRY(shape_check(field, &nelems, err));
    FLOE_CHECK(err, field->place == FLOE_HOST || field->place == FLOE_DEVICE, FLOE_ERR_ARGUMENT, "unknown place %d",
               (int)field->place);
    floe_field f = *field;
    for (uint32_t i = f.rank; i < FLOE_MAX_RANK; i++)
        f.shape[i] = 0, f.stride[i] = 0;
    strides_resolve(&f);
    if (nelems)
        FLOE_TRY(memory_check(&f, writable, err));
    *resolved = f;
    return FLOE_OK;
}

/* ---- views and copies -------------------------------------------------------------------------------------------- */

floe_field floe_field_of(const void *ptr, floe_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    floe_field f = {.dtype = dtype, .place = FLOE_HOST, .rank = rank};
    memcpy(&f.data, &ptr, sizeof ptr); /* the field serves input and output; only outputs are written */
    for (uint32_t i = 0; shape && i < rank && i < FLOE_MAX_RANK; i++)
        f.shape[i] = shape[i];
    return f;
}

floe_field floe_field_of_device(const void *ptr, floe_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    floe_field f = floe_field_of(ptr, dtype, rank, shape);
    f.place = FLOE_DEVICE;
    return f;
}

static void *element_at(const floe_field *f, int64_t offset)
{
    return (uint8_t *)f->data + offset * (int64_t)floe_dtype_size(f->dtype);
}

floe_field floe_field_box(const floe_field *field, const uint64_t *lo, const uint64_t *extent)
{
    floe_field box = *field;
    int64_t offset = 0;
    bool empty = false;
    for (uint32_t i = 0; i < field->rank; i++) {
        box.shape[i] = extent[i];
        empty |= extent[i] == 0;
        if (!empty)
            offset += (int64_t)lo[i] * field->stride[i];
    }
    if (!empty)
        box.data = element_at(field, offset);
    return box;
}

bool floe_field_is_contiguous(const floe_field *field)
{
    int64_t stride = 1;
    for (uint32_t i = field->rank; i-- > 0; stride *= (int64_t)field->shape[i])
        if (field->shape[i] != 1 && field->stride[i] != stride)
            return false;
    return true;
}

floe_field floe_field_contiguous(void *data, const floe_field *like)
{
    floe_field f = *like;
    int64_t stride = 1;
    f.data = data;
    for (uint32_t i = f.rank; i-- > 0; stride *= (int64_t)f.shape[i])
        f.stride[i] = stride;
    return f;
}

/* Appends an axis below the axes that are there, merging it with the last one where both sides allow. */
static void rows_append(floe_rows *r, uint64_t extent, const int64_t stride[2])
{
    uint32_t last = r->outer - 1;
    if (r->outer && r->stride[0][last] == (int64_t)extent * stride[0] &&
        r->stride[1][last] == (int64_t)extent * stride[1]) {
        r->shape[last] *= extent;
    } else {
        last = r->outer++;
        r->shape[last] = extent;
    }
    for (int side = 0; side < 2; side++)
        r->stride[side][last] = stride[side];
}

floe_rows floe_rows_of(const floe_field *first, const floe_field *second)
{
    floe_rows r = {.count = 1, .length = 1, .step = {1, 1}};
    uint32_t axes[FLOE_MAX_RANK], n = floe_runs_axes(first->rank, first->shape, first->stride, axes);
    for (uint32_t i = 0; i < first->rank; i++)
        if (first->shape[i] == 0)
            r.count = 0;
    for (uint32_t k = 0; r.count && k < n; k++) {
        uint32_t i = axes[k];
        int64_t stride[2] = {first->stride[i], second ? second->stride[i] : 0};
        if (stride[0] < 0)
            for (int side = 0; side < 2; side++) {
                r.origin[side] += (int64_t)(first->shape[i] - 1) * stride[side];
                stride[side] = -stride[side];
            }
        rows_append(&r, first->shape[i], stride);
    }
    if (r.outer) { /* the fastest axis is the row itself */
        uint32_t last = --r.outer;
        r.length = r.shape[last];
        for (int side = 0; side < 2; side++)
            r.step[side] = r.stride[side][last];
    }
    for (uint32_t i = 0; i < r.outer; i++)
        r.count *= r.shape[i];
    return r;
}

int64_t floe_rows_offset(const floe_rows *rows, int side, uint64_t row)
{
    int64_t offset = rows->origin[side];
    for (uint32_t i = rows->outer; i-- > 0; row /= rows->shape[i])
        offset += (int64_t)(row % rows->shape[i]) * rows->stride[side][i];
    return offset;
}

static void row_copy(uint8_t *to, int64_t to_step, const uint8_t *from, int64_t from_step, uint64_t length, size_t size)
{
    if (to_step == 1 && from_step == 1) {
        memcpy(to, from, length * size);
    } else if (size == 4) {
        for (uint64_t i = 0; i < length; i++)
            memcpy(to + (int64_t)i * to_step * 4, from + (int64_t)i * from_step * 4, 4);
    } else {
        for (uint64_t i = 0; i < length; i++)
            memcpy(to + (int64_t)i * to_step * 8, from + (int64_t)i * from_step * 8, 8);
    }
}

/* Rows are taken along the fastest of the axes that count them, so that places are worked out once for all of these. */
void floe_field_copy(const floe_field *from, const floe_field *to)
{
    floe_rows rows = floe_rows_of(to, from);
    size_t size = floe_dtype_size(to->dtype);
    uint32_t axis = rows.outer ? rows.outer - 1 : 0;
    uint64_t run = rows.outer ? rows.shape[axis] : 1;
    for (uint64_t r = 0; r < rows.count; r += run) {
        int64_t at[2] = {floe_rows_offset(&rows, 0, r), floe_rows_offset(&rows, 1, r)};
        for (uint64_t i = 0; i < run; i++) {
            row_copy(element_at(to, at[0] + (int64_t)i * rows.stride[0][axis]), rows.step[0],
                     element_at(from, at[1] + (int64_t)i * rows.stride[1][axis]), rows.step[1], rows.length, size);
        }
    }
}
