/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/interp/interp_sets.h"

#include <string.h>

floe_interp_bits floe_interp_bits_of(const uint64_t shape[FLOE_LATTICE_RANK], uint64_t *words)
{
    return (floe_interp_bits){
        .shape = shape, .words = words, .nrows = shape[0] * shape[1] * shape[2], .row = floe_ceil_div(shape[3], 64)};
}

static uint64_t nwords_of(const floe_interp_bits *b) { return b->nrows * b->row; }

uint64_t floe_interp_bits_count(const floe_interp_bits *b)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < nwords_of(b); i++)
        n += b->words[i] ? (uint64_t)__builtin_popcountll(b->words[i]) : 0; /* most are 0, and this may be a call */
    return n;
}

bool floe_interp_bits_next(const floe_interp_bits *b, floe_interp_member *m)
{
    if (!m->left) {
        while (m->next < nwords_of(b) && !b->words[m->next])
            m->next++;
        if (m->next == nwords_of(b))
            return false;
        floe_interp_bits_point(b, m->next / b->row, m->point);
        m->left = b->words[m->next++];
    }
    m->point[3] = (m->next - 1) % b->row * 64 + (uint64_t)__builtin_ctzll(m->left);
    m->left &= m->left - 1;
    return true;
}

static bool has_row(const floe_interp_bits *b, uint64_t r)
{
    uint64_t at[FLOE_LATTICE_RANK];
    if (!b->box)
        return true;
    floe_interp_bits_point(b, r, at);
    for (uint32_t a = 0; a < 3; a++)
        if (at[a] < b->box->lo[a] || at[a] >= b->box->hi[a])
            return false;
    return true;
}

/* ---- differences ------------------------------------------------------------------------------------------------------- */

/* Along the last axis, within a row; and the sums that undo it. */
static void differ_row(const floe_interp_bits *b, uint64_t *row)
{
    for (uint64_t w = b->row; w-- > 0;)
        row[w] ^= row[w] << 1 | (w ? row[w - 1] >> 63 : 0);
    if (b->shape[3] % 64)
        row[b->row - 1] &= ((uint64_t)1 << b->shape[3] % 64) - 1;
}
static void restore_row(const floe_interp_bits *b, uint64_t *row)
{
    uint64_t carry = 0;
    for (uint64_t w = 0; w < b->row; w++) {
        for (int shift = 1; shift < 64; shift *= 2)
            row[w] ^= row[w] << shift;
        row[w] ^= carry;
        carry = (uint64_t)0 - (row[w] >> 63);
    }
    if (b->shape[3] % 64)
        row[b->row - 1] &= ((uint64_t)1 << b->shape[3] % 64) - 1;
}

void floe_interp_bits_differ(const floe_interp_bits *b, uint32_t axis, bool back)
{
    uint64_t stride = 1; /* rows from one to the next along the axis */
    for (uint32_t a = axis + 1; a < 3; a++)
        stride *= b->shape[a];
    for (uint64_t i = 0; i < b->nrows; i++) {
        const uint64_t r = back ? i : b->nrows - 1 - i;
        uint64_t *row = b->words + r * b->row;
        if (!has_row(b, r))
            continue;
        if (axis == 3)
            (back ? restore_row : differ_row)(b, row);
        else if (r / stride % b->shape[axis])
            for (uint64_t w = 0; w < b->row; w++)
                row[w] ^= (row - stride * b->row)[w];
    }
}

/* ---- records ----------------------------------------------------------------------------------------------------------- */

static uint64_t row_records(const floe_interp_bits *b) { return floe_ceil_div(b->shape[3], FLOE_INTERP_MASK_CELLS); }

void floe_interp_bits_to_records(const floe_interp_bits *b, uint8_t *records, uint64_t nrecords)
{
    const uint64_t n = row_records(b);
    memset(records + b->nrows * n, 0, nrecords - b->nrows * n);
    for (uint64_t r = 0; r < b->nrows; r++)
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t *row = b->words + r * b->row, x = i * FLOE_INTERP_MASK_CELLS, w = x / 64;
            const uint64_t next = x % 64 && w + 1 < b->row ? row[w + 1] << (64 - x % 64) : 0;
            records[r * n + i] = (uint8_t)((row[w] >> x % 64 | next) & 127);
        }
}

bool floe_interp_bits_of_records(const floe_interp_bits *b, const uint8_t *records)
{
    const uint64_t n = row_records(b);
    uint64_t beyond = 0;
    memset(b->words, 0, nwords_of(b) * sizeof *b->words);
    for (uint64_t r = 0; r < b->nrows; r++) {
        uint64_t *row = b->words + r * b->row;
        if (!has_row(b, r))
            continue;
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t x = i * FLOE_INTERP_MASK_CELLS, w = x / 64, bits = records[r * n + i];
            row[w] |= bits << x % 64;
            const uint64_t next = x % 64 ? bits >> (64 - x % 64) : 0;
            if (w + 1 < b->row)
                row[w + 1] |= next;
            else
                beyond |= next;
        }
        beyond |= b->shape[3] % 64 ? row[b->row - 1] >> b->shape[3] % 64 : 0;
    }
    return beyond == 0;
}

bool floe_interp_bits_of_list(const floe_interp_bits *b, const uint8_t *list, uint64_t count)
{
    const uint64_t ncells = b->nrows * b->shape[3];
    uint64_t before = 0;
    memset(b->words, 0, nwords_of(b) * sizeof *b->words);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t p = floe_load32(list + 4 * i), x = p % b->shape[3];
        if (p >= ncells || (i > 0 && p <= before))
            return false;
        b->words[p / b->shape[3] * b->row + x / 64] |= (uint64_t)1 << x % 64;
        before = p;
    }
    return true;
}
