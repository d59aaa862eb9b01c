/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders, through the public API. Byte 0 of the input gives how: bit 0 checksums are made right first, so that the damage
 * behind them is met; bit 1 plain C, else the best vector unit; bits 2 and 3 whole in memory, a region, streamed, streamed
 * with salvage. The rest is a stream. Whatever comes out is fine; a crash, a hang, or memory beyond the limit is not. */
#include <stdlib.h>
#include <string.h>

#include "tests/mutation_kit.h"

enum { MAX_ELEMS = 1 << 18, MAX_MEMORY = 256 << 20 };

typedef struct memory_source {
    const uint8_t *data;
    size_t nbytes;
} memory_source;

static floe_status memory_read(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    const memory_source *m = user;
    size_t left = offset < m->nbytes ? m->nbytes - (size_t)offset : 0;
    *got = nbytes < left ? nbytes : left;
    if (*got)
        memcpy(dst, m->data + offset, *got);
    return FLOE_OK;
}

static floe_status nowhere_write(void *user, const void *src, size_t nbytes)
{
    uint64_t *total = user;
    (void)src;
    *total += nbytes;
    return FLOE_OK;
}

static void decode_streamed(floe_ctx *ctx, const uint8_t *p, size_t n, bool salvage)
{
    memory_source memory = {p, n};
    uint64_t total = 0;
    floe_source source = {&memory, memory_read, n, salvage};
    floe_sink sink = {&total, nowhere_write};
    floe_stream_options options = {.size = sizeof options, .salvage = salvage};
    floe_info info = {.size = sizeof info};
    if (floe_decompress_stream(ctx, &source, &sink, &options, &info) == FLOE_OK && total != info.raw_nbytes)
        abort();
}

static void decode_in_memory(floe_ctx *ctx, const uint8_t *p, size_t n, bool region)
{
    floe_info info = {.size = sizeof info};
    if (floe_stream_info(p, n, &info, NULL) != FLOE_OK)
        return;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], shape[FLOE_MAX_RANK], nelems;
    for (uint32_t i = 0; i < info.rank; i++) {
        lo[i] = region ? info.shape[i] / 3 : 0;
        hi[i] = region ? info.shape[i] - info.shape[i] / 4 : info.shape[i];
        shape[i] = hi[i] - lo[i];
    }
    floe_field out = floe_field_of(NULL, info.dtype, info.rank, shape);
    if (floe_field_nelems(&out, &nelems) != FLOE_OK || nelems > MAX_ELEMS)
        return;
    out.data = malloc(nelems * floe_dtype_size(info.dtype) + 1);
    if (!out.data)
        abort();
    if (region)
        floe_decompress_region(ctx, p, n, lo, hi, &out);
    else
        floe_decompress(ctx, p, n, &out);
    const floe_stream_options salvage = {
        .size = sizeof salvage, .salvage = 1, .lo = region ? lo : NULL, .hi = region ? hi : NULL};
    floe_decompress_with(ctx, p, n, &salvage, &out);
    free(out.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    if (nbytes == 0)
        return 0;
    uint8_t how = data[0];
    size_t n = nbytes - 1;
    uint8_t *stream = malloc(n ? n : 1); /* to the byte: reads past the end show */
    floe_ctx_options options = {.size = sizeof options,
                                .threads = 1,
                                .isa = how & 2 ? FLOE_ISA_PLAIN : FLOE_ISA_AUTO,
                                .max_elems = MAX_ELEMS,
                                .max_memory = MAX_MEMORY};
    floe_ctx *ctx = NULL;
    if (!stream || floe_ctx_create(&ctx, &options) != FLOE_OK)
        abort();
    memcpy(stream, data + 1, n);
    if (how & 1) {
        stream_repair(stream, n);
        stream_reindex(stream, n);
        stream_repair(stream, n);
    }
    if (how & 8)
        decode_streamed(ctx, stream, n, how & 4);
    else
        decode_in_memory(ctx, stream, n, how & 4);
    floe_ctx_free(&ctx);
    free(stream);
    return 0;
}
