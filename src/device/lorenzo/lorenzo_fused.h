/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_DEVICE_LORENZO_LORENZO_FUSED_H
#define FLOE_DEVICE_LORENZO_LORENZO_FUSED_H

#include "device/fused.h"

extern const floe_fused floe_lorenzo_fused;

#endif
