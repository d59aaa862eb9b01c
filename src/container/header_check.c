/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fields of a header may hold, for writing and reading alike. */
#include "container/layout.h"

#include <math.h>

#include "base/try.h"

#define NOT(cond, ...) FLOE_CHECK(err, !(cond), FLOE_ERR_FORMAT, __VA_ARGS__)

typedef unsigned long long ull;

static bool positive(double v) { return v > 0 && v <= 1.7976931348623157e308; }

static floe_status kinds_check(const floe_header *h, floe_error *err)
{
    NOT(h->dtype != FLOE_F32 && h->dtype != FLOE_F64, "the header says element type %d, which is not known",
        (int)h->dtype);
    NOT(h->rank < 1 || h->rank > FLOE_MAX_RANK, "the header says %u axes; there are 1 to %d", h->rank, FLOE_MAX_RANK);
    NOT((int)h->preset < FLOE_PRESET_BALANCED || h->preset > FLOE_PRESET_FAST,
        "the header says preset %d, which is not known", (int)h->preset);
    NOT((int)h->mode < FLOE_BOUND_ABS || h->mode > FLOE_BOUND_LOSSLESS,
        "the header says bound mode %d, which is not known", (int)h->mode);
    NOT((int)h->codec < 1 || (int)h->codec > 255, "the header says codec %d, which cannot be", (int)h->codec);
    FLOE_CHECK(err, h->codec == FLOE_CODEC_LORENZO, FLOE_ERR_UNSUPPORTED,
               "the file needs codec %d, which this floe lacks", (int)h->codec);
    return FLOE_OK;
}

static floe_status shapes_check(const floe_header *h, floe_error *err)
{
    uint64_t nelems = 0;
    floe_field field = floe_field_of(NULL, h->dtype, h->rank, h->shape);
    NOT(floe_field_nelems(&field, &nelems) != FLOE_OK, "the header says a shape of 2^63 bytes or more");
    for (uint32_t i = 0; i < h->rank; i++) {
        NOT(h->chunk[i] > h->shape[i] || (h->chunk[i] == 0 && h->shape[i] > 0),
            "the header says chunks of %llu along axis %u, which has %llu elements", (ull)h->chunk[i], i,
            (ull)h->shape[i]);
    }
    NOT(floe_index_nbytes(floe_grid_nchunks(h)) == 0, "the header says %llu chunks, which is too many for any index",
        (ull)floe_grid_nchunks(h));
    return FLOE_OK;
}

static floe_status bounds_check(const floe_header *h, floe_error *err)
{
    if (h->mode == FLOE_BOUND_LOSSLESS) {
        NOT(h->bound != 0 || signbit(h->bound) || h->abs_bound != 0 || signbit(h->abs_bound),
            "the header says lossless and yet a bound (%g, %g)", h->bound, h->abs_bound);
    } else {
        NOT(!positive(h->bound), "the header says a bound of %g", h->bound);
        if (h->mode == FLOE_BOUND_PWREL)
            NOT(!isnan(h->abs_bound), "the header says a bound of each value and yet an absolute bound of %g",
                h->abs_bound);
        else
            NOT(!positive(h->abs_bound) && (h->abs_bound != 0 || signbit(h->abs_bound)),
                "the header says an absolute bound of %g", h->abs_bound);
    }
    bool known = isfinite(h->value_min) && isfinite(h->value_max) && h->value_min <= h->value_max;
    NOT(!known && !(isnan(h->value_min) && isnan(h->value_max)), "the header says values from %g to %g", h->value_min,
        h->value_max);
    NOT(h->has_fill ? h->dtype == FLOE_F32 && h->fill_bits >> 32 : h->fill_bits != 0,
        "the header says a fill value (bits %llx) that cannot be", (ull)h->fill_bits);
    return FLOE_OK;
}

floe_status floe_header_check(const floe_header *header, floe_error *err)
{
    FLOE_TRY(kinds_check(header, err));
    FLOE_TRY(shapes_check(header, err));
    return bounds_check(header, err);
}
