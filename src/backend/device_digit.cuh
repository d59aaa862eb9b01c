/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers by digits: places in arrays. */
#ifndef FLOE_BACKEND_DEVICE_DIGIT_CUH
#define FLOE_BACKEND_DEVICE_DIGIT_CUH

#include "backend/device.cuh"

/* The last digit of n in this base; n is left without it. Division of 64 bits takes long. */
FLOE_DEV uint64_t floe_last_digit(uint64_t &n, uint64_t base)
{
    uint64_t digit;
    if (n <= UINT32_MAX && base <= UINT32_MAX) {
        digit = (uint32_t)n % (uint32_t)base;
        n = (uint32_t)n / (uint32_t)base;
    } else {
        digit = n % base;
        n /= base;
    }
    return digit;
}

#endif
