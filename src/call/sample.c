/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/choice.h"

#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "call/chunking.h"
#include "codec/resolve/resolve_math.h"

enum {
    BOXES = 4, /* no more than codec interp leaves alone along an axis (FLOE_LATTICE_ENDS) */
    SHARE = 8, /* values of the field for one of the sample */
    LEAST = 1 << 17,
    FEW = 1 << 20,   /* values of a field that each codec codes */
    MOST = 1 << 20,  /* values of the sample */
    WHOLE = 1 << 23, /* of a field that it may become, though it be several chunks, or coded several times for a PSNR */
    /* of one that estimates */
    SMALL_LEAST = 49152,   /* values of the field for a box, */
    SMALL_BOXES = 8,       /* of which there are no more, */
    SMALL_LARGE = 4000000, /* but in fields from so many values on */
    SMALL_VALUES = 700000, /* one for so many: a choice takes less than a tenth of what coding takes */
    SMALL_FEW = 6          /* boxes for one by which structures are compared */
};
static const double sure = 0.85; /* of the bits of the best so far: nobody needs to know better by how much */

/* As near to a cube as the shape has it. */
static void box_choose(floe_sample *s, uint64_t nelems)
{
    const floe_header *h = &s->header;
    const uint64_t most = floe_min64(floe_max64(nelems / SHARE, LEAST), MOST) / BOXES;
    uint64_t lo = 1, hi = most;
    while (lo < hi) {
        const uint64_t side = (lo + hi + 1) / 2;
        uint64_t cells = 1;
        for (uint32_t i = 0; i < h->rank && cells <= most; i++)
            cells *= floe_min64(h->shape[i], side);
        if (cells <= most)
            lo = side;
        else
            hi = side - 1;
    }
    s->nboxes = BOXES;
    for (uint32_t i = 0; i < h->rank; i++)
        s->box[i] = floe_min64(h->shape[i], lo);
}

/* Tiles of codec lorenzo, and the point behind them, so that what lies between points is not at an end. An axis shorter than that leaves its
 * tile to the one before: rows of codecs that turn axes are not to be short. */
static void small_boxes(floe_sample *s, uint64_t nelems)
{
    const floe_header *h = &s->header;
    uint64_t tile, group;
    uint32_t inner = 0;
    for (uint32_t i = h->rank; i-- > 0; inner += h->shape[i] > tile) {
        floe_codec_chosen(FLOE_CODEC_AUTO)->units(h->rank, inner, &tile, &group);
        s->box[i] = floe_min64(h->shape[i], (tile > 1 ? tile : BOXES) + 1);
    }
    const uint64_t n = nelems < SMALL_LARGE ? floe_min64(nelems / SMALL_LEAST, SMALL_BOXES) : nelems / SMALL_VALUES;
    s->nboxes = floe_max64(floe_min64(n, FLOE_CODEC_BOXES), 1);
}

/* Boxes lie evenly until that is done. */
static void look_set(floe_sample *s)
{
    const floe_header *h = &s->header;
    const uint32_t n = (uint32_t)s->nboxes, first = FLOE_LOOK_RANK - h->rank;
    floe_look *look = &s->look;
    *look = (floe_look){.shape = {1, 1, 1, 1}, .part = {1, 1, 1, 1}, .nboxes = n};
    look->each = s->estimates ? FLOE_LOOK_EACH : FLOE_LOOK_ONE / n;
    look->nprobes = s->estimates ? FLOE_LOOK_PROBES : FLOE_LOOK_ONE_PROBES;
    memcpy(look->shape + first, h->shape, h->rank * sizeof *h->shape);
    memcpy(look->part + first, s->box, h->rank * sizeof *s->box);
    s->boxes.share = 1;
    for (uint32_t b = 0; b < n; b++)
        s->boxes.place[b] = (uint16_t)(look->each * n + b);
}

/* Whether codec makes each of a few rows a chunk. */
static bool rows_are_apart(const floe_header *h, floe_codec codec)
{
    const floe_codec_ops *ops = floe_codec_of(codec);
    const bool empty = floe_extent_nelems(h->rank, h->shape) == 0;
    const uint32_t n = ops->apart && !empty ? ops->apart(h->rank, h->shape) : 0;
    return n && h->chunk[n - 1] == 1;
}

floe_sample floe_sample_of(const floe_cpu *cpu, const floe_header *header, const floe_field *here, bool one_chunk,
                           floe_error *err)
{
    floe_sample s = {.cpu = cpu, .header = *header, .nboxes = 1, .whole = here, .err = err};
    const bool searches = header->mode == FLOE_BOUND_RATIO;
    const uint64_t nelems = floe_extent_nelems(header->rank, header->shape);
    if (rows_are_apart(header, header->codec)) /* their sample has another shape than the field */
        s.whole = NULL;
    s.is_few = !searches && nelems <= FEW;
    s.estimates = header->preset == FLOE_PRESET_BALANCED && !searches && !s.is_few;
    s.widens = !searches && (nelems <= WHOLE || (!s.estimates && one_chunk && header->mode != FLOE_BOUND_PSNR));
    memcpy(s.box, header->shape, sizeof s.box);
    if (s.estimates)
        small_boxes(&s, nelems);
    else if (nelems > LEAST && !s.is_few)
        box_choose(&s, nelems);
    look_set(&s);
    return s;
}

floe_sample floe_sample_whole(const floe_sample *s)
{
    floe_sample w = *s;
    memcpy(w.box, s->header.shape, sizeof w.box);
    w.nboxes = 1;
    w.estimates = w.widens = false;
    look_set(&w);
    return w;
}

/* The sample as one field: its boxes along an axis of their own, where the codec predicts nothing along so short a one, else along the
 * slowest axis of the field. Rows that are chunks lie one behind another: one chunk of
 * them would mostly be padding. */
floe_header floe_sample_header(const floe_sample *s, floe_codec codec)
{
    floe_header h = s->header;
    const bool stack = s->nboxes > 1 && h.rank < FLOE_MAX_RANK && floe_codec_of(codec)->stacks;
    memcpy(h.shape + stack, s->box, h.rank * sizeof *h.shape);
    h.rank += stack;
    h.shape[0] = stack ? s->nboxes : s->nboxes * s->box[0];
    if (rows_are_apart(&s->header, codec)) {
        h.shape[0] = s->nboxes * floe_extent_nelems(h.rank, s->box);
        h.rank = 1;
    }
    memcpy(h.chunk, h.shape, sizeof h.chunk);
    h.codec = codec;
    h.nattrs = 0;
    return h;
}

static void add_estimate(floe_sample *s, floe_codec codec)
{
    floe_codec_params params = floe_sample_params(s, codec);
    const floe_codec_boxes boxes = floe_sample_boxes(s, &params);
    for (int lossless = 0; lossless <= floe_dtype_is_integer(params.dtype); lossless++) {
        params.mode = lossless ? FLOE_BOUND_LOSSLESS : params.mode;
        const size_t nbytes = floe_codec_of(codec)->estimate_workspace(s->cpu, &boxes);
        s->scratch_nbytes = nbytes > s->scratch_nbytes ? nbytes : s->scratch_nbytes;
    }
}

static floe_status add_coding(floe_sample *s, floe_codec codec)
{
    const floe_header h = floe_sample_header(s, codec);
    floe_sizing sizing;
    FLOE_TRY(floe_sizing_of(s->cpu, &h, &sizing, s->err));
    s->coded_nbytes = floe_max64(s->coded_nbytes, floe_record_nbytes(sizing.payload_nbytes)); /* a GPU writes records */
    s->scratch_nbytes = sizing.codec_nbytes > s->scratch_nbytes ? sizing.codec_nbytes : s->scratch_nbytes;
    return FLOE_OK;
}

floe_status floe_sample_add(floe_sample *s, floe_codec codec)
{
    if (s->estimates)
        add_estimate(s, codec);
    if (!s->estimates || (s->header.mode == FLOE_BOUND_PSNR && codec == s->header.codec))
        FLOE_TRY(add_coding(s, codec));
    if (s->widens) {
        floe_sample all = floe_sample_whole(s);
        FLOE_TRY(floe_sample_add(&all, codec));
        s->coded_nbytes = all.coded_nbytes;
        s->scratch_nbytes = all.scratch_nbytes;
    }
    return FLOE_OK;
}

uint64_t floe_sample_raw_nbytes(const floe_sample *s)
{
    return s->nboxes * floe_extent_nbytes(s->header.dtype, s->header.rank, s->box);
}

static bool is_all(const floe_sample *s)
{
    return s->nboxes == 1 && memcmp(s->box, s->header.shape, s->header.rank * sizeof *s->box) == 0;
}

/* Whether its values are those of the field in memory, of which there is no copy. */
static bool is_here(const floe_sample *s) { return s->whole && !s->estimates && is_all(s); }

uint64_t floe_sample_room_nbytes(const floe_sample *s)
{
    const uint64_t own = is_here(s) ? 0 : floe_sample_raw_nbytes(s);
    if (!s->widens)
        return own;
    const floe_sample all = floe_sample_whole(s);
    return floe_max64(own, floe_sample_room_nbytes(&all));
}

floe_field floe_sample_values(const floe_sample *s, floe_codec codec)
{
    const floe_header h = floe_sample_header(s, codec);
    const floe_field layout = floe_field_of(NULL, h.dtype, h.rank, h.shape);
    return is_here(s) ? *s->whole : floe_field_contiguous(s->values, &layout);
}

void floe_sample_take(floe_sample *s, floe_arena *arena)
{
    s->values = floe_arena_take(arena, floe_sample_room_nbytes(s), 1);
    s->coded = floe_arena_take(arena, s->coded_nbytes, 1);
    s->scratch = floe_arena_take(arena, s->scratch_nbytes, 1);
}

void floe_sample_place(const floe_sample *s, uint64_t b, uint64_t lo[FLOE_MAX_RANK])
{
    for (uint32_t i = 0; i < s->header.rank; i++)
        lo[i] = floe_look_lo(&s->look, s->boxes.place[b], FLOE_LOOK_RANK - s->header.rank + i);
}

/* The box at lo becomes number b of the values. */
static floe_status box_read(const floe_sample *s, const uint64_t *lo, uint64_t b)
{
    const floe_field box = floe_field_of(NULL, s->header.dtype, s->header.rank, s->box);
    const floe_field to =
        floe_field_contiguous((uint8_t *)s->values + b * (floe_sample_raw_nbytes(s) / s->nboxes), &box);
    return s->read(s->user, lo, &to);
}

static floe_status boxes_read(const floe_sample *s)
{
    for (uint64_t b = 0; b < s->nboxes && !is_here(s); b++) {
        uint64_t lo[FLOE_MAX_RANK];
        floe_sample_place(s, b, lo);
        FLOE_TRY(box_read(s, lo, b));
    }
    return FLOE_OK;
}

bool floe_sample_is_coded(const floe_sample *s) { return !s->estimates || s->header.mode == FLOE_BOUND_PSNR; }

floe_status floe_sample_load(floe_sample *s) { return floe_sample_is_coded(s) && !s->is_few ? boxes_read(s) : FLOE_OK; }

floe_look floe_sample_look_at(const floe_sample *s, const floe_field *field)
{
    floe_look look = s->look;
    look.data = field->data;
    memcpy(look.stride + FLOE_LOOK_RANK - field->rank, field->stride, field->rank * sizeof *field->stride);
    return look;
}

/* One place after another is read, to where the first box will be. */
static floe_status read_bits(const floe_sample *s, uint64_t *bits)
{
    const floe_field layout = floe_field_of(NULL, s->header.dtype, s->header.rank, s->box),
                     box = floe_field_contiguous(s->values, &layout);
    const floe_look here = floe_sample_look_at(s, &box);
    for (uint32_t p = 0; p < floe_look_nplaces(&here); p++) {
        uint64_t lo[FLOE_MAX_RANK];
        for (uint32_t i = 0; i < s->header.rank; i++)
            lo[i] = floe_look_lo(&here, p, FLOE_LOOK_RANK - s->header.rank + i);
        FLOE_TRY(box_read(s, lo, 0));
        bits[p] = floe_look_place(&here, 0);
    }
    return FLOE_OK;
}

static floe_status find_bits(const floe_sample *s, uint64_t *bits)
{
    if (s->find_bits || !s->whole)
        return s->find_bits ? s->find_bits(s->user, s, bits) : read_bits(s, bits);
    const floe_look look = floe_sample_look_at(s, s->whole);
    floe_look_all(s->cpu, &look, bits);
    return FLOE_OK;
}

floe_status floe_sample_look(floe_sample *s, const floe_codec_params *params)
{
    uint64_t bits[FLOE_LOOK_PLACES];
    s->look.narrow = floe_dtype_is_narrow(params->dtype);
    s->look.integer = floe_dtype_is_integer(params->dtype);
    s->look.log = params->mode == FLOE_BOUND_PWREL;
    s->look.fill = floe_codec_fill_bits(params);
    s->look.inverse = 1 / floe_codec_tuner_bound(params);
    if (s->nboxes > 1) {
        FLOE_TRY(find_bits(s, bits));
        s->boxes = floe_look_choose(&s->look, bits);
    }
    return s->estimates && s->estimate ? FLOE_OK : boxes_read(s);
}

floe_status floe_sample_widen(floe_sample *s)
{
    *s = floe_sample_whole(s);
    return boxes_read(s);
}

floe_codec_params floe_sample_params(const floe_sample *s, floe_codec codec)
{
    floe_codec_params params = floe_resolve_codec(&s->header);
    params.codec = codec;
    params.mode = params.mode == FLOE_BOUND_PWREL ? params.mode : FLOE_BOUND_ABS;
    params.tables = params.mode == FLOE_BOUND_ABS ? UINT16_MAX + 1 : 0; /* as floe_sizing_of */
    return params;
}

floe_codec_boxes floe_sample_boxes(const floe_sample *s, const floe_codec_params *params)
{
    const floe_header *h = &s->header;
    floe_codec_boxes b = {.params = params, .rank = h->rank, .n = (uint32_t)s->nboxes};
    b.share = s->boxes.share;
    b.few = (uint32_t)floe_max64(s->nboxes / SMALL_FEW, 1);
    memcpy(b.shape, h->shape, sizeof b.shape);
    memcpy(b.extent, s->box, sizeof b.extent);
    return b;
}

/* Of boxes that have been read. */
static floe_status estimate_here(const floe_sample *s, floe_codec_boxes *b, double *bits)
{
    floe_arena scratch = floe_arena_of(s->scratch, s->scratch_nbytes);
    const floe_field layout = floe_field_of(NULL, s->header.dtype, b->rank, b->extent),
                     first = floe_field_contiguous(s->values, &layout);
    b->data = s->values;
    memcpy(b->stride, first.stride, sizeof b->stride);
    for (uint32_t i = 0; i < b->n; i++)
        b->at[i] = (int64_t)(i * floe_extent_nelems(b->rank, b->extent));
    return floe_codec_of(b->params->codec)->estimate(s->cpu, b, &scratch, bits, s->err);
}

floe_status floe_sample_estimate(const floe_sample *s, const floe_codec_params *params, double best, double *bits)
{
    floe_codec_boxes boxes = floe_sample_boxes(s, params);
    boxes.enough = best * sure;
    return s->estimate ? s->estimate(s->user, s, &boxes, bits) : estimate_here(s, &boxes, bits);
}

static floe_status code_here(const floe_sample *s, floe_trial *trial, double *squares)
{
    const floe_codec_ops *codec = floe_codec_of(trial->params.codec);
    const floe_field values = floe_sample_values(s, trial->params.codec);
    floe_arena scratch = floe_arena_of(s->scratch, s->scratch_nbytes);
    const floe_chunk_encode call = {.cpu = s->cpu,
                                    .params = &trial->params,
                                    .chunk = &values,
                                    .scratch = &scratch,
                                    .dst = s->coded,
                                    .capacity = s->coded_nbytes,
                                    .nbytes = &trial->nbytes,
                                    .stats = &trial->stats};
    return squares ? codec->squared_error(&call, squares, s->err) : codec->encode(&call, s->err);
}

/* A GPU without the memory leaves a trial to the host, but not the stream: those bytes are not kept. */
static floe_status code(const floe_sample *s, floe_trial *trial, const uint8_t **bytes, double *squares)
{
    floe_status status = FLOE_ERR_UNSUPPORTED;
    if (s->code) {
        status = s->code(s->user, s, trial, bytes, squares);
        const bool refused = status == FLOE_ERR_UNSUPPORTED || status == FLOE_ERR_MEMORY || status == FLOE_ERR_LIMIT;
        if (!refused || !s->coded)
            return status;
        *s->err = (floe_error){.status = FLOE_OK};
    }
    *bytes = status == FLOE_ERR_UNSUPPORTED ? s->coded : NULL;
    return code_here(s, trial, squares);
}

floe_status floe_sample_squared_error(const floe_sample *s, const floe_codec_params *params, double *sum)
{
    floe_trial trial = {.params = *params};
    const uint8_t *bytes = NULL;
    return code(s, &trial, &bytes, sum);
}

floe_status floe_sample_code(const floe_sample *s, const floe_codec_params *params, uint64_t *nbytes)
{
    floe_trial trial = {.params = *params};
    const uint8_t *bytes = NULL;
    FLOE_TRY(code(s, &trial, &bytes, NULL));
    *nbytes = trial.nbytes;
    return s->keep && bytes && is_all(s) ? s->keep(s->keeper, &trial, bytes) : FLOE_OK;
}

static floe_status read_chunks(void *user, const uint64_t *lo, const floe_field *to)
{
    const floe_sample_source *from = user;
    return floe_chunk_source_box(from->chunks, lo, to, &from->ctx->err);
}

void floe_sample_read_from(floe_sample *s, floe_sample_source *source)
{
    s->read = read_chunks;
    s->user = source;
}
