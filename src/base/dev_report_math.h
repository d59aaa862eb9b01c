/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a call in device memory, for the kernels that write one. */
#ifndef FLOE_BASE_DEV_REPORT_MATH_H
#define FLOE_BASE_DEV_REPORT_MATH_H

#include <floe/floe.h>

#include "base/dev_record.h"
#include "base/hd.h"

/* met: what compression met, of all chunks; NULL after decompression. pwrel: relative errors were looked at. */
FLOE_HD void floe_dev_report_write(floe_device_report *report, uint32_t status, uint64_t nbytes,
                                   const floe_dev_chunk_stats *met, bool pwrel)
{
    const double unknown = floe_f64_of(FLOE_NAN64_BITS);
    report->status = status;
    report->reserved = 0;
    report->nbytes = status ? 0 : nbytes;
    report->nexceptions = met ? met->nexceptions : 0;
    report->max_error = met ? floe_f64_of(met->max_error_bits) : unknown;
    report->max_pw_error = met && pwrel ? floe_f64_of(met->max_pw_error_bits) : unknown;
}

#endif
