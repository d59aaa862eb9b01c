/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/chunks/codec_lanes.h"

#include <cuda_runtime_api.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/cuda.h"
#include "base/grid_math.h"
#include "base/try.h"
#include "codec/chunks/codec_gather.h"
#include "field/dtype_math.h"

enum { LANE_CELLS = 1 << 25 /* of all chunks that are done at once */ };

static uint32_t count_lanes(uint32_t rank, const uint64_t *chunk, uint64_t nchunks, uint32_t most)
{
    uint64_t n = LANE_CELLS;
    for (uint32_t i = 0; i < rank; i++)
        n /= floe_max64(chunk[i], 1);
    return (uint32_t)floe_max64(1, floe_min64(n, floe_min64(nchunks, most)));
}

static floe_codec_lanes take_lanes(uint32_t n, const floe_arena *each, floe_arena *a)
{
    floe_codec_lanes lanes = {.n = n, .nbytes = each->used};
    lanes.scratch = floe_arena_take(a, n, lanes.nbytes);
    lanes.statuses = floe_arena_take(a, n, sizeof *lanes.statuses);
    a->overflow = a->overflow || each->overflow;
    return lanes;
}

static floe_arena lane_scratch(const floe_codec_lanes *lanes, uint32_t i)
{
    return floe_arena_of(lanes->scratch + i * lanes->nbytes, lanes->nbytes);
}

/* Work on lanes begins behind what is on the stream so far. */
static floe_status fork_lanes(floe_cuda *cuda, const floe_codec_lanes *lanes, void *stream, floe_error *err)
{
    FLOE_TRY(floe_cuda_lanes_open(cuda, lanes->n, err));
    FLOE_CUDA(err, cudaMemsetAsync(lanes->statuses, 0, lanes->n * sizeof *lanes->statuses, stream));
    return floe_cuda_lanes_fork(cuda, lanes->n, stream, err);
}

/* What is put on the stream from now on waits for the lanes. */
static floe_status join_lanes(const floe_cuda *cuda, const floe_codec_lanes *lanes, uint32_t *status, void *stream,
                              floe_status began, floe_error *err)
{
    FLOE_TRY(floe_cuda_lanes_join(cuda, lanes->n, stream, began, err));
    FLOE_CUDA(err, floe_codec_join_statuses_cuda(lanes->statuses, lanes->n, status, stream));
    return FLOE_OK;
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

void floe_codec_encoders_take(floe_codec_encode *call, floe_codec_encoder_take *take, floe_arena *a)
{
    floe_arena plan = floe_arena_plan();
    floe_codec_written_take(call, a);
    take(call, &plan);
    const uint32_t most = call->cpu ? (uint32_t)floe_min64(call->most_lanes, call->cpu->threads) : 1;
    call->lanes = take_lanes(count_lanes(call->field.rank, call->chunk, call->nchunks, most), &plan, a);
    if (!call->lanes.scratch)
        return;
    floe_arena first = lane_scratch(&call->lanes, 0);
    take(call, &first);
}

/* A call whose chunks are encoded side by side, and placed in order. */
struct floe_codec_order {
    const floe_codec_encode *call;
    const floe_codec_encoding *each;
    floe_codec_known *known;
    void *user;
    floe_codec_encode lane[FLOE_CUDA_LANES]; /* the call, with a lane's scratch and streams */
    floe_cuda cuda[FLOE_CUDA_LANES];
    atomic_uint_least64_t next, turn; /* chunks: that a thread takes next, whose record is placed next */
    atomic_bool failed;
    /* of the first chunk that failed; who has the turn writes them */
    floe_status status;
    floe_error err;
};

static void turn_await(struct floe_codec_order *o, uint64_t index)
{
    while (atomic_load(&o->turn) != index)
        sched_yield();
}

floe_status floe_codec_turn(const floe_codec_coding *c)
{
    if (!c->order)
        return FLOE_OK;
    turn_await(c->order, c->index);
    if (c->index > 0) {
        const floe_cuda_lane *before = &c->call->cuda->lanes[(c->index - 1) % c->call->lanes.n];
        FLOE_CUDA(c->err, cudaStreamWaitEvent(c->stream, before->placed, 0));
    }
    return FLOE_OK;
}

static floe_status encode_in_lane(struct floe_codec_order *o, uint64_t index, floe_error *err)
{
    const uint32_t i = (uint32_t)(index % o->call->lanes.n);
    const floe_codec_coding c = {&o->lane[i], o->known, o->cuda[i].stream, err, index, o->user, o};
    int before;
    FLOE_TRY(floe_cuda_enter(&o->cuda[i], &before, err));
    floe_status s = o->each->encode(&c);
    turn_await(o, index);
    if (s == FLOE_OK)
        s = floe_cuda_status(cudaEventRecord(o->call->cuda->lanes[i].placed, c.stream), "cudaEventRecord", err);
    floe_cuda_leave(before);
    return s;
}

/* Threads take chunks in order, so the lane of each is free: at most as many are on their way as there are lanes. */
static void encode_next(void *arg, uint64_t i, uint32_t worker)
{
    struct floe_codec_order *o = arg;
    const uint64_t index = atomic_fetch_add(&o->next, 1);
    floe_error err = {.message = ""};
    (void)i, (void)worker;
    const floe_status s = atomic_load(&o->failed) ? FLOE_OK : encode_in_lane(o, index, &err);
    turn_await(o, index);
    if (s != FLOE_OK && o->status == FLOE_OK) {
        o->status = s;
        o->err = err;
        atomic_store(&o->failed, true);
    }
    atomic_store(&o->turn, index + 1);
}

static floe_status encode_in_lanes(struct floe_codec_order *o, void *stream, floe_error *err)
{
    const floe_codec_encode *call = o->call;
    floe_cpu cpu = *call->cpu;
    cpu.threads = call->lanes.n;
    FLOE_TRY(fork_lanes(call->cuda, &call->lanes, stream, err));
    for (uint32_t i = 0; i < call->lanes.n; i++) {
        floe_arena scratch = lane_scratch(&call->lanes, i);
        o->cuda[i] = floe_cuda_on_lane(call->cuda, i);
        o->lane[i] = *call;
        o->lane[i].cuda = &o->cuda[i];
        o->lane[i].status = call->lanes.statuses + i;
        o->each->take(&o->lane[i], &scratch);
    }
    floe_cpu_parallel(&cpu, call->nchunks, encode_next, o);
    if (o->status != FLOE_OK && err)
        *err = o->err;
    return join_lanes(call->cuda, &call->lanes, call->status, stream, o->status, err);
}

floe_status floe_codec_encode_all(const floe_codec_encode *call, floe_codec_known *known,
                                  const floe_codec_encoding *each, void *user, void *stream, floe_error *err)
{
    struct floe_codec_order order = {.call = call, .each = each, .known = known, .user = user};
    if (call->lanes.n > 1) {
        if (!known->there)
            FLOE_TRY(floe_codec_take_params(call, known, stream, err));
        return known->status == FLOE_OK ? encode_in_lanes(&order, stream, err) : FLOE_OK;
    }
    for (uint64_t i = 0; i < call->nchunks && known->status == FLOE_OK; i++) {
        const floe_codec_coding c = {call, known, stream, err, i, user, NULL};
        FLOE_TRY(each->encode(&c));
    }
    return FLOE_OK;
}

floe_status floe_codec_squares_add(const floe_codec_coding *c, uint64_t squares)
{
    const double unit = c->known->params.bound / 1024;
    FLOE_TRY(floe_codec_turn(c));
    *(double *)c->user += (double)squares * unit * unit;
    return FLOE_OK;
}

floe_status floe_codec_squared_error(const floe_codec_encode *call, const floe_codec_params *params,
                                     const floe_codec_encoding *each, double *sum, void *stream, floe_error *err)
{
    floe_codec_known known = {.params = *params, .there = true};
    double all = 0;
    if (params->mode != FLOE_BOUND_LOSSLESS)
        FLOE_TRY(floe_codec_encode_all(call, &known, each, &all, stream, err));
    return floe_codec_send(sum, &all, sizeof all, stream, err);
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

void floe_codec_decoders_take(floe_codec_decode *call, floe_codec_decoder_take *take, floe_arena *a)
{
    floe_arena plan = floe_arena_plan();
    take(call, &plan);
    call->lanes = take_lanes(count_lanes(call->rank, call->chunk, call->nchunks, call->most_lanes), &plan, a);
}

/* The part of the box that lies in the chunk at `at`, where a point of the level is; false: none. */
static bool set_box(floe_codec_chunk *c, const uint64_t *at)
{
    const floe_codec_decode *call = c->call;
    int64_t place = 0;
    for (uint32_t a = 0; a < call->rank; a++) {
        const uint64_t begin = at[a] >> call->level, n = floe_ceil_div(c->extent[a], (uint64_t)1 << call->level),
                       lo = floe_max64(call->lo[a], begin), hi = floe_min64(call->hi[a], begin + n);
        if (lo >= hi)
            return false;
        c->lo[a] = lo - begin;
        c->hi[a] = hi - begin;
        place += (int64_t)(lo - call->lo[a]) * call->field.stride[a];
    }
    c->out.data = (uint8_t *)call->field.data + place * (int64_t)floe_dtype_size(call->dtype);
    return true;
}

/* A call, and its chunks on their way to the lanes. */
typedef struct visiting {
    const floe_codec_decode *call;
    floe_codec_decode_chunk *decode;
    floe_codec_chunk chunk;
    floe_codec_decode lane[FLOE_CUDA_LANES]; /* the call, with a lane's scratch and streams */
    floe_cuda cuda[FLOE_CUDA_LANES];
    uint32_t turn;  /* of lanes: the next one */
    uint64_t nseen; /* chunks */
} visiting;

/* Whether some of the box is in chunk `index`, which becomes v->chunk then. */
static bool cut_chunk(visiting *v, uint64_t index)
{
    uint64_t place[FLOE_MAX_RANK];
    floe_grid_cut(v->call->rank, v->call->shape, v->call->chunk, index, place, v->chunk.extent);
    return set_box(&v->chunk, place);
}

static floe_status visit_chunk(visiting *v, uint64_t index, const floe_dev_record *record, const uint8_t *head)
{
    floe_codec_chunk *c = &v->chunk;
    c->call = &v->lane[v->turn];
    c->stream = v->cuda[v->turn].stream;
    v->turn = (v->turn + 1) % v->call->lanes.n;
    cut_chunk(v, index);
    c->src = v->call->stream + record->offset + FLOE_RECORD_HEAD_NBYTES;
    c->nbytes = record->nbytes;
    c->head = head;
    return v->decode(c);
}

/* Whether the stream is the one that the call was planned for. */
static bool is_expected(const floe_codec_decode *call, const floe_codec_heads *found)
{
    const uint64_t *shape = found->layout, *chunk = found->layout + FLOE_MAX_RANK;
    return found->nrecords == call->nchunks && memcmp(shape, call->shape, call->rank * sizeof *shape) == 0 &&
           memcmp(chunk, call->chunk, call->rank * sizeof *chunk) == 0;
}

/* The next chunks that have some of the box, by one wait. */
static floe_status visit_some(visiting *v, void *stream)
{
    const floe_codec_decode *call = v->call;
    const floe_codec_heads *found = call->cuda->fetched;
    static_assert(sizeof *found <= FLOE_CUDA_FETCHED_NBYTES, "there is room for it");
    floe_codec_heads_job job = {.stream = call->stream,
                                .layout = call->layout,
                                .nrecords = call->nrecords,
                                .records = call->records,
                                .status = call->status,
                                .nchunks = call->nchunks,
                                .to = call->cuda->fetched};
    for (; v->nseen < call->nchunks && job.n < FLOE_CODEC_HEADS; v->nseen++)
        if (cut_chunk(v, v->nseen))
            job.index[job.n++] = v->nseen;
    FLOE_CUDA(v->chunk.err, floe_codec_heads_cuda(&job, stream));
    FLOE_CUDA(v->chunk.err, cudaStreamSynchronize(stream));
    if (found->status != FLOE_OK || found->nrecords == 0 || !is_expected(call, found)) {
        v->nseen = call->nchunks;
        return found->status != FLOE_OK || found->nrecords == 0 ? FLOE_OK
                                                                : floe_codec_refuse(&v->chunk, FLOE_ERR_LIMIT);
    }
    for (uint32_t i = 0; i < job.n; i++)
        FLOE_TRY(visit_chunk(v, job.index[i], &found->of[i].record, found->of[i].bytes));
    return FLOE_OK;
}

static floe_status visit_all(visiting *v, void *stream)
{
    while (v->nseen < v->call->nchunks)
        FLOE_TRY(visit_some(v, stream));
    return FLOE_OK;
}

/* Lanes of their own, unless there is but one: that is the call's stream. */
static floe_status visit_in_lanes(visiting *v, floe_codec_decoder_take *take, void *stream)
{
    const floe_codec_decode *call = v->call;
    const bool alone = call->lanes.n == 1;
    floe_error *err = v->chunk.err;
    if (!alone)
        FLOE_TRY(fork_lanes(call->cuda, &call->lanes, stream, err));
    for (uint32_t i = 0; i < call->lanes.n; i++) {
        floe_arena scratch = lane_scratch(&call->lanes, i);
        v->cuda[i] = alone ? *call->cuda : floe_cuda_on_lane(call->cuda, i);
        v->lane[i] = *call;
        v->lane[i].cuda = &v->cuda[i];
        v->lane[i].status = alone ? call->status : call->lanes.statuses + i;
        take(&v->lane[i], &scratch);
    }
    if (!alone)
        return join_lanes(call->cuda, &call->lanes, call->status, stream, visit_all(v, stream), err);
    v->cuda[0].stream = stream;
    return visit_all(v, stream);
}

floe_status floe_codec_decode_all(const floe_codec_decode *call, floe_codec_decoder_take *take,
                                  floe_codec_decode_chunk *decode, void *stream, floe_error *err)
{
    visiting v = {.call = call, .decode = decode, .chunk = {.call = call, .stream = stream, .err = err}};
    if (call->nchunks == 0)
        return FLOE_OK;
    v.chunk.out = floe_field_of(NULL, call->dtype, call->rank, call->field.shape);
    memcpy(v.chunk.out.stride, call->field.stride, sizeof v.chunk.out.stride);
    return visit_in_lanes(&v, take, stream);
}

#endif
