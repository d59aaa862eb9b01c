/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_BACKEND_DEVICE_COPY_CUH
#define FLOE_BACKEND_DEVICE_COPY_CUH

#include "backend/device.cuh"

/* nbytes from src, aligned to 4, to wherever dst is; by threads me, me + step, ... Up to 3 bytes behind those of src are read. */
FLOE_DEV void floe_copy_bytes(uint8_t *dst, const void *src, uint64_t nbytes, uint64_t me, uint64_t step)
{
    const uint32_t near = (uint32_t)(-(uintptr_t)dst & 3), head = near < nbytes ? near : (uint32_t)nbytes,
                   shift = 8 * head;
    const uint32_t *words = (const uint32_t *)src;
    const uint64_t n = (nbytes - head) / 4;
    for (uint64_t i = me; i < n; i += step)
        ((uint32_t *)(dst + head))[i] = shift ? __funnelshift_r(words[i], words[i + 1], shift) : words[i];
    const uint64_t rest = nbytes - 4 * n; /* head, and what is behind the words */
    for (uint64_t i = me; i < rest; i += step) {
        const uint64_t at = i < head ? i : i + 4 * n;
        dst[at] = ((const uint8_t *)src)[at];
    }
}

#endif
