// SPDX-License-Identifier: BSD-3-Clause
#include "consumer.c"
