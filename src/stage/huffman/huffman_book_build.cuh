/* SPDX-License-Identifier: BSD-3-Clause */
/* From histograms to codebooks and their words: a kernel that chooses, a block a table, and one that writes, a block a chunk. */
#ifndef FLOE_STAGE_HUFFMAN_BOOK_BUILD_CUH
#define FLOE_STAGE_HUFFMAN_BOOK_BUILD_CUH

#include "backend/device.cuh"
#include "stage/huffman/huffman_book_rows.cuh"

/*
 * Optimal code lengths on a GPU: floe_huffman_lengths by a block or a warp, a thread a symbol.
 *
 * Each round of package-merge merges two sorted lists, leaves and pairs of the list before. The place of an item in the
 * merged list is its place in its own list and the number of items of the other one that come before it, which a binary
 * search finds. Weights are cut to 32 bits: leaves fit, and only whether a leaf is heavier than a pair ever counts.
 */

/* Who works together. count synchronizes, too. */
struct floe_block_members {
    static __device__ __forceinline__ uint32_t member() { return threadIdx.x; }
    static __device__ __forceinline__ void sync() { __syncthreads(); }
    static __device__ __forceinline__ uint32_t count(bool p) { return (uint32_t)__syncthreads_count(p); }
};
struct floe_warp_members {
    static __device__ __forceinline__ uint32_t member() { return floe_lane(); }
    static __device__ __forceinline__ void sync() { __syncwarp(); }
    static __device__ __forceinline__ uint32_t count(bool p)
    {
        __syncwarp();
        return __popc(__ballot_sync(FLOE_ALL_LANES, p));
    }
};

/* Shared memory of N members; N is a multiple of 32. */
template <uint32_t N, uint32_t LIMIT> struct floe_lengths_work {
    alignas(16) uint32_t weight[N]; /* by symbol, less 1, so that unused symbols are the heaviest */
    uint32_t sorted[N];             /* the same, each row in rising order */
    uint32_t leaf[2 * N];     /* weights of the used symbols, rising; then UINT32_MAX, as far as a search may look */
    uint32_t list[2][2 * N];  /* likewise */
    uint16_t place[LIMIT][N]; /* of each leaf in each round's list */
    uint8_t symbol[N], length[N];
};

/* The symbols of its own row that come before this one in the order of rising weight, then symbol number. */
FLOE_DEV uint32_t floe_lengths_rank_in_row(const uint32_t *weight, uint32_t s)
{
    const uint32_t mine = weight[s], row = s / FLOE_WARP * FLOE_WARP;
    uint32_t rank = 0;
#pragma unroll
    for (uint32_t i = 0; i < FLOE_WARP; i += 4) {
        const uint4 w = *(const uint4 *)(weight + row + i);
        rank += (w.x < mine || (w.x == mine && row + i < s)) + (w.y < mine || (w.y == mine && row + i + 1 < s));
        rank += (w.z < mine || (w.z == mine && row + i + 2 < s)) + (w.w < mine || (w.w == mine && row + i + 3 < s));
    }
    return rank;
}

/* The used symbols of other rows that come before used symbol s: those of rows before come first when they weigh the same. A
 * binary search in each row, all rows abreast. */
template <uint32_t N>
FLOE_DEV uint32_t floe_lengths_rank_in_others(const uint32_t *sorted, uint32_t nsymbols, uint32_t s, uint32_t mine)
{
    enum { ROWS = N / FLOE_WARP };
    uint32_t less[ROWS] = {0}, rank = 0;
#pragma unroll
    for (uint32_t step = FLOE_WARP / 2; step; step /= 2) {
#pragma unroll
        for (uint32_t r = 0; r < ROWS; r++)
            if (r * FLOE_WARP < nsymbols && r != s / FLOE_WARP)
                less[r] += sorted[r * FLOE_WARP + less[r] + step - 1] < mine + (r < s / FLOE_WARP) ? step : 0;
    }
#pragma unroll
    for (uint32_t r = 0; r < ROWS; r++)
        if (r * FLOE_WARP < nsymbols && r != s / FLOE_WARP)
            rank += less[r] + (sorted[r * FLOE_WARP + less[r]] < mine + (r < s / FLOE_WARP));
    return rank;
}

/* Where two items of the round before stand as a pair: before what is heavier, behind leaves that are not. */
FLOE_DEV uint32_t floe_lengths_pair(uint2 two)
{
    const uint32_t sum = two.x + two.y;
    return sum < two.x ? UINT32_MAX : sum;
}

FLOE_DEV bool floe_lengths_lighter(const uint32_t *list, uint32_t p, uint32_t leaf)
{
    const uint2 two = ((const uint2 *)list)[p];
    return two.x < leaf - two.y && two.y < leaf;
}

/* Steps of a search that go on, of three; each holds only if those before do. */
FLOE_DEV uint32_t floe_lengths_steps(bool first, bool second, bool third, uint32_t step)
{
    const uint32_t less = first ? step : 0, more = third ? 3 * step : 2 * step;
    return second ? more : less;
}

/* How many pairs of a list are lighter than leaf, and how many leaves are not heavier than pair; both searches abreast. There
 * are less than N pairs. Each turn looks at the ends of three quarters: what counts is how often one waits for shared memory. */
template <uint32_t N>
FLOE_DEV void floe_lengths_search(const uint32_t *list, const uint32_t *leaves, uint32_t leaf, uint32_t pair,
                                  uint32_t *npairs, uint32_t *nleaves)
{
    uint32_t lighter = 0, lower = 0, left = N;
    if (N & 0xAAAAAAAA) { /* not a power of 4 */
        left = N / 2;
        lighter = floe_lengths_lighter(list, left - 1, leaf) ? left : 0;
        lower = leaves[left - 1] <= pair ? left : 0;
    }
#pragma unroll
    for (uint32_t step = left / 4; step; step /= 4) {
        const uint32_t p = lighter + step - 1, l = lower + step - 1;
        lighter += floe_lengths_steps(floe_lengths_lighter(list, p, leaf), floe_lengths_lighter(list, p + step, leaf),
                                      floe_lengths_lighter(list, p + 2 * step, leaf), step);
        lower += floe_lengths_steps(leaves[l] <= pair, leaves[l + step] <= pair, leaves[l + 2 * step] <= pair, step);
    }
    *npairs = lighter;
    *nleaves = leaves[N - 1] <= pair ? N : lower;
}

/* Clears the lists and ranks the symbols. Returns how many occur. */
template <typename Members, uint32_t N, uint32_t LIMIT>
FLOE_DEV uint32_t floe_lengths_sort(floe_lengths_work<N, LIMIT> &work, uint32_t nsymbols, uint32_t count)
{
    const uint32_t i = Members::member();
    work.weight[i] = count - 1;
    work.length[i] = 0;
    work.leaf[i] = UINT32_MAX;
    for (uint32_t k = i; k < 2 * N; k += N)
        work.list[0][k] = work.list[1][k] = UINT32_MAX;
    __syncwarp();
    uint32_t rank = floe_lengths_rank_in_row(work.weight, i);
    work.sorted[i / FLOE_WARP * FLOE_WARP + rank] = count - 1;
    const uint32_t n = Members::count(count > 0);
    if (count) {
        rank += floe_lengths_rank_in_others<N>(work.sorted, nsymbols, i, count - 1);
        work.leaf[rank] = work.list[0][rank] = count;
        work.symbol[rank] = (uint8_t)i;
    }
    Members::sync();
    return n;
}

/* The length for symbol Members::member() of at most N, which occurs count times. At least two occur. nsymbols is the same
 * for all members; count is 0 for other symbols. All members; they are synchronized on return. */
template <typename Members, uint32_t N, uint32_t LIMIT>
FLOE_DEV uint32_t floe_lengths_find(floe_lengths_work<N, LIMIT> &work, uint32_t nsymbols, uint32_t count)
{
    const uint32_t i = Members::member(), n = floe_lengths_sort<Members>(work, nsymbols, count);
    const uint32_t keep = 2 * n - 2, leaf = work.leaf[i];
    uint32_t nlist = n, lighter, leaves;
    work.place[0][i] = (uint16_t)(i < n ? i : UINT16_MAX);
    for (uint32_t r = 1; r < LIMIT; r++) {
        const uint32_t *before = work.list[~r & 1], npairs = nlist / 2;
        uint32_t *list = work.list[r & 1];
        const uint32_t pair = floe_lengths_pair(((const uint2 *)before)[i]);
        floe_lengths_search<N>(before, work.leaf, leaf, pair, &lighter, &leaves);
        const uint32_t leaf_at = i + lighter, pair_at = i + min(leaves, n);
        work.place[r][i] = (uint16_t)(i < n ? leaf_at : UINT16_MAX);
        if (i < n && leaf_at < keep)
            list[leaf_at] = leaf;
        if (i < npairs && pair_at < keep)
            list[pair_at] = pair;
        nlist = min(keep, n + npairs);
        Members::sync();
    }
    uint32_t items = keep, length = 0;
    for (uint32_t r = LIMIT; r-- > 0;) {
        const bool counts = work.place[r][i] < items;
        length += counts;
        items = 2 * (items - Members::count(counts));
    }
    if (i < n)
        work.length[work.symbol[i]] = (uint8_t)length;
    Members::sync();
    return work.length[i];
}

/* ---- tokens of a table's lengths ----------------------------------------------------------------------------------- */

/* Where no token starts. */
#define FLOE_NO_TOKEN 0xFFFFu

/* The token that starts at symbol s, | its more bits << 4. v: the table's lengths as predicted; match: bit s shows that the
 * length of symbol s is, a word a row.
 *
 * A token for several symbols stays in a run of matches, so each run begins with a token: it is cut into pieces of
 * LONGEST_RUN from there, and a rest that is too short to be a run is tokens of single symbols. */
FLOE_DEV uint32_t floe_token_at(uint32_t table, const uint8_t *v, const uint32_t *match, uint32_t nrows, uint32_t s)
{
    uint32_t row = s / FLOE_WARP, run = 0, extra, advance;
    if (match[row] >> s % FLOE_WARP & 1) {
        const uint32_t before = (1u << s % FLOE_WARP) - 1;
        uint32_t r = row, odd = ~match[r] & before;
        while (!odd && r > 0)
            odd = ~match[--r];
        const uint32_t from = r * FLOE_WARP + (odd ? 32 - __clz(odd) : 0);
        r = row;
        odd = ~match[r] & ~before;
        while (!odd && r + 1 < nrows)
            odd = ~match[++r];
        const uint32_t to = r * FLOE_WARP + (odd ? __ffs(odd) - 1 : FLOE_WARP);
        const uint32_t within = (s - from) % FLOE_HUFFMAN_LONGEST_RUN;
        run = min((uint32_t)FLOE_HUFFMAN_LONGEST_RUN, to - (s - within));
        if (run >= FLOE_HUFFMAN_SHORT_RUN_LEAST && within)
            return FLOE_NO_TOKEN;
    }
    const uint32_t token = floe_huffman_token_of(run, v[s], floe_huffman_predict(table, v, s), &extra, &advance);
    return token | extra << 4;
}

/* ---- choosing ------------------------------------------------------------------------------------------------------ */

struct floe_table_work {
    floe_lengths_work<FLOE_HUFFMAN_SYMBOLS, FLOE_HUFFMAN_MAX_LENGTH> lengths;
    uint8_t v[FLOE_HUFFMAN_SYMBOLS];
    uint32_t match[FLOE_HUFFMAN_SYMBOLS / FLOE_WARP];
    uint8_t counts[FLOE_HUFFMAN_SYMBOLS / FLOE_WARP][FLOE_ROW_VALUES];
    int64_t gain[FLOE_HUFFMAN_SYMBOLS / FLOE_WARP];
};

/* Whether a code is shorter than FIXED, lengths included. Thread s has symbol s; n is the length that it would have. */
FLOE_DEV bool floe_table_pays(floe_table_work &w, uint32_t table, uint32_t nsymbols, uint32_t count, uint32_t n)
{
    const uint32_t s = threadIdx.x;
    w.v[s] = (uint8_t)floe_huffman_predicted_as(n);
    __syncthreads();
    const bool match = s < nsymbols && w.v[s] == floe_huffman_predict(table, w.v, s);
    const uint32_t row = __ballot_sync(FLOE_ALL_LANES, match);
    if (floe_lane() == 0)
        w.match[s / FLOE_WARP] = row;
    __syncthreads();
    const uint32_t nrows = (nsymbols + FLOE_WARP - 1) / FLOE_WARP;
    const uint32_t token = s < nsymbols ? floe_token_at(table, w.v, w.match, nrows, s) : FLOE_NO_TOKEN;
    int64_t gain = (int64_t)count * ((int32_t)floe_huffman_fixed_bits(table) - (int32_t)n);
    if (token != FLOE_NO_TOKEN)
        gain -= FLOE_HUFFMAN_TYPICAL_TOKEN_BITS + floe_huffman_token_extra(token & 15);
    return floe_block_sum(gain, w.gain, blockDim.x / FLOE_WARP) > 0;
}

/* A table of two symbols or more. */
FLOE_DEV void floe_table_choose(floe_table_work &w, uint32_t table, uint32_t count, floe_huffman_book *book)
{
    const uint32_t s = threadIdx.x, nsymbols = floe_huffman_alphabet(table), fixed = floe_huffman_fixed_bits(table);
    uint32_t n = floe_lengths_find<floe_block_members>(w.lengths, nsymbols, count);
    uint32_t before = floe_row_count(n, w.counts[s / FLOE_WARP]), code;
    const bool pays = floe_table_pays(w, table, nsymbols, count, n);
    if (pays) {
        before += floe_rows_sum(w.counts, s / FLOE_WARP, n);
        floe_book_codes codes = floe_book_codes_of(w.counts, FLOE_HUFFMAN_SYMBOLS / FLOE_WARP);
        uint32_t first = __shfl_sync(FLOE_ALL_LANES, codes.first, n);
        code = n ? floe_huffman_code(first + before, n) : 0;
    } else {
        n = s < 1u << fixed ? fixed : 0;
        code = n ? s | n << FLOE_HUFFMAN_MAX_LENGTH : 0;
    }
    book->length[table][s] = (uint8_t)n;
    book->code[table][s] = (uint16_t)code;
    if (s == 0) {
        book->mode[table] = pays ? FLOE_HUFFMAN_CODED : FLOE_HUFFMAN_FIXED;
        book->single[table] = 0;
    }
}

/* A block has a table of a chunk, a thread a symbol. */
__global__ void __launch_bounds__(FLOE_HUFFMAN_SYMBOLS)
    huffman_table_choose_kernel(const floe_huffman_hist *hist, floe_huffman_book *books, const uint32_t *skip)
{
    floe_dev_begin();
    __shared__ floe_table_work w;
    const uint32_t chunk = blockIdx.x / FLOE_HUFFMAN_TABLES, t = blockIdx.x % FLOE_HUFFMAN_TABLES, s = threadIdx.x;
    if (skip && skip[chunk])
        return;
    floe_huffman_book *book = books + chunk;
    const uint32_t count = s < floe_huffman_alphabet(t) ? hist[chunk].count[t][s] : 0;
    const uint32_t nused = (uint32_t)__syncthreads_count(count > 0);
    if (nused > 1) {
        floe_table_choose(w, t, count, book);
        return;
    }
    book->length[t][s] = 0;
    book->code[t][s] = 0;
    if (nused ? count > 0 : s == 0) {
        book->mode[t] = nused ? FLOE_HUFFMAN_SINGLE : FLOE_HUFFMAN_UNUSED;
        book->single[t] = (uint8_t)s;
    }
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

struct floe_book_writer {
    floe_lengths_work<FLOE_WARP, FLOE_HUFFMAN_TOKEN_LIMIT> lengths;
    floe_book_rows rows;
    uint8_t mode[FLOE_HUFFMAN_TABLES], single[FLOE_HUFFMAN_TABLES];
    uint8_t v[FLOE_BOOK_SLOTS];
    uint32_t match[FLOE_BOOK_ROWS];
    uint32_t count[FLOE_WARP]; /* of tokens */
    uint8_t counts[1][FLOE_ROW_VALUES];
    uint16_t code[FLOE_WARP]; /* of tokens, as in a book */
    uint32_t warp_bits[FLOE_WARP];
    uint32_t words[FLOE_BOOK_MOST_WORDS + 1];
};

/* A symbol as the block holds it. */
struct floe_book_slot {
    uint32_t table, row, s, nsymbols, mode;
};
FLOE_DEV floe_book_slot floe_book_slot_of(const floe_book_rows &rows, const uint8_t *mode, uint32_t k)
{
    floe_book_slot slot;
    slot.row = threadIdx.x / FLOE_WARP * FLOE_BOOK_WARP_ROWS + k;
    slot.table = rows.table[slot.row];
    slot.s = (slot.row - rows.first[slot.table]) * FLOE_WARP + floe_lane();
    slot.nsymbols = rows.nsymbols[slot.table];
    slot.mode = mode[slot.table];
    return slot;
}

/* value has no bits above nbits <= 31. Bits are 0 before; any thread, any order. */
FLOE_DEV void floe_book_put(uint32_t *words, uint32_t at, uint32_t value, uint32_t nbits)
{
    const uint32_t shift = at % 32;
    if (value << shift)
        atomicOr(words + at / 32, value << shift);
    if (shift + nbits > 32 && value >> (32 - shift))
        atomicOr(words + at / 32 + 1, value >> (32 - shift));
}

/* The code of the tokens from their counts. One warp. */
FLOE_DEV void floe_tokens_code(floe_book_writer &w)
{
    const uint32_t k = floe_lane();
    if (k == 0)
        floe_huffman_tokens_two(w.count);
    __syncwarp();
    const uint32_t n = floe_lengths_find<floe_warp_members>(w.lengths, FLOE_HUFFMAN_TOKENS, w.count[k]);
    const uint32_t before = floe_row_count(n, w.counts[0]);
    __syncwarp();
    floe_book_codes codes = floe_book_codes_of(w.counts, 1);
    const uint32_t first = __shfl_sync(FLOE_ALL_LANES, codes.first, n);
    w.code[k] = n ? floe_huffman_code(first + before, n) : 0;
    if (k < FLOE_HUFFMAN_TOKENS)
        floe_book_put(w.words, FLOE_BOOK_CODES_AT + k * FLOE_HUFFMAN_TOKEN_LENGTH_BITS, n,
                      FLOE_HUFFMAN_TOKEN_LENGTH_BITS);
}

/* Fills v, match and count, and gives each slot its token. The block synchronizes afterwards. */
FLOE_DEV void floe_book_tokens(floe_book_writer &w, const floe_huffman_book *book, uint32_t *token)
{
    floe_book_slot slot[FLOE_BOOK_WARP_ROWS];
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++) {
        slot[k] = floe_book_slot_of(w.rows, w.mode, k);
        const uint32_t n = slot[k].s < slot[k].nsymbols ? book->length[slot[k].table][slot[k].s] : 0;
        w.v[slot[k].row * FLOE_WARP + floe_lane()] = (uint8_t)floe_huffman_predicted_as(n);
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++) {
        const uint8_t *v = w.v + w.rows.first[slot[k].table] * FLOE_WARP;
        const bool match =
            slot[k].s < slot[k].nsymbols && v[slot[k].s] == floe_huffman_predict(slot[k].table, v, slot[k].s);
        const uint32_t row = __ballot_sync(FLOE_ALL_LANES, match);
        if (floe_lane() == 0)
            w.match[slot[k].row] = row;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++) {
        token[k] = FLOE_NO_TOKEN;
        if (slot[k].mode == FLOE_HUFFMAN_CODED && slot[k].s < slot[k].nsymbols) {
            const uint32_t first = w.rows.first[slot[k].table], nrows = w.rows.first[slot[k].table + 1] - first;
            token[k] = floe_token_at(slot[k].table, w.v + first * FLOE_WARP, w.match + first, nrows, slot[k].s);
        }
        if (token[k] != FLOE_NO_TOKEN)
            atomicAdd(w.count + (token[k] & 15), 1u);
    }
}

/* What a slot adds to the book: its token with more bits, the symbol of a SINGLE table, or nothing. */
FLOE_DEV uint32_t floe_slot_bits(const floe_book_writer &w, uint32_t k, uint32_t token, uint32_t *value)
{
    const floe_book_slot slot = floe_book_slot_of(w.rows, w.mode, k);
    const bool single = slot.mode == FLOE_HUFFMAN_SINGLE && slot.s == 0;
    *value = single ? w.single[slot.table] : 0;
    if (token == FLOE_NO_TOKEN)
        return single ? FLOE_HUFFMAN_SINGLE_BITS : 0;
    const uint32_t code = w.code[token & 15], n = code >> FLOE_HUFFMAN_MAX_LENGTH;
    *value = (code & FLOE_HUFFMAN_CODE_MASK) | token >> 4 << n;
    return n + floe_huffman_token_extra(token & 15);
}

/* Puts all slots one behind the other, from bit `at` on. Returns the bit behind the last. */
FLOE_DEV uint32_t floe_book_place(floe_book_writer &w, const uint32_t *token, uint32_t at)
{
    uint32_t value[FLOE_BOOK_WARP_ROWS], nbits[FLOE_BOOK_WARP_ROWS], end[FLOE_BOOK_WARP_ROWS], sum = 0;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++) {
        nbits[k] = floe_slot_bits(w, k, token[k], value + k);
        const uint32_t scan = floe_warp_sum_to(nbits[k]);
        end[k] = sum + scan;
        sum += __shfl_sync(FLOE_ALL_LANES, scan, FLOE_WARP - 1);
    }
    if (floe_lane() == 0)
        w.warp_bits[warp] = sum;
    __syncthreads();
    const uint32_t ends = at + floe_warp_sum_to(w.warp_bits[floe_lane()]);
    const uint32_t begin = __shfl_sync(FLOE_ALL_LANES, ends, warp) - sum;
#pragma unroll
    for (uint32_t k = 0; k < FLOE_BOOK_WARP_ROWS; k++)
        floe_book_put(w.words, begin + end[k] - nbits[k], value[k], nbits[k]);
    return __shfl_sync(FLOE_ALL_LANES, ends, FLOE_BOOK_WARPS - 1);
}

/* A block has a chunk; a warp has WARP_ROWS rows of symbols. */
__global__ void __launch_bounds__(FLOE_BOOK_THREADS)
    huffman_book_write_kernel(const floe_huffman_book *books, uint32_t *words, uint32_t *nwords, const uint32_t *skip)
{
    floe_dev_begin_then_launch(); /* what comes next may do with the codes alone for a while */
    __shared__ floe_book_writer w;
    const uint32_t chunk = blockIdx.x, i = threadIdx.x;
    if (skip && skip[chunk])
        return;
    const floe_huffman_book *book = books + chunk;
    uint32_t token[FLOE_BOOK_WARP_ROWS], mode = FLOE_HUFFMAN_UNUSED;
    if (i < FLOE_WARP)
        floe_book_rows_fill(w.rows);
    if (i < FLOE_HUFFMAN_TABLES) {
        w.mode[i] = book->mode[i];
        w.single[i] = book->single[i];
        mode = w.mode[i];
    }
    for (uint32_t k = i; k < FLOE_BOOK_MOST_WORDS + 1; k += FLOE_BOOK_THREADS)
        w.words[k] = 0;
    if (i < FLOE_WARP)
        w.count[i] = w.warp_bits[i] = 0;
    const bool coded = __syncthreads_or(mode == FLOE_HUFFMAN_CODED) != 0;
    floe_book_tokens(w, book, token);
    if (i < FLOE_HUFFMAN_TABLES)
        floe_book_put(w.words, i * FLOE_HUFFMAN_MODE_BITS, mode, FLOE_HUFFMAN_MODE_BITS);
    __syncthreads();
    if (coded && i < FLOE_WARP)
        floe_tokens_code(w);
    __syncthreads();
    const uint32_t nbits = floe_book_place(w, token, coded ? FLOE_BOOK_TOKENS_AT : FLOE_BOOK_CODES_AT);
    const uint32_t n = (nbits + 31) / 32;
    __syncthreads();
    for (uint32_t k = i; k < n; k += FLOE_BOOK_THREADS)
        words[(uint64_t)chunk * FLOE_HUFFMAN_BOOK_WORDS + k] = w.words[k];
    if (i == 0)
        nwords[chunk] = n;
}

#endif
