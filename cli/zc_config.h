/* SPDX-License-Identifier: BSD-3-Clause */
/* A configuration of Z-checker (zc.config): which metrics it switches on. */
#ifndef FLOE_CLI_ZC_CONFIG_H
#define FLOE_CLI_ZC_CONFIG_H

#include <floe/assess.h>

#include "cli/command.h"

/* Adds what [DATA] and, with two fields, [COMPARE] switch on. What it does not have, and what floe does not do, is reported on
 * standard error unless quiet. Returns 0, or the exit code after saying what is wrong. */
int zc_config_read(const char *path, uint32_t nfields, bool quiet, floe_metric_set *metrics);

#endif
