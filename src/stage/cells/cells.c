/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/cells/cells.h"

#include "base/try.h"

static uint32_t ones(uint64_t v) { return (uint32_t)__builtin_popcountll(v); }
static uint64_t lowest(uint64_t v) { return (uint64_t)__builtin_ctzll(v); }

floe_cells floe_cells_of(floe_dtype dtype, uint32_t rank, const uint64_t *shape, const int64_t *stride, void *data)
{
    floe_cells c = {.array = {.data = data, .dtype = dtype, .rank = rank}, .ncells = 1};
    for (uint32_t i = 0; i < rank; i++) {
        c.array.shape[i] = c.array.hi[i] = shape[i];
        c.array.stride[i] = stride[i];
        c.ncells *= shape[i];
    }
    c.nwords = floe_ceil_div(c.ncells, FLOE_CELLS_WORD);
    c.nspans = floe_ceil_div(c.ncells, FLOE_CELLS_SPAN);
    return c;
}

void floe_cells_take(floe_cells *c, bool encode, floe_arena *arena)
{
    for (int s = 0; s < FLOE_CELLS_SETS; s++)
        c->sets[s] = floe_arena_take(arena, c->nwords, sizeof *c->sets[s]);
    c->spans = encode ? floe_arena_take(arena, c->nspans, sizeof *c->spans) : NULL;
}

static uint64_t value_at(const floe_cells_array *a, uint64_t cell)
{
    return floe_cells_get(a->data, floe_cells_at(a, cell), floe_cells_size(a->dtype));
}

/* What follows from count, of sets that are present. */
static void size_up(floe_cells *c)
{
    c->sets_nbytes = 0;
    for (int s = 0; s < FLOE_CELLS_SETS; s++)
        c->sets_nbytes += c->present >> s & 1 ? floe_cells_set_nbytes(c->nwords, c->count.nwords[s]) : 0;
    c->literals_nbytes = floe_cells_literals_nbytes(c->count.ncells[FLOE_CELLS_LITERALS], c->array.dtype);
}

/* ---- encode ---------------------------------------------------------------------------------------------------------- */

/* The third pattern. */
static void choose_odd(floe_cells *c)
{
    for (uint64_t w = 0; w < c->nwords && !floe_dtype_is_integer(c->array.dtype); w++)
        for (uint64_t left = c->sets[FLOE_CELLS_LITERALS][w]; left; left &= left - 1) {
            const uint64_t bits = value_at(&c->array, w * FLOE_CELLS_WORD + lowest(left));
            if (floe_cells_is_odd(c->palette, c->array.dtype, bits)) {
                c->palette[2] = bits;
                return;
            }
        }
}

/* A span: cells of the palette's patterns leave the literals for sets of their own. */
static void sort_task(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    const floe_cells *c = arg;
    const uint64_t begin = i * (FLOE_CELLS_SPAN / FLOE_CELLS_WORD);
    const uint64_t end = floe_min64(begin + FLOE_CELLS_SPAN / FLOE_CELLS_WORD, c->nwords);
    floe_cells_count *count = &c->spans[i];
    *count = (floe_cells_count){.ncells = {0}};
    for (uint64_t w = begin; w < end; w++) {
        uint64_t words[FLOE_CELLS_SETS] = {0};
        for (uint64_t left = c->sets[FLOE_CELLS_LITERALS][w]; left; left &= left - 1) {
            const uint64_t bits = value_at(&c->array, w * FLOE_CELLS_WORD + lowest(left));
            const uint32_t s = floe_cells_set_of(c->palette, bits);
            words[s] |= left & (0 - left);
            count->ncells[s]++;
        }
        for (int s = 0; s < FLOE_CELLS_SETS; s++) {
            c->sets[s][w] = words[s];
            count->nwords[s] += words[s] != 0;
        }
    }
}

void floe_cells_sort(floe_cells *c, const floe_cpu *cpu, bool has_fill, uint64_t fill)
{
    floe_cells_palette(c->palette, c->array.dtype, has_fill, fill);
    choose_odd(c);
    floe_cpu_parallel(cpu, c->nspans, sort_task, c);
    c->count = (floe_cells_count){.ncells = {0}};
    c->present = 0;
    for (uint64_t i = 0; i < c->nspans; i++)
        for (int s = 0; s < FLOE_CELLS_SETS; s++) {
            c->count.ncells[s] += c->spans[i].ncells[s];
            c->count.nwords[s] += c->spans[i].nwords[s];
            c->present |= (uint32_t)(c->spans[i].ncells[s] != 0) << s;
        }
    size_up(c);
}

/* Which of 64 words from `first` on are not 0. */
static uint64_t above(const uint64_t *words, uint64_t nwords, uint64_t first)
{
    uint64_t top = 0;
    for (uint64_t i = first; i < nwords && i < first + FLOE_CELLS_WORD; i++)
        top |= (uint64_t)(words[i] != 0) << (i - first);
    return top;
}

static void write_set(const uint64_t *words, uint64_t nwords, floe_cursor *to)
{
    for (uint64_t i = 0; i < nwords; i += FLOE_CELLS_WORD)
        floe_write64(to, above(words, nwords, i));
    for (uint64_t i = 0; i < nwords; i++)
        if (words[i])
            floe_write64(to, words[i]);
}

void floe_cells_write(const floe_cells *c, uint8_t *dst)
{
    uint8_t *literals = dst + c->sets_nbytes;
    floe_cursor to = floe_cursor_of(dst, (size_t)c->sets_nbytes);
    int64_t n = 0;
    for (int s = 0; s < FLOE_CELLS_SETS; s++)
        if (c->present >> s & 1)
            write_set(c->sets[s], c->nwords, &to);
    memset(literals, 0, (size_t)c->literals_nbytes);
    for (uint64_t w = 0; w < c->nwords && c->literals_nbytes > 0; w++)
        for (uint64_t left = c->sets[FLOE_CELLS_LITERALS][w]; left; left &= left - 1)
            floe_cells_set(literals, n++, floe_cells_size(c->array.dtype),
                           value_at(&c->array, w * FLOE_CELLS_WORD + lowest(left)));
}

void floe_cells_write_all(const floe_cells *c, uint8_t *dst)
{
    const uint32_t size = floe_cells_size(c->array.dtype);
    const uint64_t row = c->array.shape[c->array.rank - 1];
    memset(dst + floe_cells_literals_nbytes(c->ncells, c->array.dtype) - 8, 0, 8);
    for (uint64_t first = 0; first < c->ncells; first += row) {
        const int64_t at = floe_cells_at(&c->array, first), step = c->array.stride[c->array.rank - 1];
        for (uint64_t i = 0; i < row; i++)
            floe_cells_set(dst, (int64_t)(first + i), size,
                           floe_cells_get(c->array.data, at + (int64_t)i * step, size));
    }
}

/* ---- decode ---------------------------------------------------------------------------------------------------------- */

/* False: it ends early, or names what is not there. */
static bool read_set(floe_cells *c, int s, floe_reader *from)
{
    const uint64_t ntops = floe_ceil_div(c->nwords, FLOE_CELLS_WORD);
    const uint8_t *tops = floe_read_bytes(from, 8 * ntops);
    uint64_t *words = c->sets[s];
    for (uint64_t t = 0; t < ntops && tops; t++) {
        const uint64_t top = floe_load64(tops + 8 * t), here = floe_min64(64, c->nwords - 64 * t);
        if (here < 64 && top >> here)
            return false;
        for (uint64_t i = 0; i < here; i++) {
            words[64 * t + i] = top >> i & 1 ? floe_read64(from) : 0;
            c->count.ncells[s] += ones(words[64 * t + i]);
        }
        c->count.nwords[s] += ones(top);
    }
    const uint32_t over = (uint32_t)(c->ncells % FLOE_CELLS_WORD);
    return tops && !from->bad && (over == 0 || words[c->nwords - 1] >> over == 0);
}

floe_status floe_cells_read(floe_cells *c, const uint8_t *src, uint64_t nbytes, floe_error *err)
{
    floe_reader from = floe_reader_of(src, (size_t)nbytes);
    c->count = (floe_cells_count){.ncells = {0}};
    for (int s = 0; s < FLOE_CELLS_SETS; s++)
        if (c->present >> s & 1)
            FLOE_CHECK(err, read_set(c, s, &from), FLOE_ERR_FORMAT,
                       "the set of cells %d is cut short, or names what is not there", s);
    size_up(c);
    FLOE_CHECK(err, c->literals_nbytes <= floe_reader_left(&from), FLOE_ERR_FORMAT,
               "values of cells take %llu bytes, there are %llu", (unsigned long long)c->literals_nbytes,
               (unsigned long long)floe_reader_left(&from));
    return FLOE_OK;
}

static void put_cell(const floe_cells_array *a, uint64_t cell, uint64_t bits)
{
    int64_t at;
    if (floe_cells_in_box(a, cell, &at))
        floe_cells_set(a->data, at, floe_cells_size(a->dtype), bits);
}

void floe_cells_put(const floe_cells *c, const uint8_t *src)
{
    const uint8_t *values = src + c->sets_nbytes;
    int64_t n = 0;
    for (int s = 0; s < FLOE_CELLS_SETS; s++)
        for (uint64_t w = 0; w < c->nwords && c->present >> s & 1; w++)
            for (uint64_t left = c->sets[s][w]; left; left &= left - 1)
                put_cell(&c->array, w * FLOE_CELLS_WORD + lowest(left),
                         s == FLOE_CELLS_LITERALS ? floe_cells_get(values, n++, floe_cells_size(c->array.dtype))
                                                  : c->palette[s]);
}

void floe_cells_put_all(const floe_cells *c, const uint8_t *src)
{
    for (uint64_t cell = 0; cell < c->ncells; cell++)
        put_cell(&c->array, cell, floe_cells_get(src, (int64_t)cell, floe_cells_size(c->array.dtype)));
}
