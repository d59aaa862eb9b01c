/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Judging all of a stream in device memory but the payloads, by one block. What a small stream needs is in the two ends that
 * are loaded at once; then warps check parts side by side. Nothing is believed before its range has been checked, and
 * nothing is reported before all checksums are right.
 */
#ifndef FLOE_CONTAINER_CONTAINER_VALIDATE_CUH
#define FLOE_CONTAINER_CONTAINER_VALIDATE_CUH

#include "container/checksum_cuda.cuh"
#include "container/container_cuda.h"
#include "container/header_math.h"

namespace
{

enum {
    JUDGE_WARPS_MAX = 8, /* of a block; at least 3 */
    HEAD_WORDS = 64,     /* of a header without attributes there are at most 18 */
    TAIL_WORDS = 256     /* with 83 records and less the whole index is among them */
};

struct validate_shared {
    uint64_t head[HEAD_WORDS], tail[TAIL_WORDS]; /* first and last words of the stream, as far as there are any */
    uint64_t stage[JUDGE_WARPS_MAX][FLOE_STAGE_WORDS];
    uint64_t sums[JUDGE_WARPS_MAX];
    floe_header header;
    uint32_t nitems;
    uint64_t nchunks;
    uint64_t header_hash, footer_hash;
    floe_fault fields, ranges; /* what is wrong with the header's fields: in form, in what they hold */
};

/* What is known of the stream; the same in all threads. */
struct stream_parts {
    const uint8_t *stream;
    uint64_t nbytes, nwords;
    uint64_t tail_at; /* word of the stream that is the first of the tail */
    uint64_t header_nbytes, nrecords, index_offset;
};

FLOE_DEV uint32_t warp_of() { return threadIdx.x / FLOE_WARP; }
FLOE_DEV bool first_lane_of(uint32_t warp) { return threadIdx.x == warp * FLOE_WARP; }
FLOE_DEV uint32_t status_of(floe_fault fault) { return (uint32_t)floe_fault_status(fault); }

FLOE_DEV void ends_load(const stream_parts &in, validate_shared &s)
{
    const uint64_t *words = (const uint64_t *)in.stream;
    for (uint32_t i = threadIdx.x; i < HEAD_WORDS; i += blockDim.x)
        s.head[i] = i < in.nwords ? words[i] : 0;
    for (uint32_t i = threadIdx.x; i < TAIL_WORDS; i += blockDim.x)
        s.tail[i] = in.tail_at + i < in.nwords ? words[in.tail_at + i] : 0;
    __syncthreads();
}

/* ---- header -------------------------------------------------------------------------------------------------------- */

FLOE_DEV const uint8_t *header_at(const stream_parts &in, const validate_shared &s)
{
    return in.header_nbytes <= sizeof s.head ? (const uint8_t *)s.head : in.stream;
}

/* Side by side: the header's hash, the footer's hash, the header's fields. All of it is judged later. */
FLOE_DEV void ends_check(const stream_parts &in, floe_codec codec, validate_shared &s)
{
    if (warp_of() == 0) {
        uint64_t hash =
            floe_warp_xxh3(header_at(in, s), (uint32_t)in.header_nbytes - FLOE_HEADER_CHECK_NBYTES, s.stage[0]);
        if (first_lane_of(0))
            s.header_hash = hash;
    } else if (first_lane_of(1)) {
        const uint64_t *footer = s.tail + (in.nwords - in.tail_at) - FLOE_FOOTER_WORDS;
        s.footer_hash = floe_xxh3_17_128((const uint8_t *)footer, FLOE_FOOTER_CHECK_AT);
    } else if (first_lane_of(2)) {
        s.header.attrs = NULL;
        s.header.nattrs = 0;
        s.fields = floe_header_unpack(s.head, (in.header_nbytes - FLOE_HEADER_CHECK_NBYTES) / 8, &s.header, &s.nitems);
        s.ranges = s.fields == FLOE_FAULT_NONE ? floe_header_fault(&s.header) : s.fields;
        if (s.ranges == FLOE_FAULT_NONE && floe_kind_get(&s.header.codec) != codec)
            s.ranges = FLOE_FAULT_CODEC_UNKNOWN;
        s.nchunks = s.ranges == FLOE_FAULT_NONE ? floe_grid_count(&s.header) : 0;
    }
    __syncthreads();
}

/* Threads take bytes in turn. By the block. */
FLOE_DEV bool bytes_are_zero(const uint8_t *p, uint64_t from, uint64_t to)
{
    bool dirty = from + threadIdx.x < to && p[from + threadIdx.x] != 0; /* padding: fewer than 8 */
    return !__syncthreads_or(dirty);
}
FLOE_DEV bool text_is_valid(const uint8_t *p, uint64_t n, bool lines)
{
    bool wrong = false;
    for (uint64_t i = threadIdx.x; i < n; i += blockDim.x)
        wrong |= !floe_text_byte_valid(p, n, i, lines);
    return !__syncthreads_or(wrong);
}

/* The item at p, of which `left` bytes are there. By the block. */
FLOE_DEV floe_fault item_fault(const uint8_t *p, uint64_t left, uint64_t *nbytes, uint32_t *nattrs)
{
    if (left < FLOE_ITEM_HEAD_NBYTES)
        return FLOE_FAULT_ITEM_LONG;
    const floe_item_sizes sizes = floe_item_unpack(*(const uint64_t *)p);
    const uint64_t used = floe_item_used(sizes), space = floe_round_up8(used);
    if (space > left - FLOE_ITEM_HEAD_NBYTES)
        return FLOE_FAULT_ITEM_LONG;
    const uint8_t *key = p + FLOE_ITEM_HEAD_NBYTES;
    *nbytes = FLOE_ITEM_HEAD_NBYTES + space;
    if (!bytes_are_zero(key, used, space))
        return FLOE_FAULT_ITEM_PAD;
    if (floe_item_is_optional(sizes))
        return FLOE_FAULT_NONE;
    if (sizes.tag != FLOE_ITEM_TEXT)
        return FLOE_FAULT_ITEM_KIND;
    ++*nattrs;
    return floe_text_sizes_valid(sizes.key_nbytes, sizes.value_nbytes) && text_is_valid(key, sizes.key_nbytes, false) &&
                   text_is_valid(key + sizes.key_nbytes, sizes.value_nbytes, true)
               ? FLOE_FAULT_NONE
               : FLOE_FAULT_ITEM_TEXT;
}

/* By the block, one item after the other: there are few. */
FLOE_DEV floe_fault items_fault(const stream_parts &in, validate_shared &s)
{
    uint64_t at = 8 * (uint64_t)floe_header_field_words(s.header.rank), nbytes = 0;
    const uint64_t end = in.header_nbytes - FLOE_HEADER_CHECK_NBYTES;
    uint32_t nattrs = 0;
    if (s.nitems > FLOE_HEADER_MAX_ATTRS)
        return FLOE_FAULT_ITEMS;
    for (uint32_t i = 0; i < s.nitems; i++, at += nbytes) {
        floe_fault fault = item_fault(header_at(in, s) + at, end - at, &nbytes, &nattrs);
        if (fault != FLOE_FAULT_NONE)
            return fault;
    }
    if (threadIdx.x == 0)
        s.header.nattrs = nattrs;
    return at == end ? FLOE_FAULT_NONE : FLOE_FAULT_ITEMS_TAIL;
}

FLOE_DEV bool is_expected(const floe_container_open &job, const floe_header &h)
{
    bool same = h.rank == job.rank && h.dtype == job.dtype;
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++)
        same &= i >= job.rank || h.shape[i] == job.shape[i];
    return same || job.rank == 0;
}

/* Header and, since that comes with it, the footer's hash. By the block. */
FLOE_DEV uint32_t header_status(const floe_container_open &job, stream_parts *in, validate_shared &s)
{
    if (in->nbytes < FLOE_HEADER_MIN_NBYTES)
        return status_of(FLOE_FAULT_CUT);
    floe_fault fault = floe_header_open_fault(s.head[0], s.head[1]);
    if (fault != FLOE_FAULT_NONE)
        return status_of(fault);
    in->header_nbytes = floe_header_size_field(s.head[1]);
    if (in->header_nbytes > in->nbytes)
        return status_of(FLOE_FAULT_CUT);
    ends_check(*in, job.codec, s);
    if (s.header_hash != ((const uint64_t *)header_at(*in, s))[in->header_nbytes / 8 - 1])
        return status_of(FLOE_FAULT_CHECKSUM);
    fault = s.fields != FLOE_FAULT_NONE ? s.fields : items_fault(*in, s);
    if (fault == FLOE_FAULT_NONE)
        fault = s.ranges;
    if (fault != FLOE_FAULT_NONE)
        return status_of(fault);
    return is_expected(job, s.header) ? FLOE_OK : FLOE_ERR_ARGUMENT;
}

/* ---- index and record heads ---------------------------------------------------------------------------------------- */

FLOE_DEV const uint64_t *index_words(const stream_parts &in, const validate_shared &s)
{
    const uint64_t at = in.index_offset / 8;
    return at >= in.tail_at ? s.tail + (at - in.tail_at) : (const uint64_t *)in.stream + at;
}

FLOE_DEV void head_load(const stream_parts &in, uint64_t offset, uint64_t words[FLOE_RECORD_HEAD_WORDS])
{
#pragma unroll
    for (int k = 0; k < FLOE_RECORD_HEAD_WORDS; k++)
        words[k] = ((const uint64_t *)(in.stream + offset))[k];
}

/* A record's head that was loaded before the index could be trusted. */
struct early_head {
    uint64_t offset, words[FLOE_RECORD_HEAD_WORDS]; /* offset UINT64_MAX: there is none */
};

/* The head of this thread's first record, if footer and index are right: it is on its way while they are judged. */
FLOE_DEV early_head early_head_load(const stream_parts &in, const validate_shared &s)
{
    early_head early = {UINT64_MAX, {}};
    const uint64_t tail_words = in.nwords - in.tail_at, i = blockDim.x - 1 - threadIdx.x;
    if (tail_words < FLOE_FOOTER_WORDS)
        return early;
    const uint64_t *footer = s.tail + tail_words - FLOE_FOOTER_WORDS;
    const uint64_t index = footer[1] / 8, nrecords = footer[2];
    if (i >= nrecords || index < in.tail_at || index >= in.nwords)
        return early;
    const uint64_t at = index - in.tail_at + FLOE_INDEX_ENTRY_WORDS * i; /* of the tail */
    if (at >= tail_words)
        return early;
    const uint64_t offset = s.tail[at];
    if (offset % 8 || in.nbytes < FLOE_RECORD_HEAD_NBYTES || offset > in.nbytes - FLOE_RECORD_HEAD_NBYTES)
        return early;
    early.offset = offset;
    head_load(in, offset, early.words);
    return early;
}

/* Head i against the index. By a thread. */
FLOE_DEV floe_fault head_fault(const uint64_t words[FLOE_RECORD_HEAD_WORDS], uint64_t i, const floe_dev_record &entry)
{
    floe_record record;
    floe_fault fault =
        floe_record_unpack(words, floe_xxh3_17_128((const uint8_t *)words, FLOE_RECORD_CHECK_AT), &record);
    bool same = record.chunk == i && record.nbytes == entry.nbytes && record.checksum == entry.checksum;
    return fault != FLOE_FAULT_NONE ? fault : same ? FLOE_FAULT_NONE : FLOE_FAULT_RECORD_OTHER;
}

/* Threads take records in turn, the last warp first: the first one hashes the index. Adds what they found to what the block has. */
FLOE_DEV uint32_t records_status(const floe_container_open &job, const stream_parts &in, const uint64_t *index,
                                 early_head head)
{
    floe_fault index_fault = FLOE_FAULT_NONE, record_fault = FLOE_FAULT_NONE;
    for (uint64_t i = blockDim.x - 1 - threadIdx.x; i < in.nrecords; i += blockDim.x) {
        const uint64_t *e = index + FLOE_INDEX_ENTRY_WORDS * i, *before = e - FLOE_INDEX_ENTRY_WORDS;
        const floe_dev_record entry = {e[0], e[1], e[2]};
        const uint64_t at = i ? before[0] + floe_record_span(before[1]) : in.header_nbytes;
        floe_fault fault = floe_index_entry_fault(entry.offset, entry.nbytes, at, in.index_offset);
        if (fault == FLOE_FAULT_NONE && entry.offset % 8) /* behind an entry that is wrong */
            fault = FLOE_FAULT_ENTRY_OFFSET;
        if (fault == FLOE_FAULT_NONE && head.offset != entry.offset) {
            head.offset = entry.offset;
            head_load(in, entry.offset, head.words);
        }
        if (fault != FLOE_FAULT_NONE)
            index_fault = fault;
        else if ((fault = head_fault(head.words, i, entry)) != FLOE_FAULT_NONE)
            record_fault = fault;
        if (job.records)
            job.records[i] = entry;
    }
    uint64_t end = in.header_nbytes;
    if (in.nrecords) {
        const uint64_t *last = index + FLOE_INDEX_ENTRY_WORDS * (in.nrecords - 1);
        end = last[0] + floe_record_span(last[1]);
    }
    if (end != in.index_offset)
        index_fault = FLOE_FAULT_ENTRIES_END;
    const uint32_t record_status = status_of(record_fault);
    return __syncthreads_or(index_fault != FLOE_FAULT_NONE)       ? (uint32_t)FLOE_ERR_FORMAT
           : __syncthreads_or(record_status == FLOE_ERR_CHECKSUM) ? (uint32_t)FLOE_ERR_CHECKSUM
           : __syncthreads_or(record_status == FLOE_ERR_FORMAT)   ? (uint32_t)FLOE_ERR_FORMAT
                                                                  : (uint32_t)FLOE_OK;
}

/* Footer, index, heads. By the block. */
FLOE_DEV uint32_t chunks_status(const floe_container_open &job, stream_parts *in, validate_shared &s,
                                const early_head &early)
{
    const uint64_t *footer = s.tail + (in->nwords - in->tail_at) - FLOE_FOOTER_WORDS;
    floe_fault fault =
        in->nbytes % 8 ? FLOE_FAULT_MAGIC : floe_footer_fault(footer, s.footer_hash, in->nbytes, s.nchunks);
    if (fault != FLOE_FAULT_NONE)
        return status_of(fault);
    in->nrecords = s.nchunks;
    in->index_offset = footer[1];
    if (in->nrecords > job.max_records)
        return FLOE_ERR_LIMIT;
    const uint64_t *index = index_words(*in, s);
    const uint64_t nbytes = in->nrecords * FLOE_INDEX_ENTRY_NBYTES;
    const uint32_t warp = warp_of(), nwarps = blockDim.x / FLOE_WARP;
    uint64_t terms = floe_warp_checksum_terms((const uint8_t *)index, nbytes, warp, nwarps,
                                              floe_checksum_pieces(nbytes), s.stage[warp]);
    if (first_lane_of(warp))
        s.sums[warp] = terms;
    uint32_t status = records_status(job, *in, index, early); /* its barriers are between the sums and their use */
    uint64_t sum = 0;
    for (uint32_t i = 0; i < nwarps; i++)
        sum += s.sums[i];
    return floe_checksum_finish(sum, nbytes) != index[nbytes / 8] ? (uint32_t)FLOE_ERR_CHECKSUM : status;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------ */

/* The stream's status, and its records' number. header and records of the job may be NULL. By a block. */
FLOE_DEV uint32_t container_validate(const floe_container_open &job, validate_shared &s, uint64_t *nrecords)
{
    const uint64_t nbytes = job.dev_nbytes ? *job.dev_nbytes : job.nbytes, nwords = nbytes / 8;
    stream_parts in = {job.stream, nbytes, nwords, nwords > TAIL_WORDS ? nwords - TAIL_WORDS : 0, 0, 0, 0};
    uint32_t status = FLOE_ERR_FORMAT;
    if (nbytes <= job.nbytes) {
        ends_load(in, s);
        const early_head early = early_head_load(in, s);
        status = header_status(job, &in, s);
        if (status == FLOE_OK && job.header && threadIdx.x == 0)
            *job.header = s.header;
        if (status == FLOE_OK)
            status = chunks_status(job, &in, s, early);
    }
    *nrecords = status == FLOE_OK ? in.nrecords : 0;
    return status;
}

} // namespace

#endif
