/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the boxes of a sample should lie: of many places of a field, those where values are hard to predict. Fields are often quiet but for
 * a small part, which then takes most of the bits, and boxes that lie evenly would miss it.
 *
 * A place is looked at by few probes, points of it that cubics predict from their neighbours: floe_look_probe. Their bits are the
 * weights by which boxes are dealt to places: floe_look_choose. The same boxes are found wherever that is done.
 */
#ifndef FLOE_FIELD_LOOK_H
#define FLOE_FIELD_LOOK_H

#include "backend/backend.h"
#include "field/look_math.h"

/* Bits of the place that begins with value `at`, as floe_look_along has them. */
uint64_t floe_look_place(const floe_look *look, int64_t at);
/* Of all places of a field in memory. */
void floe_look_all(const floe_cpu *cpu, const floe_look *look, uint64_t *bits);

#endif
