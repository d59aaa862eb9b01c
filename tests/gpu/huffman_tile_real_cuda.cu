/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of random groups, and damaged ones, through the kernels and through the CPU. Compiled for each element type. */
#include <stdlib.h>

extern "C" {
#include "stage/huffman/huffman_tile.h"
#include "stage/pack/pack.h"
}
#include "stage/huffman/huffman_count_dev.cuh"
#include "stage/huffman/huffman_decode_dev.cuh"
#include "huffman_tile_trial.h"

namespace
{

enum {
    BITS = FLOE_REAL_BITS,
    TILES = 4,
    WARPS = 4,
    NEAR_WORDS = 4096,
    MUTANTS = 12,
    TILE_WORDS = FLOE_HUFFMAN_TILE_WORDS + 64,
    SYMBOLS_WORDS = FLOE_SYMBOLS_HEAD_WORDS + FLOE_TILE_GROUPS * (BITS < 32 ? 32 : BITS),
    BODY_WORDS = FLOE_TILE_STEPS / 2 + FLOE_TILE_STEPS * FLOE_PACK_STEP_WORDS,
    ENTRIES = FLOE_HUFFMAN_TABLES << FLOE_HUFFMAN_MAX_LENGTH
};

struct tile {
    uint32_t nsteps;
    floe_step steps[FLOE_TILE_STEPS];
};

/* All that host and device share; device memory, with a copy on the host. */
struct room {
    tile tiles[TILES], decoded[TILES];
    uint32_t planes[TILES][FLOE_TILE_STEPS][FLOE_STEP_GROUPS][BITS];
    floe_huffman_hist hist;
    floe_huffman_book book;
    floe_huffman_decoder decoder;
    uint32_t body[TILES][BODY_WORDS];
    uint32_t symbols[TILES][SYMBOLS_WORDS]; /* the same by the device */
    uint32_t words[TILES][TILE_WORDS], spill[TILES][TILE_WORDS];
    uint32_t nwords[TILES], limit[TILES], head[TILES]; /* head: words that go to words, the others to spill */
    uint32_t good[TILES];
    uint4 wide[TILES][FLOE_TILE_VALUES * BITS / 128];
};

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* This lane's group of a step to a body of symbols. Returns where the next step begins. */
__device__ uint32_t put_group(uint32_t *body, uint32_t at, uint32_t width, const floe_uint *residual,
                              const uint32_t *planes)
{
    uint32_t bytes[8], symbols[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint32_t)(residual[i] & 0xFF) | (uint32_t)(residual[8 + i] & 0xFF) << 8 |
                   (uint32_t)(residual[16 + i] & 0xFF) << 16 | (uint32_t)(residual[24 + i] & 0xFF) << 24;
    floe_symbols_find(width, bytes, planes, planes + 4, symbols);
    at = floe_symbols_columns(at, width, [&](int i, uint32_t to) { body[to] = symbols[i]; });
    for (uint32_t b = 8; b < BITS; b++) {
        const uint32_t who = __ballot_sync(FLOE_ALL_LANES, width > b);
        if (width > b)
            body[at + __popc(who & floe_lanes_below())] = planes[b];
        at += __popc(who);
    }
    return at;
}

/* Bodies of symbols, of tiles that need not be whole: then steps are missing, or groups have no bits. */
__global__ void huffman_symbols_kernel(room *r)
{
    const uint32_t g = floe_lane();
    for (uint32_t t = 0; t < TILES; t++) {
        uint32_t at = FLOE_SYMBOLS_HEAD_WORDS;
        for (uint32_t s = 0; s < FLOE_TILE_STEPS; s++) {
            const floe_step *step = &r->tiles[t].steps[s];
            const bool is = s < r->tiles[t].nsteps;
            const uint32_t width = is ? step->width[g] : 0;
            floe_symbols_put_head(r->symbols[t], s, at, width, is && (step->flat >> g & 1));
            at = put_group(r->symbols[t], at, width, step->residual[g], r->planes[t][s][g]);
        }
    }
}

__device__ void set_present(const tile *t, floe_huffman_heads *heads)
{
    __syncwarp();
    if (floe_lane() < t->nsteps)
        heads->present[floe_lane()] = t->steps[floe_lane()].present;
    __syncwarp();
}

__global__ void huffman_count_kernel(room *r, floe_huffman_form form)
{
    __shared__ uint32_t bins[FLOE_HUFFMAN_BINS];
    __shared__ floe_huffman_coder coders[WARPS];
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    floe_huffman_bins_clear(bins);
    __syncthreads();
    for (uint32_t t = warp; t < TILES; t += WARPS) {
        const uint32_t nsteps = r->tiles[t].nsteps;
        set_present(&r->tiles[t], &coders[warp].heads);
        if (form == FLOE_HUFFMAN_PLANES)
            floe_huffman_count_tile<floe_uint, FLOE_HUFFMAN_PLANES>(bins, r->body[t], nsteps, &coders[warp]);
        else
            floe_huffman_count_tile<floe_uint, FLOE_HUFFMAN_BYTES>(bins, r->symbols[t], nsteps, &coders[warp]);
    }
    __syncthreads();
    floe_huffman_bins_add<FLOE_WARP * WARPS>(bins, &r->hist);
}

__global__ void huffman_code_kernel(room *r, floe_huffman_form form)
{
    __shared__ floe_huffman_coder coders[WARPS];
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    for (uint32_t t = warp; t < TILES; t += WARPS) {
        const floe_huffman_room to = {r->words[t], r->spill[t], r->head[t], r->limit[t]};
        set_present(&r->tiles[t], &coders[warp].heads);
        const floe_huffman_codes codes = floe_huffman_codes_of(&r->book);
        const uint32_t nsteps = r->tiles[t].nsteps;
        const uint32_t n = form == FLOE_HUFFMAN_PLANES
                               ? floe_huffman_code_tile_dev<floe_uint, FLOE_HUFFMAN_PLANES, true>(
                                     codes, r->body[t], nsteps, &coders[warp], to)
                               : floe_huffman_code_tile_dev<floe_uint, FLOE_HUFFMAN_BYTES, true>(
                                     codes, r->symbols[t], nsteps, &coders[warp], to);
        if (floe_lane() == 0)
            r->nwords[t] = n;
    }
}

/* A warp, tile after tile; room for so many entries in shared memory, and near: for a tile's words if they fit. */
__global__ void huffman_decode_kernel(room *r, uint32_t entries, bool near)
{
    __shared__ uint32_t table[FLOE_HUFFMAN_TABLE_WORDS];
    alignas(16) __shared__ uint32_t words[NEAR_WORDS];
    __shared__ floe_huffman_groups groups;
    FLOE_DYNAMIC_SHARED(uint16_t, entry);
    const floe_huffman_tables tables = floe_huffman_tables_load<floe_uint>(&r->decoder, table, entry, entries);
    const uint32_t g = floe_lane();
    __syncthreads();
    for (uint32_t t = 0; t < TILES; t++) {
        const uint32_t nsteps = r->tiles[t].nsteps, nwords = r->nwords[t];
        const bool here = near && nwords <= NEAR_WORDS;
        if (g < nsteps)
            groups.present[g] = r->tiles[t].steps[g].present;
        for (uint32_t i = g; here && i < nwords; i += FLOE_WARP)
            words[i] = r->words[t][i];
        __syncwarp();
        const bool good = floe_huffman_decode_tile_dev<floe_uint>(tables, here ? words : r->words[t], nwords, nsteps,
                                                                  &groups, words, r->wide[t]);
        for (uint32_t s = 0; good && s < nsteps; s++) {
            floe_step *step = &r->decoded[t].steps[s];
            const uint32_t width = groups.width[s * FLOE_STEP_GROUPS + g];
            step->width[g] = (uint8_t)width;
            step->flat = groups.flat[s];
            floe_huffman_group_values<floe_uint>(&groups, r->wide[t], s, width, step->residual[g]);
        }
        if (g == 0)
            r->good[t] = good;
        __syncwarp();
    }
}

/* ---- tiles --------------------------------------------------------------------------------------------------------- */

uint64_t random_state;

uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 32) * n >> 32);
}
uint64_t random_bits() { return (uint64_t)random_below(UINT32_MAX) << 32 ^ random_below(UINT32_MAX); }

void fill_group(floe_step *step, uint32_t g, uint32_t width)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES && width; i++) {
        const uint64_t v = random_bits() >> (64 - width), shift = random_below(4) ? random_below(width + 1) : 0;
        step->residual[g][i] = (floe_uint)(shift < 64 ? v >> shift : 0);
        all |= step->residual[g][i];
    }
    step->width[g] = (uint8_t)floe_bit_length(all);
}

/* Widths in a range, which may be all of them; some groups 0, flat or outside. */
void fill_tile(tile *t)
{
    memset(t, 0, sizeof *t);
    t->nsteps = random_below(2) ? (uint32_t)FLOE_TILE_STEPS : 1 + random_below(FLOE_TILE_STEPS);
    const uint32_t least = random_below(random_below(3) ? 6 : BITS);
    const uint32_t spread = random_below(random_below(3) ? 4 : BITS + 1 - least);
    const uint32_t quiet = random_below(5), flat = random_below(3), hole = random_below(4);
    for (uint32_t s = 0; s < t->nsteps; s++) {
        floe_step *step = &t->steps[s];
        step->present = hole ? UINT32_MAX : (uint32_t)random_bits() & (random_below(2) ? 0x00FF0FF0u : UINT32_MAX);
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
            if (!(step->present >> g & 1))
                continue;
            step->flat |= (uint32_t)(flat && random_below(3 * flat) == 0) << g;
            if (random_below(4) >= quiet)
                fill_group(step, g, least + random_below(spread + 1));
        }
    }
}

void damage(uint32_t *words, uint32_t *nwords)
{
    const uint32_t n = *nwords, where = random_below(n);
    switch (random_below(5)) {
    case 0: words[where] ^= 1u << random_below(32); break;
    case 1: words[0] ^= 1u << random_below(32); break;
    case 2: *nwords = where; break;
    case 3: words[where] = (uint32_t)random_bits(); break;
    default: words[random_below(n < 20 ? n : 20)] ^= 1u << random_below(32); /* the lanes' lengths */
    }
}

/* ---- trial --------------------------------------------------------------------------------------------------------- */

room *host, *dev;

void prepare()
{
    for (uint32_t t = 0; t < TILES; t++) {
        fill_tile(&host->tiles[t]);
        const tile *from = &host->tiles[t];
        uint32_t n = (from->nsteps + 1) / 2;
        memset(host->body[t], 0, n * sizeof *host->body[t]);
        for (uint32_t s = 0; s < from->nsteps; s++) {
            uint16_t descriptor;
            n += FLOE_V(floe_pack_encode_step)(&from->steps[s], host->body[t] + n, &descriptor);
            host->body[t][s / 2] |= (uint32_t)descriptor << s % 2 * 16;
            for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
                uint32_t planes[BITS] = {0};
                FLOE_V(floe_planes_of_values)(from->steps[s].residual[g], from->steps[s].width[g], planes);
                memcpy(host->planes[t][s][g], planes, sizeof planes);
            }
        }
    }
}

bool send() { return cudaMemcpy(dev, host, sizeof *host, cudaMemcpyHostToDevice) == cudaSuccess; }
bool fetch() { return cudaMemcpy(host, dev, sizeof *host, cudaMemcpyDeviceToHost) == cudaSuccess; }

/* Whether the device counts the same from bodies of that form; makes those of symbols first. */
bool counts_as(const floe_huffman_hist *hist, floe_huffman_form form)
{
    floe_huffman_hist_clear(&host->hist);
    if (!send())
        return false;
    FLOE_LAUNCH(huffman_symbols_kernel, 1, FLOE_WARP, 0, 0, dev);
    FLOE_LAUNCH(huffman_count_kernel, 1, WARPS * FLOE_WARP, 0, 0, dev, form);
    return fetch() && memcmp(hist, &host->hist, sizeof *hist) == 0;
}

const char *try_count()
{
    floe_huffman_hist hist;
    floe_huffman_hist_clear(&hist);
    for (uint32_t t = 0; t < TILES; t++)
        FLOE_V(floe_huffman_count_tile)(&hist, host->tiles[t].steps, host->tiles[t].nsteps);
    if (!counts_as(&hist, FLOE_HUFFMAN_PLANES))
        return "histogram of planes";
    if (!counts_as(&hist, FLOE_HUFFMAN_BYTES))
        return "histogram of symbols";
    floe_huffman_book_build(&hist, &host->book);
    floe_huffman_decoder_build(&host->book, &host->decoder);
    return NULL;
}

enum : uint32_t { UNTOUCHED = 0xA5A5A5A5u };

/* Words of the tile as the CPU has them are in reference; those of the device are moved together. */
const char *check_coded(uint32_t t, const uint32_t *reference, uint32_t nwords)
{
    uint32_t *words = host->words[t];
    const uint32_t *spill = host->spill[t], head = host->head[t], limit = host->limit[t];
    for (uint32_t i = head; i < head + 32 && i < TILE_WORDS; i++)
        if (words[i] != UNTOUCHED)
            return "words touched that belong to the spill";
    for (uint32_t i = limit; i < limit + 32 && i < TILE_WORDS; i++)
        if (words[i] != UNTOUCHED || spill[i] != UNTOUCHED)
            return "words touched beyond the limit";
    if (host->nwords[t] == FLOE_HUFFMAN_TOO_LONG)
        return limit >= nwords + FLOE_HUFFMAN_CODE_SLACK ? "does not fit, but should" : NULL;
    for (uint32_t i = head; i < host->nwords[t]; i++)
        words[i] = spill[i];
    return host->nwords[t] == nwords && memcmp(words, reference, 4 * nwords) == 0 ? NULL : "coded tile";
}

/* From bodies of that form. */
const char *try_code(floe_huffman_form form)
{
    static uint32_t reference[TILES][FLOE_HUFFMAN_TILE_WORDS];
    uint32_t nwords[TILES];
    memset(host->words, 0xA5, sizeof host->words);
    memset(host->spill, 0xA5, sizeof host->spill);
    for (uint32_t t = 0; t < TILES; t++) {
        nwords[t] = (uint32_t)FLOE_V(floe_huffman_encode_tile)(&host->book, host->tiles[t].steps, host->tiles[t].nsteps,
                                                               reference[t]);
        const bool tight = random_below(4) == 0;
        host->limit[t] = tight ? random_below(nwords[t] + 1) : nwords[t] + FLOE_HUFFMAN_CODE_SLACK;
        host->head[t] = random_below(3) ? random_below(nwords[t] + FLOE_HUFFMAN_CODE_SLACK) : host->limit[t];
    }
    if (!send())
        return "copying to the device";
    FLOE_LAUNCH(huffman_code_kernel, 1, WARPS * FLOE_WARP, 0, 0, dev, form);
    if (!fetch())
        return "coding failed";
    for (uint32_t t = 0; t < TILES; t++) {
        const char *what = check_coded(t, reference[t], nwords[t]);
        if (what)
            return what;
        host->nwords[t] = nwords[t];
        memcpy(host->words[t], reference[t], 4 * nwords[t]);
    }
    return NULL;
}

bool same_steps(const tile *a, const tile *b)
{
    for (uint32_t s = 0; s < a->nsteps; s++) {
        const floe_step *x = &a->steps[s], *y = &b->steps[s];
        if (x->flat != y->flat || memcmp(x->width, y->width, sizeof x->width) != 0 ||
            memcmp(x->residual, y->residual, sizeof x->residual) != 0)
            return false;
    }
    return true;
}

const char *decode_tiles()
{
    static tile steps;
    const uint32_t entries = random_below(2) ? (uint32_t)ENTRIES : 0;
    if (!send())
        return "copying to the device";
    if (cudaFuncSetAttribute(huffman_decode_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * ENTRIES))
        return "shared memory";
    FLOE_LAUNCH(huffman_decode_kernel, 1, FLOE_WARP, 2 * entries, 0, dev, entries, random_below(2) != 0);
    if (!fetch())
        return "decoding failed";
    for (uint32_t t = 0; t < TILES; t++) {
        memcpy(&steps, &host->tiles[t], sizeof steps); /* present */
        const bool good = FLOE_V(floe_huffman_decode_tile)(&host->decoder, host->words[t], host->nwords[t], steps.steps,
                                                           steps.nsteps, NULL) == FLOE_OK;
        if (good != (host->good[t] != 0))
            return good ? "a tile refused that the CPU takes" : "a tile taken that the CPU refuses";
        if (good && !same_steps(&steps, &host->decoded[t]))
            return "decoded tile";
    }
    return NULL;
}

const char *try_decode()
{
    static uint32_t words[TILES][TILE_WORDS];
    uint32_t nwords[TILES];
    const char *what = decode_tiles();
    memcpy(words, host->words, sizeof words);
    memcpy(nwords, host->nwords, sizeof nwords);
    for (uint32_t t = 0; t < TILES && !what; t++)
        what = host->good[t] ? NULL : "a good tile refused";
    for (uint32_t m = 0; m < MUTANTS && !what; m++) {
        memcpy(host->words, words, sizeof words);
        memcpy(host->nwords, nwords, sizeof nwords);
        for (uint32_t t = 0; t < TILES; t++)
            if (nwords[t])
                damage(host->words[t], &host->nwords[t]);
        what = decode_tiles();
    }
    return what;
}

} // namespace

extern "C" const char *FLOE_R(floe_huffman_trial)(uint64_t seed)
{
    const char *what = "memory";
    random_state = seed;
    host = (room *)calloc(1, sizeof *host);
    if (host && cudaMalloc((void **)&dev, sizeof *dev) == cudaSuccess) {
        prepare();
        what = try_count();
        what = what ? what : try_code(FLOE_HUFFMAN_PLANES);
        what = what ? what : try_code(FLOE_HUFFMAN_BYTES);
        what = what ? what : try_decode();
        cudaFree(dev);
    }
    free(host);
    return what;
}
