/* SPDX-License-Identifier: BSD-3-Clause */
/* Side indexes. The input:
 *
 *   0..3   end of the stream
 *   4..    an index
 *
 * What is accepted goes up, stays in the stream, is the same by one and by three threads and chunk by chunk, and coded
 * again comes back. */
#include <stdlib.h>

#include "base/bytes.h"
#include "stage/index/index.h"

/* Unlike assert, also there in a release build. */
#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

enum { HEAD = 4, CHUNKS = 4096 };

/* Each chunk as one block, where its length fits one. */
static void encode_again(const floe_side_index *x, const uint64_t *places)
{
    static uint16_t lengths[CHUNKS];
    static uint64_t again[CHUNKS + 1];
    static uint8_t dst[64 + 32 * CHUNKS];
    const floe_index_spec spec = {x->form, 1, x->partition};
    const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
    floe_side_index y;
    uint64_t nbytes, used;
    for (uint64_t i = 0; i < x->nchunks; i++) {
        if (places[i + 1] - places[i] > UINT16_MAX)
            return;
        lengths[i] = (uint16_t)(places[i + 1] - places[i]);
    }
    MUST(floe_side_index_encode(&spec, &(floe_index_blocks){lengths, x->nchunks, x->begin}, dst, sizeof dst, &nbytes,
                                NULL) == FLOE_OK);
    MUST(floe_side_index_open(dst, nbytes, x->end, &y, &used, NULL) == FLOE_OK && used == nbytes);
    MUST(floe_side_index_decode(&cpu, &y, again, NULL) == FLOE_OK);
    MUST(memcmp(again, places, (size_t)(x->nchunks + 1) * sizeof *again) == 0);
}

static void read_index(const uint8_t *data, size_t nbytes, uint64_t stream_end)
{
    static uint64_t places[2][CHUNKS + 1];
    floe_side_index x;
    uint64_t used;
    floe_status status[2];
    if (floe_side_index_open(data, nbytes, stream_end, &x, &used, NULL) != FLOE_OK)
        return;
    MUST(used <= nbytes && x.begin <= x.end && x.end <= stream_end);
    if (x.nchunks > CHUNKS)
        return;
    for (uint32_t i = 0; i < 2; i++)
        status[i] =
            floe_side_index_decode(&(floe_cpu){.threads = 1 + 2 * i, .isa = FLOE_ISA_PLAIN}, &x, places[i], NULL);
    MUST(status[0] == status[1] && (status[0] == FLOE_OK || status[0] == FLOE_ERR_FORMAT));
    if (status[0] != FLOE_OK)
        return;
    MUST(places[0][0] == x.begin && places[0][x.nchunks] == x.end);
    for (uint64_t i = 0; i < x.nchunks; i++)
        MUST(places[0][i] <= places[0][i + 1] && places[0][i] == places[1][i]);
    encode_again(&x, places[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    if (nbytes < HEAD)
        return 0;
    uint8_t *exact = malloc(nbytes - HEAD ? nbytes - HEAD : 1); /* to the byte: reads past the end show */
    MUST(exact);
    memcpy(exact, data + HEAD, nbytes - HEAD);
    read_index(exact, nbytes - HEAD, floe_load32(data));
    free(exact);
    return 0;
}
