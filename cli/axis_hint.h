/* SPDX-License-Identifier: BSD-3-Clause */
/* Mixed-up axes are the most common mistake with raw files. A sample shows when another order of the same axes predicts
 * the values much better. */
#ifndef FLOE_CLI_AXIS_HINT_H
#define FLOE_CLI_AXIS_HINT_H

#include "cli/say.h"

/* A sentence about the better order, or "" where there is none or the evidence is weak. Only for files. */
void cli_axis_hint(io_reader *reader, const floe_field *layout, char hint[2 * CLI_TEXT]);

#endif
