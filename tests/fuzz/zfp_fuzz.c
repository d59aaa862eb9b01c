/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare zfp streams: any bytes, decoded by plain C, by vectors and with places, which must agree, and write nothing outside
 * the array. The input:
 *
 *   0      bits 0-1 type, 2-3 rank - 1, 4 a header follows and counts, 5 places: those of the stream, if it can be measured,
 *          6 one of them is wrong
 *   1..4   shape, modulo 24
 *   5..14  minbits, maxbits (2 bytes each), maxprec (2), minexp (2), which place is wrong (2)
 *   15..   the stream
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/zfp/stream/zfp_stream.h"

#define MUST(cond) ((cond) ? (void)0 : (fprintf(stderr, "not so: %s\n", #cond), abort()))

enum { HEAD = 15, SIDE = 24, MAX_CELLS = 20000, MAX_CELLS_NBYTES = 8 * MAX_CELLS, GUARD = 32, CHUNK = 3 };

typedef struct input {
    floe_zfp_array array;
    floe_zfp_params params;
    uint32_t begin;
    uint64_t nblocks, raw_nbytes;
} input;

static bool input_of(const uint8_t *p, const void *stream, uint64_t nbytes, input *in)
{
    int64_t stride = 1;
    memset(in, 0, sizeof *in);
    in->array.type = (floe_zfp_type)(1 + (p[0] & 3));
    in->array.rank = 1 + (p[0] >> 2 & 3);
    for (uint32_t a = 0; a < in->array.rank; a++)
        in->array.shape[a] = 1 + p[1 + a] % SIDE;
    in->params = (floe_zfp_params){floe_load16(p + 5), floe_load16(p + 7), floe_load16(p + 9) % 65,
                                   (int16_t)floe_load16(p + 11)};
    if (p[0] & 16 && floe_zfp_header_read(stream, nbytes, &in->array, &in->params, &in->begin, NULL) != FLOE_OK)
        return false;
    uint64_t ncells = 1;
    for (uint32_t a = in->array.rank; a-- > 0; stride *= (int64_t)in->array.shape[a]) {
        in->array.stride[a] = stride;
        if (in->array.shape[a] > MAX_CELLS || (ncells *= in->array.shape[a]) > MAX_CELLS)
            return false;
    }
    in->nblocks = floe_zfp_nblocks(in->array.rank, in->array.shape);
    in->raw_nbytes = ncells * floe_zfp_type_size(in->array.type);
    return floe_zfp_params_check(&in->params, in->array.type, NULL) == FLOE_OK;
}

/* Into room with guards on both sides. */
static floe_status decode(const input *in, floe_isa isa, const uint8_t *stream, uint64_t nbytes, const uint64_t *places,
                          uint8_t *room)
{
    static uint8_t scratch[1 << 16];
    uint8_t *aligned = scratch + (FLOE_ARENA_ALIGN - (uintptr_t)scratch % FLOE_ARENA_ALIGN) % FLOE_ARENA_ALIGN;
    floe_arena arena = floe_arena_of(aligned, sizeof scratch - FLOE_ARENA_ALIGN);
    floe_zfp_array out = in->array;
    floe_cpu cpu;
    memset(room, 0x5A, GUARD + in->raw_nbytes + GUARD);
    out.data = room + GUARD;
    if (floe_cpu_init(&cpu, 1, isa, NULL) != FLOE_OK)
        floe_cpu_init(&cpu, 1, FLOE_ISA_PLAIN, NULL);
    const floe_status status = floe_zfp_stream_decompress(&(floe_zfp_coding){&cpu, &out, &in->params, in->begin},
                                                          stream, nbytes, places, CHUNK, &arena, NULL);
    MUST(status == FLOE_OK || status == FLOE_ERR_FORMAT);
    for (int i = 0; i < GUARD; i++)
        MUST(room[i] == 0x5A && room[GUARD + in->raw_nbytes + (uint64_t)i] == 0x5A);
    return status;
}

static void decode_with_places(const input *in, const uint8_t *p, const uint8_t *stream, uint64_t nbytes,
                               floe_status want, const uint8_t *values)
{
    static uint16_t lengths[MAX_CELLS];
    static uint64_t places[MAX_CELLS + 1];
    static uint8_t room[GUARD + MAX_CELLS_NBYTES + GUARD];
    const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
    uint64_t nbits, at = in->begin;
    const floe_status status = floe_zfp_stream_measure(&(floe_zfp_coding){&cpu, &in->array, &in->params, in->begin},
                                                       stream, nbytes, lengths, &nbits, NULL);
    MUST(status == want);
    if (status != FLOE_OK)
        return;
    for (uint64_t i = 0; i < in->nblocks; at += lengths[i++])
        if (i % CHUNK == 0)
            places[i / CHUNK] = at;
    MUST(at == nbits);
    const uint64_t nchunks = floe_ceil_div(in->nblocks, CHUNK);
    places[nchunks] = at;
    if (p[0] & 64)
        places[floe_load16(p + 13) % (nchunks + 1)] += floe_load16(p + 13);
    const bool lies = p[0] & 64 && floe_load16(p + 13);
    MUST(decode(in, FLOE_ISA_AUTO, stream, nbytes, places, room) == (lies ? FLOE_ERR_FORMAT : FLOE_OK));
    MUST(lies || memcmp(room + GUARD, values, in->raw_nbytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static uint8_t rooms[2][GUARD + MAX_CELLS_NBYTES + GUARD];
    input in;
    if (nbytes < HEAD || !input_of(data, data + HEAD, nbytes - HEAD, &in))
        return 0;
    uint8_t *exact = malloc(nbytes - HEAD ? nbytes - HEAD : 1);
    MUST(exact);
    memcpy(exact, data + HEAD, nbytes - HEAD);
    const floe_status plain = decode(&in, FLOE_ISA_PLAIN, exact, nbytes - HEAD, NULL, rooms[0]);
    MUST(decode(&in, FLOE_ISA_AUTO, exact, nbytes - HEAD, NULL, rooms[1]) == plain);
    MUST(plain != FLOE_OK || memcmp(rooms[0], rooms[1], GUARD + in.raw_nbytes) == 0);
    if (data[0] & 32)
        decode_with_places(&in, data, exact, nbytes - HEAD, plain, rooms[0] + GUARD);
    free(exact);
    return 0;
}
