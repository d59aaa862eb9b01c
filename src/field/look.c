/* SPDX-License-Identifier: BSD-3-Clause */
#include "field/look.h"

uint64_t floe_look_place(const floe_look *look, int64_t at)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < look->nprobes; i++)
        bits += floe_look_probe(look, at, i);
    return bits;
}

typedef struct looking {
    const floe_look *look;
    uint64_t *bits;
} looking;

static void task(void *arg, uint64_t place, uint32_t worker)
{
    looking *l = arg;
    (void)worker;
    l->bits[place] = floe_look_place(l->look, floe_look_at(l->look, (uint32_t)place));
}

void floe_look_all(const floe_cpu *cpu, const floe_look *look, uint64_t *bits)
{
    looking l = {look, bits};
    floe_cpu_parallel(cpu, floe_look_nplaces(look), task, &l);
}
