/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "call/callbacks.h"

/* Makes n <= FLOE_FORWARD_NBYTES bytes visible, if the source has them. */
static floe_status fill(floe_forward_reader *w, size_t n, floe_error *err)
{
    size_t have = w->end - w->begin, got = 0;
    if (have >= n)
        return FLOE_OK;
    memmove(w->bytes, w->bytes + w->begin, have);
    w->begin = 0;
    w->end = have;
    FLOE_TRY(floe_source_read(w->source, w->offset + have, w->bytes + have, n - have, &got, err));
    w->end += got;
    return FLOE_OK;
}

static void advance(floe_forward_reader *w, size_t n)
{
    w->begin += n;
    w->offset += n;
}

floe_status floe_forward_read(floe_forward_reader *w, void *dst, size_t nbytes, size_t *got, floe_error *err)
{
    size_t seen = (size_t)floe_min64(nbytes, w->end - w->begin), rest = 0;
    memcpy(dst, w->bytes + w->begin, seen);
    advance(w, seen);
    if (seen < nbytes) {
        FLOE_TRY(floe_source_read(w->source, w->offset, (uint8_t *)dst + seen, nbytes - seen, &rest, err));
        w->offset += rest;
    }
    *got = seen + rest;
    return FLOE_OK;
}

floe_status floe_forward_skip(floe_forward_reader *w, uint64_t nbytes, floe_error *err)
{
    size_t seen = (size_t)floe_min64(nbytes, w->end - w->begin);
    advance(w, seen);
    nbytes -= seen;
    if (w->source->seekable) {
        w->offset += nbytes;
        return FLOE_OK;
    }
    while (nbytes) {
        size_t part = (size_t)floe_min64(nbytes, FLOE_FORWARD_NBYTES);
        FLOE_TRY(fill(w, part, err));
        part = (size_t)floe_min64(part, w->end - w->begin);
        if (part == 0)
            break;
        advance(w, part);
        nbytes -= part;
    }
    return FLOE_OK;
}

void floe_forward_back(floe_forward_reader *w, uint64_t offset)
{
    if (!w->source->seekable)
        return;
    w->begin = w->end = 0;
    w->offset = offset;
}

static bool head_fits(const floe_record *head, const floe_head_rule *rule)
{
    return head->chunk >= rule->least && head->chunk < rule->nchunks && head->nbytes <= rule->payload_max;
}

/* Goes to the next byte that can begin a head. False: there is none in the window. */
static bool next_candidate(floe_forward_reader *w)
{
    static const uint8_t first = 0xF2; /* of the magic of a record */
    const uint8_t *from = w->bytes + w->begin + 1;
    size_t left = w->end - w->begin - 1;
    const uint8_t *at = left ? memchr(from, first, left) : NULL;
    advance(w, at ? (size_t)(at - from) + 1 : left + 1);
    return at != NULL;
}

static floe_status head_search(floe_forward_reader *w, const floe_head_rule *rule, floe_error *err)
{
    for (;;) {
        size_t have = w->end - w->begin;
        if (have < FLOE_RECORD_HEAD_NBYTES) {
            FLOE_TRY(fill(w, FLOE_FORWARD_NBYTES, err));
            have = w->end - w->begin;
        }
        FLOE_CHECK(err, have >= FLOE_RECORD_HEAD_NBYTES, FLOE_ERR_FORMAT, "the stream ends before it");
        if (floe_record_head_read(w->bytes + w->begin, have, &w->head, NULL) == FLOE_OK && head_fits(&w->head, rule))
            return FLOE_OK;
        next_candidate(w);
    }
}

floe_status floe_forward_head(floe_forward_reader *w, const floe_head_rule *rule, floe_error *err)
{
    if (rule->salvage) {
        FLOE_TRY(head_search(w, rule, err));
    } else {
        FLOE_TRY(fill(w, FLOE_RECORD_HEAD_NBYTES, err));
        FLOE_TRY(floe_record_head_read(w->bytes + w->begin, w->end - w->begin, &w->head, err));
        FLOE_CHECK(err, head_fits(&w->head, rule), FLOE_ERR_FORMAT,
                   "its place is taken by a record of chunk %llu with %llu bytes", (unsigned long long)w->head.chunk,
                   (unsigned long long)w->head.nbytes);
    }
    advance(w, FLOE_RECORD_HEAD_NBYTES);
    w->has_head = true;
    return FLOE_OK;
}
