/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels of other rooms need of the container. */
#ifndef FLOE_CONTAINER_CONTAINER_CUDA_CUH
#define FLOE_CONTAINER_CONTAINER_CUDA_CUH

#include "backend/device.cuh"
#include "base/xxh3_math.h"
#include "container/container_cuda.h"
#include "container/header_math.h"

/* The header, without attributes, to dst (8-byte aligned, room for floe_header_plain_nbytes(rank) bytes), by one thread. Its
 * fields are right: nothing is checked. Returns its size. */
FLOE_DEV_SELDOM uint64_t floe_header_write_dev(const floe_dev_header *h, uint8_t *dst)
{
    const uint32_t nwords = floe_header_field_words(h->rank), nbytes = 8 * nwords;
    uint64_t words[FLOE_HEADER_FIELD_WORDS_MAX], *to = (uint64_t *)dst;
    floe_header_pack(h, nbytes + FLOE_HEADER_CHECK_NBYTES, words);
    words[3] = 0; /* items */
    for (uint32_t i = 0; i < nwords; i++)
        to[i] = words[i];
    const uint8_t *p = (const uint8_t *)words;
    to[nwords] = nbytes <= 128 ? floe_xxh3_17_128(p, nbytes) : floe_xxh3_129_240(p, nbytes);
    return nbytes + FLOE_HEADER_CHECK_NBYTES;
}

#endif
