/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel that has work to do before the one before it on the stream is done: instead of floe_dev_begin,
 *
 *     the kernel before   floe_dev_begin_then_launch    all kernels before it are done; then the next one may start
 *     the kernel          floe_dev_begin_early          may read what those wrote, not what the kernel before writes
 *                         floe_dev_wait                 may read that, too. Some thread comes here before the kernel ends,
 *                                                       so that it ends after the kernel before
 */
#ifndef FLOE_BACKEND_DEVICE_ORDER_CUH
#define FLOE_BACKEND_DEVICE_ORDER_CUH

#include "backend/device.cuh"

FLOE_DEV void floe_dev_begin_then_launch()
{
    floe_dev_wait();
    floe_dev_begin_early();
}

#endif
