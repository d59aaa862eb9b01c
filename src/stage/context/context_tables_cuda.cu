/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts -> tables, as floe_context_tables_build does it, and their bytes. A block builds the tables of masks, or of values, of a run of
 * grids: a grid and some before it, which may share their tables. When all are done, one more block decides grid after grid which of
 * these runs there are. All numbers are whole, so that sums have no order; ties are broken as on the CPU.
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
    GROUP = 4                                                           /* lanes that share a context */
};
static_assert((int)WARPS == (int)TABLES && FLOE_CONTEXT_VALUES * (int)GROUP <= (int)THREADS,
              "a warp a table, a group a context");
static_assert((FLOE_CONTEXT_MASKS + 1) * (FLOE_CONTEXT_MASK_SYMBOLS + 1) <= (int)MOST_SUMS, "room for masks");
#define NOT_FOUND \
    ((uint64_t)1  \
     << 62) /* above all costs: they are below 2^54, and shifted by 8 bits for the start of the last table */

/* A kind of symbols, and their counts: sums over those of `ngrids` grids, of which `counts` are the last one's. */
struct kind : floe_context_kind {
    const uint32_t *counts;
    uint32_t ngrids;
    __device__ uint32_t pitch() const { return nsymbols | 1; } /* of sums: odd, so that threads read other banks */
};

struct table_shared {
    uint64_t best[TABLES + 1][THREADS / 4];  /* best[t][j]: what the first j contexts cost with t tables, << 8 */
    uint64_t total[FLOE_CONTEXT_VALUES + 1]; /* how many symbols the first j contexts have */
    uint64_t total_of[FLOE_CONTEXT_VALUES];  /* how many a context has, by its number */
    uint64_t cost;
    uint32_t sums[MOST_SUMS];                      /* counts of each context; then sums of those of the first j */
    uint32_t key[FLOE_CONTEXT_VALUES];             /* mean and number of a context; UINT32_MAX: it does not occur */
    uint8_t from[TABLES][FLOE_CONTEXT_VALUES + 1]; /* where the last of t + 1 tables begins */
    uint8_t order[FLOE_CONTEXT_VALUES];
    uint32_t begin[TABLES + 1], ntables;
    uint32_t which[FLOE_CONTEXT_VALUES]; /* the number of the tables that each grid has */
};

/* ---- contexts in their order ------------------------------------------------------------------------------------------- */

/* Loads the counts of all contexts, summed over grids. Those of four grids are loaded together, with few conditions: else loads would wait
 * for each other. */
FLOE_DEV void load_counts(const kind &k, table_shared *s)
{
    enum { ROWS = 4 /* of as many contexts as the block loads at once */, N = 4 * ROWS };
    const uint32_t at = 4 * threadIdx.x, symbol = at & (k.stride - 1), c = at / k.stride, step = 4 * THREADS / k.stride;
    uint32_t v[N] = {};
    for (uint32_t i = 0; i < k.ngrids; i += 4) {
        uint4 of[N] = {};
#pragma unroll
        for (uint32_t x = 0; x < N; x++)
            if (c + x % ROWS * step < k.ncontexts)
                of[x] = floe_load16_once(k.counts - min(i + x / ROWS, k.ngrids - 1) * FLOE_CONTEXT_COUNTS + at +
                                         x % ROWS * 4 * THREADS);
#pragma unroll
        for (uint32_t x = 0; x < 4 * N; x++)
            v[x % N] += (i + x / N < k.ngrids) * ((const uint32_t *)&of[x / N * ROWS + x % N / 4])[x % 4];
    }
#pragma unroll
    for (uint32_t x = 0; x < N; x++)
        if (c + x / 4 * step < k.ncontexts && symbol + x % 4 < k.nsymbols)
            s->sums[(c + x / 4 * step) * k.pitch() + symbol + x % 4] = v[x];
    __syncthreads();
}

template <class T> FLOE_DEV T sum_of_group(T v)
{
#pragma unroll
    for (int d = 1; d < GROUP; d *= 2)
        v += __shfl_xor_sync(FLOE_ALL_LANES, v, d);
    return v;
}

/* Sorts the contexts that have symbols by the means of these in 1/256, then by number, and adds up how many symbols the first of them have.
 * Returns how many contexts there are. GROUP lanes do a context. */
FLOE_DEV uint32_t sort_contexts(const kind &k, table_shared *s)
{
    const uint32_t c = threadIdx.x / GROUP, row = min(c, k.ncontexts), is_first = threadIdx.x % GROUP == 0;
    unsigned long long sum = 0, total = 0, upto = 0, before = 0;
    for (uint32_t i = floe_lane() % GROUP; i < k.nsymbols; i += GROUP) {
        const uint32_t count = s->sums[row * k.pitch() + i];
        sum += (unsigned long long)count * (k.first == 0 ? (uint32_t)__popc(i) : i / 2);
        total += count;
    }
    sum = sum_of_group(sum);
    total = sum_of_group(total);
    const uint32_t key = c < k.ncontexts && total ? (uint32_t)((sum << 8) / total) << 8 | c : UINT32_MAX;
    if (is_first && c < k.ncontexts)
        s->key[c] = key, s->total_of[c] = total;
    const uint32_t n = (uint32_t)__syncthreads_count(is_first && key != UINT32_MAX);
    for (uint32_t d = threadIdx.x % GROUP; d < k.ncontexts; d += GROUP) {
        before += s->key[d] < key;
        upto += s->key[d] <= key ? s->total_of[d] : 0;
    }
    before = sum_of_group(before);
    upto = sum_of_group(upto);
    if (is_first && key != UINT32_MAX)
        s->order[before] = (uint8_t)c, s->total[before + 1] = upto;
    if (threadIdx.x == 0)
        s->total[0] = 0;
    __syncthreads();
    return n;
}

/* Replaces counts by sums over the sorted contexts up to each. A warp does a symbol, and reads all counts of it before it writes. */
FLOE_DEV void sum_counts(const kind &k, table_shared *s, uint32_t n)
{
    const uint32_t lane = floe_lane();
    for (uint32_t i = threadIdx.x / FLOE_WARP; i < k.nsymbols; i += WARPS) {
        uint32_t v[4], sum = 0;
#pragma unroll
        for (uint32_t q = 0; q < 4 && FLOE_WARP * q < n; q++)
            v[q] = FLOE_WARP * q + lane < n ? s->sums[s->order[FLOE_WARP * q + lane] * k.pitch() + i] : 0;
        __syncwarp();
#pragma unroll
        for (uint32_t q = 0; q < 4 && FLOE_WARP * q < n; q++) {
            v[q] = floe_warp_sum_to(v[q]) + sum;
            sum = __shfl_sync(FLOE_ALL_LANES, v[q], FLOE_WARP - 1);
            if (FLOE_WARP * q + lane < n)
                s->sums[(FLOE_WARP * q + lane + 1) * k.pitch() + i] = v[q];
        }
        if (lane == 0)
            s->sums[i] = 0;
    }
    __syncthreads();
}

/* ---- which contexts share a table -------------------------------------------------------------------------------------- */

/* floe_ans_cost of contexts i to j - 1, which have no symbols from nsymbols on. */
FLOE_DEV uint64_t cost_of(const kind &k, const table_shared *s, uint32_t i, uint32_t j, uint32_t nsymbols)
{
    const uint32_t *low = s->sums + i * k.pitch(), *high = s->sums + j * k.pitch();
    uint64_t logs = 0;
    uint32_t used = nsymbols;
#pragma unroll 4
    for (uint32_t x = 0; x < nsymbols; x++) {
        const uint32_t count = high[x] - low[x];
        const uint32_t log = (__float_as_uint(__uint2float_rz(count)) >> 7) - (127u << 16); /* below 0: of count 0 */
        logs += (uint64_t)count * floe_ans_log2_of(log);
        used -= log >> 31;
    }
    return floe_ans_cost(k.nsymbols, used, s->total[j] - s->total[i], logs);
}

/* 2^BITS lanes find the costs of all runs that end with one context, and keep them. Then, for each number of tables, they choose the run of
 * the last table: the first of those that cost least, as the CPU does. Warps are ordered so that each scheduler has long and short ones. */
template <uint32_t BITS> FLOE_DEV void find_runs(const kind &k, table_shared *s, uint32_t n)
{
    enum { PARTS = 1 << BITS, MINE = THREADS >> 2 * BITS };
    const uint32_t warp = threadIdx.x / FLOE_WARP, part = threadIdx.x % PARTS,
                   upto = (warp & 4 ? warp ^ 3 : warp) * (FLOE_WARP / PARTS), j = upto + floe_lane() / PARTS + 1,
                   last = min(upto + FLOE_WARP / PARTS, n), nruns = upto < n ? (last + PARTS - 1) / PARTS : 0;
    uint32_t nsymbols = k.nsymbols;
    while (nsymbols > 0 && s->sums[last * k.pitch() + nsymbols - 1] == 0)
        nsymbols--;
    uint64_t runs[MINE];
#pragma unroll
    for (uint32_t q = 0; q < MINE; q++)
        runs[q] = NOT_FOUND;
    for (uint32_t q = nruns; q-- > 0;) { /* in registers, whose numbers must be constants: each moves to its place */
        const uint32_t i = q * PARTS + part;
        const uint64_t cost = i < j && j <= n ? cost_of(k, s, i, j, nsymbols) << 8 | i : NOT_FOUND;
#pragma unroll
        for (uint32_t r = MINE - 1; r > 0; r--)
            runs[r] = runs[r - 1];
        runs[0] = cost;
    }
    uint64_t *const all = &s->best[0][0];
    for (uint32_t i = threadIdx.x; i < sizeof s->best / sizeof *all; i += THREADS)
        all[i] = i ? NOT_FOUND : 0;
    __syncthreads();
    for (uint32_t t = 0; t < min((uint32_t)TABLES, n); t++) {
        const uint64_t *before = s->best[t] + part;
        uint64_t best = NOT_FOUND;
#pragma unroll
        for (uint32_t q = 0; q < MINE; q += 8)
            if (q < nruns)
#pragma unroll
                for (uint32_t r = q; r < q + 8 && r < MINE; r += 2)
                    best = floe_min64(best,
                                      floe_min64(before[r * PARTS] + runs[r], before[(r + 1) * PARTS] + runs[r + 1]));
#pragma unroll
        for (int d = 1; d < PARTS; d *= 2)
            best = floe_min64(best, __shfl_xor_sync(FLOE_ALL_LANES, (unsigned long long)best, d));
        if (part == 0 && j <= n) {
            s->from[t][j] = (uint8_t)best;
            s->best[t + 1][j] = best >> 8 << 8;
        }
        __syncthreads();
    }
}

FLOE_DEV void share_tables(const kind &k, table_shared *s, uint8_t *table)
{
    load_counts(k, s);
    const uint32_t n = sort_contexts(k, s), me = threadIdx.x;
    sum_counts(k, s, n);
    if (me < k.ncontexts)
        table[me] = 0;
    if (n <= THREADS >> 4)
        find_runs<4>(k, s, n);
    else if (n <= THREADS >> 3)
        find_runs<3>(k, s, n);
    else
        find_runs<2>(k, s, n);
    if (me == 0) {
        uint64_t least = s->best[0][n];
        for (uint32_t i = 1; i <= TABLES; i++)
            least = floe_min64(least, s->best[i][n] | i);
        uint32_t t = s->ntables = (uint8_t)least, end = n;
        s->cost += least >> 8;
        for (s->begin[t] = n; t > 0; s->begin[t] = end)
            end = s->from[--t][end];
    }
    __syncthreads();
    uint32_t t = 0;
    for (uint32_t i = 1; i < s->ntables; i++)
        t += s->begin[i] <= me;
    if (me < n)
        table[s->order[me]] = (uint8_t)t;
}

/* ---- frequencies ------------------------------------------------------------------------------------------------------- */

enum { MINE = FLOE_CONTEXT_MASK_SYMBOLS / FLOE_WARP /* symbols of a lane, at most: lane + 32 k */ };

/* The largest number that a symbol of any lane has, and the first symbol that has it. */
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
    const uint64_t total = s->total[s->begin[t + 1]] - s->total[s->begin[t]];
    uint32_t count[MINE], f[MINE], c[MINE], sum = 0, used = 0;
#pragma unroll
    for (uint32_t x = 0; x < MINE; x++) {
        const uint32_t i = floe_lane() + FLOE_WARP * x;
        count[x] = i < k.nsymbols ? high[i] - low[i] : 0;
        used += count[x] != 0;
    }
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

/* Builds the tables of a kind, by a block, from the counts of the last `ngrids` grids up to this one. Out of line: two places need it. */
FLOE_DEV_COLD void build(const floe_context_job &job, uint32_t grid, uint32_t ngrids, uint32_t number, table_shared *s,
                         floe_context_dev_tables *to)
{
    const floe_context_spec &spec = job.grids[grid].spec;
    const floe_context_kind of = floe_context_kind_of(&spec, number);
    const kind k = {of, job.counts + (uint64_t)grid * FLOE_CONTEXT_COUNTS + of.counts_at, ngrids};
    const uint32_t warp = threadIdx.x / FLOE_WARP, at = k.freqs_at + warp * k.stride;
    if (threadIdx.x == 0)
        s->cost = number == 0 ? (uint64_t)floe_context_head_nbytes(&spec) << 15 : 0;
    share_tables(k, s, to->tables.table + k.first);
    if (warp < s->ntables)
        normalise(k, s, warp, to->tables.freq + at, to->tables.code + at, &to->nused[number][warp]);
    if (threadIdx.x == 0) {
        to->tables.ntables[number] = s->ntables;
        to->cost[number] = s->cost;
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

/* Writes table number i of a grid, masks first, where floe_context_tables_write puts it behind the size of all; with the first one
 * also what stands before the tables. By a warp. */
FLOE_DEV void write_tables(const floe_context_spec &spec, const floe_context_dev_tables &built, uint32_t i,
                           uint8_t *codes, floe_context_dev_bytes *to)
{
    const floe_context_tables &t = built.tables;
    const uint32_t lane = floe_lane(), n = floe_context_all(&spec), nmasks = t.ntables[0],
                   ntables = nmasks + t.ntables[1], head = 2 + floe_context_head_nbytes(&spec);
    const uint32_t nbytes = lane < nmasks    ? table_nbytes(FLOE_CONTEXT_MASK_SYMBOLS, built.nused[0][lane])
                            : lane < ntables ? table_nbytes(FLOE_CONTEXT_VALUE_SYMBOLS, built.nused[1][lane - nmasks])
                                             : 0;
    const uint32_t total = head + __reduce_add_sync(FLOE_ALL_LANES, nbytes),
                   at = head + __reduce_add_sync(FLOE_ALL_LANES, lane < i ? nbytes : 0);
    if (i < ntables) {
        const floe_context_kind k = floe_context_kind_of(&spec, i >= nmasks);
        const uint32_t freqs_at = k.freqs_at + (i < nmasks ? i : i - nmasks) * k.stride;
        write_table(t.freq + freqs_at, t.code + freqs_at, k.nsymbols, codes, to->bytes + at);
    }
    for (uint32_t c = lane; i == 0 && 2 * c < n; c += FLOE_WARP)
        to->bytes[4 + c] = (uint8_t)(t.table[2 * c] | (2 * c + 1 < n ? t.table[2 * c + 1] << 4 : 0));
    if (i == 0 && lane == 0) {
        to->nbytes = total;
        to->bytes[0] = (uint8_t)(total - 2);
        to->bytes[1] = (uint8_t)((total - 2) >> 8);
        to->bytes[2] = (uint8_t)nmasks;
        to->bytes[3] = (uint8_t)t.ntables[1];
    }
}

/* ---- the kernel -------------------------------------------------------------------------------------------------------- */

/* What the tables of each run cost, as floe_context_tables_build returns it. */
FLOE_DEV void load_costs(const floe_context_job &job, uint64_t *costs)
{
    for (uint32_t i = threadIdx.x; i < job.ngrids * FLOE_CONTEXT_RUN; i += THREADS)
        if (i % FLOE_CONTEXT_RUN <= i / FLOE_CONTEXT_RUN)
            costs[i] = job.tables[i].cost[0] + job.tables[i].cost[1];
    __syncthreads();
}

/* A grid shares the tables of the one before it if that costs no more: then all that share have the tables of their summed counts. */
FLOE_DEV void share_grids(const floe_context_job &job, table_shared *s)
{
    uint64_t *costs = s->best[0]; /* there is room for more grids than any call has */
    uint32_t root = 0, last = 0;
    load_costs(job, costs);
    for (uint32_t i = 0; i < job.ngrids; i++) {
        const uint32_t own = i * FLOE_CONTEXT_RUN, before = i - root, long_run = before >= FLOE_CONTEXT_RUN,
                       all = own + (long_run ? FLOE_CONTEXT_RUN - 1 : before);
        if (long_run && costs[all] < NOT_FOUND) { /* rare: its tables were not built beforehand */
            for (uint32_t values = 0; values < 2; values++)
                build(job, i, before + 1, values, s, job.tables + all);
            load_costs(job, costs);
        }
        const bool shares = i && costs[all] < NOT_FOUND && costs[all] <= costs[last] + costs[own];
        root = shares ? root : i;
        last = shares ? all : own;
        for (uint32_t g = root + threadIdx.x; g <= i; g += THREADS)
            job.grids[g].tables = s->which[g] = last;
    }
    __syncthreads();
}

/* Writes the tables of all grids. Warps take one table after another. */
FLOE_DEV void write_grids(const floe_context_job &job, table_shared *s)
{
    uint32_t *ntables = s->key, first = 0;
    for (uint32_t i = threadIdx.x; i < job.ngrids; i += THREADS) {
        const floe_context_tables &t = job.tables[s->which[i]].tables;
        ntables[i] = i == 0 || s->which[i - 1] != s->which[i] ? max(t.ntables[0] + t.ntables[1], 1u) : 0;
        if (ntables[i] == 0)
            job.bytes[i].nbytes = 0;
    }
    __syncthreads();
    uint8_t *codes = (uint8_t *)s->sums + threadIdx.x / FLOE_WARP * (FLOE_CONTEXT_MASK_SYMBOLS + 1);
    for (uint32_t i = 0; i < job.ngrids; first += ntables[i++])
        for (uint32_t k = (threadIdx.x / FLOE_WARP - first) % WARPS; k < ntables[i]; k += WARPS)
            write_tables(job.grids[i].spec, job.tables[s->which[i]], k, codes, job.bytes + i);
}

__global__ void __launch_bounds__(THREADS) context_tables_kernel(const __grid_constant__ floe_context_job job)
{
    __shared__ table_shared shared;
    const uint32_t me = blockIdx.x / 2, before = me / job.ngrids, grid = me % job.ngrids, status = *job.status;
    const bool may_share =
        __syncthreads_and(before <= grid && (threadIdx.x >= before || job.grids[grid - threadIdx.x].shares));
    if (status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    if (blockIdx.x < gridDim.x - 1) { /* of a grid, and so many before it */
        floe_context_dev_tables *to = job.tables + grid * FLOE_CONTEXT_RUN + before;
        if (may_share)
            build(job, grid, before + 1, blockIdx.x % 2, &shared, to);
        else if (threadIdx.x == 0)
            to->cost[blockIdx.x % 2] = NOT_FOUND;
        if (threadIdx.x == 0)
            floe_counter_add(job.done, 1);
        return;
    }
    if (threadIdx.x == 0)
        floe_counter_wait(job.done, gridDim.x - 1);
    __syncthreads();
    share_grids(job, &shared);
    write_grids(job, &shared);
}

} // namespace

int floe_context_tables_cuda(const floe_context_job *job, void *stream)
{
    const uint32_t longest = job->ngrids < FLOE_CONTEXT_RUN ? job->ngrids : FLOE_CONTEXT_RUN;
    FLOE_LAUNCH(context_tables_kernel, 2 * job->ngrids * longest + 1, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
