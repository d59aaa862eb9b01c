/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of values on a GPU. A table is wanted where a chunk has few patterns, so each of them comes often: a warp
 * remembers those that it has seen, and looks only for others in the chunk's hash table.
 *
 * One kernel does all, in phases: look at a sample, which mostly is the end; clear the hash tables; insert the values of the chunks, noting each new pattern; sort
 * the patterns in pieces; count for each pattern how many of every piece are below it, which is its place; judge whether the
 * table pays. Work is cut in
 * pieces that blocks take by number, phase after phase; a piece waits for all of the phase before. Those have lower
 * numbers, so blocks that run have them and wait for nothing but lower ones again: some block can always go on.
 *
 * An empty slot of the hash table has place 0 as on the CPU, and a key that no value has, so that one compare-and-swap
 * takes it. Where keys come to lie depends on who was first; what is found, and the sorted table, does not.
 */
#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/gpu/begin/lorenzo_table.h"
#include "field/runs_cuda.cuh"
#include "stage/quantizer/quantizer_init_math.h"
#include "stage/quantizer/quantizer_math.h"

namespace
{

enum {
    THREADS = 256,
    WARPS = THREADS / FLOE_WARP,
    BLOCKS_AN_SM = 4,
    CLEAR_SLOTS = 4096,   /* a piece of work is so many slots, */
    INSERT_CELLS = 65536, /* cells of a chunk, */
    SORT_KEYS = 4096,     /* or patterns: to sort, */
    RANK_KEYS = 1024,     /* or to count for */
    KEYS_AT_ONCE = 4,
    TRIES_A_LOOK = 16, /* slots tried until one looks whether a table still pays: a full one is searched for long */
    CELLS_AT_ONCE = 256 / FLOE_REAL_BITS,
    SEEN = 4096 / (FLOE_REAL_BITS / 8) /* patterns that a warp remembers, by the low bits of their hash */
};

enum { SAMPLE, CLEAR, INSERT, SORT, RANK, JUDGE };

/* An ordered pattern of a NaN: no value that goes into a table has it, and it is above all of those. */
#define NO_KEY ((uint64_t)INT64_MAX)
#if FLOE_REAL_BITS == 32
#define NOT_SEEN INT32_MAX
typedef int seen_word;
#else
#define NOT_SEEN INT64_MAX
typedef unsigned long long seen_word;
#endif

typedef unsigned long long word64;

/* How many pieces of work each phase has for each chunk. */
struct plan {
    uint64_t npieces[FLOE_TABLE_PHASES];
    floe_table_room room;
};

union workspace {
    floe_int seen[WARPS][SEEN];
    uint64_t keys[SORT_KEYS];
    uint32_t napart;
    struct {
        uint32_t ids[FLOE_TABLE_SAMPLE_SLOTS], nvalues, ndifferent, nchanged;
    } sample;
};

/* What a block holds of the chunk at hand. */
struct table {
    const floe_dev_chunk *chunk;
    floe_table_slot *slots;
    uint64_t *list;   /* patterns */
    uint64_t *sorted; /* the table */
    uint32_t *count;
    uint32_t most, mask; /* patterns that pay, slots - 1 */
    floe_uint fill;      /* values with these bits are not for the table */
};

FLOE_DEV table table_of(const floe_lorenzo_encode_call *call, floe_table_room room, uint64_t chunk)
{
    table t;
    t.chunk = &call->chunks[chunk];
    t.slots = call->table_slots + chunk * room.nslots;
    t.list = (uint64_t *)call->table_scratch + chunk * room.most;
    t.sorted = call->tables + chunk * room.most;
    t.count = floe_table_state_of(call, room)->count + chunk;
    t.most = floe_lorenzo_table_most(&call->params->codec, t.chunk->ncells);
    t.mask = room.nslots - 1; /* more slots than threads at once, which all may look for one before any counts */
    t.fill = (floe_uint)t.chunk->quantizer.fill;
    return t;
}

FLOE_DEV uint32_t npatterns(const table *t) { return *(const volatile uint32_t *)t->count; }

/* ---- sample -------------------------------------------------------------------------------------------------------- */

/* True where this thread put it there. */
FLOE_DEV bool insert_id(uint32_t *ids, uint32_t id)
{
    uint32_t slot = id % FLOE_TABLE_SAMPLE_SLOTS, found = 1;
    while (id && (found = atomicCAS(&ids[slot], 0u, id)) != 0 && found != id)
        slot = (slot + 1) % FLOE_TABLE_SAMPLE_SLOTS;
    return found == 0;
}

/* Whether values come back; all threads of the block come here, with a sample that is 0. */
FLOE_DEV bool values_repeat(const table *t, floe_dtype dtype, workspace *shared)
{
    const floe_uint *values = (const floe_uint *)t->chunk->origin;
    const uint64_t ncells = t->chunk->ncells;
    uint32_t nvalues = 0, ndifferent = 0, nchanged = 0;
    for (uint32_t k = threadIdx.x; k < floe_lorenzo_sample_size(ncells); k += THREADS) {
        int64_t next;
        const int64_t at = floe_lorenzo_sample_at(&t->chunk->view, t->chunk->stride, ncells, k, &next);
        nchanged += values[at] != values[at + next];
        const uint32_t id = floe_lorenzo_sample_id(dtype, values[at], t->fill);
        nvalues += id != 0;
        ndifferent += insert_id(shared->sample.ids, id);
    }
    atomicAdd(&shared->sample.nvalues, nvalues);
    atomicAdd(&shared->sample.ndifferent, ndifferent);
    atomicAdd(&shared->sample.nchanged, nchanged);
    __syncthreads();
    return floe_lorenzo_sample_repeats(shared->sample.nvalues, shared->sample.ndifferent);
}

/* A chunk that gets no table is as one that has too many values. */
FLOE_DEV void sample_chunk(const table *t, const floe_codec_params *p, workspace *shared, floe_dev_chunk *chunk,
                           uint32_t *nlive)
{
    for (uint32_t i = threadIdx.x; i < sizeof shared->sample / 4; i += THREADS)
        ((uint32_t *)&shared->sample)[i] = 0;
    __syncthreads();
    const bool live = t->most > 0 && (p->mode == FLOE_BOUND_LOSSLESS || values_repeat(t, p->dtype, shared));
    if (threadIdx.x == 0)
        chunk->nchanged = shared->sample.nchanged;
    if (threadIdx.x == 0 && live)
        atomicAdd(nlive, 1u);
    else if (threadIdx.x == 0)
        *t->count = (uint32_t)FLOE_TABLE_MAX + 1;
}

/* ---- clear --------------------------------------------------------------------------------------------------------- */

FLOE_DEV void clear_piece(const table *t, uint64_t piece)
{
    const uint64_t end = floe_min64((piece + 1) * CLEAR_SLOTS, (uint64_t)t->mask + 1);
    for (uint64_t i = piece * CLEAR_SLOTS + threadIdx.x; i < end; i += THREADS)
        t->slots[i].key = NO_KEY, t->slots[i].place = 0;
}

/* ---- insert -------------------------------------------------------------------------------------------------------- */

/* True when the key was not there. */
FLOE_DEV_COLD bool insert_key(const table *t, uint64_t key)
{
    uint32_t i = floe_table_slot_of(key) & t->mask;
    for (uint32_t tries = 0; tries <= t->mask; tries++) {
        uint64_t found = floe_load_shared_state(&t->slots[i].key);
        if (found == NO_KEY)
            found = atomicCAS((word64 *)&t->slots[i].key, (word64)NO_KEY, (word64)key);
        if (found == NO_KEY || found == key)
            return found == NO_KEY;
        if (tries % TRIES_A_LOOK == TRIES_A_LOOK - 1 && npatterns(t) > t->most)
            return false;
        i = (i + 1) & t->mask;
    }
    atomicMax(t->count, (uint32_t)FLOE_TABLE_MAX + 1); /* full, of other keys: far too many */
    return false;
}

/* All lanes of the warp come here: those with a new key append it to the list. */
FLOE_DEV void append(const table *t, bool is_new, uint64_t key)
{
    const uint32_t lanes = __ballot_sync(FLOE_ALL_LANES, is_new);
    uint32_t at = 0;
    if (lanes == 0)
        return;
    if (floe_lane() == 0)
        at = atomicAdd(t->count, (uint32_t)__popc(lanes));
    at = __shfl_sync(FLOE_ALL_LANES, at, 0) + (uint32_t)__popc(lanes & floe_lanes_below());
    if (is_new && at < t->most)
        t->list[at] = key;
}

/* Adds a value if it is an ordinary one. All lanes of the warp come here; there: this lane has a value. */
FLOE_DEV void insert_value(const table *t, bool there, floe_uint bits, floe_int *seen)
{
    const floe_int q = FLOE_R(floe_bits_order)(bits);
    const uint64_t key = (uint64_t)(int64_t)q;
    const bool special = (bits & FLOE_REAL_EXPONENT) == FLOE_REAL_EXPONENT || bits == t->fill;
    floe_int *place = &seen[floe_table_slot_of(key) % SEEN];
    const bool asks = there && !special && *place != q;
    if (!__any_sync(FLOE_ALL_LANES, asks) || __any_sync(FLOE_ALL_LANES, npatterns(t) > t->most)) /* then all are new */
        return;
    __syncwarp();
    if (asks)
        atomicExch((seen_word *)place, (seen_word)q);
    append(t, asks && insert_key(t, key), key);
    __syncwarp();
}

FLOE_DEV void insert_piece(const table *t, uint64_t piece, floe_int *seen)
{
    const floe_uint *values = (const floe_uint *)t->chunk->origin;
    const uint64_t ncells = t->chunk->ncells, end = floe_min64((piece + 1) * INSERT_CELLS, ncells);
    floe_runs runs;
    if (piece * INSERT_CELLS >= ncells || t->most == 0 || __any_sync(FLOE_ALL_LANES, npatterns(t) > t->most))
        return;
    floe_runs_of(FLOE_VIEW_AXES, t->chunk->view.extent, t->chunk->stride, &runs);
    uint64_t i = piece * INSERT_CELLS + threadIdx.x;
    floe_runs_place place = floe_runs_place_of(&runs, i);
    const uint64_t nturns = floe_ceil_div(end - piece * INSERT_CELLS, (uint64_t)THREADS * CELLS_AT_ONCE);
    for (uint64_t turn = 0; turn < nturns; turn++) {
        floe_uint bits[CELLS_AT_ONCE];
        uint32_t there = 0;
#pragma unroll
        for (int k = 0; k < CELLS_AT_ONCE; k++) {
            there |= (uint32_t)(i < end) << k;
            bits[k] = i < end ? values[floe_runs_offset_of(&runs, &place)] : 0;
            i += THREADS;
            floe_runs_go(&runs, &place, THREADS);
        }
        if (__any_sync(FLOE_ALL_LANES, npatterns(t) > t->most))
            return;
#pragma unroll
        for (int k = 0; k < CELLS_AT_ONCE; k++)
            insert_value(t, there >> k & 1, bits[k], seen);
    }
}

/* ---- sort ---------------------------------------------------------------------------------------------------------- */

/* Bitonic. Keys are compared as signed numbers, like everywhere. */
FLOE_DEV void sort_keys(uint64_t *keys)
{
    for (uint32_t size = 2; size <= SORT_KEYS; size *= 2)
        for (uint32_t step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            for (uint32_t k = threadIdx.x; k < SORT_KEYS / 2; k += THREADS) {
                const uint32_t i = k / step * step * 2 + k % step, j = i + step;
                const uint64_t a = keys[i], b = keys[j];
                if (((int64_t)a > (int64_t)b) == ((i & size) == 0))
                    keys[i] = b, keys[j] = a;
            }
        }
    __syncthreads();
}

FLOE_DEV bool pays(const table *t)
{
    const uint32_t n = npatterns(t);
    return n > 0 && n <= t->most;
}

FLOE_DEV void sort_piece(const table *t, uint64_t piece, uint64_t *keys)
{
    const uint32_t n = pays(t) ? npatterns(t) : 0, first = (uint32_t)piece * SORT_KEYS;
    if (first >= n)
        return;
    for (uint32_t i = threadIdx.x; i < SORT_KEYS; i += THREADS)
        keys[i] = first + i < n ? t->list[first + i] : NO_KEY;
    sort_keys(keys);
    for (uint32_t i = threadIdx.x; i < SORT_KEYS && first + i < n; i += THREADS)
        t->list[first + i] = keys[i];
}

/* ---- rank ---------------------------------------------------------------------------------------------------------- */

/* How many of n sorted keys are below each of a few. */
FLOE_DEV void count_below(const uint64_t *sorted, uint32_t n, const uint64_t key[KEYS_AT_ONCE],
                          uint32_t below[KEYS_AT_ONCE])
{
    uint32_t at[KEYS_AT_ONCE];
    for (int k = 0; k < KEYS_AT_ONCE; k++)
        at[k] = 0;
    for (uint32_t step = SORT_KEYS; step > 0; step /= 2)
#pragma unroll
        for (int k = 0; k < KEYS_AT_ONCE; k++)
            if (at[k] + step <= n && (int64_t)sorted[at[k] + step - 1] < (int64_t)key[k])
                at[k] += step;
    for (int k = 0; k < KEYS_AT_ONCE; k++)
        below[k] += at[k];
}

FLOE_DEV void set_place(const table *t, uint64_t key, uint32_t place)
{
    uint32_t i = floe_table_slot_of(key) & t->mask;
    while (t->slots[i].key != key)
        i = (i + 1) & t->mask;
    t->slots[i].place = place;
}

FLOE_DEV void rank_piece(const table *t, uint64_t piece)
{
    const uint32_t n = pays(t) ? npatterns(t) : 0, first = (uint32_t)piece * RANK_KEYS + threadIdx.x;
    uint64_t key[KEYS_AT_ONCE];
    uint32_t below[KEYS_AT_ONCE];
    static_assert(RANK_KEYS == THREADS * KEYS_AT_ONCE, "each thread has its keys");
    if (first >= n)
        return;
    for (int k = 0; k < KEYS_AT_ONCE; k++) {
        key[k] = first + k * THREADS < n ? t->list[first + k * THREADS] : NO_KEY;
        below[k] = 0;
    }
    for (uint32_t at = 0; at < n; at += SORT_KEYS)
        count_below(t->list + at, (uint32_t)floe_min64(SORT_KEYS, n - at), key, below);
    for (int k = 0; k < KEYS_AT_ONCE; k++)
        if (first + k * THREADS < n) {
            t->sorted[below[k]] = key[k];
            set_place(t, key[k], below[k] + 1);
        }
}

/* ---- judge --------------------------------------------------------------------------------------------------------- */

/* napart: 0 at first. */
FLOE_DEV void take_table(const table *t, const floe_dev_params *params, uint32_t *napart, floe_quantizer *quantizer)
{
    const uint32_t n = pays(t) ? npatterns(t) : 0;
    for (uint32_t i = threadIdx.x + 1; i < n; i += THREADS)
        if (floe_lorenzo_are_apart(&params->codec, t->sorted[i - 1], t->sorted[i]))
            atomicAdd(napart, 1u);
    __syncthreads();
    if (threadIdx.x > 0 || n == 0 ||
        !floe_lorenzo_table_pays(&params->codec, t->chunk->ncells, t->chunk->nchanged, n, *napart))
        return;
    *quantizer = params->bits;
    quantizer->kind = FLOE_QUANTIZER_TABLE;
    quantizer->table = t->sorted;
    quantizer->table_size = n;
    quantizer->slots = t->slots;
    quantizer->slots_mask = t->mask;
}

/* ---- the kernel ---------------------------------------------------------------------------------------------------- */

/* Waits until all pieces of the phase before are done. */
FLOE_DEV void wait_for(const uint32_t *done, uint64_t npieces)
{
    if (threadIdx.x == 0)
        while (*(const volatile uint32_t *)done < npieces)
            floe_dev_pause();
    __threadfence();
    __syncthreads();
}

FLOE_DEV void run_piece(const floe_lorenzo_encode_call *call, const plan *p, int phase, uint64_t chunk, uint64_t piece,
                        workspace *shared, uint64_t *chunk_seen)
{
    const table t = table_of(call, p->room, chunk);
    if (phase == SAMPLE) {
        sample_chunk(&t, &call->params->codec, shared, &call->chunks[chunk],
                     &floe_table_state_of(call, p->room)->nlive);
    } else if (phase == CLEAR) {
        clear_piece(&t, piece);
    } else if (phase == INSERT) {
        floe_int *seen = shared->seen[threadIdx.x / FLOE_WARP];
        for (uint32_t i = floe_lane(); i < SEEN && *chunk_seen != chunk; i += FLOE_WARP)
            seen[i] = NOT_SEEN;
        *chunk_seen = chunk;
        __syncwarp();
        insert_piece(&t, piece, seen);
    } else if (phase == SORT) {
        sort_piece(&t, piece, shared->keys);
    } else if (phase == RANK) {
        rank_piece(&t, piece);
    } else {
        if (threadIdx.x == 0)
            shared->napart = 0;
        __syncthreads();
        take_table(&t, call->params, &shared->napart, &call->chunks[chunk].quantizer);
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS_AN_SM)
    lorenzo_table_kernel(const __grid_constant__ floe_lorenzo_encode_call call, const __grid_constant__ plan p)
{
    floe_dev_begin();
    __shared__ workspace shared;
    __shared__ uint32_t ticket;
    floe_table_state *state = floe_table_state_of(&call, p.room);
    uint64_t begin = 0, chunk_seen = UINT64_MAX;
    if (!floe_lorenzo_may_have_table(&call.params->codec) || *call.status != FLOE_OK)
        return;
    for (int phase = 0;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(&state->ticket, 1u);
        __syncthreads();
        const uint64_t turn = ticket;
        for (; phase < FLOE_TABLE_PHASES && turn >= begin + p.npieces[phase] * call.grid.nchunks; phase++)
            begin += p.npieces[phase] * call.grid.nchunks;
        if (phase == FLOE_TABLE_PHASES)
            return;
        if (phase > SAMPLE) { /* before any other phase: what nobody does after it is not waited for */
            wait_for(&state->done[SAMPLE], p.npieces[SAMPLE] * call.grid.nchunks);
            if (*(const volatile uint32_t *)&state->nlive == 0)
                return;
            wait_for(&state->done[phase - 1], p.npieces[phase - 1] * call.grid.nchunks);
        }
        const uint64_t chunk = (turn - begin) / p.npieces[phase], piece = (turn - begin) % p.npieces[phase];
        run_piece(&call, &p, phase, chunk, piece, &shared, &chunk_seen);
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            atomicAdd(&state->done[phase], 1u);
    }
}

} // namespace

int FLOE_R(floe_lorenzo_tables)(const floe_lorenzo_encode_call *call, void *stream)
{
    plan p;
    uint64_t ncells = 1, npieces = 0;
    for (uint32_t i = 0; i < call->field.rank; i++)
        ncells *= call->grid.chunk[i];
    p.room = floe_table_room_of(&call->grid, call->field.rank);
    p.npieces[SAMPLE] = 1;
    p.npieces[CLEAR] = floe_ceil_div(p.room.nslots, CLEAR_SLOTS);
    p.npieces[INSERT] = floe_ceil_div(ncells, INSERT_CELLS);
    p.npieces[SORT] = floe_ceil_div(p.room.most, SORT_KEYS);
    p.npieces[RANK] = floe_ceil_div(p.room.most, RANK_KEYS);
    p.npieces[JUDGE] = 1;
    for (int i = 0; i < FLOE_TABLE_PHASES; i++)
        npieces += p.npieces[i] * call->grid.nchunks;
    const uint64_t at_once = (uint64_t)floe_gpu_limits_cuda().processors * BLOCKS_AN_SM;
    const uint64_t nblocks = floe_min64(floe_max64(npieces, 1), at_once);
    FLOE_LAUNCH_EARLY(lorenzo_table_kernel, (uint32_t)nblocks, THREADS, 0, (cudaStream_t)stream, *call, p);
    return (int)cudaGetLastError();
}
