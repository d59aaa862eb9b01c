/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts -> tables, as floe_context_tables_build does it, and their bytes. A block for masks, and one for values, of each run of grids
 * that may share their tables: it ends with a grid and has some before it. One more block decides, grid after grid, which runs there are, when all others are done.
 * Whole numbers only: no order matters but that of ties, which is the CPU's.
 */
#include <floe/floe.h>

#include "backend/device.cuh"
#include "backend/device_scan.cuh"
#include "stage/context/context_cuda.h"

namespace
{

enum {
    THREADS = 512,
    WARPS = THREADS / FLOE_WARP,
    TABLES = FLOE_CONTEXT_TABLES,
    MOST_SUMS = (FLOE_CONTEXT_VALUES + 1) * FLOE_CONTEXT_VALUE_SYMBOLS, /* more than masks take */
    COLUMNS = 8,                                                        /* of costs, found together */
    GROUP = 8                                                           /* lanes that find one of them */
};
static_assert((int)WARPS == (int)TABLES, "a warp a number of tables");
static_assert((FLOE_CONTEXT_MASKS + 1) * (FLOE_CONTEXT_MASK_SYMBOLS + 1) <= (int)MOST_SUMS, "room for masks");

/* The two kinds of symbols. Counts are those of `several` grids, of which counts is the last one's. */
struct kind {
    uint32_t ncontexts, nsymbols, stride, bits;
    bool masks;
    const uint32_t *counts;
    uint32_t several;
    __device__ uint32_t pitch() const { return nsymbols | 1; } /* of sums: odd, so that threads read other banks */
};

struct table_shared {
    uint64_t best[TABLES][FLOE_CONTEXT_VALUES + 1]; /* what the first j contexts cost with t + 1 tables */
    uint64_t mean[FLOE_CONTEXT_VALUES];
    uint64_t pair[COLUMNS][FLOE_CONTEXT_VALUES];   /* what contexts i to j - 1 cost with one table */
    uint32_t sums[MOST_SUMS];                      /* of the first j contexts */
    uint8_t from[TABLES][FLOE_CONTEXT_VALUES + 1]; /* where the last of these tables begins */
    uint8_t order[FLOE_CONTEXT_VALUES];
    bool used[FLOE_CONTEXT_VALUES];
    uint32_t begin[TABLES + 1], ntables, ncontexts;
    uint64_t cost;
};

FLOE_DEV uint32_t count_of(const kind &k, uint32_t context, uint32_t symbol)
{
    const uint32_t *from = k.counts + context * k.stride + symbol;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < k.several; i++, from -= FLOE_CONTEXT_COUNTS)
        sum += *from;
    return sum;
}

/* ---- contexts in their order ------------------------------------------------------------------------------------------- */

/* How much a symbol of each context is on the mean, in 1/256. */
FLOE_DEV void find_means(const kind &k, table_shared *s)
{
    for (uint32_t c = threadIdx.x / FLOE_WARP; c < k.ncontexts; c += WARPS) {
        uint64_t sum = 0, total = 0;
        for (uint32_t i = floe_lane(); i < k.nsymbols; i += FLOE_WARP) {
            const uint32_t count = count_of(k, c, i);
            sum += (uint64_t)count * (k.masks ? (uint32_t)__popc(i) : i / 2);
            total += count;
        }
        sum = floe_warp_sum(sum);
        total = floe_warp_sum(total);
        if (floe_lane() == 0) {
            s->used[c] = total != 0;
            s->mean[c] = total ? (sum << 8) / total : 0;
        }
    }
    __syncthreads();
}

FLOE_DEV void sort_contexts(const kind &k, table_shared *s)
{
    find_means(k, s);
    for (uint32_t c = threadIdx.x; c < k.ncontexts; c += THREADS) {
        uint32_t before = 0;
        for (uint32_t d = 0; d < k.ncontexts; d++)
            before += s->used[d] && (s->mean[d] < s->mean[c] || (s->mean[d] == s->mean[c] && d < c));
        if (s->used[c])
            s->order[before] = (uint8_t)c;
    }
    if (threadIdx.x == 0) {
        s->ncontexts = 0;
        for (uint32_t c = 0; c < k.ncontexts; c++)
            s->ncontexts += s->used[c];
    }
    __syncthreads();
    for (uint32_t x = threadIdx.x; x < s->ncontexts * k.nsymbols; x += THREADS) { /* all on their way together */
        const uint32_t j = x / k.nsymbols, i = x % k.nsymbols;
        s->sums[(j + 1) * k.pitch() + i] = count_of(k, s->order[j], i);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < k.nsymbols; i += THREADS) {
        uint32_t sum = s->sums[i] = 0;
        for (uint32_t j = 1; j <= s->ncontexts; j++)
            s->sums[j * k.pitch() + i] = sum += s->sums[j * k.pitch() + i];
    }
    __syncthreads();
}

/* ---- which contexts share a table -------------------------------------------------------------------------------------- */

FLOE_DEV uint64_t sum_of_group(unsigned long long v)
{
    for (uint32_t d = 1; d < GROUP; d *= 2)
        v += __shfl_xor_sync(FLOE_ALL_LANES, v, (int)d);
    return v;
}

/* floe_ans_cost of contexts i to j - 1, by a group of lanes; all lanes of the warp are here. */
FLOE_DEV uint64_t cost_of(const kind &k, const table_shared *s, uint32_t i, uint32_t j)
{
    const uint32_t *low = s->sums + i * k.pitch(), *high = s->sums + j * k.pitch();
    uint64_t logs = 0, total = 0, used = 0;
    for (uint32_t x = floe_lane() % GROUP; x < k.nsymbols; x += GROUP) {
        const uint32_t count = high[x] - low[x];
        if (count == 0)
            continue;
        total += count;
        logs += count * floe_ans_log2(count);
        used++;
    }
    return floe_ans_cost(k.nsymbols, sum_of_group(used), sum_of_group(total), sum_of_group(logs));
}

FLOE_DEV uint64_t least_of_warp(uint64_t v)
{
    const uint32_t high = (uint32_t)(v >> 32), least = __reduce_min_sync(FLOE_ALL_LANES, high);
    return (uint64_t)least << 32 | __reduce_min_sync(FLOE_ALL_LANES, high == least ? (uint32_t)v : UINT32_MAX);
}

FLOE_DEV void find_runs(const kind &k, table_shared *s)
{
    const uint32_t t = threadIdx.x / FLOE_WARP, n = s->ncontexts, lane = floe_lane();
    for (uint32_t j = 1; j <= n; j++) { /* the first of those that cost least, as the CPU finds it */
        const uint64_t *pair = s->pair[(j - 1) % COLUMNS];
        if ((j - 1) % COLUMNS == 0) {
            for (uint32_t first = t * (FLOE_WARP / GROUP); first < COLUMNS * n; first += THREADS / GROUP) {
                const uint32_t x = first + lane / GROUP, i = x % n, upto = j + x / n;
                const bool is_wanted = x < COLUMNS * n && i < upto && upto <= n;
                if (!__any_sync(FLOE_ALL_LANES, is_wanted))
                    continue;
                const uint64_t cost = cost_of(k, s, is_wanted ? i : 0, is_wanted ? upto : n);
                if (is_wanted && lane % GROUP == 0)
                    s->pair[x / n][i] = cost;
            }
            __syncthreads();
        }
        uint64_t best = UINT64_MAX; /* costs are below 2^56: where the last table begins stands below */
        for (uint32_t i = t ? lane + 1 : lane; i < (t ? j : 1); i += FLOE_WARP) {
            const uint64_t before = t ? s->best[t - 1][i] : 0;
            const uint64_t all = (before + pair[i]) << 8 | i;
            best = before != UINT64_MAX && all < best ? all : best;
        }
        best = least_of_warp(best);
        if (lane == 0) {
            s->best[t][j] = best == UINT64_MAX ? best : best >> 8;
            s->from[t][j] = (uint8_t)best;
        }
        __syncthreads();
    }
}

FLOE_DEV void share_tables(const kind &k, table_shared *s, uint8_t *table)
{
    sort_contexts(k, s);
    for (uint32_t c = threadIdx.x; c < k.ncontexts; c += THREADS)
        table[c] = 0;
    if (threadIdx.x == 0)
        s->ntables = 0;
    find_runs(k, s);
    if (threadIdx.x == 0 && s->ncontexts) {
        uint32_t t = 0, end = s->ncontexts;
        for (uint32_t i = 1; i < TABLES; i++)
            t = s->best[i][end] < s->best[t][end] ? i : t;
        s->cost += s->best[t][end];
        s->ntables = t + 1;
        s->begin[t + 1] = end;
        for (; end > 0; t--)
            s->begin[t] = end = s->from[t][end];
    }
    __syncthreads();
    for (uint32_t t = 0; t < s->ntables; t++)
        for (uint32_t i = s->begin[t] + threadIdx.x; i < s->begin[t + 1]; i += THREADS)
            table[s->order[i]] = (uint8_t)t;
}

/* ---- frequencies ------------------------------------------------------------------------------------------------------- */

enum { MINE = FLOE_CONTEXT_MASK_SYMBOLS / FLOE_WARP /* symbols of a lane, at most: lane + 32 k */ };

/* The largest number of all lanes' symbols, and the first symbol that has it. */
FLOE_DEV uint32_t largest(const uint32_t *of, uint32_t *symbol)
{
    uint32_t most = 0, first = UINT32_MAX;
#pragma unroll
    for (uint32_t k = 0; k < MINE; k++)
        most = max(most, of[k]);
    most = __reduce_max_sync(FLOE_ALL_LANES, most);
#pragma unroll
    for (uint32_t k = 0; k < MINE; k++)
        first = of[k] == most ? min(first, floe_lane() + FLOE_WARP * k) : first;
    *symbol = __reduce_min_sync(FLOE_ALL_LANES, first);
    return most;
}

/* floe_ans_normalise, by a warp. */
FLOE_DEV void normalise(const kind &k, const table_shared *s, uint32_t t, uint16_t *freq, uint8_t *code, uint8_t *nused)
{
    const uint32_t *low = s->sums + s->begin[t] * k.pitch(), *high = s->sums + s->begin[t + 1] * k.pitch();
    uint32_t count[MINE], f[MINE], c[MINE], sum = 0, used = 0;
    uint64_t total = 0;
#pragma unroll
    for (uint32_t x = 0; x < MINE; x++) {
        const uint32_t i = floe_lane() + FLOE_WARP * x;
        count[x] = i < k.nsymbols ? high[i] - low[i] : 0;
        total += count[x];
        used += count[x] != 0;
    }
    total = floe_warp_sum(total);
    used = __reduce_add_sync(FLOE_ALL_LANES, used);
    if (floe_lane() == 0)
        *nused = (uint8_t)used;
    uint32_t rest;
    const uint64_t due = (((uint64_t)largest(count, &rest) << k.bits) + total / 2) / total;
#pragma unroll
    for (uint32_t x = 0; x < MINE; x++) {
        f[x] = c[x] = 0;
        if (count[x] == 0 || floe_lane() + FLOE_WARP * x == rest)
            continue;
        const uint64_t wanted = (((uint64_t)count[x] << k.bits) + total / 2) / total;
        c[x] = floe_ans_freq_code(wanted ? (uint32_t)wanted : 1);
        f[x] = floe_ans_freq_of(c[x]);
        sum += f[x];
    }
    int64_t left = ((int64_t)1 << k.bits) - __reduce_add_sync(FLOE_ALL_LANES, sum);
    while (left < (int64_t)(due - due / 8) || left < 1) {
        uint32_t less = 0, most;
        if (largest(f, &most) <= 1)
            break;
#pragma unroll
        for (uint32_t x = 0; x < MINE; x++)
            if (floe_lane() + FLOE_WARP * x == most) {
                c[x] = floe_ans_freq_below(c[x]);
                less = f[x] - floe_ans_freq_of(c[x]);
                f[x] -= less;
            }
        left += __reduce_add_sync(FLOE_ALL_LANES, less);
    }
#pragma unroll
    for (uint32_t x = 0; x < MINE; x++) {
        const uint32_t i = floe_lane() + FLOE_WARP * x;
        if (i < k.nsymbols) {
            freq[i] = (uint16_t)(i == rest ? (uint32_t)left : f[x]);
            code[i] = (uint8_t)(i == rest ? FLOE_ANS_REST : c[x]);
        }
    }
}

/* ---- a grid ------------------------------------------------------------------------------------------------------------ */

/* Tables of masks, or of values; by a block, of the counts of `several` grids up to this one. */
FLOE_DEV void build(const floe_context_job &job, uint32_t grid, uint32_t several, bool values, table_shared *s,
                    floe_context_dev_tables *to)
{
    const floe_context_dev_grid &g = job.grids[grid];
    const uint32_t warp = threadIdx.x / FLOE_WARP, *counts = job.counts + (uint64_t)grid * FLOE_CONTEXT_COUNTS;
    const kind k = {values ? g.nvalues : g.nmasks,
                    (uint32_t)(values ? FLOE_CONTEXT_VALUE_SYMBOLS : FLOE_CONTEXT_MASK_SYMBOLS),
                    (uint32_t)(values ? FLOE_CONTEXT_STRIDE : FLOE_CONTEXT_MASK_SYMBOLS),
                    (uint32_t)(values ? FLOE_CONTEXT_VALUE_BITS : FLOE_CONTEXT_MASK_BITS),
                    !values,
                    counts + (values ? FLOE_CONTEXT_VALUES_AT : 0),
                    several};
    if (threadIdx.x == 0)
        s->cost = values ? 0 : (uint64_t)(2 + (g.nmasks + g.nvalues + 1) / 2) << 15;
    share_tables(k, s, to->table + (values ? g.nmasks : 0));
    if (warp < s->ntables && values)
        normalise(k, s, warp, to->value_freq[warp], to->value_code[warp], to->nused + TABLES + warp);
    else if (warp < s->ntables)
        normalise(k, s, warp, to->mask_freq[warp], to->mask_code[warp], to->nused + warp);
    if (threadIdx.x == 0) {
        *(values ? &to->nvalues : &to->nmasks) = s->ntables;
        to->cost[values] = s->cost;
    }
    __syncthreads();
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------- */

/* Bytes of a table of so many symbols, as floe_ans_table_write writes it. */
FLOE_DEV uint32_t table_nbytes(uint32_t n, uint32_t nused) { return (n + 7) / 8 + (6 * nused + 7) / 8; }

/* floe_ans_table_write, by a warp. codes: shared memory, more bytes than there are symbols. */
FLOE_DEV void write_table(const uint16_t *freq, const uint8_t *code, uint32_t n, uint8_t *codes, uint8_t *to)
{
    const uint32_t lane = floe_lane();
    uint32_t nused = 0;
#pragma unroll
    for (uint32_t k = 0; k < MINE; k++) {
        const uint32_t i = lane + FLOE_WARP * k, mine = i < n ? code[i] : 0;
        const bool used = i < n && freq[i] != 0;
        const uint32_t all = __ballot_sync(FLOE_ALL_LANES, used);
        if (used)
            codes[nused + (uint32_t)__popc(all & floe_lanes_below())] = (uint8_t)mine;
        if (lane < 4 && FLOE_WARP * k + 8 * lane < n)
            to[4 * k + lane] = (uint8_t)(all >> 8 * lane);
        nused += (uint32_t)__popc(all);
    }
    if (lane == 0)
        codes[nused] = 0;
    __syncwarp();
    to += (n + 7) / 8;
    for (uint32_t i = lane; 8 * i < 6 * nused; i += FLOE_WARP) /* of two codes each */
        to[i] = (uint8_t)((codes[8 * i / 6] | codes[8 * i / 6 + 1] << 6) >> 8 * i % 6);
    __syncwarp();
}

/* The size, then what floe_context_tables_write writes: table number i of a grid, which are those of masks, then of values; and of
 * the first the head of all. By a warp. */
FLOE_DEV void write_tables(const floe_context_dev_grid &g, const floe_context_dev_tables &t, uint32_t i, uint8_t *codes,
                           floe_context_dev_bytes *to)
{
    const uint32_t lane = floe_lane(), n = g.nmasks + g.nvalues, k = lane < t.nmasks ? lane : TABLES + lane - t.nmasks,
                   ntables = t.nmasks + t.nvalues, head = 4 + (n + 1) / 2;
    const uint32_t nbytes =
        lane < ntables ? table_nbytes(k < TABLES ? FLOE_CONTEXT_MASK_SYMBOLS : FLOE_CONTEXT_VALUE_SYMBOLS, t.nused[k])
                       : 0;
    const uint32_t total = head + __reduce_add_sync(FLOE_ALL_LANES, nbytes),
                   at = head + __reduce_add_sync(FLOE_ALL_LANES, lane < i ? nbytes : 0), v = i - t.nmasks;
    if (i < t.nmasks)
        write_table(t.mask_freq[i], t.mask_code[i], FLOE_CONTEXT_MASK_SYMBOLS, codes, to->bytes + at);
    else if (i < ntables)
        write_table(t.value_freq[v], t.value_code[v], FLOE_CONTEXT_VALUE_SYMBOLS, codes, to->bytes + at);
    for (uint32_t c = lane; i == 0 && 2 * c < n; c += FLOE_WARP)
        to->bytes[4 + c] = (uint8_t)(t.table[2 * c] | (2 * c + 1 < n ? t.table[2 * c + 1] << 4 : 0));
    if (i == 0 && lane == 0) {
        to->nbytes = total;
        to->bytes[0] = (uint8_t)(total - 2);
        to->bytes[1] = (uint8_t)((total - 2) >> 8);
        to->bytes[2] = (uint8_t)t.nmasks;
        to->bytes[3] = (uint8_t)t.nvalues;
    }
}

/* ---- the kernel -------------------------------------------------------------------------------------------------------- */

/* Whether a grid, and so many before it, may have the same tables. */
FLOE_DEV bool may_share(const floe_context_job &job, uint32_t grid, uint32_t before)
{
    bool may = before <= grid;
    for (uint32_t i = 0; before <= grid && i < before; i++) /* all on their way together */
        may &= job.grids[grid - i].shares;
    return may;
}

/* What each run costs, as floe_context_tables_build returns it; UINT64_MAX: there is none. */
FLOE_DEV void load_costs(const floe_context_job &job, uint64_t *costs)
{
    for (uint32_t i = threadIdx.x; i < job.ngrids * FLOE_CONTEXT_RUN; i += THREADS) {
        const uint64_t *cost = job.tables[i].cost;
        costs[i] = may_share(job, i / FLOE_CONTEXT_RUN, i % FLOE_CONTEXT_RUN) ? cost[0] + cost[1] : UINT64_MAX;
    }
    __syncthreads();
}

/* A grid has the tables of the one before where that takes no more; those that share have those of the sum. */
FLOE_DEV void share_grids(const floe_context_job &job, table_shared *s)
{
    uint64_t *costs = s->best[0], shared_cost = 0; /* there is room for more grids than any call has */
    uint32_t root = 0, last = 0;
    load_costs(job, costs);
    for (uint32_t i = 0; i < job.ngrids; i++) {
        const uint32_t own = i * FLOE_CONTEXT_RUN, before = i - root, long_run = before >= FLOE_CONTEXT_RUN,
                       all = own + (long_run ? FLOE_CONTEXT_RUN - 1 : before);
        if (long_run && costs[all] != UINT64_MAX) { /* runs are rarely so long */
            build(job, i, before + 1, false, s, job.tables + all);
            build(job, i, before + 1, true, s, job.tables + all);
            load_costs(job, costs);
        }
        const bool shares = i && costs[all] != UINT64_MAX && costs[all] <= shared_cost + costs[own];
        shared_cost = costs[shares ? all : own];
        root = shares ? root : i;
        last = shares ? all : own;
        for (uint32_t g = root + threadIdx.x; g <= i; g += THREADS)
            job.grids[g].tables = last;
    }
    __syncthreads();
}

/* Warps take table after table, of all grids in turn. */
FLOE_DEV void write_grids(const floe_context_job &job, table_shared *s)
{
    uint32_t *which = (uint32_t *)s->pair, *ntables = (uint32_t *)s->mean;
    for (uint32_t i = threadIdx.x; i < job.ngrids; i += THREADS) {
        which[i] = job.grids[i].tables;
        ntables[i] = 0;
        if (i == 0 || job.grids[i - 1].tables != which[i])
            ntables[i] = max(job.tables[which[i]].nmasks + job.tables[which[i]].nvalues, 1u);
        else
            job.bytes[i].nbytes = 0;
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x / FLOE_WARP; k < 2 * TABLES * job.ngrids; k += WARPS) {
        const uint32_t i = k % job.ngrids;
        uint8_t *codes = (uint8_t *)s->sums + threadIdx.x / FLOE_WARP * (FLOE_CONTEXT_MASK_SYMBOLS + 1);
        if (k / job.ngrids < ntables[i])
            write_tables(job.grids[i], job.tables[which[i]], k / job.ngrids, codes, job.bytes + i);
    }
}

__global__ void __launch_bounds__(THREADS) context_tables_kernel(const __grid_constant__ floe_context_job job)
{
    __shared__ table_shared shared;
    const uint32_t me = blockIdx.x / 2, grid = me / FLOE_CONTEXT_RUN, before = me % FLOE_CONTEXT_RUN;
    if (*job.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    if (grid < job.ngrids) {
        if (may_share(job, grid, before))
            build(job, grid, before + 1, blockIdx.x % 2, &shared, job.tables + me);
        if (threadIdx.x == 0)
            floe_counter_add(job.done, 1);
        return;
    }
    if (threadIdx.x == 0)
        floe_counter_wait(job.done, 2 * job.ngrids * FLOE_CONTEXT_RUN);
    __syncthreads();
    share_grids(job, &shared);
    write_grids(job, &shared);
}

} // namespace

int floe_context_tables_cuda(const floe_context_job *job, void *stream)
{
    FLOE_LAUNCH(context_tables_kernel, 2 * job->ngrids * FLOE_CONTEXT_RUN + 1, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
