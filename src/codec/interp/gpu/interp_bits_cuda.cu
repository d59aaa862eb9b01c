/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to all values of a chunk, or to words of bits that stand for them: one kernel, of which each launch does one thing. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "codec/interp/gpu/interp_dev.h"
#include "stage/lattice/lattice_patterns.cuh"

namespace
{

enum {
    THREADS = 256,
    BLOCKS = 5, /* of a processor, at least */
    WORD = 64,
    LONG_LINE = 64, /* words */
    THREADS_OF_LINE = 1024,
    MANY_LINES = 1 << 16 /* enough for a thread each, across the last axis */
};

typedef floe_interp_bits_job job;

/* Sums of a thread, for job.out. */
struct sums {
    unsigned long long n[FLOE_INTERP_SETS];
};

/* ---- values ------------------------------------------------------------------------------------------------------------ */

FLOE_DEV void put_value(const job &j, const uint64_t point[FLOE_LATTICE_RANK], uint64_t pattern)
{
    uint8_t *to = floe_lattice_output_place(&j.values, point);
    if (to && j.negative)
        to[j.values.size - 1] |= 0x80;
    else if (to)
        store_pattern(to, j.values.size, pattern);
}

/* Where the first value of a word lies; the others follow it along its row. */
struct word_place {
    uint64_t point[FLOE_LATTICE_RANK], position;
};

/* Out of line: most kinds of launch have one, which would cost registers of all. */
FLOE_DEV_COLD word_place place_of(const job &j, uint64_t word)
{
    word_place w;
    uint64_t row = word;
    const uint64_t x = floe_last_digit(&row, j.row) * WORD;
    w.position = row * j.shape[3] + x;
    floe_lattice_point_of(j.shape, row * j.shape[3], w.point);
    w.point[3] = x;
    return w;
}

FLOE_DEV const uint8_t *values_of(const job &j, const word_place &w)
{
    return (const uint8_t *)j.values.view.data + floe_lattice_view_at(&j.values.view, w.point) * (int64_t)j.values.size;
}

FLOE_DEV uint64_t pattern_at(const job &j, const uint8_t *values, uint64_t number)
{
    return load_pattern(values + (int64_t)number * j.values.view.stride[3] * (int64_t)j.values.size, j.values.size);
}

FLOE_DEV uint32_t set_of(const job &j, uint64_t pattern) { return floe_interp_set_of(j.palette, j.npalette, pattern); }

/* Calls what(bit, place) for each bit of a word of from. */
template <class WHAT> FLOE_DEV void each_bit(const job &j, uint64_t word, WHAT what)
{
    uint64_t left = j.from[word];
    if (left == 0)
        return;
    const word_place place = place_of(j, word);
    for (; left; left &= left - 1)
        what((uint32_t)__ffsll((long long)left) - 1, place);
}
/* Calls what(bit, position, pattern). */
template <class WHAT> FLOE_DEV void each_pattern(const job &j, uint64_t word, WHAT what)
{
    const uint8_t *values = NULL;
    each_bit(j, word, [&](uint32_t bit, const word_place &place) {
        values = values ? values : values_of(j, place);
        what(bit, place.position + bit, pattern_at(j, values, bit));
    });
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* Value i of rows of whole words: its bit, by a warp of 32 of them. */
FLOE_DEV void test_value(const job &j, uint64_t i, sums &s)
{
    const word_place place = place_of(j, i / WORD);
    bool is_in = false; /* the value is of the set */
    if (place.point[3] + i % WORD < j.shape[3]) {
        const uint64_t pattern = pattern_at(j, values_of(j, place), i % WORD);
        const double v = j.values.size == 4 ? (double)floe_f32_of((uint32_t)pattern) : floe_f64_of(pattern),
                     size = v < 0 ? -v : v;
        if (j.what == FLOE_INTERP_BITS_FLAT)
            is_in = pattern != j.base;
        else if (j.what == FLOE_INTERP_BITS_NEGATIVE)
            is_in = pattern >> (8 * j.values.size - 1) != 0;
        else if (size > 0 && size <= 1.7976931348623157e308 && !(j.has_fill && pattern == j.fill))
            s.n[0] = floe_bits_f64(size) > s.n[0] ? floe_bits_f64(size) : s.n[0];
    }
    if (j.what == FLOE_INTERP_BITS_MOST)
        return;
    const uint32_t bits = __ballot_sync(FLOE_ALL_LANES, is_in);
    if (floe_lane() == 0)
        ((uint32_t *)j.to)[i / FLOE_WARP] = bits;
    s.n[0] += is_in;
}

FLOE_DEV void find_special(const job &j, uint64_t word, sums &s)
{
    each_pattern(j, word, [&](uint32_t, uint64_t position, uint64_t pattern) {
        if ((j.flat || floe_lattice_is_special(j.values.size, pattern, j.has_fill, j.fill)) &&
            floe_lattice_palette_place(j.palette, j.npalette, pattern) == j.npalette)
            s.n[0] = floe_max64(s.n[0], ~position); /* the first one */
    });
}

FLOE_DEV void count_sets(const job &j, uint64_t word, sums &s)
{
    each_pattern(j, word, [&](uint32_t, uint64_t, uint64_t pattern) {
        const uint32_t set = set_of(j, pattern);
#pragma unroll
        for (uint32_t k = 0; k < FLOE_INTERP_SETS; k++)
            s.n[k] += k == set;
    });
}

FLOE_DEV void pick(const job &j, uint64_t word)
{
    uint64_t bits = 0;
    each_pattern(j, word, [&](uint32_t bit, uint64_t, uint64_t pattern) {
        bits |= (uint64_t)(set_of(j, pattern) == j.set) << bit;
    });
    j.to[word] = bits;
}

/* Rows from one to the next along an axis but the last. */
FLOE_DEV uint64_t axis_rows(const job &j)
{
    uint64_t rows = 1;
    for (uint32_t a = j.axis + 1; a < 3; a++)
        rows *= j.shape[a];
    return rows;
}
FLOE_DEV uint64_t last_word(const job &j, uint64_t word, uint64_t bits)
{
    return word % j.row + 1 == j.row && j.shape[3] % WORD ? bits & (((uint64_t)1 << j.shape[3] % WORD) - 1) : bits;
}

FLOE_DEV void differ(const job &j, uint64_t word)
{
    uint64_t bits = j.from[word];
    if (j.axis == 3)
        bits = last_word(j, word, bits ^ bits << 1 ^ (word % j.row ? j.from[word - 1] >> (WORD - 1) : 0));
    else if (word / j.row / axis_rows(j) % j.shape[j.axis])
        bits ^= j.from[word - axis_rows(j) * j.row];
    j.to[word] = bits;
}

FLOE_DEV void make_record(const job &j, uint64_t i)
{
    const uint64_t n = floe_ceil_div(j.shape[3], FLOE_INTERP_MASK_CELLS), line = i / n,
                   x = i % n * FLOE_INTERP_MASK_CELLS;
    uint64_t bits = 0;
    if (line < j.nwords / j.row) {
        const uint64_t *row = j.from + line * j.row, w = x / WORD;
        bits = row[w] >> x % WORD | (x % WORD && w + 1 < j.row ? row[w + 1] << (WORD - x % WORD) : 0);
    }
    j.records[i] = (uint8_t)(bits & 127);
}

FLOE_DEV void make_list(const job &j, uint64_t word)
{
    uint64_t rank = j.ranks[word];
    each_pattern(j, word, [&](uint32_t, uint64_t position, uint64_t pattern) {
        if (j.list)
            j.list[1 + rank] = (uint32_t)position;
        if (j.literals)
            store_pattern((uint8_t *)j.literals + rank * j.values.size, j.values.size, pattern);
        rank++;
    });
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

/* Where literal number rank stands; 0 where the payload ends before. */
FLOE_DEV uint64_t literal_at(const job &j, uint64_t begin, uint64_t rank)
{
    const uint64_t size = j.values.size, at = begin + rank * size;
    if (at + size <= j.nbytes)
        return load_bytes(j.src + at, j.values.size);
    set_damaged(j.status);
    return 0;
}

FLOE_DEV void place_listed(const job &j, uint64_t i)
{
    const uint64_t n = j.shape[0] * j.shape[1] * j.shape[2] * j.shape[3], begin = j.cursor[1];
    const uint64_t position = load_bytes(j.src + begin + 4 * i, 4);
    if (position >= n || (i > 0 && position <= load_bytes(j.src + begin + 4 * (i - 1), 4))) {
        set_damaged(j.status);
        return;
    }
    uint64_t point[FLOE_LATTICE_RANK];
    floe_lattice_point_of(j.shape, position, point);
    put_value(j, point, j.with_literals ? literal_at(j, *j.cursor, i) : j.base);
}

/* Cells of a word, out of the records that have them. */
FLOE_DEV void read_records(const job &j, uint64_t word)
{
    const uint64_t n = floe_ceil_div(j.shape[3], FLOE_INTERP_MASK_CELLS), first = word % j.row * WORD;
    const uint8_t *row = j.records + word / j.row * n;
    uint64_t bits = 0, r = first / FLOE_INTERP_MASK_CELLS;
    for (; r < n && r * FLOE_INTERP_MASK_CELLS < first + WORD; r++) {
        const uint64_t x = r * FLOE_INTERP_MASK_CELLS, record = row[r];
        bits |= x < first ? record >> (first - x) : record << (x - first);
    }
    j.to[word] = last_word(j, word, bits);
    if (r == n && row[n - 1] >> (j.shape[3] - (n - 1) * FLOE_INTERP_MASK_CELLS))
        set_damaged(j.status);
}

FLOE_DEV uint64_t sums_of_bits(uint64_t bits)
{
    for (uint32_t shift = 1; shift < WORD; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* Along the last axis by rows; else by words, from the first one on. */
FLOE_DEV void restore(const job &j, uint64_t i)
{
    if (j.axis == 3) {
        uint64_t carry = 0;
        for (uint64_t w = i * j.row; w < (i + 1) * j.row; w++) {
            const uint64_t bits = sums_of_bits(j.to[w]) ^ carry;
            carry = 0 - (bits >> (WORD - 1));
            j.to[w] = last_word(j, w, bits);
        }
        return;
    }
    const uint64_t stride = axis_rows(j) * j.row, first = i / stride * stride * j.shape[j.axis] + i % stride;
    for (uint64_t k = 1; k < j.shape[j.axis]; k++)
        j.to[first + k * stride] ^= j.to[first + (k - 1) * stride];
}

FLOE_DEV void place_word(const job &j, uint64_t word)
{
    uint64_t rank = j.with_literals ? j.ranks[word] : 0;
    each_bit(j, word, [&](uint32_t bit, const word_place &place) {
        const uint64_t point[] = {place.point[0], place.point[1], place.point[2], place.point[3] + bit};
        put_value(j, point, j.with_literals ? literal_at(j, *j.cursor, rank) : j.base);
        rank++;
    });
}

/* ---- the kernel -------------------------------------------------------------------------------------------------------- */

FLOE_DEV void do_item(const job &j, uint64_t i, sums &s)
{
    switch (j.what) {
    case FLOE_INTERP_BITS_MOST:
    case FLOE_INTERP_BITS_FLAT:
    case FLOE_INTERP_BITS_NEGATIVE: test_value(j, i, s); break;
    case FLOE_INTERP_BITS_PALETTE: find_special(j, i, s); break;
    case FLOE_INTERP_BITS_COUNTS: count_sets(j, i, s); break;
    case FLOE_INTERP_BITS_PICK: pick(j, i); break;
    case FLOE_INTERP_BITS_DIFFER: differ(j, i); break;
    case FLOE_INTERP_BITS_RECORDS: make_record(j, i); break;
    case FLOE_INTERP_BITS_TALLY: j.tallies[i] = (uint32_t)__popcll(j.from[i]); break;
    case FLOE_INTERP_BITS_LIST: make_list(j, i); break;
    case FLOE_INTERP_BITS_UNLIST: place_listed(j, i); break;
    case FLOE_INTERP_BITS_UNRECORD: read_records(j, i); break;
    case FLOE_INTERP_BITS_RESTORE: restore(j, i); break;
    case FLOE_INTERP_BITS_PLACE: place_word(j, i); break;
    }
}

FLOE_DEV uint64_t nitems(const job &j)
{
    switch (j.what) {
    case FLOE_INTERP_BITS_MOST:
    case FLOE_INTERP_BITS_FLAT:
    case FLOE_INTERP_BITS_NEGATIVE: return j.nwords * WORD;
    case FLOE_INTERP_BITS_RECORDS: return j.nrecords;
    case FLOE_INTERP_BITS_UNLIST: return j.cursor[2];
    case FLOE_INTERP_BITS_RESTORE: return j.axis == 3 ? j.nwords / j.row : j.nwords / j.shape[j.axis];
    default: return j.nwords;
    }
}

FLOE_DEV void leave_sums(const job &j, const sums &s)
{
    const bool most = j.what == FLOE_INTERP_BITS_MOST || j.what == FLOE_INTERP_BITS_PALETTE;
    for (uint32_t k = 0; k < FLOE_INTERP_SETS; k++) {
        const unsigned long long v = most ? floe_warp_max(s.n[k]) : floe_warp_sum(s.n[k]);
        if (floe_lane() == 0 && v && most)
            atomicMax(j.out, v);
        else if (floe_lane() == 0 && v)
            atomicAdd(j.out + k, v);
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS) interp_bits_kernel(const __grid_constant__ job j)
{
    __shared__ uint64_t n;
    sums s = {};
    if (threadIdx.x == 0)
        n = *j.status == FLOE_OK ? nitems(j) : 0; /* others may set it meanwhile */
    __syncthreads();
    for (uint64_t i = first_item(); i < n; i += item_step())
        do_item(j, i, s);
    if (j.out)
        leave_sums(j, s);
}

/* The same of lines of so many words, a block a line. */
__global__ void __launch_bounds__(THREADS_OF_LINE)
    interp_restore_kernel(const __grid_constant__ job j, uint64_t nlines, uint64_t length)
{
    __shared__ uint64_t sums[2][FLOE_WARP];
    __shared__ bool stops;
    const bool by_bits = j.axis == 3;
    const uint64_t stride = by_bits ? 1 : axis_rows(j) * j.row;
    const uint32_t warp = threadIdx.x / FLOE_WARP, lane = floe_lane();
    if (threadIdx.x == 0)
        stops = *j.status != FLOE_OK;
    __syncthreads();
    for (uint64_t line = blockIdx.x; line < nlines && !stops; line += gridDim.x) {
        const uint64_t first = line / stride * stride * length + line % stride;
        uint64_t before = 0;
        for (uint64_t k0 = 0, turn = 0; k0 < length; k0 += blockDim.x, turn ^= 1) {
            const uint64_t k = k0 + threadIdx.x, word = first + k * stride, read = k < length ? j.to[word] : 0,
                           bits = by_bits ? sums_of_bits(read) : read, own = by_bits ? 0 - (bits >> (WORD - 1)) : bits;
            uint64_t sum = own;
            for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
                const uint64_t other = __shfl_up_sync(FLOE_ALL_LANES, sum, d);
                sum ^= lane >= d ? other : 0;
            }
            if (lane == FLOE_WARP - 1)
                sums[turn][warp] = sum;
            __syncthreads();
            uint64_t lower = 0, all = 0;
            for (uint32_t w = 0; w < blockDim.x / FLOE_WARP; w++) {
                lower ^= w < warp ? sums[turn][w] : 0;
                all ^= sums[turn][w];
            }
            const uint64_t restored = bits ^ sum ^ own ^ lower ^ before;
            if (k < length)
                j.to[word] = by_bits ? last_word(j, word, restored) : restored;
            before ^= all;
        }
    }
}

} // namespace

int floe_interp_bits_cuda(const floe_interp_bits_job *job, void *stream)
{
    const uint64_t length = job->axis == 3 ? job->row : job->shape[job->axis], nlines = job->nwords / length;
    if (job->what == FLOE_INTERP_BITS_RESTORE && length >= LONG_LINE && (job->axis == 3 || nlines < MANY_LINES)) {
        const uint64_t nthreads = floe_min64(floe_ceil_div(length, FLOE_WARP) * FLOE_WARP, THREADS_OF_LINE);
        FLOE_LAUNCH(interp_restore_kernel, nblocks_of(nlines, 1), (uint32_t)nthreads, 0, (cudaStream_t)stream, *job,
                    nlines, length);
        return (int)cudaGetLastError();
    }
    FLOE_LAUNCH(interp_bits_kernel, nblocks_of(job->nwords * WORD, THREADS), THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
