/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/quantizer/quantizer.h"

#include "base/sort.h"
#include "stage/quantizer/quantizer_init_math.h"

void floe_quantizer_init(floe_quantizer *z, floe_quantizer_kind kind, floe_dtype dtype, double bound, double max_abs,
                         bool has_fill, uint64_t fill_bits)
{
    floe_quantizer_make(z, kind, dtype, bound, max_abs, has_fill, fill_bits);
}

/* ---- table -------------------------------------------------------------------------------------------------------- */

bool floe_table_insert(floe_table_slot *slots, uint32_t mask, uint64_t key, uint32_t *count, uint32_t most)
{
    uint32_t i = floe_table_slot_of(key) & mask;
    while (slots[i].place != 0 && slots[i].key != key)
        i = (i + 1) & mask;
    if (slots[i].place != 0)
        return true;
    if (*count >= most)
        return false;
    slots[i] = (floe_table_slot){key, ++*count};
    return true;
}

static int compare_ordered(const void *a, const void *b)
{
    int64_t x = (int64_t) * (const uint64_t *)a, y = (int64_t) * (const uint64_t *)b;
    return (x > y) - (x < y);
}

void floe_table_finish(floe_table_slot *slots, uint32_t mask, uint64_t *table, uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i <= mask; i++)
        if (slots[i].place != 0)
            table[n++] = slots[i].key;
    floe_sort64(table, count, compare_ordered);
    for (uint32_t place = 0; place < count; place++) {
        uint32_t i = floe_table_slot_of(table[place]) & mask;
        while (slots[i].key != table[place] || slots[i].place == 0)
            i = (i + 1) & mask;
        slots[i].place = place + 1;
    }
}
