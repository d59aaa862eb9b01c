/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids of records, one behind the other, as floe_wavelet_records_read has them; untrusted. One block: where the next one begins is not
 * known before. */
#include <floe/floe.h>

#include "codec/wavelet/gpu/wavelet_dev.h"
#include "codec/wavelet/wavelet_records_math.h"
#include "stage/context/context_open.cuh"

namespace
{

enum { THREADS = 512 };
static_assert((int)FLOE_WAVELET_DEV_OPENED <= (int)FLOE_CONTEXT_OPENED, "what is opened");

typedef floe_wavelet_open_job job;

struct opened : floe_context_opening {
    bool goes_on;
    uint32_t status, flags[FLOE_CONTEXT_OPENED]; /* flags, sizes_at: of heads */
    uint64_t sizes_at[FLOE_CONTEXT_OPENED];
};

/* ---- lists -------------------------------------------------------------------------------------------------------------- */

/* Bits from the lowest of a byte on, by one thread. */
struct bit_reader {
    const uint8_t *src;
    uint64_t at, end, held;
    uint32_t nheld;
    bool bad;
};

/* More than 32 bits, while there are some. */
FLOE_DEV void hold(bit_reader &b)
{
    while (b.nheld <= 32 && b.at < b.end) {
        const bool word = b.at % 4 == 0 && b.at + 4 <= b.end;
        b.held |= (uint64_t)(word ? *(const uint32_t *)(b.src + b.at) : b.src[b.at]) << b.nheld;
        b.nheld += word ? 32 : 8;
        b.at += word ? 4 : 1;
    }
}

FLOE_DEV uint32_t get_bits(bit_reader &b, uint32_t n)
{
    hold(b);
    const uint32_t v = (uint32_t)b.held & (uint32_t)((1ull << n) - 1);
    b.bad = b.bad || b.nheld < n;
    b.held >>= n;
    b.nheld -= b.bad ? b.nheld : n;
    return v;
}

/* Zeros before a one; bad where they are more than most. */
FLOE_DEV uint64_t get_unary(bit_reader &b, uint64_t most)
{
    uint64_t n = 0;
    hold(b);
    while (!b.bad && b.held == 0) {
        n += b.nheld;
        b.nheld = 0;
        hold(b);
        b.bad = n > most || b.nheld == 0;
    }
    const uint32_t zeros = b.bad ? 0 : (uint32_t)__ffsll((long long)b.held) - 1;
    n += zeros;
    b.bad = b.bad || n > most;
    b.held = b.held >> zeros >> 1;
    b.nheld -= b.bad ? b.nheld : zeros + 1;
    return n;
}

FLOE_DEV bool read_codes(bit_reader &b, const floe_context_dev_grid &g, uint64_t nrecords, uint32_t count,
                         uint32_t nlow)
{
    const uint64_t n = 8 * nrecords;
    const uint32_t largest = g.spec.width == 1 ? INT8_MAX : INT16_MAX;
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++, at++) {
        at += get_bits(b, nlow);
        at += get_unary(b, n >> nlow) << nlow;
        const bool negative = get_bits(b, 1);
        const int32_t size = (int32_t)get_unary(b, largest - 1) + 1, code = negative ? -size : size;
        if (b.bad || at >= n || at % 8 == 7)
            return false;
        if (g.spec.width == 1)
            ((int8_t *)g.records)[at] = (int8_t)code;
        else
            ((int16_t *)g.records)[at] = (int16_t)code;
    }
    return true;
}

FLOE_DEV void read_list(const floe_context_dev_grid &g, uint64_t nrecords, opened *s)
{
    s->good = s->at + 5 <= s->nbytes;
    const uint32_t count = s->good ? load32(s->src + s->at) : 0, nlow = s->good ? s->src[s->at + 4] : 0;
    bit_reader b = {s->src, s->at + 5, s->nbytes, 0, 0, false};
    if (count > FLOE_WAVELET_DEV_LISTED)
        s->status = FLOE_ERR_LIMIT;
    s->good = s->good && nlow <= 31 && count <= FLOE_WAVELET_DEV_LISTED && read_codes(b, g, nrecords, count, nlow);
    s->at = b.at - b.nheld / 8;
}

/* ---- grids -------------------------------------------------------------------------------------------------------------- */

/* One thread: what comes. */
FLOE_DEV void begin_grid(const job &j, uint32_t i, opened *s)
{
    const uint32_t flags = s->flags[i] = s->at < s->nbytes ? s->src[s->at] : 0xFF;
    s->at++;
    s->good = flags <= FLOE_WAVELET_RECORDS_LIST;
    if (flags == FLOE_WAVELET_RECORDS_LIST) {
        read_list(j.grids[i], j.runs[i].nrecords, s);
        return;
    }
    if (s->good && (flags & FLOE_WAVELET_RECORDS_TABLES))
        floe_context_skip_tables(s, i);
    s->sizes_at[i] = s->at;
    if (s->good)
        floe_context_skip_sizes(s, j.runs[i].nchunks, flags & FLOE_WAVELET_RECORDS_WIDE, 0);
}

/* Returns the tables that the head before the next one has. */
FLOE_DEV uint32_t open_grid(const job &j, uint32_t i, uint32_t tables, opened *s)
{
    floe_context_dev_grid &g = j.grids[i];
    const floe_wavelet_dev_run run = j.runs[i];
    const bool begins = run.head == i;
    if (threadIdx.x == 0 && begins)
        begin_grid(j, i, s);
    __syncthreads();
    const uint32_t flags = s->flags[run.head];
    tables = begins && (flags & FLOE_WAVELET_RECORDS_TABLES) ? i : tables;
    if (threadIdx.x == 0) {
        g.tables = begins ? tables : j.grids[run.head].tables;
        g.nchunks = flags == FLOE_WAVELET_RECORDS_LIST ? 0 : g.nchunks;
    }
    __syncthreads();
    const bool wide = flags & FLOE_WAVELET_RECORDS_WIDE;
    if (s->good && flags != FLOE_WAVELET_RECORDS_LIST)
        floe_context_sum_sizes(s, s->src + s->sizes_at[run.head] + (uint64_t)run.first * (wide ? 4 : 2), g.nchunks,
                               wide, j.places + g.first);
    if (threadIdx.x == 0)
        s->at = floe_wavelet_check_end(run.checked, s->at);
    return tables;
}

__global__ void __launch_bounds__(THREADS) wavelet_open_kernel(const __grid_constant__ job j)
{
    __shared__ opened s;
    uint32_t tables = j.ngrids;
    if (threadIdx.x == 0) {
        s.goes_on = *j.status == FLOE_OK;
        s.status = FLOE_ERR_FORMAT;
    }
    floe_context_open(&s, j.src, j.nbytes, j.at);
    bool good = s.goes_on;
    for (uint32_t i = 0; i < j.ngrids && good; i++) {
        tables = open_grid(j, i, i < j.nsteps ? tables : j.ngrids, &s);
        good = s.good;
        __syncthreads(); /* the first thread sets it in the next grid */
    }
    good = good && floe_context_read_grids(&s, j.grids, j.ngrids, j.tables);
    if (threadIdx.x || !s.goes_on)
        return;
    *j.cursor = s.at;
    if (!good || s.at > s.nbytes)
        *j.status = s.status;
}

} // namespace

int floe_wavelet_open_cuda(const floe_wavelet_open_job *job, void *stream)
{
    FLOE_LAUNCH(wavelet_open_kernel, 1, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
