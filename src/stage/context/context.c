/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of stage context: which contexts share one, their bytes, and what coding makes of them. */
#include "stage/context/context.h"

#include <assert.h>
#include <string.h>

const floe_context_ops *floe_context_ops_of(floe_isa isa)
{
#ifdef FLOE_HAVE_AVX2_BUILD
    if (isa == FLOE_ISA_AVX2)
        return &floe_context_ops_avx2;
#else
    (void)isa;
#endif
    return &floe_context_ops_plain;
}

/* The two kinds of symbols. */
typedef struct kind {
    uint32_t ncontexts, nsymbols, stride, bits;
    bool masks;
    const uint32_t *counts; /* of context 0 */
} kind;

static kind mask_kind(const floe_context_spec *spec, const uint32_t *counts)
{
    return (kind){floe_context_masks(spec),
                  FLOE_CONTEXT_MASK_SYMBOLS,
                  FLOE_CONTEXT_MASK_SYMBOLS,
                  FLOE_CONTEXT_MASK_BITS,
                  true,
                  counts};
}
static kind value_kind(const floe_context_spec *spec, const uint32_t *counts)
{
    return (kind){floe_context_values(spec),
                  FLOE_CONTEXT_VALUE_SYMBOLS,
                  FLOE_CONTEXT_STRIDE,
                  FLOE_CONTEXT_VALUE_BITS,
                  false,
                  counts ? counts + FLOE_CONTEXT_VALUES_AT : NULL};
}

/* ---- which contexts share a table -------------------------------------------------------------------------------------- */

/* How much a symbol is on the mean, in 1/256. */
static uint64_t mean_of(const kind *k, uint32_t context)
{
    uint64_t sum = 0, total = 0;
    for (uint32_t i = 0; i < k->nsymbols; i++) {
        const uint32_t count = k->counts[context * k->stride + i];
        sum += (uint64_t)count * (k->masks ? (uint32_t)__builtin_popcount(i) : i / 2);
        total += count;
    }
    return total ? (sum << 8) / total : 0;
}

/* Contexts that occur, by their means, those of one mean by number. Returns how many. */
static uint32_t sort_contexts(const kind *k, uint8_t *order)
{
    uint64_t means[FLOE_CONTEXT_VALUES];
    uint32_t n = 0;
    for (uint32_t c = 0; c < k->ncontexts; c++) {
        uint32_t used = 0, at = n;
        for (uint32_t i = 0; i < k->nsymbols && !used; i++)
            used = k->counts[c * k->stride + i];
        if (!used)
            continue;
        for (means[c] = mean_of(k, c); at > 0 && means[order[at - 1]] > means[c]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)c;
        n++;
    }
    return n;
}

static void add_counts(const kind *k, uint32_t context, uint32_t *sum)
{
    for (uint32_t i = 0; i < k->nsymbols; i++)
        sum[i] += k->counts[context * k->stride + i];
}

/* Counts c of a run of contexts, c log2 c of each, and what floe_ans_cost takes of them. */
typedef struct run_sum {
    uint32_t count[FLOE_CONTEXT_MASK_SYMBOLS];
    uint64_t log[FLOE_CONTEXT_MASK_SYMBOLS], used, total, logs;
} run_sum;

static void add_context(const kind *k, uint32_t context, run_sum *s)
{
    for (uint32_t i = 0; i < k->nsymbols; i++) {
        const uint32_t count = k->counts[context * k->stride + i];
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

/* Runs of sorted contexts: best[t][j] is what the first j cost with t + 1 tables, from[t][j] where the last one begins. */
typedef struct runs {
    uint64_t best[FLOE_CONTEXT_TABLES][FLOE_CONTEXT_VALUES + 1];
    uint8_t from[FLOE_CONTEXT_TABLES][FLOE_CONTEXT_VALUES + 1];
} runs;

static void find_runs(const kind *k, const uint8_t *order, uint32_t n, runs *r)
{
    memset(r, 0xFF, sizeof *r);
    for (uint32_t i = 0; i < n; i++) {
        run_sum sum = {.total = 0};
        for (uint32_t j = i + 1; j <= n; j++) {
            add_context(k, order[j - 1], &sum);
            const uint64_t cost = floe_ans_cost(k->nsymbols, sum.used, sum.total, sum.logs);
            for (uint32_t t = i ? 1 : 0; t < (i ? FLOE_CONTEXT_TABLES : 1); t++) {
                const uint64_t before = t ? r->best[t - 1][i] : 0;
                if (before != UINT64_MAX && before + cost < r->best[t][j]) {
                    r->best[t][j] = before + cost;
                    r->from[t][j] = (uint8_t)i;
                }
            }
        }
    }
}

/* Gives each context its table; returns the cost. */
static uint64_t share_tables(const kind *k, uint8_t *table, uint32_t *ntables)
{
    uint8_t order[FLOE_CONTEXT_VALUES];
    runs r;
    uint32_t n = sort_contexts(k, order), t = 0;
    *ntables = 0;
    if (n == 0)
        return 0;
    find_runs(k, order, n, &r);
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

static void normalise_table(const kind *k, const uint8_t *table, uint32_t which, uint16_t *freq, uint8_t *code)
{
    uint32_t sum[FLOE_CONTEXT_MASK_SYMBOLS] = {0};
    for (uint32_t c = 0; c < k->ncontexts; c++)
        if (table[c] == which)
            add_counts(k, c, sum);
    floe_ans_normalise(sum, k->nsymbols, k->bits, freq, code);
}

uint64_t floe_context_tables_build(const floe_context_spec *spec, const uint32_t *counts, floe_context_tables *tables)
{
    const kind masks = mask_kind(spec, counts), values = value_kind(spec, counts);
    memset(tables, 0, sizeof *tables);
    uint64_t cost = share_tables(&masks, tables->table, &tables->nmasks);
    cost += share_tables(&values, tables->table + masks.ncontexts, &tables->nvalues);
    for (uint32_t t = 0; t < tables->nmasks; t++)
        normalise_table(&masks, tables->table, t, tables->mask_freq[t], tables->mask_code[t]);
    for (uint32_t t = 0; t < tables->nvalues; t++)
        normalise_table(&values, tables->table + masks.ncontexts, t, tables->value_freq[t], tables->value_code[t]);
    return cost + ((uint64_t)(2 + (masks.ncontexts + values.ncontexts + 1) / 2) << 15);
}

uint64_t floe_context_entropy(const floe_context_spec *spec, const uint32_t *counts)
{
    const kind kinds[] = {mask_kind(spec, counts), value_kind(spec, counts)};
    uint64_t bits = 0;
    for (int k = 0; k < 2; k++)
        for (uint32_t c = 0; c < kinds[k].ncontexts; c++)
            bits += floe_ans_entropy(kinds[k].counts + c * kinds[k].stride, kinds[k].nsymbols);
    return bits;
}

uint64_t floe_context_raw_bits(const uint32_t *counts)
{
    uint64_t n = 0;
    for (uint32_t c = 0; c < FLOE_CONTEXT_VALUES; c++)
        for (uint32_t s = FLOE_CONTEXT_FIRST_RAW; s < FLOE_CONTEXT_VALUE_SYMBOLS; s++)
            n += (uint64_t)counts[FLOE_CONTEXT_VALUES_AT + c * FLOE_CONTEXT_STRIDE + s] * floe_context_nraw(s);
    return n;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------- */

void floe_context_tables_write(const floe_context_spec *spec, const floe_context_tables *tables, floe_cursor *to)
{
    const uint32_t n = floe_context_masks(spec) + floe_context_values(spec);
    floe_write8(to, (uint8_t)tables->nmasks);
    floe_write8(to, (uint8_t)tables->nvalues);
    for (uint32_t c = 0; c < n; c += 2)
        floe_write8(to, (uint8_t)(tables->table[c] | (c + 1 < n ? tables->table[c + 1] << 4 : 0)));
    for (uint32_t t = 0; t < tables->nmasks; t++)
        floe_ans_table_write(tables->mask_freq[t], tables->mask_code[t], FLOE_CONTEXT_MASK_SYMBOLS, to);
    for (uint32_t t = 0; t < tables->nvalues; t++)
        floe_ans_table_write(tables->value_freq[t], tables->value_code[t], FLOE_CONTEXT_VALUE_SYMBOLS, to);
}

bool floe_context_tables_read(const floe_context_spec *spec, floe_reader *from, floe_context_tables *tables)
{
    const uint32_t nmasks = floe_context_masks(spec), n = nmasks + floe_context_values(spec);
    tables->nmasks = floe_read8(from);
    tables->nvalues = floe_read8(from);
    if (tables->nmasks > FLOE_CONTEXT_TABLES || tables->nvalues > FLOE_CONTEXT_TABLES)
        return false;
    const uint8_t *pairs = floe_read_bytes(from, (n + 1) / 2);
    if (!pairs || (n % 2 && pairs[n / 2] >> 4))
        return false;
    for (uint32_t c = 0; c < n; c++) {
        const uint32_t most = c < nmasks ? tables->nmasks : tables->nvalues;
        tables->table[c] = pairs[c / 2] >> 4 * (c % 2) & 15;
        if (tables->table[c] >= (most ? most : 1)) /* without tables all contexts have the first, which is empty */
            return false;
    }
    memset(tables->mask_freq[0], 0, sizeof tables->mask_freq[0]);
    memset(tables->value_freq[0], 0, sizeof tables->value_freq[0]);
    for (uint32_t t = 0; t < tables->nmasks; t++)
        if (!floe_ans_table_read(from, FLOE_CONTEXT_MASK_SYMBOLS, FLOE_CONTEXT_MASK_BITS, tables->mask_freq[t]))
            return false;
    for (uint32_t t = 0; t < tables->nvalues; t++)
        if (!floe_ans_table_read(from, FLOE_CONTEXT_VALUE_SYMBOLS, FLOE_CONTEXT_VALUE_BITS, tables->value_freq[t]))
            return false;
    return true;
}

/* ---- for coding -------------------------------------------------------------------------------------------------------- */

void floe_context_symbols_of(const floe_context_spec *spec, const floe_context_tables *tables, floe_ans_symbol *symbols)
{
    const kind masks = mask_kind(spec, NULL), values = value_kind(spec, NULL);
    for (uint32_t c = 0; c < masks.ncontexts; c++)
        floe_ans_symbols_of(tables->mask_freq[tables->table[c]], masks.nsymbols, masks.bits,
                            symbols + c * masks.stride);
    for (uint32_t c = 0; c < values.ncontexts; c++)
        floe_ans_symbols_of(tables->value_freq[tables->table[masks.ncontexts + c]], values.nsymbols, values.bits,
                            symbols + FLOE_CONTEXT_VALUES_AT + c * values.stride);
}

void floe_context_decoder_of(const floe_context_spec *spec, const floe_context_tables *tables, floe_context_decoder *d)
{
    const kind masks = mask_kind(spec, NULL), values = value_kind(spec, NULL);
    uint8_t *value_slots = d->slots + (FLOE_CONTEXT_TABLES << FLOE_CONTEXT_MASK_BITS);
    uint32_t *value_spans = d->spans + FLOE_CONTEXT_TABLES * FLOE_CONTEXT_MASK_SYMBOLS;
    for (uint32_t t = 0; t < tables->nmasks + (tables->nmasks == 0); t++)
        floe_ans_slots_of(tables->mask_freq[t], masks.nsymbols, masks.bits, d->slots + (t << masks.bits),
                          d->spans + t * masks.stride);
    for (uint32_t t = 0; t < tables->nvalues + (tables->nvalues == 0); t++)
        floe_ans_slots_of(tables->value_freq[t], values.nsymbols, values.bits, value_slots + (t << values.bits),
                          value_spans + t * values.stride);
    for (uint32_t c = 0; c < masks.ncontexts; c++) {
        d->mask_slots[c] = d->slots + ((uint32_t)tables->table[c] << masks.bits);
        d->mask_spans[c] = d->spans + tables->table[c] * masks.stride;
    }
    for (uint32_t c = 0; c < values.ncontexts; c++) {
        d->value_slots[c] = value_slots + ((uint32_t)tables->table[masks.ncontexts + c] << values.bits);
        d->value_spans[c] = value_spans + tables->table[masks.ncontexts + c] * values.stride;
    }
}
