/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids of records, group by group, as floe_wavelet_places_find has them; untrusted. One block: where the next one begins is not
 * known before. */
#include <floe/floe.h>

#include "codec/wavelet/gpu/wavelet_dev.h"
#include "codec/wavelet/wavelet_records_math.h"
#include "stage/context/context_open.cuh"

namespace
{

enum { THREADS = 512 };
static_assert((int)FLOE_WAVELET_DEV_GRIDS <= (int)FLOE_CONTEXT_OPENED, "what is opened");

typedef floe_wavelet_open_job job;

struct opened : floe_context_opening {
    uint32_t flags, status; /* flags: of the last head */
    bool goes_on;
    uint64_t sizes_at, away[FLOE_WAVELET_DEV_RUNS]; /* away: what is still to be added to the places of each run */
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

FLOE_DEV bool read_codes(bit_reader &b, const floe_context_dev_grid &g, uint32_t count, uint32_t nlow)
{
    const uint64_t n = 8 * floe_context_nrecords(&g.grid);
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

FLOE_DEV void read_list(const floe_context_dev_grid &g, opened *s)
{
    s->good = s->at + 5 <= s->nbytes;
    const uint32_t count = s->good ? load32(s->src + s->at) : 0, nlow = s->good ? s->src[s->at + 4] : 0;
    bit_reader b = {s->src, s->at + 5, s->nbytes, 0, 0, false};
    if (count > FLOE_WAVELET_DEV_LISTED)
        s->status = FLOE_ERR_LIMIT;
    s->good = s->good && nlow <= 31 && count <= FLOE_WAVELET_DEV_LISTED && read_codes(b, g, count, nlow);
    s->at = b.at - b.nheld / 8;
}

/* ---- grids -------------------------------------------------------------------------------------------------------------- */

/* One thread: the head of grid i. */
FLOE_DEV void read_head(const job &j, uint32_t i, opened *s)
{
    s->flags = s->at < s->nbytes ? s->src[s->at] : 0xFF;
    s->at++;
    s->good = s->flags <= FLOE_WAVELET_RECORDS_LIST;
    if (s->flags == FLOE_WAVELET_RECORDS_LIST) {
        read_list(j.grids[i], s);
        return;
    }
    if (s->good && (s->flags & FLOE_WAVELET_RECORDS_TABLES))
        floe_context_skip_tables(s, i);
    s->sizes_at = s->at;
    if (s->good)
        floe_context_skip_sizes(s, j.grids[i].nchunks, s->flags & FLOE_WAVELET_RECORDS_WIDE, 0);
}

/* Places of its chunks are found as if these lay one behind the other from 0 on. Returns the tables that it has. */
FLOE_DEV uint32_t open_grid(const job &j, const floe_wavelet_dev_run &run, uint32_t tables, opened *s)
{
    floe_context_dev_grid &g = j.grids[run.grid];
    uint64_t *places = j.places + 2 * (uint64_t)g.first;
    if (threadIdx.x == 0)
        read_head(j, run.grid, s);
    __syncthreads();
    const bool list = s->flags == FLOE_WAVELET_RECORDS_LIST, wide = s->flags & FLOE_WAVELET_RECORDS_WIDE;
    tables = !list && (s->flags & FLOE_WAVELET_RECORDS_TABLES) ? run.grid : tables;
    for (uint32_t i = run.wanted + threadIdx.x; i < g.nchunks; i += THREADS)
        places[2 * i] = places[2 * i + 1] = 0;
    if (!list)
        floe_context_sum_sizes(s, 0, s->src + s->sizes_at, run.wanted, wide, places);
    __syncthreads();
    if (threadIdx.x == 0) {
        g.tables = tables;
        g.nchunks = list ? 0 : g.nchunks;
    }
    return tables;
}

/* One thread: where a run lies. */
FLOE_DEV void place_run(const job &j, uint32_t i, opened *s)
{
    const floe_wavelet_dev_run run = j.runs[i];
    const floe_context_dev_grid &g = j.grids[run.grid];
    const uint64_t *places = j.places + 2 * ((uint64_t)g.first + run.begin);
    if (g.nchunks && run.begin < run.end) {
        s->away[i] = s->at - places[0];
        s->at += places[2 * (run.end - run.begin) - 1] - places[0];
    }
    s->good = s->good && s->at <= s->nbytes;
    s->at = floe_wavelet_check_end(run.checked, s->at);
}

FLOE_DEV void move_chunks(const job &j, const opened *s)
{
    for (uint32_t i = threadIdx.x / FLOE_WARP; i < j.nruns; i += THREADS / FLOE_WARP) {
        const floe_wavelet_dev_run run = j.runs[i];
        const floe_context_dev_grid &g = j.grids[run.grid];
        uint64_t *places = j.places + 2 * (uint64_t)g.first;
        for (uint32_t k = 2 * run.begin + floe_lane(); k < 2 * run.end && g.nchunks; k += FLOE_WARP)
            places[k] += s->away[i];
    }
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
    for (uint32_t i = 0; i < j.nruns && good;) {
        const floe_wavelet_dev_run run = j.runs[i];
        if (run.first)
            tables = open_grid(j, run, run.grid < j.nsteps ? tables : j.ngrids, &s);
        do {
            if (threadIdx.x == 0)
                place_run(j, i, &s);
        } while (++i < j.nruns && !j.runs[i].first);
        __syncthreads();
        good = s.good;
        __syncthreads(); /* the first thread sets it in the next grid */
    }
    if (good)
        move_chunks(j, &s);
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
