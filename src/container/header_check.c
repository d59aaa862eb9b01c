/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fields of a header may hold, for writing and reading alike: the rules of header_math.h, in words. */
#include "container/layout.h"

#include "base/try.h"
#include "container/header_math.h"

typedef unsigned long long ull;

static floe_status kinds_fail(floe_fault fault, const floe_header *h, floe_error *err)
{
    floe_status status = floe_fault_status(fault);
    switch (fault) {
    case FLOE_FAULT_DTYPE:
        return floe_fail(err, status, "the header says element type %d, which is not known", (int)h->dtype);
    case FLOE_FAULT_RANK:
        return floe_fail(err, status, "the header says %u axes; there are 1 to %d", h->rank, FLOE_MAX_RANK);
    case FLOE_FAULT_PRESET:
        return floe_fail(err, status, "the header says preset %d, which is not known", (int)h->preset);
    case FLOE_FAULT_MODE:
        return floe_fail(err, status, "the header says bound mode %d, which is not known for codec %d and values of %s",
                         (int)h->mode, (int)h->codec, floe_dtype_name(h->dtype));
    case FLOE_FAULT_CODEC: return floe_fail(err, status, "the header says codec %d, which cannot be", (int)h->codec);
    default: return floe_fail(err, status, "the file needs codec %d, which this floe lacks", (int)h->codec);
    }
}

static floe_status shapes_fail(floe_fault fault, const floe_header *h, floe_error *err)
{
    floe_status status = floe_fault_status(fault);
    if (fault == FLOE_FAULT_SHAPE)
        return floe_fail(err, status, "the header says a shape of 2^63 bytes or more");
    if (fault == FLOE_FAULT_NCHUNKS)
        return floe_fail(err, status, "the header says %llu chunks, which is too many for any index",
                         (ull)floe_grid_count(h));
    uint32_t axis = 0;
    while (floe_header_chunk_fits(h, axis))
        axis++;
    return floe_fail(err, status, "the header says chunks of %llu along axis %u, which has %llu elements",
                     (ull)h->chunk[axis], axis, (ull)h->shape[axis]);
}

static floe_status bounds_fail(floe_fault fault, const floe_header *h, floe_error *err)
{
    floe_status status = floe_fault_status(fault);
    switch (fault) {
    case FLOE_FAULT_LOSSLESS:
        return floe_fail(err, status, "the header says lossless and yet a bound (%g, %g)", h->bound, h->abs_bound);
    case FLOE_FAULT_BOUND: return floe_fail(err, status, "the header says a bound of %g", h->bound);
    case FLOE_FAULT_NOT_ABSOLUTE:
        return floe_fail(err, status, "the header says a bound that is not absolute and yet an absolute bound of %g",
                         h->abs_bound);
    case FLOE_FAULT_ABS_BOUND: return floe_fail(err, status, "the header says an absolute bound of %g", h->abs_bound);
    case FLOE_FAULT_VALUES:
        return floe_fail(err, status, "the header says values from %g to %g", h->value_min, h->value_max);
    default:
        return floe_fail(err, status, "the header says a fill value (bits %llx) that cannot be", (ull)h->fill_bits);
    }
}

floe_status floe_header_check(const floe_header *header, floe_error *err)
{
    floe_fault fault = floe_header_kinds_fault(header);
    if (fault != FLOE_FAULT_NONE)
        return kinds_fail(fault, header, err);
    fault = floe_header_shapes_fault(header);
    if (fault != FLOE_FAULT_NONE)
        return shapes_fail(fault, header, err);
    fault = floe_header_bounds_fault(header);
    return fault == FLOE_FAULT_NONE ? FLOE_OK : bounds_fail(fault, header, err);
}
