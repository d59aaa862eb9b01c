/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting keeps the symbols that it finds, for encoding. An item is a token of each lane. A window has an item for the masks of each row,
 * then items for its values as they are dealt. Encoding, which is a chain of states, then only goes through the items from the last one to
 * the first. Where there is no room for items, it finds the symbols again.
 */
#ifndef FLOE_STAGE_CONTEXT_COUNT_CUH
#define FLOE_STAGE_CONTEXT_COUNT_CUH

#include "backend/device_scan.cuh"
#include "stage/ans/ans_lanes.cuh"
#include "stage/context/context_walk.cuh"

namespace
{

/* A token is the number of its symbol among those of all contexts. */
enum {
    TOKEN_NONE = 0, /* of a lane without a symbol: this one changes no state */
    TOKEN_MASKS = 1,
    TOKEN_VALUES = TOKEN_MASKS + FLOE_CONTEXT_MASKS * FLOE_CONTEXT_MASK_SYMBOLS,
    TOKEN_RAW = 1 << 15, /* set in all lanes: the item before this one has raw bits, below a bit that is set */
    ITEM_WORDS = FLOE_WARP / 2,
    ITEM_SLAB = 512,      /* items that a warp takes at a time, at most */
    ITEM_SLABS = 1 << 14, /* there is room for so many slabs; if that leaves them too small, a slab holds one window */
    ITEMS_AHEAD = 8       /* items that are being loaded while as many are written */
};
static_assert(TOKEN_VALUES + FLOE_CONTEXT_VALUES * FLOE_CONTEXT_VALUE_SYMBOLS <= TOKEN_RAW, "tokens have 15 bits");

FLOE_DEV uint32_t token_of_mask(uint32_t context, uint32_t mask)
{
    return TOKEN_MASKS + context * FLOE_CONTEXT_MASK_SYMBOLS + mask;
}
FLOE_DEV uint32_t token_of_value(uint32_t context, uint32_t symbol)
{
    return TOKEN_VALUES + context * FLOE_CONTEXT_VALUE_SYMBOLS + symbol;
}

/* The windows of a chunk; NULL if nothing is kept. */
FLOE_DEV floe_context_dev_window *windows_of(const floe_context_job &job, const floe_context_dev_grid &g,
                                             uint32_t chunk)
{
    return job.windows ? job.windows + g.first_window + (uint64_t)chunk * floe_context_chunk_windows(&g) : NULL;
}

/* ---- count ------------------------------------------------------------------------------------------------------------- */

/* The symbol of a value in the list of a window, and its context. */
struct value_symbol {
    uint32_t context, symbol, size;
    bool negative;
};

template <class WALK> FLOE_DEV value_symbol symbol_of(const WALK &walk, const window_of_rows &w, uint32_t entry)
{
    const listed v = walk.value_of(w, entry);
    const int32_t code = walk.codes()[v.code];
    const uint32_t size = floe_context_magnitude(code);
    return {v.context, floe_context_symbol(size, (code < 0) ^ v.flip), size, code < 0};
}

/* Where a warp puts items. The order of slabs in memory varies, but nothing of it reaches the stream. */
struct token_keeper {
    const floe_context_job *job;
    floe_context_dev_window *windows; /* NULL: nothing is kept */
    uint32_t first, end;              /* the window's first item, and the end of the slab; end 0: there is no room */
    uint16_t *to;                     /* where this lane's token of the next item goes */

    /* Begins a window that has at most so many items. */
    __device__ __forceinline__ void begin(uint32_t most)
    {
        if (windows && end - first < most) {
            const uint64_t room = job->ntokens / ITEM_WORDS, share = floe_min64(room / ITEM_SLABS, ITEM_SLAB);
            const unsigned long long slab = floe_max64(share, most);
            unsigned long long begin = 0;
            if (floe_lane() == 0)
                begin = atomicAdd((unsigned long long *)job->tokens_taken, slab * ITEM_WORDS) / ITEM_WORDS;
            begin = __shfl_sync(FLOE_ALL_LANES, begin, 0);
            first = begin + slab > room ? 0 : (uint32_t)begin;
            end = begin + slab > room ? 0 : (uint32_t)(begin + slab);
        }
        to = end ? item(first) : NULL;
    }
    __device__ __forceinline__ uint16_t *item(uint32_t i) const
    {
        return (uint16_t *)job->tokens + (uint64_t)i * FLOE_WARP + floe_lane();
    }
    __device__ __forceinline__ void put(uint32_t token)
    {
        if (!end)
            return;
        *to = (uint16_t)token;
        to += FLOE_WARP;
    }
    /* Raw bits are an item of their own, with a bit above them; lanes without any have that bit alone. */
    __device__ __forceinline__ void put_value(bool active, const value_symbol &v)
    {
        if (!end)
            return;
        const bool has_raw = active && v.symbol >= FLOE_CONTEXT_FIRST_RAW, some = __any_sync(FLOE_ALL_LANES, has_raw);
        if (some)
            put(has_raw ? floe_context_raw(v.size, v.negative) | 1u << floe_context_nraw(v.symbol) : 1);
        put((active ? token_of_value(v.context, v.symbol) : TOKEN_NONE) | (some ? TOKEN_RAW : 0));
    }
    __device__ __forceinline__ void end_window(uint32_t window)
    {
        const uint32_t n = end ? (uint32_t)((to - item(first)) / FLOE_WARP) : 0;
        if (windows && floe_lane() == 0)
            windows[window] = {end ? first : FLOE_CONTEXT_NOT_KEPT, n};
        first += n;
    }
};

/* How many parts a whole chunk has of so many rows, which are whole windows. All records are there, so that no part waits for the one
 * above it. */
FLOE_DEV uint32_t count_parts(const floe_context_grid &g, uint32_t rows)
{
    return (g.piece[0] * g.piece[1] + rows - 1) / rows;
}

/* What a block counts with. contexts: of masks, of each activity. */
struct counting {
    const uint8_t *contexts;
    uint32_t *counts; /* the block's, in shared memory */
    uint32_t nempty;  /* this lane's masks 0 in context 0, the commonest symbol: they do without an atomic each */
    token_keeper keeper;

    template <class WALK> __device__ __forceinline__ void add_mask(const WALK &walk, uint32_t activity, uint32_t mask)
    {
        const uint32_t context = contexts[activity], place = context * FLOE_CONTEXT_MASK_SYMBOLS + mask;
        nempty += walk.mine() && place == 0;
        if (walk.mine() && place)
            atomicAdd(counts + place, 1u);
        keeper.put(walk.mine() ? token_of_mask(context, mask) : TOKEN_NONE);
    }

    /* Adds the n values of the window's list, `deal` at a time. */
    template <class WALK>
    __device__ __forceinline__ void add_values(const WALK &walk, const window_of_rows &w, uint32_t n, uint32_t deal)
    {
#pragma unroll 1
        for (uint32_t first = 0; first < n; first += deal) {
            const uint32_t k = first + floe_lane();
            const bool active = floe_lane() < deal && k < n;
            const value_symbol v = symbol_of(walk, w, walk.list[active ? k : 0]);
            if (active)
                atomicAdd(counts + FLOE_CONTEXT_VALUES_AT + v.context * FLOE_CONTEXT_STRIDE + v.symbol, 1u);
            keeper.put_value(active, v);
        }
    }

    __device__ __forceinline__ void end_block()
    {
        const uint32_t all = __reduce_add_sync(FLOE_ALL_LANES, nempty);
        if (floe_lane() == 0)
            atomicAdd(counts, all);
        nempty = 0;
    }

    /* How many lanes values are dealt to: if they are kept, as many as when they are coded. */
    template <class WALK> __device__ __forceinline__ uint32_t deal_of(const WALK &walk) const
    {
        return keeper.windows ? walk.lanes : FLOE_WARP;
    }
    /* Begins a window of so many rows with n values. */
    __device__ __forceinline__ void begin_window(uint32_t nrows, uint32_t n, uint32_t deal)
    {
        const uint32_t nsteps = deal == FLOE_WARP ? (n + FLOE_WARP - 1) / FLOE_WARP : (n + deal - 1) / deal;
        keeper.begin(nrows + 2 * nsteps);
    }
};

/* Counts rows first - 1 down to last, in windows of one row with contexts of planes. Rows are loaded before they are needed. Returns what
 * is not 0 if a code of this lane is not. */
template <class WALK>
FLOE_DEV uint32_t count_planes(WALK &walk, uint32_t first, uint32_t last, uint32_t number, counting &to)
{
    typedef typename WALK::record record;
    const uint32_t lane = floe_lane(), rows = walk.rows, deal = to.deal_of(walk);
    record here = walk.load(first - 1 + rows),
           near = walk.load(first - 2 + rows), /* rows t, t - 1 of the plane before */
        own = walk.load(first - 1), next = first > last + 1 ? walk.load(first - 2) : own;
    const record far = walk.load(first + rows), above = walk.load(first);
    uint32_t in_far = (uint32_t)__popc(mask_of(far)), in_here = (uint32_t)__popc(mask_of(here)),
             in_near = (uint32_t)__popc(mask_of(near)), count_above = (uint32_t)__popc(mask_of(above)), some = 0,
             activity = walk.activity_below(count_above);
    __syncwarp(); /* others may still look at the part before */
    walk.window[FLOE_WARP + lane] = above;
    walk.plane = (record *)(walk.list + FLOE_CONTEXT_CLASSES * FLOE_WARP);
#pragma unroll 1
    for (deep_row<WALK> r(walk, first - 1);; number++) {
        const record ahead = r.ahead(walk);
        window_of_rows w = {r.t + 1, 1, {{mask_of(own), 0}}, {}, {}, count_above, activity, {{in_here, 0}}};
        const uint32_t context = r.activity(walk, activity, in_far, in_here, in_near), t = r.t;
        walk.count_four(w, 0);
        __syncwarp(); /* others may still look at the row above */
        walk.window[lane] = walk.window[FLOE_WARP + lane];
        walk.window[FLOE_WARP + lane] = own;
        walk.plane[lane] = here;
        r.step(walk);
        own = next;
        if (t > last + 1 && walk.mine())
            next = walk.records[r.before(walk) + lane];
        const uint32_t n = walk.make_list(w);
        to.begin_window(1, n, deal);
        to.add_mask(walk, context, w.masks.v[0]);
        to.add_values(walk, w, n, deal);
        to.keeper.end_window(number);
        some |= w.masks.v[0];
        if (t == last)
            return some;
        count_above = w.counts.v[0];
        activity = 2 * count_above + w.sides.v[0];
        in_far = in_here;
        in_here = in_near;
        in_near = (uint32_t)__popc(mask_of(ahead));
        here = near;
        near = ahead;
    }
}

/* Counts part number `part` of a chunk, which has so many rows. They are whole windows, so that windows begin where those of the chunk do.
 * Returns whether a code is not 0. */
template <class WALK>
FLOE_DEV bool count_part(WALK &walk, const floe_context_dev_grid &g, uint32_t part, uint32_t rows, counting &to)
{
    const uint32_t above = part * rows, first = above < walk.nrows ? walk.nrows - above : 0,
                   last = first > rows ? first - rows : 0, deal = to.deal_of(walk);
    uint32_t number = above / g.spec.window, some = 0;
    if constexpr (WALK::DEEP)
        if (g.spec.window == 1 && walk.rows > 2 && first > 0)
            return __any_sync(FLOE_ALL_LANES, count_planes(walk, first, last, number, to) != 0);
#pragma unroll 1
    for (uint32_t t1 = first, done; t1 > last; t1 -= done, number++) {
        window_of_rows w = walk.load_window(t1, g.spec.window);
        const row_bytes activity = walk.activity_of(w);
        const uint32_t n = WALK::MASKS ? 0 : walk.make_list(w);
        some |= w.masks.v[0] | w.masks.v[1];
        to.begin_window(w.nrows, n, deal);
#pragma unroll
        for (uint32_t r = 0; r < FLOE_CONTEXT_WINDOW; r++) {
            if (r >= w.nrows)
                break;
            to.add_mask(walk, byte_of(activity, r), byte_of(w.masks, r));
        }
        to.add_values(walk, w, n, deal);
        to.keeper.end_window(number);
        done = w.nrows;
    }
    return __any_sync(FLOE_ALL_LANES, some != 0);
}

/* What the symbols of these counts take, with so many contexts of values. By a block of WARPS warps. */
template <uint32_t WARPS>
FLOE_DEV void context_tally(const uint32_t *counts, uint32_t nvalues, uint64_t lanes, floe_context_tally *to)
{
    enum { SUMS = 6 };
    __shared__ unsigned long long sums[WARPS][SUMS];
    floe_context_tally t = {};
    for (uint32_t c = threadIdx.x / FLOE_WARP; c < FLOE_CONTEXT_MASKS + nvalues; c += WARPS) {
        const bool mask = c < FLOE_CONTEXT_MASKS;
        const uint32_t n = mask ? FLOE_CONTEXT_MASK_SYMBOLS : FLOE_CONTEXT_VALUE_SYMBOLS;
        const uint32_t *of = mask ? counts + c * FLOE_CONTEXT_MASK_SYMBOLS
                                  : counts + FLOE_CONTEXT_VALUES_AT + (c - FLOE_CONTEXT_MASKS) * FLOE_CONTEXT_STRIDE;
        uint32_t total = 0;
        for (uint32_t i = floe_lane(); i < n; i += FLOE_WARP) {
            const uint32_t count = __ldcg(of + i);
            total += count;
            floe_context_tally_add(&t, !mask, i, count);
        }
        total = __reduce_add_sync(FLOE_ALL_LANES, total);
        t.entropy += floe_lane() == 0 && total ? total * floe_ans_log2(total) : 0;
    }
    unsigned long long v[SUMS] = {t.entropy, t.raw, t.used, t.large, t.longest, t.ncodes};
    floe_block_sums(v, sums, WARPS);
    if (threadIdx.x == 0)
        *to = {v[0], v[1], v[2], v[3], v[4], v[5], lanes};
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* Reads the items of a chunk from the last one to the first. Windows whose items lie side by side are a run, and read as one. Each lane
 * looks up one of the next 32 windows. */
struct item_cursor {
    const floe_context_dev_window *windows;
    const uint16_t *tokens; /* this lane's token of item 0 */
    uint32_t left;          /* windows that no lane has looked up */
    uint32_t begins;        /* bit i: a run begins with the window of lane i */
    uint32_t at, end;       /* items of this lane's window */
    const uint16_t *behind; /* what is left of the run ends before this token */
    uint32_t n;             /* items that are left of the run */

    /* Begins the next run, if there is one. */
    __device__ __forceinline__ void next_run()
    {
        const uint32_t lane = floe_lane();
        if (begins == 0 && left > 0) {
            const bool there = lane < left;
            const floe_context_dev_window w =
                there ? windows[left - 1 - lane] : floe_context_dev_window{FLOE_CONTEXT_NOT_KEPT, 0};
            at = w.at;
            end = w.at + w.n;
            const uint32_t before = __shfl_up_sync(FLOE_ALL_LANES, at, 1);
            begins = __ballot_sync(FLOE_ALL_LANES, there && (lane == 0 || end != before));
            left -= left < FLOE_WARP ? left : FLOE_WARP;
        }
        if (begins == 0)
            return;
        const int from = __ffs((int)begins) - 1, count = __popc(__ballot_sync(FLOE_ALL_LANES, end > at));
        begins &= begins - 1;
        const int last = begins ? __ffs((int)begins) - 2 : count - 1;
        const uint32_t first = __shfl_sync(FLOE_ALL_LANES, at, last);
        n = __shfl_sync(FLOE_ALL_LANES, end, from) - first;
        behind = tokens + (uint64_t)(first + n) * FLOE_WARP;
    }

    /* Loads the next items. Returns how many there are, 0 at the end; in place of missing ones stands TOKEN_NONE. */
    __device__ __forceinline__ uint32_t load(uint32_t *of)
    {
        if (n == 0)
            next_run();
        const uint32_t some = n < ITEMS_AHEAD ? n : ITEMS_AHEAD;
#pragma unroll
        for (int i = 0; i < ITEMS_AHEAD; i++)
            of[i] = (uint32_t)i < some ? __ldg(behind - (i + 1) * FLOE_WARP) : TOKEN_NONE;
        behind -= some * FLOE_WARP;
        n -= some;
        return some;
    }
};

/* A token that has raw bits: these are the next item, and must be written before it. */
struct waiting_token {
    bool waits;
    uint32_t bits;
    floe_ans_symbol symbol;
};

/* The words that leave states: the low 16 bits of words[i], of the lanes whose bit is set in lanes[i]. */
struct leaving {
    uint32_t words[ITEMS_AHEAD + 1], lanes[ITEMS_AHEAD + 1];

    __device__ __forceinline__ void put(uint32_t i, uint32_t &state, bool leaves)
    {
        words[i] = state;
        lanes[i] = __ballot_sync(FLOE_ALL_LANES, leaves);
        state = leaves ? state >> 16 : state;
    }
    __device__ __forceinline__ void put_symbol(uint32_t i, uint32_t &state, floe_ans_symbol symbol, uint32_t bits)
    {
        put(i, state, floe_ans_is_full(state, symbol, bits));
        state = floe_ans_put(state, symbol, bits);
    }
    __device__ __forceinline__ void put_raw(uint32_t i, uint32_t &state, uint32_t token)
    {
        const uint32_t nraw = floe_top_bit(token);
        put(i, state, nraw && floe_ans_is_full_raw(state, nraw));
        state = state << nraw | (token ^ 1u << nraw);
    }
};

struct token_writer {
    const floe_context_job &job;
    const floe_ans_symbol *symbols; /* by token */

    static __device__ __forceinline__ uint32_t bits_of(uint32_t token)
    {
        return token < TOKEN_VALUES ? FLOE_CONTEXT_MASK_BITS : FLOE_CONTEXT_VALUE_BITS;
    }

    /* Items without raw bits. All states are computed first: this chain need not wait until words have their places. */
    __device__ __forceinline__ void write_plain(const uint32_t *tokens, floe_ans_writer &out) const
    {
        floe_ans_symbol of[ITEMS_AHEAD];
        leaving out_words;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
            of[i] = symbols[tokens[i]];
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
            out_words.put_symbol(i, out.state, of[i], bits_of(tokens[i]));
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
            floe_ans_emit(out, out_words.lanes[i], out_words.words[i]);
    }

    /* Items of which some have raw bits. A symbol waits for these, which are the next item: words that leave for them are number i, those
     * that leave for the symbol i + 1. */
    __device__ __forceinline__ void write_mixed(const uint32_t *tokens, uint32_t n, waiting_token &waiting,
                                                floe_ans_writer &out) const
    {
        const uint32_t last = TOKEN_VALUES + job.nvalues * FLOE_CONTEXT_VALUE_SYMBOLS - 1;
        floe_ans_symbol of[ITEMS_AHEAD];
        leaving out_words = {};
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
            of[i] = symbols[min(tokens[i] % TOKEN_RAW, last)]; /* of raw bits: any */
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++) {
            if (waiting.waits && i < n) {
                out_words.put_raw(i, out.state, tokens[i]);
                out_words.put_symbol(i + 1, out.state, waiting.symbol, waiting.bits);
                waiting.waits = false;
            } else if (tokens[i] & TOKEN_RAW) {
                waiting = {true, bits_of(tokens[i] ^ TOKEN_RAW), of[i]};
            } else {
                out_words.put_symbol(i + 1, out.state, of[i], bits_of(tokens[i]));
            }
        }
#pragma unroll
        for (uint32_t i = 0; i <= ITEMS_AHEAD; i++)
            floe_ans_emit(out, out_words.lanes[i], out_words.words[i]);
    }

    /* Before states are lifted: item by item. */
    __device__ __forceinline__ void write_first(const uint32_t *tokens, uint32_t n, waiting_token &waiting,
                                                floe_ans_writer &out) const
    {
        uint32_t left[ITEMS_AHEAD];
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
            left[i] = tokens[i];
#pragma unroll 1
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t token = left[0];
#pragma unroll
            for (uint32_t k = 1; k < ITEMS_AHEAD; k++)
                left[k - 1] = left[k];
            if (waiting.waits) {
                const uint32_t nraw = floe_top_bit(token);
                floe_ans_write_raw(out, token ^ 1u << nraw, nraw);
                floe_ans_write(out, true, waiting.symbol, waiting.bits);
                waiting.waits = false;
            } else if (token & TOKEN_RAW) {
                waiting = {true, bits_of(token ^ TOKEN_RAW), symbols[token % TOKEN_RAW]};
            } else {
                floe_ans_write(out, true, symbols[token], bits_of(token));
            }
        }
    }

    /* All lanes go the same way, since TOKEN_RAW is set in all of them or none. Raw bits may have bit 15 set: then a marked token stands
     * before them here, or waits. */
    __device__ __forceinline__ void write(const uint32_t *tokens, uint32_t n, waiting_token &waiting,
                                          floe_ans_writer &out) const
    {
        uint32_t all = 0;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
            all |= tokens[i];
        if (!out.lifted)
            write_first(tokens, n, waiting, out);
        else if (waiting.waits || all & TOKEN_RAW)
            write_mixed(tokens, n, waiting, out);
        else
            write_plain(tokens, out);
    }

    /* Writes all windows of a chunk, the last one first. False, with nothing written, if not all of them are kept. */
    __device__ __forceinline__ bool chunk(const floe_context_dev_window *windows, uint32_t nwindows,
                                          floe_ans_writer &out) const
    {
        const uint32_t lane = floe_lane();
        bool kept = windows != NULL;
        for (uint32_t i = lane; kept && i < nwindows; i += FLOE_WARP)
            kept = windows[i].at != FLOE_CONTEXT_NOT_KEPT;
        if (!__all_sync(FLOE_ALL_LANES, kept))
            return false;
        item_cursor items = {windows, (const uint16_t *)job.tokens + lane, nwindows, 0, 0, 0, NULL, 0};
        waiting_token waiting = {};
        uint32_t here[ITEMS_AHEAD];
        for (uint32_t n = items.load(here); n > 0;) {
            uint32_t next[ITEMS_AHEAD];
            const uint32_t some = items.load(next);
            write(here, n, waiting, out);
            n = some;
#pragma unroll
            for (uint32_t i = 0; i < ITEMS_AHEAD; i++)
                here[i] = next[i];
        }
        return true;
    }
};

/* Takes a slot for a chunk; returns its end. Slots lie in any order; whoever packs the stream puts chunks in theirs. */
FLOE_DEV uint16_t *take_slot(const floe_context_job &job, const floe_context_dev_grid &g, const floe_context_chunk &c,
                             uint32_t chunk)
{
    const uint32_t nwords = (floe_context_slot_words(&c, g.spec.width) + 1) & ~1u;
    unsigned long long end = 0;
    if (floe_lane() == 0) {
        end = atomicAdd((unsigned long long *)job.slot_ends, (unsigned long long)nwords) + nwords;
        job.slot_ends[1 + g.first + chunk] = end;
    }
    return job.slots + __shfl_sync(FLOE_ALL_LANES, end, 0);
}

/* Keeps the size of a chunk of n words, and the sum for its check. */
FLOE_DEV void put_chunk(const floe_context_job &job, uint32_t chunk, const uint32_t *words, uint32_t n)
{
    const uint32_t sum = job.sums ? floe_ans_check_sum(words, n) : 0;
    if (floe_lane() != 0)
        return;
    job.sizes[chunk] = n;
    if (job.sums)
        job.sums[chunk] = sum;
}

} // namespace

#endif
