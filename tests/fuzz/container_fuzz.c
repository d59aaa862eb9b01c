/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers of the container. Byte 0 of the input shows whether checksums are made right first, so that the fuzzer gets past
 * them; the rest is a stream. What a reader accepts must make sense: chunks lie inside the field, records inside the
 * stream, and a header written again is the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "container/header_math.h"
#include "container/layout.h"
#include "tests/mutation_kit.h"

/* Unlike assert, also there in a release build. */
#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static char *text_of(const uint8_t *p, size_t n)
{
    char *t = malloc(n + 1);
    MUST(t);
    memcpy(t, p, n);
    t[n] = 0;
    return t;
}

/* Reads all attributes and writes the header again. Optional items and newer versions cannot be written back. */
static void header_again(const uint8_t *p, size_t n, size_t header_nbytes, floe_header *h)
{
    floe_attr *attrs = calloc(h->nattrs + 1, sizeof *attrs);
    MUST(attrs);
    for (uint32_t i = 0; i < h->nattrs; i++) {
        floe_item item;
        MUST(floe_header_attr(p, n, i, &item, NULL) == FLOE_OK);
        attrs[i] = (floe_attr){text_of(item.key, item.key_nbytes), text_of(item.value, item.value_nbytes)};
    }
    h->attrs = attrs;
    if (floe_load32(p + 24) == h->nattrs && floe_load32(p + 8) == floe_header_version(h) * 0x10001u) {
        uint8_t *again = malloc(header_nbytes);
        MUST(again && floe_header_nbytes(h) == header_nbytes);
        MUST(floe_header_write(h, again, header_nbytes, NULL) == FLOE_OK);
        MUST(memcmp(p, again, header_nbytes) == 0);
        free(again);
    }
    for (uint32_t i = 0; i < h->nattrs; i++) {
        free((void *)(uintptr_t)attrs[i].key);
        free((void *)(uintptr_t)attrs[i].value);
    }
    free(attrs);
}

static void grid_check(const floe_header *h, uint64_t nchunks)
{
    uint64_t chunks[3] = {0, nchunks / 2, nchunks - 1};
    for (int k = 0; nchunks && k < 3; k++) {
        uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
        floe_grid_box(h, chunks[k], lo, extent);
        for (uint32_t i = 0; i < h->rank; i++)
            MUST(extent[i] >= 1 && extent[i] <= h->chunk[i] && lo[i] < h->shape[i] && extent[i] <= h->shape[i] - lo[i]);
    }
}

static void records_check(const uint8_t *p, const uint8_t *index, uint64_t nchunks, uint64_t index_offset)
{
    for (uint64_t i = 0; i < nchunks; i++) {
        floe_index_entry entry;
        floe_record record;
        floe_index_entry_read(index, i, &entry);
        uint64_t nbytes = floe_record_nbytes(entry.record.nbytes);
        MUST(nbytes && entry.offset <= index_offset && nbytes <= index_offset - entry.offset);
        if (floe_record_head_read(p + entry.offset, nbytes, &record, NULL) == FLOE_OK)
            floe_payload_check(&record, p + entry.offset + FLOE_RECORD_HEAD_NBYTES, nbytes - FLOE_RECORD_HEAD_NBYTES,
                               NULL);
    }
}

static void stream_read(const uint8_t *p, size_t n)
{
    floe_header h;
    size_t header_nbytes = 0;
    uint64_t index_offset = 0;
    if (floe_header_peek(p, n, &header_nbytes, NULL) != FLOE_OK || floe_header_read(p, n, &h, NULL) != FLOE_OK)
        return;
    uint64_t nchunks = floe_grid_nchunks(&h);
    grid_check(&h, nchunks);
    header_again(p, n, header_nbytes, &h);
    if (n < FLOE_FOOTER_NBYTES ||
        floe_footer_read(p + n - FLOE_FOOTER_NBYTES, FLOE_FOOTER_NBYTES, n, nchunks, &index_offset, NULL) != FLOE_OK)
        return;
    const uint8_t *index = p + index_offset;
    size_t index_nbytes = n - (size_t)index_offset - FLOE_FOOTER_NBYTES;
    if (floe_index_check(index, index_nbytes, nchunks, header_nbytes, index_offset, NULL) == FLOE_OK)
        records_check(p, index, nchunks, index_offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    if (nbytes == 0)
        return 0;
    uint8_t *stream = malloc(nbytes > 1 ? nbytes - 1 : 1); /* to the byte: reads past the end show */
    MUST(stream);
    memcpy(stream, data + 1, nbytes - 1);
    if (data[0] & 1)
        stream_repair(stream, nbytes - 1);
    stream_read(stream, nbytes - 1);
    floe_record record;
    floe_record_head_read(stream, nbytes - 1, &record, NULL);
    free(stream);
    return 0;
}
