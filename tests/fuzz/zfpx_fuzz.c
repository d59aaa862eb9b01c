/* SPDX-License-Identifier: BSD-3-Clause */
/* Index files of zfp streams. Bit 0 of byte 0 of the input shows whether checksums are made right first; the rest is a file.
 * What is accepted has a shape and parameters that zfp can have, and as many blocks as those make. */
#include <stdlib.h>

#include <floe/zfp.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "codec/zfp/stream/zfp_index_file.h"

/* Unlike assert, also there in a release build. */
#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

enum { CHUNKS = 4096 };

static void repair(uint8_t *p, size_t n)
{
    if (n < FLOE_ZFPX_HEADER_NBYTES)
        return;
    floe_store64(p + 88, n - FLOE_ZFPX_HEADER_NBYTES);
    floe_store64(p + 96, floe_checksum(p + FLOE_ZFPX_HEADER_NBYTES, n - FLOE_ZFPX_HEADER_NBYTES));
    floe_store64(p + 104, floe_xxh3(p, 104));
}

static void read_file(const uint8_t *p, size_t n)
{
    static uint64_t places[CHUNKS + 1];
    const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
    floe_zfpx file;
    floe_zfp_stream stream;
    floe_index_spec spec;
    const floe_status status = floe_zfpx_read(p, n, &file, NULL);
    MUST(floe_zfp_index_info(p, n, &stream, &spec, NULL) == status);
    if (status != FLOE_OK)
        return;
    MUST(floe_zfp_params_check(&file.params, file.array.type, NULL) == FLOE_OK);
    MUST(file.index.nblocks == floe_zfp_nblocks(file.array.rank, file.array.shape));
    MUST(floe_ceil_div(file.index.end, 8) <= file.stream_nbytes); /* which may be any number */
    MUST(file.index.nblocks <= file.index.end - file.index.begin);
    MUST(floe_zfpx_belongs(&cpu, &file, p, n, NULL) == FLOE_ERR_FORMAT || n == file.stream_nbytes);
    if (file.index.nchunks <= CHUNKS)
        floe_side_index_decode(&cpu, &file.index, places, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    if (nbytes == 0)
        return 0;
    uint8_t *exact = malloc(nbytes > 1 ? nbytes - 1 : 1); /* to the byte: reads past the end show */
    MUST(exact);
    memcpy(exact, data + 1, nbytes - 1);
    if (data[0] & 1)
        repair(exact, nbytes - 1);
    read_file(exact, nbytes - 1);
    free(exact);
    return 0;
}
