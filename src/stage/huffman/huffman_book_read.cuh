/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the words of a codebook, which are not to be trusted, to decoding tables.
 *
 * A book is one chain of tokens: where one ends the next one starts, and what belongs to which table is known only from
 * the front. So first everything is found out for each bit of the book as if a token started there: where the next one
 * starts and how many symbols lie between, then the same for 4 and for 16 tokens. One thread then walks through the book in
 * long steps, over the borders of tables, and notes them down; all threads fill in the tokens between, none of which may reach
 * over a border; what they mean, lengths, is a sum along a tree.
 */
#ifndef FLOE_STAGE_HUFFMAN_BOOK_READ_CUH
#define FLOE_STAGE_HUFFMAN_BOOK_READ_CUH

#include "backend/limits_cuda.h"
#include "stage/huffman/huffman_book_rows.cuh"

enum {
    FLOE_JUMP_LEVELS = 3, /* 1, 4, 16 tokens */
    FLOE_JUMP_TOKENS = 1 << 2 * (FLOE_JUMP_LEVELS - 1),
    FLOE_JUMP_FAR = 255, /* symbols: this or more, or over the end of the book */
    FLOE_BOOK_POSITIONS = FLOE_BOOK_MOST_WORDS * 32 + 1,
    /* Steps of the walk: while more than 16 tokens of a run of tables are left they take 16 symbols or more; then 6 at most, or
     * 7 where 16 tokens are 255 symbols or more. By 4 tokens at most, where there are no jumps of 16: 4 symbols or more, then
     * 4 steps at most. */
    FLOE_BOOK_STEPS = FLOE_HUFFMAN_ALL_SYMBOLS / 4 + 7 * FLOE_HUFFMAN_TABLES,
    FLOE_TREE_ROOT = FLOE_BOOK_SLOTS /* the parent of first symbols; adds nothing */
};
static_assert(FLOE_BOOK_POSITIONS < 1 << 15 && FLOE_TREE_ROOT < 1 << 12, "fields of steps and trees");

/* Shared memory of a block, in two acts: tokens, then tables. Small enough for two blocks a multiprocessor. */
struct floe_reader_tokens {
    uint16_t jump[FLOE_JUMP_LEVELS - 1][FLOE_BOOK_POSITIONS + 1]; /* bits | symbols << 8 */
    uint32_t words[FLOE_BOOK_MOST_WORDS + 2];
    uint32_t code[1 << FLOE_HUFFMAN_TOKEN_LIMIT]; /* see floe_token_pack */
    uint32_t step[FLOE_BOOK_STEPS];               /* position | symbol << 15 | level << 27; symbols of all tables */
    uint16_t begin[FLOE_WARP];                    /* of each table's symbols among those; only CODED ones have any */
    uint8_t counts[4][1][FLOE_ROW_VALUES];
    uint32_t nsteps, singles; /* singles: a bit a table */
};
struct floe_reader_tables {
    uint16_t tree[2][FLOE_BOOK_SLOTS + 1]; /* parent's slot | sum modulo 12 << 12 */
    uint8_t v[FLOE_BOOK_SLOTS];            /* lengths as predicted */
    uint8_t sorted[FLOE_BOOK_SLOTS];       /* a table's symbols in the order of their codes */
    uint8_t counts[FLOE_BOOK_ROWS][FLOE_ROW_VALUES];
    uint8_t longest[FLOE_HUFFMAN_TABLES];
    uint16_t limit[FLOE_HUFFMAN_TABLES][FLOE_ROW_VALUES]; /* codes from here on are longer than n; all of one length */
    uint16_t shorter[FLOE_HUFFMAN_TABLES][FLOE_ROW_VALUES]; /* symbols with codes shorter than n */
    int16_t sort[FLOE_HUFFMAN_TABLES][FLOE_ROW_VALUES];     /* a code of n bits + this: its place in sorted */
};
struct floe_book_reader {
    union {
        floe_reader_tokens tokens;
        floe_reader_tables tables;
    };
    uint8_t delta[FLOE_BOOK_SLOTS]; /* token 0 to 11 that made a symbol's length */
    floe_book_rows rows;
    uint8_t mode[FLOE_HUFFMAN_TABLES], single[FLOE_HUFFMAN_TABLES];
    /* The last level of jumps, at the end: left out where a block has less shared memory. */
    uint16_t longest[FLOE_BOOK_POSITIONS + 1];
};
#define FLOE_BOOK_READER_LEAST offsetof(floe_book_reader, longest)
static_assert(FLOE_BOOK_READER_LEAST <= FLOE_GPU_LEAST_SHARED, "what a block of any GPU can have");
static_assert(sizeof(floe_book_reader) <= 113 << 10, "228 KiB for two, less 1 KiB each");

FLOE_DEV uint64_t floe_book_pair(const uint32_t *words, uint32_t i) { return (uint64_t)words[i + 1] << 32 | words[i]; }

/* ---- tokens -------------------------------------------------------------------------------------------------------- */

/* What a token's code stands for: bits with the more bits | least symbols << 8 | bits of the code << 16 | mask of the more
 * bits << 20 | token << 28 */
FLOE_DEV uint32_t floe_token_pack(uint32_t token, uint32_t n)
{
    const uint32_t extra = floe_huffman_token_extra(token);
    return (n + extra) | floe_huffman_token_least(token) << 8 | n << 16 | ((1u << extra) - 1) << 20 | token << 28;
}

/* Fills r.tokens.code; a warp has 32 of its entries. False if the code is not complete. The block synchronizes. */
FLOE_DEV bool floe_tokens_read(floe_book_reader &r)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, k = floe_lane();
    const uint64_t lengths = floe_book_pair(r.tokens.words, FLOE_BOOK_CODES_AT / 32) >> FLOE_BOOK_CODES_AT % 32;
    static_assert(FLOE_BOOK_CODES_AT / 32 == (FLOE_BOOK_TOKENS_AT - 1) / 32 - 1, "in two words");
    const uint32_t n = k < FLOE_HUFFMAN_TOKENS ? (uint32_t)(lengths >> k * FLOE_HUFFMAN_TOKEN_LENGTH_BITS) &
                                                     ((1 << FLOE_HUFFMAN_TOKEN_LENGTH_BITS) - 1)
                                               : 0;
    const uint32_t before = floe_row_count(n, r.tokens.counts[warp][0]);
    __syncwarp();
    const floe_book_codes codes = floe_book_codes_of(r.tokens.counts[warp], 1);
    const uint32_t first = __shfl_sync(FLOE_ALL_LANES, codes.first, n);
    const uint32_t mine = floe_huffman_code(first + before, n), bits = threadIdx.x;
    uint32_t entry = 0;
#pragma unroll
    for (uint32_t token = 0; token < FLOE_HUFFMAN_TOKENS; token++) {
        const uint32_t code = __shfl_sync(FLOE_ALL_LANES, mine, token), len = code >> FLOE_HUFFMAN_MAX_LENGTH;
        if (len && ((code ^ bits) & ((1u << len) - 1)) == 0)
            entry = floe_token_pack(token, len);
    }
    r.tokens.code[bits] = entry;
    return codes.complete;
}

/* The jump of one token, if it started at each bit; past the end of the book it is too far. */
FLOE_DEV void floe_jumps_first(floe_book_reader &r, uint32_t nwords, bool long_jumps)
{
    const uint32_t lane = floe_lane(), nbits = nwords * 32;
    for (uint32_t i = threadIdx.x / FLOE_WARP; i < nwords; i += FLOE_BOOK_WARPS) {
        const uint32_t bits = (uint32_t)(floe_book_pair(r.tokens.words, i) >> lane), at = i * 32 + lane;
        const uint32_t e = r.tokens.code[bits & ((1 << FLOE_HUFFMAN_TOKEN_LIMIT) - 1)], n = e & 0xFF;
        const uint32_t symbols = (e >> 8 & 0xFF) + (bits >> (e >> 16 & 15) & (e >> 20 & 0xFF));
        r.tokens.jump[0][at] = (uint16_t)(at + n <= nbits ? n | symbols << 8 : FLOE_JUMP_FAR << 8);
    }
    if (threadIdx.x < FLOE_JUMP_LEVELS - 1)
        r.tokens.jump[threadIdx.x][nbits] = FLOE_JUMP_FAR << 8;
    else if (threadIdx.x == FLOE_JUMP_LEVELS - 1 && long_jumps)
        r.longest[nbits] = FLOE_JUMP_FAR << 8;
}

/* Four jumps of the level below. A jump that is too far goes nowhere, so none leaves the book. */
FLOE_DEV void floe_jumps_next(const uint16_t *below, uint16_t *jump, uint32_t nbits)
{
    for (uint32_t at = threadIdx.x; at < nbits; at += FLOE_BOOK_THREADS) {
        uint32_t sum = below[at];
#pragma unroll
        for (uint32_t i = 1; i < 4; i++)
            sum += below[at + (sum & 0xFF)];
        jump[at] = (uint16_t)((sum & 0xFF) | min(sum >> 8, (uint32_t)FLOE_JUMP_FAR) << 8);
    }
}

/* The longest jump from here that stays in the table; 0 if none does. volatile: all three are under way at once, whichever
 * will do. */
FLOE_DEV uint32_t floe_jump_within(const floe_book_reader &r, bool long_jumps, uint32_t at, uint32_t left,
                                   uint32_t *level)
{
    const uint32_t most = min(left, (uint32_t)FLOE_JUMP_FAR - 1) << 8 | 0xFF;
    const uint32_t one = *(const volatile uint16_t *)&r.tokens.jump[0][at];
    const uint32_t four = *(const volatile uint16_t *)&r.tokens.jump[1][at];
    const uint32_t sixteen = long_jumps ? *(const volatile uint16_t *)&r.longest[at] : FLOE_JUMP_FAR << 8;
    *level = sixteen <= most ? 2 : four <= most;
    const uint32_t few = four <= most ? four : one <= most ? one : 0;
    return sixteen <= most ? sixteen : few;
}

/* From symbol s to `end`: notes down the steps. Returns the bit behind, or UINT32_MAX where there is something wrong. One
 * thread. */
FLOE_DEV uint32_t floe_book_run(floe_book_reader &r, bool long_jumps, uint32_t at, uint32_t s, uint32_t end,
                                uint32_t *nsteps)
{
    uint32_t level;
    while (s < end) {
        const uint32_t jump = floe_jump_within(r, long_jumps, at, end - s, &level);
        if (!jump)
            return UINT32_MAX;
        r.tokens.step[(*nsteps)++] = at | s << 15 | level << 27;
        at += jump & 0xFF;
        s += jump >> 8;
    }
    return at;
}

/* The whole book: notes down the steps and what SINGLE tables have, between which coded tables follow one another. One thread.
 * Returns the bit behind the book, or UINT32_MAX where there is something wrong. */
FLOE_DEV uint32_t floe_book_walk(floe_book_reader &r, bool long_jumps, uint32_t at, uint32_t nbits)
{
    uint32_t nsteps = 0, s = 0;
    const uint32_t singles = r.tokens.singles;
    for (uint32_t rest = singles; rest; rest &= rest - 1) {
        const uint32_t t = __ffs((int)rest) - 1;
        at = floe_book_run(r, long_jumps, at, s, r.tokens.begin[t], &nsteps);
        if (at == UINT32_MAX)
            return UINT32_MAX;
        s = r.tokens.begin[t];
        const uint32_t symbol =
            (uint32_t)(floe_book_pair(r.tokens.words, at / 32) >> at % 32) & ((1 << FLOE_HUFFMAN_SINGLE_BITS) - 1);
        at += FLOE_HUFFMAN_SINGLE_BITS;
        if (at > nbits || symbol >= r.rows.nsymbols[t])
            return UINT32_MAX;
        r.single[t] = (uint8_t)symbol;
    }
    at = floe_book_run(r, long_jumps, at, s, r.tokens.begin[FLOE_HUFFMAN_TABLES], &nsteps);
    r.tokens.nsteps = nsteps;
    return at;
}

/* Whether the book ends at this bit, in the last word, with zeros behind. */
FLOE_DEV bool floe_book_ends(const uint32_t *words, uint32_t nwords, uint32_t at)
{
    return at <= nwords * 32 && (at + 31) / 32 == nwords && (at % 32 == 0 || words[nwords - 1] >> at % 32 == 0);
}

/* The table that has this one of all symbols. */
FLOE_DEV uint32_t floe_book_table_of(const floe_book_reader &r, uint32_t s)
{
    uint32_t t = 0;
    static_assert((int)FLOE_HUFFMAN_TABLES <= (int)FLOE_WARP, "five halves");
#pragma unroll
    for (uint32_t half = FLOE_WARP / 2; half; half /= 2) /* the last one that begins there or before */
        t += r.tokens.begin[t + half] <= s ? half : 0;
    return t;
}

/* A thread for each token of each step: what it adds to the length predicted, where it adds anything. False: one reaches over
 * the end of its table. */
FLOE_DEV bool floe_book_deltas(floe_book_reader &r)
{
    bool ok = true;
    for (uint32_t i = threadIdx.x; i < r.tokens.nsteps * FLOE_JUMP_TOKENS; i += FLOE_BOOK_THREADS) {
        const uint32_t step = r.tokens.step[i / FLOE_JUMP_TOKENS];
        uint32_t left = i % FLOE_JUMP_TOKENS, at = step & 0x7FFF, s = step >> 15 & 0xFFF;
        if (left >> 2 * (step >> 27))
            continue;
        while (left) {
            const uint32_t level = left >= 4, jump = r.tokens.jump[level][at];
            at += jump & 0xFF;
            s += jump >> 8;
            left -= level ? 4 : 1;
        }
        const uint32_t bits = (uint32_t)(floe_book_pair(r.tokens.words, at / 32) >> at % 32);
        const uint32_t token = r.tokens.code[bits & ((1 << FLOE_HUFFMAN_TOKEN_LIMIT) - 1)] >> 28;
        const uint32_t table = floe_book_table_of(r, s);
        ok &= s + (r.tokens.jump[0][at] >> 8) <= r.tokens.begin[table + 1];
        if (token && token < FLOE_HUFFMAN_SHORT_RUN)
            r.delta[r.rows.first[table] * FLOE_WARP + s - r.tokens.begin[table]] = (uint8_t)token;
    }
    return ok;
}

/* ---- lengths ------------------------------------------------------------------------------------------------------- */

struct floe_reader_slot {
    uint32_t table, row, base, s; /* base: the slot of the table's symbol 0 */
    bool coded;                   /* symbol s of a CODED table */
};
FLOE_DEV floe_reader_slot floe_reader_slot_of(const floe_book_reader &r, uint32_t k)
{
    floe_reader_slot slot;
    slot.row = threadIdx.x / FLOE_WARP * FLOE_BOOK_WARP_ROWS + k;
    slot.table = r.rows.table[slot.row];
    slot.base = r.rows.first[slot.table] * FLOE_WARP;
    slot.s = slot.row * FLOE_WARP + floe_lane() - slot.base;
    slot.coded = r.mode[slot.table] == FLOE_HUFFMAN_CODED && slot.s < r.rows.nsymbols[slot.table];
    return slot;
}

FLOE_DEV uint32_t floe_sum12(uint32_t a, uint32_t b)
{
    return a + b - (a + b >= FLOE_HUFFMAN_ABSENT ? FLOE_HUFFMAN_ABSENT : 0);
}

/* A symbol's parent and what it adds to the parent's length. Symbols of several values have none yet. */
FLOE_DEV uint32_t floe_tree_leaf(const floe_book_reader &r, const floe_reader_slot &slot)
{
    uint32_t rest = 0, parent = FLOE_TREE_ROOT, sum = 0;
    if (slot.coded && slot.s == 0)
        sum = floe_huffman_stepped(FLOE_HUFFMAN_FIRST_LENGTH, r.delta[slot.base]) - 1;
    if (slot.coded && slot.s > 0) {
        parent = slot.base + floe_huffman_parent(slot.table, slot.s, &rest);
        sum = r.delta[slot.base + slot.s];
    }
    return rest ? FLOE_TREE_ROOT : parent | sum << 12;
}

/* The length, as predicted, of a symbol of several values: from the last of its values to the first. */
FLOE_DEV uint32_t floe_book_v_both(const floe_book_reader &r, const floe_reader_slot &slot)
{
    const uint32_t digit = floe_huffman_digit(slot.table);
    const uint8_t *v = r.tables.v + slot.base, *delta = r.delta + slot.base;
    uint32_t part = 0, sum = 0;
    for (uint32_t place = floe_huffman_places(slot.table); place-- > 0;) {
        const uint32_t low = slot.s & digit << place;
        if (!low)
            continue;
        const uint32_t rest = part;
        part |= low;
        sum = rest ? floe_huffman_stepped(floe_huffman_predict_both(v[low], sum, v[0]), delta[part]) : v[low];
    }
    return sum;
}

/* The lengths of all symbols of CODED tables, a row for each k; 0 for others. The block has synchronized deltas. */
FLOE_DEV void floe_book_lengths(floe_book_reader &r, uint32_t *length)
{
    enum { ROUNDS = 8 }; /* double what is known: 2^8 symbols of a table */
    uint32_t leaf[FLOE_BOOK_WARP_ROWS];
    const uint32_t slot0 = threadIdx.x / FLOE_WARP * FLOE_BOOK_WARP_ROWS * FLOE_WARP + floe_lane();
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++) {
        leaf[k] = floe_tree_leaf(r, floe_reader_slot_of(r, k));
        r.tables.tree[0][slot0 + k * FLOE_WARP] = (uint16_t)leaf[k];
    }
    if (threadIdx.x < 2)
        r.tables.tree[threadIdx.x][FLOE_TREE_ROOT] = FLOE_TREE_ROOT;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++) {
            const uint32_t parent = r.tables.tree[round & 1][leaf[k] & 0xFFF];
            leaf[k] = (parent & 0xFFF) | floe_sum12(leaf[k] >> 12, parent >> 12) << 12;
            r.tables.tree[~round & 1][slot0 + k * FLOE_WARP] = (uint16_t)leaf[k];
        }
    }
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++)
        r.tables.v[slot0 + k * FLOE_WARP] = (uint8_t)((leaf[k] >> 12) + 1);
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++) {
        const floe_reader_slot slot = floe_reader_slot_of(r, k);
        length[k] = slot.coded ? floe_huffman_length_of(slot.s ? floe_book_v_both(r, slot) : r.tables.v[slot.base]) : 0;
    }
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

/* What is to be known of a table's codes. One warp a table. False if they are not complete. */
FLOE_DEV bool floe_table_codes(floe_book_reader &r, uint32_t t)
{
    const uint32_t n = floe_lane(), mode = r.mode[t], first_row = r.rows.first[t];
    const floe_book_codes codes = floe_book_codes_of(r.tables.counts + first_row, r.rows.first[t + 1] - first_row);
    const bool coded = mode == FLOE_HUFFMAN_CODED;
    if (n < FLOE_ROW_VALUES) {
        /* the end of codes of n bits as codes of the longest; all are below the limits from the longest on */
        const uint32_t end = n < codes.longest ? (codes.first + codes.count) << (codes.longest - n) : 0xFFFF;
        r.tables.limit[t][n] = (uint16_t)end;
        r.tables.shorter[t][n] = (uint16_t)codes.shorter;
        r.tables.sort[t][n] = (int16_t)((int32_t)codes.shorter - (int32_t)codes.first);
    }
    if (n == 0)
        r.tables.longest[t] = (uint8_t)(coded                        ? codes.longest
                                        : mode == FLOE_HUFFMAN_FIXED ? floe_huffman_fixed_bits(t)
                                                                     : 0);
    return !coded || codes.complete;
}

/* Puts the symbols in the order of their codes. */
FLOE_DEV void floe_book_sort(floe_book_reader &r, const uint32_t *length, const uint32_t *before)
{
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++) {
        const floe_reader_slot slot = floe_reader_slot_of(r, k);
        const uint32_t first_row = slot.base / FLOE_WARP, n = length[k];
        if (n)
            r.tables.sorted[slot.base + r.tables.shorter[slot.table][n] + before[k] +
                            floe_rows_sum(r.tables.counts + first_row, slot.row - first_row, n)] = (uint8_t)slot.s;
    }
}

/* The entry for so many bits. limit: the table's limits. */
FLOE_DEV uint32_t floe_entry_coded(const floe_book_reader &r, uint32_t t, const uint32_t *limit, uint32_t bits)
{
    const uint32_t longest = r.tables.longest[t], c = floe_huffman_code(bits, longest) & FLOE_HUFFMAN_CODE_MASK;
    uint32_t n = 1;
#pragma unroll
    for (uint32_t i = 1; i < FLOE_HUFFMAN_MAX_LENGTH; i++)
        n += c >= limit[i];
    const uint32_t place = (uint32_t)((int32_t)(c >> (longest - n)) + r.tables.sort[t][n]);
    return floe_huffman_entry(t, r.tables.sorted[r.rows.first[t] * FLOE_WARP + place], n);
}

/* All entries of a table; the whole block. */
FLOE_DEV void floe_table_entries(const floe_book_reader &r, uint32_t t, uint16_t *entry)
{
    const uint32_t mode = r.mode[t], longest = r.tables.longest[t];
    uint32_t limit[FLOE_HUFFMAN_MAX_LENGTH];
#pragma unroll
    for (uint32_t i = 1; i < FLOE_HUFFMAN_MAX_LENGTH; i++)
        limit[i] = r.tables.limit[t][i];
    for (uint32_t i = threadIdx.x; i < 1u << longest; i += FLOE_BOOK_THREADS)
        entry[i] = (uint16_t)(mode == FLOE_HUFFMAN_CODED   ? floe_entry_coded(r, t, limit, i)
                              : mode == FLOE_HUFFMAN_FIXED ? floe_huffman_entry(t, i, longest)
                                                           : floe_huffman_entry(t, r.single[t], 0));
}

/* The whole block; writes the head and its share of the tables. */
FLOE_DEV void floe_decoder_write(const floe_book_reader &r, floe_huffman_decoder *decoder, uint32_t share,
                                 uint32_t nshares)
{
    const uint32_t t = floe_lane();
    const bool is_table = t < FLOE_HUFFMAN_TABLES;
    const uint32_t size = is_table ? 1u << r.tables.longest[t] : 0, start = floe_warp_sum_before(size);
    const uint32_t unused = __ballot_sync(FLOE_ALL_LANES, is_table && r.mode[is_table ? t : 0] == FLOE_HUFFMAN_UNUSED);
    if (share == 0 && threadIdx.x < FLOE_HUFFMAN_TABLES) {
        decoder->start[t] = (uint16_t)start;
        decoder->mask[t] = (uint16_t)(size - 1);
        decoder->unused = unused;
    }
    static_assert((int)FLOE_HUFFMAN_TABLES < (int)FLOE_WARP, "a lane behind the tables knows where they end");
    if (share == 0 && threadIdx.x == FLOE_HUFFMAN_TABLES && start % 2) /* they are read in pairs */
        decoder->entry[start] = 0;
    for (uint32_t table = share; table < FLOE_HUFFMAN_TABLES; table += nshares)
        floe_table_entries(r, table, decoder->entry + __shfl_sync(FLOE_ALL_LANES, start, table));
}

/* ---- a book -------------------------------------------------------------------------------------------------------- */

/* Copies the words and reads what stands in front of the tokens. Returns whether there are tokens. */
FLOE_DEV bool floe_book_load(floe_book_reader &r, const uint32_t *words, uint32_t nwords)
{
    const uint32_t i = threadIdx.x;
    for (uint32_t k = i; k < nwords + 2; k += FLOE_BOOK_THREADS)
        r.tokens.words[k] = k < nwords ? words[k] : 0;
    for (uint32_t k = i; k < FLOE_BOOK_SLOTS; k += FLOE_BOOK_THREADS)
        r.delta[k] = 0;
    if (i < FLOE_WARP)
        floe_book_rows_fill(r.rows);
    __syncthreads();
    uint32_t mode = FLOE_HUFFMAN_UNUSED;
    if (i < FLOE_WARP) {
        const bool is_table = i < FLOE_HUFFMAN_TABLES;
        mode = is_table ? (uint32_t)(floe_book_pair(r.tokens.words, 0) >> i * FLOE_HUFFMAN_MODE_BITS) &
                              ((1 << FLOE_HUFFMAN_MODE_BITS) - 1)
                        : (uint32_t)FLOE_HUFFMAN_UNUSED;
        const uint32_t nsymbols = is_table && mode == FLOE_HUFFMAN_CODED ? r.rows.nsymbols[i] : 0;
        const uint32_t singles = __ballot_sync(FLOE_ALL_LANES, mode == FLOE_HUFFMAN_SINGLE);
        r.tokens.begin[i] = (uint16_t)floe_warp_sum_before(nsymbols);
        if (i == 0)
            r.tokens.singles = singles;
        if (is_table) {
            r.mode[i] = (uint8_t)mode;
            r.single[i] = 0;
        }
    }
    return __syncthreads_or(mode == FLOE_HUFFMAN_CODED) != 0;
}

/* Reads the tokens of all tables into deltas. False if that is no book. */
FLOE_DEV bool floe_book_parse(floe_book_reader &r, bool has_tokens, bool long_jumps, uint32_t nwords)
{
    const uint32_t begin = has_tokens ? FLOE_BOOK_TOKENS_AT : FLOE_BOOK_CODES_AT, nbits = nwords * 32;
    if (begin > nbits)
        return false;
    if (has_tokens) {
        if (!__syncthreads_and(threadIdx.x >= 1 << FLOE_HUFFMAN_TOKEN_LIMIT || floe_tokens_read(r)))
            return false;
        floe_jumps_first(r, nwords, long_jumps);
        __syncthreads();
        floe_jumps_next(r.tokens.jump[0], r.tokens.jump[1], nbits);
        __syncthreads();
        if (long_jumps)
            floe_jumps_next(r.tokens.jump[1], r.longest, nbits);
        __syncthreads();
    }
    const bool ends =
        threadIdx.x || floe_book_ends(r.tokens.words, nwords, floe_book_walk(r, long_jumps, begin, nbits));
    if (!__syncthreads_and(ends))
        return false;
    return __syncthreads_and(floe_book_deltas(r));
}

/* From deltas to everything that entries are made of. False if a table's code is not complete. */
FLOE_DEV bool floe_book_codes_find(floe_book_reader &r)
{
    uint32_t length[FLOE_BOOK_WARP_ROWS], before[FLOE_BOOK_WARP_ROWS];
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    floe_book_lengths(r, length);
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++)
        before[k] = floe_row_count(length[k], r.tables.counts[warp * FLOE_BOOK_WARP_ROWS + k]);
    __syncthreads();
    if (!__syncthreads_and(warp >= FLOE_HUFFMAN_TABLES || floe_table_codes(r, warp)))
        return false;
    floe_book_sort(r, length, before);
    __syncthreads();
    return true;
}

/* On a multiprocessor: some have room for 1536 threads only. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1100)
#define FLOE_BOOK_BLOCKS 1
#else
#define FLOE_BOOK_BLOCKS 2
#endif

/* nblocks blocks have a chunk: all of them read its book, and each makes some of the tables. A warp has WARP_ROWS rows. */
__global__ void __launch_bounds__(FLOE_BOOK_THREADS, FLOE_BOOK_BLOCKS)
    huffman_book_read_kernel(const uint8_t *bytes, const uint64_t *at, const uint32_t *nwords, uint32_t nblocks,
                             bool long_jumps, floe_huffman_decoder *decoders, uint32_t *bad)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(floe_book_reader, reader);
    const uint32_t chunk = blockIdx.x / nblocks, share = blockIdx.x % nblocks, n = nwords[chunk];
    const uint64_t from = at[chunk];
    if (from == UINT64_MAX)
        return;
    const bool sane = n >= (FLOE_BOOK_CODES_AT + 31) / 32 && n <= FLOE_BOOK_MOST_WORDS;
    bool ok = sane;
    if (sane) {
        const bool has_tokens = floe_book_load(*reader, (const uint32_t *)(bytes + from), n);
        ok = floe_book_parse(*reader, has_tokens, long_jumps, n) && floe_book_codes_find(*reader);
    }
    if (ok)
        floe_decoder_write(*reader, decoders + chunk, share, nblocks);
    else if (share == 0 && threadIdx.x == 0) {
        decoders[chunk].unused = (1u << FLOE_HUFFMAN_TABLES) - 1;
        atomicOr(bad + chunk, 1u);
    }
}

#endif
