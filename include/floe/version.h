/* SPDX-License-Identifier: BSD-3-Clause */
/* Version of the library. The version of the file format is separate: see docs/format/container.md. */
#ifndef FLOE_VERSION_H
#define FLOE_VERSION_H

#define FLOE_VERSION_MAJOR  0
#define FLOE_VERSION_MINOR  1
#define FLOE_VERSION_PATCH  0
#define FLOE_VERSION_STRING "0.1.0"

#endif
