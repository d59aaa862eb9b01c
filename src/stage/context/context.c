/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of stage context: which contexts share one, their bytes, and what coding makes of them. */
#include "stage/context/context.h"

#include <string.h>

const floe_context_ops *floe_context_ops_of(floe_isa isa) { return FLOE_BY_ISA(isa, &floe_context_ops); }

typedef floe_context_kind kind;

/* ---- which contexts share a table -------------------------------------------------------------------------------------- */

/* The mean of a context's symbols, in 1/256: of masks, of how many codes are not 0; of values, about of magnitudes. */
static uint64_t mean_of(const kind *k, const uint32_t *counts)
{
    uint64_t sum = 0, total = 0;
    for (uint32_t i = 0; i < k->nsymbols; i++) {
        const uint32_t count = counts[i];
        sum += (uint64_t)count * (k->first == 0 ? (uint32_t)__builtin_popcount(i) : i / 2);
        total += count;
    }
    return total ? (sum << 8) / total : 0;
}

/* Sorts the contexts that have symbols by their means, and those of one mean by number. Returns how many there are. */
static uint32_t sort_contexts(const kind *k, const uint32_t *counts, uint8_t *order)
{
    uint64_t means[FLOE_CONTEXT_VALUES];
    uint32_t n = 0;
    for (uint32_t c = 0; c < k->ncontexts; c++, counts += k->stride) {
        uint32_t used = 0, at = n;
        for (uint32_t i = 0; i < k->nsymbols && !used; i++)
            used = counts[i];
        if (!used)
            continue;
        for (means[c] = mean_of(k, counts); at > 0 && means[order[at - 1]] > means[c]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)c;
        n++;
    }
    return n;
}

/* The counts of a run of contexts, count * log2(count) of each symbol, and the sums of both that floe_ans_cost takes. */
typedef struct run_sum {
    uint32_t count[FLOE_CONTEXT_MASK_SYMBOLS];
    uint64_t log[FLOE_CONTEXT_MASK_SYMBOLS], used, total, logs;
} run_sum;

static void add_context(const kind *k, const uint32_t *counts, run_sum *s)
{
    for (uint32_t i = 0; i < k->nsymbols; i++) {
        const uint32_t count = counts[i];
        if (count == 0)
            continue;
        s->used += s->count[i] == 0;
        s->total += count;
        s->count[i] += count;
        s->logs -= s->log[i];
        s->log[i] = s->count[i] * floe_ans_log2(s->count[i]);
        s->logs += s->log[i];
    }
}

/* How the sorted contexts are best divided into runs: best[t][j] is what the first j of them cost with t + 1 tables, and
 * from[t][j] where the last of these begins. */
typedef struct runs {
    uint64_t best[FLOE_CONTEXT_TABLES][FLOE_CONTEXT_VALUES + 1];
    uint8_t from[FLOE_CONTEXT_TABLES][FLOE_CONTEXT_VALUES + 1];
} runs;

enum { STARTS = 32 /* contexts with which runs begin whose costs are found in parallel */ };

/* Costs of all runs that begin with one of the contexts first .. first + STARTS - 1. */
typedef struct run_costs {
    const kind *k;
    const uint32_t *counts;
    const uint8_t *order;
    uint32_t n, first;
    uint64_t cost[STARTS][FLOE_CONTEXT_VALUES + 1]; /* cost[i][j]: of the run first + i .. j - 1 */
} run_costs;

static void cost_task(void *arg, uint64_t i, uint32_t worker)
{
    run_costs *c = arg;
    run_sum sum = {.total = 0};
    (void)worker;
    for (uint32_t j = c->first + (uint32_t)i + 1; j <= c->n; j++) {
        add_context(c->k, c->counts + c->order[j - 1] * c->k->stride, &sum);
        c->cost[i][j] = floe_ans_cost(c->k->nsymbols, sum.used, sum.total, sum.logs);
    }
}

/* Tries the runs that begin at context i, of which cost[j] is that of i .. j - 1. */
static void add_runs(runs *r, uint32_t i, uint32_t n, const uint64_t *cost)
{
    for (uint32_t t = i ? 1 : 0; t < (i ? FLOE_CONTEXT_TABLES : 1); t++) {
        const uint64_t before = t ? r->best[t - 1][i] : 0;
        for (uint32_t j = i + 1; j <= n && before != UINT64_MAX; j++)
            if (before + cost[j] < r->best[t][j]) {
                r->best[t][j] = before + cost[j];
                r->from[t][j] = (uint8_t)i;
            }
    }
}

static void find_runs(const floe_cpu *cpu, run_costs *c, runs *r)
{
    memset(r, 0xFF, sizeof *r);
    for (c->first = 0; c->first < c->n; c->first += STARTS) {
        const uint32_t nstarts = c->n - c->first < STARTS ? c->n - c->first : STARTS;
        floe_cpu_parallel(cpu, nstarts, cost_task, c);
        for (uint32_t i = 0; i < nstarts; i++)
            add_runs(r, c->first + i, c->n, c->cost[i]);
    }
}

/* Gives each context its table; returns the cost. */
static uint64_t share_tables(const floe_cpu *cpu, const kind *k, const uint32_t *counts, uint8_t *table,
                             uint32_t *ntables)
{
    uint8_t order[FLOE_CONTEXT_VALUES];
    runs r;
    uint32_t n = sort_contexts(k, counts, order), t = 0;
    *ntables = 0;
    if (n == 0)
        return 0;
    run_costs costs = {.k = k, .counts = counts, .order = order, .n = n};
    find_runs(cpu, &costs, &r);
    for (uint32_t i = 1; i < FLOE_CONTEXT_TABLES; i++)
        t = r.best[i][n] < r.best[t][n] ? i : t;
    const uint64_t cost = r.best[t][n];
    *ntables = t + 1;
    for (uint32_t end = n; end > 0; t--) {
        const uint32_t begin = r.from[t][end];
        for (uint32_t i = begin; i < end; i++)
            table[order[i]] = (uint8_t)t;
        end = begin;
    }
    return cost;
}

/* Table number `which` of a kind, from the counts of its contexts. */
static void normalise_table(const kind *k, const uint32_t *counts, uint32_t which, floe_context_tables *to)
{
    const uint8_t *table = to->table + k->first;
    const uint32_t at = k->freqs_at + which * k->stride;
    uint32_t sum[FLOE_CONTEXT_MASK_SYMBOLS] = {0};
    for (uint32_t c = 0; c < k->ncontexts; c++)
        for (uint32_t i = 0; i < k->nsymbols && table[c] == which; i++)
            sum[i] += counts[c * k->stride + i];
    floe_ans_normalise(sum, k->nsymbols, k->bits, to->freq + at, to->code + at);
}

uint64_t floe_context_tables_build(const floe_cpu *cpu, const floe_context_spec *spec, const uint32_t *counts,
                                   floe_context_tables *tables)
{
    uint64_t cost = (uint64_t)floe_context_head_nbytes(spec) << 15;
    memset(tables, 0, sizeof *tables);
    for (uint32_t v = 0; v < 2; v++) {
        const kind k = floe_context_kind_of(spec, v);
        cost += share_tables(cpu, &k, counts + k.counts_at, tables->table + k.first, &tables->ntables[v]);
        for (uint32_t t = 0; t < tables->ntables[v]; t++)
            normalise_table(&k, counts + k.counts_at, t, tables);
    }
    return cost;
}

floe_context_tally floe_context_tally_of(const floe_context_spec *spec, const uint32_t *counts)
{
    floe_context_tally t = {.entropy = 0};
    for (uint32_t v = 0; v < 2; v++) {
        const kind k = floe_context_kind_of(spec, v);
        for (uint32_t c = 0; c < k.ncontexts; c++) {
            const uint32_t *of = counts + k.counts_at + c * k.stride;
            uint64_t total = 0;
            for (uint32_t i = 0; i < k.nsymbols; i++) {
                floe_context_tally_add(&t, v, i, of[i]);
                total += of[i];
            }
            t.entropy += total ? total * floe_ans_log2(total) : 0;
        }
    }
    return t;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------- */

void floe_context_tables_write(const floe_context_spec *spec, const floe_context_tables *tables, floe_cursor *to)
{
    const uint32_t n = floe_context_all(spec);
    floe_write8(to, (uint8_t)tables->ntables[0]);
    floe_write8(to, (uint8_t)tables->ntables[1]);
    for (uint32_t c = 0; c < n; c += 2)
        floe_write8(to, (uint8_t)(tables->table[c] | (c + 1 < n ? tables->table[c + 1] << 4 : 0)));
    for (uint32_t v = 0; v < 2; v++) {
        const kind k = floe_context_kind_of(spec, v);
        for (uint32_t t = 0, at = k.freqs_at; t < tables->ntables[v]; t++, at += k.stride)
            floe_ans_table_write(tables->freq + at, tables->code + at, k.nsymbols, to);
    }
}

bool floe_context_tables_read(const floe_context_spec *spec, floe_reader *from, floe_context_tables *tables)
{
    const uint32_t n = floe_context_all(spec);
    tables->ntables[0] = floe_read8(from);
    tables->ntables[1] = floe_read8(from);
    const uint8_t *pairs = floe_read_bytes(from, (n + 1) / 2);
    if (!pairs || (n % 2 && pairs[n / 2] >> 4))
        return false;
    for (uint32_t v = 0; v < 2; v++) {
        const kind k = floe_context_kind_of(spec, v);
        const uint32_t most = tables->ntables[v];
        if (most > FLOE_CONTEXT_TABLES)
            return false;
        for (uint32_t c = k.first; c < k.first + k.ncontexts; c++) {
            tables->table[c] = pairs[c / 2] >> 4 * (c % 2) & 15;
            if (tables->table[c] >= (most ? most : 1)) /* without tables all contexts have the first, which is empty */
                return false;
        }
        memset(tables->freq + k.freqs_at, 0, k.stride * sizeof *tables->freq);
    }
    for (uint32_t v = 0; v < 2; v++) {
        const kind k = floe_context_kind_of(spec, v);
        for (uint32_t t = 0; t < tables->ntables[v]; t++)
            if (!floe_ans_table_read(from, k.nsymbols, k.bits, tables->freq + k.freqs_at + t * k.stride))
                return false;
    }
    return true;
}

/* ---- for coding -------------------------------------------------------------------------------------------------------- */

void floe_context_symbols_of(const floe_context_spec *spec, const floe_context_tables *tables, floe_ans_symbol *symbols)
{
    for (uint32_t v = 0; v < 2; v++) {
        const kind k = floe_context_kind_of(spec, v);
        for (uint32_t c = 0; c < k.ncontexts; c++)
            floe_ans_symbols_of(tables->freq + k.freqs_at + tables->table[k.first + c] * k.stride, k.nsymbols, k.bits,
                                symbols + k.counts_at + c * k.stride);
    }
}

void floe_context_decoder_of(const floe_context_spec *spec, const floe_context_tables *tables, uint32_t begin,
                             floe_context_decoder *d)
{
    d->begin = begin;
    uint8_t *slots = d->slots;
    for (uint32_t v = 0; v < 2; v++) {
        const kind k = floe_context_kind_of(spec, v);
        uint32_t *spans = d->spans + k.freqs_at;
        for (uint32_t t = 0; t < tables->ntables[v] || t == 0; t++)
            floe_ans_slots_of(tables->freq + k.freqs_at + t * k.stride, k.nsymbols, k.bits, slots + (t << k.bits),
                              spans + t * k.stride);
        for (uint32_t c = 0; c < k.ncontexts; c++) {
            d->slots_of[v][c] = slots + ((uint32_t)tables->table[k.first + c] << k.bits);
            d->spans_of[v][c] = spans + tables->table[k.first + c] * k.stride;
        }
        slots += FLOE_CONTEXT_TABLES << k.bits;
    }
}
