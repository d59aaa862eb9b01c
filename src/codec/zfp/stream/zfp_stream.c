/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding goes in waves: each thread codes some runs of blocks, each into a slot of its own; a sum over their sizes shows
 * where they go; then they are joined, shifted to their bit. A word of the stream belongs to the run in which it ends, which
 * takes the word's first bits from the run before: a run has at least as many blocks, so at least as many bits, as a word.
 */
#include "codec/zfp/stream/zfp_stream.h"

#include "base/bytes.h"
#include "base/try.h"
#include "stage/zfpblock/zfpblock_bits.h"

enum {
    WORD = 64,
    RUN_LEAST = WORD,           /* blocks */
    RUN_MOST = 4096,            /* blocks: for small ones, all of a second-level cache */
    SLOT_BITS = 1 << 20,        /* of a run, where that is not too few blocks */
    RUNS_A_THREAD = 8,          /* of a wave: so that waiting for the last of them costs little */
    DECODE_RUN_VALUES = 1 << 14 /* values that a thread takes at a time, in whole chunks */
};

/* A run in its slot, and its place in the stream. */
typedef struct run {
    uint64_t nbits, at;
} run;

typedef struct encoder {
    const floe_zfp_array *array;
    const floe_zfp_params *params;
    const floe_zfpblock_ops *ops;
    uint64_t nblocks;
    uint32_t run_blocks, wave_runs;
    size_t slot_nbytes;
    uint8_t *slots;
    uint16_t *slot_lengths; /* of the wave's blocks, where the caller wants none */
    run *runs;
    uint16_t *lengths; /* of all blocks, or NULL */
    uint64_t first;    /* run of the wave */
    uint64_t head;     /* the bits of the word in which the wave begins that are in front of it */
    uint8_t *dst;
} encoder;

static encoder encoder_of(const floe_cpu *cpu, const floe_zfp_array *array, const floe_zfp_params *params)
{
    const uint32_t most = floe_zfp_block_bits(params, array->type, array->rank);
    encoder e = {.array = array, .params = params, .nblocks = floe_zfp_nblocks(array->rank, array->shape)};
    const uint64_t run_blocks = floe_min64(floe_max64(SLOT_BITS / most, RUN_LEAST), RUN_MOST);
    e.ops = floe_zfpblock_ops_of(array->type, cpu->isa);
    e.run_blocks = (uint32_t)run_blocks;
    e.wave_runs = cpu->threads > 1 ? cpu->threads * RUNS_A_THREAD : 1;
    e.wave_runs = (uint32_t)floe_min64(e.wave_runs, floe_ceil_div(e.nblocks, run_blocks));
    e.slot_nbytes = (size_t)((floe_ceil_div(run_blocks * most, 8) + FLOE_ZFP_SLACK + 7) & ~(uint64_t)7);
    return e;
}

static void take_scratch(encoder *e, floe_arena *arena)
{
    e->slots = floe_arena_take(arena, e->wave_runs, e->slot_nbytes);
    e->slot_lengths = floe_arena_take(arena, (uint64_t)e->wave_runs * e->run_blocks, sizeof *e->slot_lengths);
    e->runs = floe_arena_take(arena, e->wave_runs, sizeof *e->runs);
}

static uint64_t decode_tasks(uint64_t nblocks, uint32_t rank, uint32_t chunk, uint64_t *chunks_a_task)
{
    *chunks_a_task = floe_ceil_div(DECODE_RUN_VALUES >> 2 * rank, chunk);
    return floe_ceil_div(floe_ceil_div(nblocks, chunk), *chunks_a_task);
}

size_t floe_zfp_stream_workspace(const floe_cpu *cpu, const floe_zfp_array *array, const floe_zfp_params *params,
                                 uint32_t chunk)
{
    floe_arena plan = floe_arena_plan();
    encoder e = encoder_of(cpu, array, params);
    uint64_t chunks_a_task;
    take_scratch(&e, &plan);
    floe_arena_take(&plan, decode_tasks(e.nblocks, array->rank, chunk, &chunks_a_task), 1);
    return plan.overflow ? 0 : plan.used;
}

uint64_t floe_zfp_stream_bound(const floe_zfp_array *array, const floe_zfp_params *params, uint32_t begin)
{
    uint64_t nbits;
    if (!floe_mul64(floe_zfp_nblocks(array->rank, array->shape), floe_zfp_block_bits(params, array->type, array->rank),
                    &nbits) ||
        !floe_add64(nbits, begin, &nbits))
        return 0;
    return floe_ceil_div(nbits, WORD) * 8;
}

/* ---- encoding -------------------------------------------------------------------------------------------------------- */

static uint8_t *slot_of(const encoder *e, uint64_t i) { return e->slots + i * e->slot_nbytes; }

static void encode_task(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    const encoder *e = arg;
    const uint64_t first = (e->first + i) * e->run_blocks, count = floe_min64(e->run_blocks, e->nblocks - first);
    uint16_t *lengths = e->lengths ? e->lengths + first : e->slot_lengths + i * e->run_blocks;
    e->runs[i].nbits = e->ops->encode(e->array, e->params, first, count, slot_of(e, i), lengths);
}

/* The bits of the stream's word in which run i ends that lie in front of that end; head: those in front of the run, where
 * it does not fill the word's beginning. */
static uint64_t word_behind(const encoder *e, uint64_t i, uint64_t head)
{
    const run *r = &e->runs[i];
    const uint32_t n = (uint32_t)((r->at + r->nbits) % WORD);
    if (n > r->nbits) /* the last run of all, or there is no other */
        return head | (r->nbits ? floe_zfp_get(slot_of(e, i), 0, (uint32_t)r->nbits) << (n - r->nbits) : 0);
    return n ? floe_zfp_get(slot_of(e, i), r->nbits - n, n) : 0;
}

/* The bits of the word in which run i begins that lie in front of it. Runs but the last have a word's bits and more. */
static uint64_t word_before(const encoder *e, uint64_t i) { return i ? word_behind(e, i - 1, 0) : e->head; }

/* The words that end in run i. */
static void join_task(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    const encoder *e = arg;
    const run *r = &e->runs[i];
    const uint8_t *src = slot_of(e, i);
    const uint32_t shift = (uint32_t)(r->at % WORD);
    const uint64_t nwords = (r->at + r->nbits) / WORD - r->at / WORD;
    uint64_t before = word_before(e, i);
    uint8_t *out = e->dst + r->at / WORD * 8;
    for (uint64_t k = 0; k < nwords; k++) {
        const uint64_t word = floe_load64(src + 8 * k);
        floe_store64(out + 8 * k, before | word << shift);
        before = shift ? word >> (WORD - shift) : 0;
    }
}

static floe_status encode_wave(encoder *e, const floe_cpu *cpu, uint64_t count, uint64_t capacity, uint64_t *at,
                               floe_error *err)
{
    floe_cpu_parallel(cpu, count, encode_task, e);
    for (uint64_t i = 0; i < count; i++) {
        e->runs[i].at = *at;
        *at += e->runs[i].nbits;
    }
    FLOE_CHECK(err, floe_ceil_div(*at, WORD) <= capacity / 8, FLOE_ERR_CAPACITY,
               "the zfp stream needs more than the %llu bytes there are", (unsigned long long)capacity);
    floe_cpu_parallel(cpu, count, join_task, e);
    e->head = word_behind(e, count - 1, word_before(e, count - 1));
    return FLOE_OK;
}

floe_status floe_zfp_stream_compress(const floe_zfp_coding *c, floe_arena *scratch, void *dst, uint64_t capacity,
                                     uint16_t *lengths, uint64_t *nbits, floe_error *err)
{
    const uint32_t begin = c->begin;
    encoder e = encoder_of(c->cpu, c->array, c->params);
    const uint64_t nruns = floe_ceil_div(e.nblocks, e.run_blocks);
    take_scratch(&e, scratch);
    FLOE_CHECK(err, !scratch->overflow && scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for %llu zfp blocks", (unsigned long long)e.nblocks);
    FLOE_CHECK(err, floe_ceil_div(begin, WORD) <= capacity / 8, FLOE_ERR_CAPACITY, "a zfp stream in %llu bytes",
               (unsigned long long)capacity);
    e.lengths = lengths;
    e.dst = dst;
    if (begin % WORD)
        e.head = floe_load64(e.dst + begin / WORD * 8) & (((uint64_t)1 << begin % WORD) - 1);
    *nbits = begin;
    for (; e.first < nruns; e.first += e.wave_runs)
        FLOE_TRY(encode_wave(&e, c->cpu, floe_min64(e.wave_runs, nruns - e.first), capacity, nbits, err));
    if (*nbits % WORD)
        floe_store64(e.dst + *nbits / WORD * 8, e.head);
    return FLOE_OK;
}

/* ---- decoding -------------------------------------------------------------------------------------------------------- */

typedef struct decoder {
    const floe_zfp_array *array;
    const floe_zfp_params *params;
    const floe_zfpblock_ops *ops;
    floe_zfp_source source;
    uint64_t nblocks, chunks_a_task;
    uint8_t *failed;   /* a flag for each task */
    uint16_t *lengths; /* measuring */
} decoder;

/* Does any of these blocks touch the box that is wanted? */
static bool is_wanted(const floe_zfp_array *a, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t rest = i;
        bool inside = true;
        for (uint32_t axis = a->rank; axis-- > 0;) {
            const uint64_t n = floe_ceil_div(a->shape[axis], FLOE_ZFP_SIDE), at = rest % n * FLOE_ZFP_SIDE;
            inside = inside && at < a->hi[axis] && at + FLOE_ZFP_SIDE > a->lo[axis];
            rest /= n;
        }
        if (inside)
            return true;
    }
    return false;
}

/* Blocks of `nchunks` chunks from number `chunk` on, which must end where the next one begins. */
static bool decode_chunks(const decoder *d, uint64_t chunk, uint64_t nchunks)
{
    const uint64_t first = chunk * d->source.chunk;
    const uint64_t count = floe_min64(nchunks * d->source.chunk, d->nblocks - first);
    floe_zfp_source s = d->source;
    if (d->array->boxed && !is_wanted(d->array, first, count))
        return true;
    s.places += chunk;
    s.at = s.places[0];
    return (first ? s.at >= d->source.at : s.at == d->source.at) &&
           d->ops->decode(d->array, d->params, first, count, &s) && s.at == s.places[floe_ceil_div(count, s.chunk)];
}

static void decode_task(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    const decoder *d = arg;
    const uint64_t step = d->array->boxed ? 1 : d->chunks_a_task;
    const uint64_t end = floe_min64((i + 1) * d->chunks_a_task, floe_ceil_div(d->nblocks, d->source.chunk));
    d->failed[i] = 0;
    for (uint64_t c = i * d->chunks_a_task; c < end && !d->failed[i]; c += step)
        d->failed[i] = !decode_chunks(d, c, floe_min64(step, end - c));
}

static void decode_all(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    decoder *d = arg;
    d->failed[i] = !d->ops->decode(d->array, d->params, 0, d->nblocks, &d->source);
}

static void measure_all(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    decoder *d = arg;
    d->failed[i] = !d->ops->measure(d->array->type, d->array->rank, d->params, d->nblocks, &d->source, d->lengths);
}

static decoder decoder_of(const floe_zfp_coding *c, const void *src, uint64_t nbytes)
{
    decoder d = {.array = c->array, .params = c->params, .nblocks = floe_zfp_nblocks(c->array->rank, c->array->shape)};
    d.ops = floe_zfpblock_ops_of(c->array->type, c->cpu->isa);
    d.source = (floe_zfp_source){.src = src, .nbits = 8 * floe_min64(nbytes, UINT64_MAX / 8), .at = c->begin};
    return d;
}

static floe_status cut_short(floe_error *err, uint64_t nbytes)
{
    return floe_fail(err, FLOE_ERR_FORMAT, "the zfp stream of %llu bytes ends before its last block",
                     (unsigned long long)nbytes);
}

floe_status floe_zfp_stream_decompress(const floe_zfp_coding *c, const void *src, uint64_t nbytes,
                                       const uint64_t *places, uint32_t chunk, floe_arena *scratch, floe_error *err)
{
    decoder d = decoder_of(c, src, nbytes);
    uint8_t one_failed = 0;
    if (!places) {
        d.failed = &one_failed;
        floe_cpu_parallel(c->cpu, 1, decode_all, &d);
        return one_failed ? cut_short(err, nbytes) : FLOE_OK;
    }
    const uint64_t ntasks = decode_tasks(d.nblocks, c->array->rank, chunk, &d.chunks_a_task);
    d.source.places = places;
    d.source.chunk = chunk;
    d.failed = floe_arena_take(scratch, ntasks, 1);
    FLOE_CHECK(err, d.failed, FLOE_ERR_MEMORY, "the workspace is too small for %llu zfp blocks",
               (unsigned long long)d.nblocks);
    floe_cpu_parallel(c->cpu, ntasks, decode_task, &d);
    for (uint64_t i = 0; i < ntasks; i++)
        FLOE_CHECK(err, !d.failed[i], FLOE_ERR_FORMAT,
                   "the zfp stream is cut short, or its index is not its own, in the %llu blocks from %llu on",
                   (unsigned long long)(d.chunks_a_task * chunk), (unsigned long long)(i * d.chunks_a_task * chunk));
    return FLOE_OK;
}

floe_status floe_zfp_stream_measure(const floe_zfp_coding *c, const void *src, uint64_t nbytes, uint16_t *lengths,
                                    uint64_t *nbits, floe_error *err)
{
    decoder d = decoder_of(c, src, nbytes);
    uint8_t failed = 0;
    d.failed = &failed;
    d.lengths = lengths;
    floe_cpu_parallel(c->cpu, 1, measure_all, &d);
    *nbits = d.source.at;
    return failed ? cut_short(err, nbytes) : FLOE_OK;
}
