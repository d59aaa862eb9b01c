/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting, encoding and decoding chunks. A warp does a chunk; a block takes chunks of one grid after another until none are left. */
#include <floe/floe.h>

#include "stage/ans/ans_lanes.cuh"
#include "stage/context/context_count.cuh"

namespace
{

enum {
    MOST_WARPS = 16,
    LEAST_WARPS = 4,
    BLOCKS_A_PROCESSOR = 2,
    BESIDES_NBYTES = 1024, /* shared memory that CUDA takes of a block, and that which is not dynamic */
    COUNT_ROWS = 32,       /* rows of a chunk that a warp counts at a time, */
    COUNT_PARTS = 4096     /* unless a grid has fewer such parts: then FLOE_CONTEXT_WINDOW */
};

/* Whether nothing has failed so far. One thread looks for all, since others may set the status meanwhile. */
FLOE_DEV bool goes_on(const floe_context_job &job, uint32_t *shared)
{
    if (threadIdx.x == 0)
        *shared = *job.status;
    __syncthreads();
    return *shared == FLOE_OK;
}

/* ---- count ------------------------------------------------------------------------------------------------------------- */

/* Rows of a part. Parts of a small grid are small, so that all warps have some and none has many windows. */
FLOE_DEV uint32_t count_rows(const floe_context_dev_grid &g)
{
    return g.nchunks * count_parts(g.grid, COUNT_ROWS) < COUNT_PARTS ? (uint32_t)FLOE_CONTEXT_WINDOW : COUNT_ROWS;
}

FLOE_DEV uint32_t parts_of(const floe_context_dev_grid &g) { return g.nchunks * count_parts(g.grid, count_rows(g)); }
FLOE_DEV uint32_t chunks_of(const floe_context_dev_grid &g) { return g.nchunks; }

__global__ void __launch_bounds__(MOST_WARPS *FLOE_WARP, BLOCKS_A_PROCESSOR)
    context_count_kernel(const __grid_constant__ floe_context_job job)
{
    FLOE_DYNAMIC_SHARED(uint32_t, counts);
    __shared__ claim claimed;
    __shared__ uint8_t contexts[CONTEXT_ACTIVITIES];
    uint8_t *space = (uint8_t *)(counts + FLOE_CONTEXT_COUNTS) + threadIdx.x / FLOE_WARP * job.warp_nbytes;
    if (!goes_on(job, &claimed.ticket))
        return;
    context_of_activity(contexts, [](uint32_t context) { return context; });
    counting to = {contexts, counts, 0, {&job, NULL, 0, 0, NULL}};
    for (uint32_t i = 0;; i++) {
        uint32_t part;
        i = claim_grid(job, i, &claimed, parts_of, part);
        if (i >= job.ngrids)
            break;
        const floe_context_dev_grid &g = job.grids[i];
        const uint32_t rows = count_rows(g), nparts = count_parts(g.grid, rows), n = parts_of(g);
        const uint32_t ncounts = FLOE_CONTEXT_VALUES_AT + floe_context_values(&g.spec) * FLOE_CONTEXT_STRIDE;
        for (uint32_t k = threadIdx.x; k < ncounts; k += blockDim.x)
            counts[k] = 0;
        __syncthreads();
        for (; part < n; part = next_chunk(job, i))
            context_by_kind(g, [&](auto walk) {
                const uint32_t chunk = part / nparts * job.every;
                walk.begin(g, chunk, space);
                to.keeper.windows = windows_of(job, g, chunk);
                const bool some = count_part(walk, g, part % nparts, rows, to);
                if (some && job.busy && floe_lane() == 0)
                    job.busy[g.first + chunk] = true;
            });
        to.end_block();
        __syncthreads();
        for (uint32_t k = threadIdx.x, first = blockIdx.x * blockDim.x; k < ncounts; k += blockDim.x) {
            const uint32_t to_count = (first + k) % ncounts; /* blocks that end together begin apart */
            if (counts[to_count])
                atomicAdd(job.counts + (uint64_t)g.counts * FLOE_CONTEXT_COUNTS + to_count, counts[to_count]);
        }
    }
}

/* Takes the masks of chunks that are all 0 out of the counts. Returns how many lanes the other chunks have. By a block. */
FLOE_DEV uint64_t leave_out_zeros(const floe_context_job &job, const floe_context_dev_grid &g, uint32_t *counts)
{
    __shared__ unsigned long long sums[MOST_WARPS];
    unsigned long long lanes = 0;
    uint32_t nempty = 0;
    for (uint32_t i = threadIdx.x; i < g.nchunks; i += blockDim.x) {
        const floe_context_chunk c = floe_context_chunk_of(&g.grid, i);
        lanes += job.busy[g.first + i] ? c.lanes : 0;
        nempty += job.busy[g.first + i] ? 0 : c.planes * c.rows * c.lanes;
    }
    if (nempty)
        atomicSub(counts, nempty);
    return floe_block_sum(lanes, sums, MOST_WARPS);
}

/* A block a grid. */
__global__ void __launch_bounds__(MOST_WARPS *FLOE_WARP)
    context_tally_kernel(const __grid_constant__ floe_context_job job, floe_context_tally *tallies)
{
    __shared__ uint32_t status;
    const uint32_t i = blockIdx.x;
    if (!goes_on(job, &status))
        return;
    const floe_context_dev_grid &g = job.grids[i];
    uint32_t *counts = job.counts + (uint64_t)g.counts * FLOE_CONTEXT_COUNTS;
    const uint64_t lanes = job.busy ? leave_out_zeros(job, g, counts) : 0;
    context_tally<MOST_WARPS>(counts, floe_context_values(&g.spec), lanes, tallies + i);
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* A block's shared memory: this, the symbols of all contexts by token, then what each warp needs. */
struct alignas(16) symbols_shared {
    uint8_t mask_context[CONTEXT_ACTIVITIES];
    __device__ floe_ans_symbol *of() { return (floe_ans_symbol *)(this + 1); }
};
FLOE_HD uint32_t symbols_nbytes(uint32_t nvalues)
{
    const uint32_t n = TOKEN_VALUES + nvalues * FLOE_CONTEXT_VALUE_SYMBOLS;
    return sizeof(symbols_shared) + (n + 1) / 2 * 2 * sizeof(floe_ans_symbol);
}

enum { SYMBOLS_A_LANE = FLOE_CONTEXT_MASK_SYMBOLS / FLOE_WARP /* of a table, at most: lane + 32 k */ };

/* Where the frequencies of a lane's symbols begin, of a table of n symbols. By a warp. */
FLOE_DEV void starts_of(const uint16_t *freq, uint32_t n, uint32_t *starts)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < SYMBOLS_A_LANE; k++) {
        if (FLOE_WARP * k >= n)
            break;
        const uint32_t i = floe_lane() + FLOE_WARP * k, f = i < n ? freq[i] : 0, upto = floe_warp_sum_to(f);
        starts[k] = sum + upto - f;
        sum += __shfl_sync(FLOE_ALL_LANES, upto, FLOE_WARP - 1);
    }
}

/* Copies the symbols of a table to each context that has it; those of the kind's first context are at `to`. By a warp. */
FLOE_DEV void put_symbols(const floe_context_kind &k, const floe_context_tables &t, uint32_t table, floe_ans_symbol *to)
{
    const uint16_t *freq = t.freq + k.freqs_at + table * k.stride;
    uint32_t starts[SYMBOLS_A_LANE] = {};
    floe_ans_symbol symbols[SYMBOLS_A_LANE];
    starts_of(freq, k.nsymbols, starts);
#pragma unroll
    for (uint32_t x = 0; x < SYMBOLS_A_LANE; x++) {
        const uint32_t i = floe_lane() + FLOE_WARP * x;
        if (i < k.nsymbols)
            symbols[x] = floe_ans_symbol_of(freq[i], starts[x], k.bits);
    }
    for (uint32_t first = 0; first < k.ncontexts; first += FLOE_WARP) {
        const uint32_t c = first + floe_lane();
        uint32_t with = __ballot_sync(FLOE_ALL_LANES, c < k.ncontexts && t.table[k.first + c] == table);
        for (; with; with &= with - 1) {
            floe_ans_symbol *of = to + (first + __ffs((int)with) - 1) * k.nsymbols;
#pragma unroll
            for (uint32_t x = 0; x < SYMBOLS_A_LANE; x++)
                if (floe_lane() + FLOE_WARP * x < k.nsymbols)
                    of[floe_lane() + FLOE_WARP * x] = symbols[x];
        }
    }
}

/* Symbols of all contexts of a grid. By a block, a warp a table; all threads wait at the end. */
FLOE_DEV void load_symbols(const floe_context_spec &spec, const floe_context_tables &t, symbols_shared *s)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, nwarps = blockDim.x / FLOE_WARP, nmasks = t.ntables[0];
    if (threadIdx.x == 0)
        s->of()[TOKEN_NONE] = floe_ans_symbol_of(1u << FLOE_CONTEXT_MASK_BITS, 0, FLOE_CONTEXT_MASK_BITS);
    for (uint32_t i = warp; i < nmasks + t.ntables[1]; i += nwarps)
        if (i < nmasks)
            put_symbols(floe_context_kind_of(&spec, 0), t, i, s->of() + TOKEN_MASKS);
        else
            put_symbols(floe_context_kind_of(&spec, 1), t, i - nmasks, s->of() + TOKEN_VALUES);
    context_of_activity(s->mask_context, [](uint32_t context) { return context; });
}

/* Writes the n values of a window. In the stream raw bits follow their symbol, so they are written first. */
template <class WALK>
FLOE_DEV void write_values(WALK &walk, const window_of_rows &w, uint32_t n, const floe_ans_symbol *symbols,
                           floe_ans_writer &out)
{
#pragma unroll 1
    for (uint32_t step = (n + walk.lanes - 1) / walk.lanes; step-- > 0;) {
        const uint32_t k = step * walk.lanes + floe_lane();
        const bool active = walk.mine() && k < n;
        const value_symbol v = symbol_of(walk, w, walk.list[active ? k : 0]);
        const uint32_t symbol = active ? v.symbol : 0;
        floe_ans_write_raw(out, floe_context_raw(v.size, v.negative), floe_context_nraw(symbol));
        floe_ans_write(out, active, symbols[token_of_value(v.context, symbol)], FLOE_CONTEXT_VALUE_BITS);
    }
}

template <class WALK>
FLOE_DEV void encode_chunk(WALK &walk, const floe_context_dev_grid &g, symbols_shared *s, floe_ans_writer &out)
{
    const uint32_t window = g.spec.window;
#pragma unroll 1
    for (uint32_t i = (walk.nrows + window - 1) / window; i-- > 0;) {
        window_of_rows w = walk.load_window(walk.nrows - i * window, window);
        const row_bytes activity = walk.activity_of(w);
        const uint32_t n = WALK::MASKS ? 0 : walk.make_list(w);
        write_values(walk, w, n, s->of(), out);
#pragma unroll 1
        for (uint32_t r = w.nrows; r-- > 0;)
            floe_ans_write(out, walk.mine(),
                           s->of()[token_of_mask(s->mask_context[byte_of(activity, r)], byte_of(w.masks, r))],
                           FLOE_CONTEXT_MASK_BITS);
    }
}

/* Encodes a chunk from its records: the tokens of a window were not kept. */
FLOE_DEV_COLD floe_ans_writer encode_records(const floe_context_dev_grid &g, uint32_t chunk, symbols_shared *s,
                                             uint8_t *space, floe_ans_writer out)
{
    context_by_kind(g, [&](auto walk) {
        walk.begin(g, chunk, space);
        encode_chunk(walk, g, s, out);
    });
    return out;
}

__global__ void __launch_bounds__(MOST_WARPS *FLOE_WARP, BLOCKS_A_PROCESSOR)
    context_encode_kernel(const __grid_constant__ floe_context_job job)
{
    FLOE_DYNAMIC_SHARED(symbols_shared, shared);
    __shared__ claim claimed;
    uint8_t *space = (uint8_t *)shared + symbols_nbytes(job.nvalues) + threadIdx.x / FLOE_WARP * job.warp_nbytes;
    if (!goes_on(job, &claimed.ticket))
        return;
    for (uint32_t i = 0;; i++) {
        uint32_t chunk;
        i = claim_grid(job, i, &claimed, chunks_of, chunk);
        if (i >= job.ngrids)
            break;
        const floe_context_dev_grid &g = job.grids[i];
        load_symbols(g.spec, job.tables[g.tables].tables, shared);
        for (; chunk < g.nchunks; chunk = next_chunk(job, i)) {
            const floe_context_chunk c = floe_context_chunk_of(&g.grid, chunk);
            if (job.busy && !job.busy[g.first + chunk]) {
                put_chunk(job, g.first + chunk, NULL, 0);
                continue;
            }
            uint16_t *end = take_slot(job, g, c, chunk);
            const token_writer tokens = {job, shared->of()};
            uint32_t begin = FLOE_ANS_BEGIN;
            floe_ans_writer out;
            for (;; begin = FLOE_ANS_LEAST) {
                out = floe_ans_writer_of(begin, end);
                if (!tokens.chunk(windows_of(job, g, chunk), (c.planes * c.rows + g.spec.window - 1) / g.spec.window,
                                  out))
                    out = encode_records(g, chunk, shared, space, out);
                if (!out.failed)
                    break;
            }
            const uint32_t nbytes = floe_ans_end(out, begin, c.lanes, end);
            __syncwarp();
            put_chunk(job, g.first + chunk, (const uint32_t *)out.at, nbytes / 4);
        }
    }
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

/* The tables to which contexts of a grid refer, one behind the other, in shared memory. */
struct decoder {
    uint8_t *mask_table, *value_table; /* the table of each activity, and of each context of values */
    uint8_t *mask_slots, *value_slots;
    uint32_t *mask_spans, *value_spans;
};

FLOE_HD uint32_t decoder_nbytes(uint32_t nmasks)
{
    return (CONTEXT_ACTIVITIES + FLOE_CONTEXT_VALUES + 15) / 16 * 16 +
           nmasks * ((1 << FLOE_CONTEXT_MASK_BITS) + 4 * FLOE_CONTEXT_MASK_SYMBOLS) +
           FLOE_CONTEXT_TABLES * ((1 << FLOE_CONTEXT_VALUE_BITS) + 4 * FLOE_CONTEXT_STRIDE);
}

FLOE_HD uint32_t decode_warp_nbytes(const floe_context_job &job) { return FLOE_ANS_RING_NBYTES + job.warp_nbytes; }

FLOE_DEV decoder decoder_at(uint8_t *shared, uint32_t nmasks)
{
    decoder d;
    d.mask_slots = shared;
    d.value_slots = d.mask_slots + (nmasks << FLOE_CONTEXT_MASK_BITS);
    d.mask_spans = (uint32_t *)(d.value_slots + (FLOE_CONTEXT_TABLES << FLOE_CONTEXT_VALUE_BITS));
    d.value_spans = d.mask_spans + nmasks * FLOE_CONTEXT_MASK_SYMBOLS;
    d.mask_table = (uint8_t *)(d.value_spans + FLOE_CONTEXT_TABLES * FLOE_CONTEXT_STRIDE);
    d.value_table = d.mask_table + CONTEXT_ACTIVITIES;
    return d;
}

/* Frequency and start of each symbol of a table. By a warp. */
FLOE_DEV void spans_of(const uint16_t *freq, uint32_t n, uint32_t *spans)
{
    uint32_t starts[SYMBOLS_A_LANE] = {};
    starts_of(freq, n, starts);
#pragma unroll
    for (uint32_t k = 0; k < SYMBOLS_A_LANE; k++) {
        const uint32_t i = floe_lane() + FLOE_WARP * k;
        if (i < n)
            spans[i] = freq[i] | starts[k] << 16;
    }
}

enum { SLOTS_A_LANE = 16 /* side by side: four words */ };
static_assert((1 << FLOE_CONTEXT_VALUE_BITS) % (SLOTS_A_LANE * FLOE_WARP) == 0 &&
                  (1 << FLOE_CONTEXT_MASK_BITS) % (SLOTS_A_LANE * FLOE_WARP) == 0,
              "slots_of needs all lanes to the end");

/* Fills the slots of a table: each symbol that occurs is put where its span begins, then every slot takes the last symbol at or below it.
 * By a warp. */
FLOE_DEV void slots_of(const uint32_t *spans, uint32_t nsymbols, uint32_t nslots, uint8_t *slots)
{
    const uint32_t lane = floe_lane();
    for (uint32_t first = SLOTS_A_LANE * lane; first < nslots; first += SLOTS_A_LANE * FLOE_WARP)
        *(uint4 *)(slots + first) = make_uint4(0, 0, 0, 0);
    __syncwarp();
    for (uint32_t i = lane; i < nsymbols; i += FLOE_WARP)
        if (spans[i] & 0xFFFF)
            slots[spans[i] >> 16] = (uint8_t)i;
    __syncwarp();
    uint32_t below = 0; /* the last symbol of the lanes below, which later ones exceed */
    for (uint32_t first = SLOTS_A_LANE * lane; first < nslots; first += SLOTS_A_LANE * FLOE_WARP) {
        const uint4 begins = *(const uint4 *)(slots + first);
        uint32_t words[] = {begins.x, begins.y, begins.z, begins.w}, last = 0;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
            last = words[i] ? words[i] >> (floe_top_bit(words[i]) & 24) : last;
        const uint32_t some = __ballot_sync(FLOE_ALL_LANES, last), under = some & floe_lanes_below();
        const uint32_t nearest = __shfl_sync(FLOE_ALL_LANES, last, under ? (int)floe_top_bit(under) : 0);
        uint32_t symbol = under ? nearest : below;
        const uint32_t highest = __shfl_sync(FLOE_ALL_LANES, last, some ? (int)floe_top_bit(some) : 0);
        below = some ? highest : below;
#pragma unroll
        for (uint32_t i = 0; i < SLOTS_A_LANE; i++) {
            const uint32_t shift = 8 * (i % 4), begin = words[i / 4] >> shift & 255;
            symbol = begin ? begin : symbol;
            words[i / 4] |= symbol << shift;
        }
        *(uint4 *)(slots + first) = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

/* Bit t: one of n contexts refers to table t. By a warp. */
FLOE_DEV uint32_t tables_used(const uint8_t *table, uint32_t n)
{
    uint32_t used = 0;
    for (uint32_t i = floe_lane(); i < n; i += FLOE_WARP)
        used |= 1u << table[i];
    return __reduce_or_sync(FLOE_ALL_LANES, used);
}

/* Spans and slots of the tables that are used, one behind the other. By a block, a warp a table. */
FLOE_DEV void load_tables(const floe_context_kind &k, uint32_t used, const uint16_t *freq, uint32_t *spans,
                          uint8_t *slots)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, nwarps = blockDim.x / FLOE_WARP;
    uint32_t to = 0;
    for (uint32_t left = used; left; left &= left - 1, to++) {
        if (to % nwarps != warp)
            continue;
        spans_of(freq + k.freqs_at + (__ffs((int)left) - 1) * k.stride, k.nsymbols, spans + to * k.stride);
        __syncwarp();
        slots_of(spans + to * k.stride, k.nsymbols, 1u << k.bits, slots + (to << k.bits));
    }
}

FLOE_DEV void load_decoder(const floe_context_spec &spec, const floe_context_tables &t, const decoder &d)
{
    const floe_context_kind masks = floe_context_kind_of(&spec, 0), values = floe_context_kind_of(&spec, 1);
    const uint32_t used[] = {tables_used(t.table, masks.ncontexts),
                             tables_used(t.table + values.first, values.ncontexts)};
    load_tables(masks, used[0], t.freq, d.mask_spans, d.mask_slots);
    load_tables(values, used[1], t.freq, d.value_spans, d.value_slots);
    for (uint32_t i = threadIdx.x; i < values.ncontexts; i += blockDim.x)
        d.value_table[i] = (uint8_t)__popc(used[1] & ((1u << t.table[values.first + i]) - 1));
    context_of_activity(d.mask_table, [&](uint32_t context) {
        return context < masks.ncontexts ? __popc(used[0] & ((1u << t.table[context]) - 1)) : 0;
    });
}

/* The mask for which a lane's state stands, and the span with which it is read. */
struct found_mask {
    uint32_t mask, span;
};

template <class WALK>
FLOE_DEV found_mask find_mask(const WALK &walk, uint32_t table, const decoder &d, const floe_ans_reader &in)
{
    const uint32_t slot = in.state & ((1 << FLOE_CONTEXT_MASK_BITS) - 1);
    const uint32_t mask = d.mask_slots[(table << FLOE_CONTEXT_MASK_BITS) + slot];
    return {walk.mine() ? mask : 0, d.mask_spans[table * FLOE_CONTEXT_MASK_SYMBOLS + mask]};
}

/* Reads the masks of a window and counts them. Returns activity_below of its last row. */
template <class WALK> FLOE_DEV uint32_t read_masks(WALK &walk, window_of_rows &w, const decoder &d, floe_ans_reader &in)
{
    uint32_t activity = w.activity;
#pragma unroll 1
    for (uint32_t r = 0; r < w.nrows; r++) {
        const found_mask found = find_mask(walk, d.mask_table[walk.with_planes(w, r, activity)], d, in);
        put_byte(w.masks, r, found.mask);
        activity = walk.activity_below((uint32_t)__popc(found.mask));
        floe_ans_read(in, walk.mine(), found.span, FLOE_CONTEXT_MASK_BITS);
    }
    walk.count_four(w, 0);
    if (w.nrows > 4)
        walk.count_four(w, 1);
    return activity;
}

/* Reads the values of a window. While symbols of a step are read, the contexts of the next step are found, and the entries of the step after
 * that are loaded. */
template <class WALK>
FLOE_DEV void read_values(WALK &walk, const window_of_rows &w, const decoder &d, floe_ans_reader &in)
{
    const uint32_t n = walk.make_list(w), lane = floe_lane();
    if (n == 0)
        return;
    const auto entry_at = [&](uint32_t k) { return walk.list[k < n ? k : 0]; };
    listed next = walk.value_of(w, entry_at(lane));
    uint32_t next_table = d.value_table[next.context], entry = entry_at(lane + walk.lanes);
#pragma unroll 1
    for (uint32_t k = lane; k - lane < n; k += walk.lanes) {
        const bool active = walk.mine() && k < n;
        const listed v = next;
        const uint32_t table = next_table, slot = in.state & ((1 << FLOE_CONTEXT_VALUE_BITS) - 1);
        const uint32_t symbol = d.value_slots[(table << FLOE_CONTEXT_VALUE_BITS) + slot];
        next = walk.value_of(w, entry);
        entry = entry_at(k + 2 * walk.lanes);
        next_table = d.value_table[next.context];
        const uint32_t nraw = active ? floe_context_nraw(symbol) : 0;
        const bool some = __any_sync(FLOE_ALL_LANES, nraw != 0);
        floe_ans_read(in, active, d.value_spans[table * FLOE_CONTEXT_STRIDE + symbol], FLOE_CONTEXT_VALUE_BITS);
        int32_t value = floe_context_value_small(symbol, v.flip);
        if (some)
            value = floe_context_value(symbol, floe_ans_read_raw(in, nraw), v.flip, WALK::LARGEST);
        if (active)
            walk.codes()[v.code] = (typename WALK::code)value;
    }
}

/* Decodes a chunk in windows of one row with contexts of planes. Rows of the plane before are loaded a row ahead. */
template <class WALK> FLOE_DEV void decode_planes(WALK &walk, const decoder &d, floe_ans_reader &in)
{
    typedef typename WALK::record record;
    const uint32_t lane = floe_lane();
    const record none = {};
    record here = none, near = none; /* rows t, t - 1 of the plane before */
    uint32_t in_far = 0, in_here = 0, in_near = 0, above = 0, activity = 0;
    walk.plane = (record *)(walk.list + FLOE_CONTEXT_CLASSES * FLOE_WARP);
    walk.window[lane] = none;
#pragma unroll 1
    for (deep_row<WALK> r(walk, walk.nrows - 1);; r.step(walk)) {
        const record ahead = r.ahead(walk);
        window_of_rows w = {r.t + 1, 1, {}, {}, {}, above, activity, {{in_here, 0}}};
        walk.plane[lane] = here;
        const uint32_t context = r.activity(walk, activity, in_far, in_here, in_near);
        const found_mask found = find_mask(walk, d.mask_table[context], d, in);
        w.masks.v[0] = found.mask;
        walk.count_four(w, 0);
        floe_ans_read(in, walk.mine(), found.span, FLOE_CONTEXT_MASK_BITS);
        above = w.counts.v[0];
        activity = 2 * above + w.sides.v[0];
        walk.window[FLOE_WARP + lane] = none;
        read_values(walk, w, d, in);
        __syncwarp();
        const record own = walk.window[FLOE_WARP + lane];
        if (walk.mine())
            walk.records[r.at + lane] = own;
        if (r.t == 0)
            break;
        walk.window[lane] = own;
        in_far = in_here;
        in_here = in_near;
        in_near = (uint32_t)__popc(mask_of(ahead));
        here = near;
        near = ahead;
        __syncwarp();
    }
}

template <class WALK>
FLOE_DEV void decode_chunk(WALK &walk, const floe_context_dev_grid &g, const decoder &d, floe_ans_reader &in)
{
    typedef typename WALK::record record;
    const uint32_t lane = floe_lane();
    const record none = {};
    uint32_t above = 0, activity = 0;
    if constexpr (WALK::DEEP)
        if (g.spec.window == 1 && walk.rows > 2) {
            decode_planes(walk, d, in);
            return;
        }
    walk.window[lane] = none;
    const uint32_t most = g.spec.window;
#pragma unroll 1
    for (uint32_t t1 = walk.nrows, nrows; t1 > 0; t1 -= nrows) {
        nrows = min(most, t1);
        window_of_rows w = {t1, nrows, {}, {}, {}, above, activity, {}};
        activity = read_masks(walk, w, d, in);
#pragma unroll 1
        for (uint32_t r = 0; r < nrows; r++)
            walk.window[(1 + r) * FLOE_WARP + lane] = walk.without_values(byte_of(w.masks, r));
        if (!WALK::MASKS)
            read_values(walk, w, d, in);
        __syncwarp();
#pragma unroll 1
        for (uint32_t r = 0; r < nrows && walk.mine(); r++)
            walk.row_at(t1 - 1 - r)[lane] = walk.window[(1 + r) * FLOE_WARP + lane];
        walk.window[lane] = walk.window[nrows * FLOE_WARP + lane];
        above = byte_of(w.counts, nrows - 1);
        __syncwarp();
    }
}

__global__ void __launch_bounds__(MOST_WARPS *FLOE_WARP, BLOCKS_A_PROCESSOR)
    context_decode_kernel(const __grid_constant__ floe_context_job job)
{
    FLOE_DYNAMIC_SHARED(uint8_t, shared);
    __shared__ claim claimed;
    const decoder d = decoder_at(shared, job.nmasks);
    uint8_t *ring = shared + decoder_nbytes(job.nmasks) + threadIdx.x / FLOE_WARP * decode_warp_nbytes(job);
    uint8_t *space = ring + FLOE_ANS_RING_NBYTES;
    if (!goes_on(job, &claimed.ticket))
        return;
    for (uint32_t i = 0;; i++) {
        uint32_t chunk;
        i = claim_grid(job, i, &claimed, chunks_of, chunk);
        if (i >= job.ngrids)
            break;
        const floe_context_dev_grid &g = job.grids[i];
        load_decoder(g.spec, job.tables[g.tables].tables, d);
        for (; chunk < g.nchunks; chunk = next_chunk(job, i)) {
            const uint64_t *place = job.places + 2 * ((uint64_t)g.first + chunk);
            if ((g.boxed && !floe_context_is_wanted(&g.grid, chunk, &g.box)) || (job.sparse && place[0] == place[1]))
                continue;
            context_by_kind(g, [&](auto walk) {
                floe_ans_reader in;
                walk.begin(g, chunk, space);
                const uint64_t nbytes = place[1] - place[0];
                bool good = nbytes <= UINT32_MAX &&
                            floe_ans_begin(in, job.ans_begin, walk.lanes, job.src + place[0], (uint32_t)nbytes, ring);
                if (good)
                    decode_chunk(walk, g, d, in);
                good = good && floe_ans_ended(in);
                if (!good && floe_lane() == 0)
                    atomicCAS(job.status, (uint32_t)FLOE_OK, (uint32_t)FLOE_ERR_FORMAT);
            });
        }
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------------- */

/* Blocks have as many warps as shared memory has room for: of two blocks on a processor, if that leaves each enough. Where there are few
 * tasks, they have fewer, so that all blocks have some. fixed_nbytes, each: shared memory of a block, and of a warp. */
int launch(void (*kernel)(floe_context_job), const floe_context_job *job, uint32_t ntasks, uint32_t fixed_nbytes,
           uint32_t each, void *stream)
{
    const floe_gpu_limits limits = floe_gpu_limits_cuda();
    const uint32_t all = limits.shared_nbytes, half = all / 2 - BESIDES_NBYTES;
    const uint32_t few = half > fixed_nbytes ? (half - fixed_nbytes) / each : 0;
    const uint32_t room = few < MOST_WARPS / 2 ? (all - BESIDES_NBYTES - fixed_nbytes) / each : few,
                   most = room < MOST_WARPS ? room : MOST_WARPS, at_once = limits.processors * BLOCKS_A_PROCESSOR;
    const uint32_t share = (ntasks + at_once - 1) / at_once, least = share > LEAST_WARPS ? share : LEAST_WARPS;
    const uint32_t nwarps = least < most ? least : most, nbytes = fixed_nbytes + nwarps * each;
    const cudaError_t e = floe_allow_shared(kernel);
    if (e != cudaSuccess || job->nchunks == 0)
        return (int)e;
    FLOE_LAUNCH(kernel, ntasks < at_once ? ntasks : at_once, nwarps * FLOE_WARP, nbytes, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}

} // namespace

int floe_context_count_cuda(const floe_context_job *job, void *stream)
{
    return launch(context_count_kernel, job, job->nchunks * (FLOE_CONTEXT_ROWS / FLOE_CONTEXT_WINDOW),
                  FLOE_CONTEXT_COUNTS * sizeof(uint32_t), job->warp_nbytes, stream);
}
int floe_context_tally_cuda(const floe_context_job *job, floe_context_tally *tallies, void *stream)
{
    FLOE_LAUNCH(context_tally_kernel, job->ngrids, MOST_WARPS * FLOE_WARP, 0, (cudaStream_t)stream, *job, tallies);
    return (int)cudaGetLastError();
}
int floe_context_encode_cuda(const floe_context_job *job, void *stream)
{
    return launch(context_encode_kernel, job, job->nchunks, symbols_nbytes(job->nvalues), job->warp_nbytes, stream);
}
int floe_context_decode_cuda(const floe_context_job *job, void *stream)
{
    return launch(context_decode_kernel, job, job->nchunks, decoder_nbytes(job->nmasks), decode_warp_nbytes(*job),
                  stream);
}
