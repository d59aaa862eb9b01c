/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams finished on a GPU, and headers written there, against the CPU's: payloads of every awkward size, many records. */
#include "tests/gpu/container_gpu_kit.h"

/* ---- finishing ----------------------------------------------------------------------------------------------------- */

/* The same stream from header and payloads alone: the rest of the memory is made of noise, checksums too. */
static void finish_in_room(const sample *s, uint64_t first_record, bool with_index, uint64_t room)
{
    const uint64_t total = with_index ? s->nbytes : s->end;
    const size_t scratch_nbytes = (size_t)floe_container_finish_nbytes(s->nrecords);
    uint8_t *expected = malloc(s->nbytes), *got = malloc(s->nbytes), *begun = malloc(s->nbytes + room);
    floe_dev_record *records = malloc((s->nrecords + 1) * sizeof *records);
    memcpy(expected, s->bytes, s->nbytes);
    memset(begun, 0xC3, s->nbytes + room);
    memcpy(begun, s->bytes, s->header_nbytes);
    for (uint64_t i = 0; i < s->nrecords; i++) {
        const floe_dev_record *r = &s->records[i];
        memcpy(begun + r->offset + FLOE_RECORD_HEAD_NBYTES, s->bytes + r->offset + FLOE_RECORD_HEAD_NBYTES, r->nbytes);
        records[i] = (floe_dev_record){r->offset, r->nbytes, 0xC3C3};
        floe_record head = {first_record + i, r->nbytes, r->checksum};
        floe_record_head_write(&head, expected + r->offset);
    }
    uint32_t zero = 0;
    floe_container_finish job = {.stream = dev_of(begun, (size_t)(total + room)),
                                 .capacity = total + room,
                                 .records = dev_of(records, s->nrecords * sizeof *records),
                                 .nrecords = s->nrecords,
                                 .first_record = first_record,
                                 .end = dev_of(&s->end, sizeof s->end),
                                 .with_index = with_index,
                                 .scratch = dev_filled(0, scratch_nbytes),
                                 .total = dev_filled(0xC3, 8),
                                 .failed = dev_of(&zero, sizeof zero)};
    uint32_t *again = dev_filled(0, sizeof *again);
    for (int k = 0; k < 3; k++) { /* scratch serves again, whether a kernel before has done something or not */
        job.again = k ? again : NULL;
        CU(cudaMemset(again, k == 2, sizeof *again));
        CU(cudaMemset((uint8_t *)job.stream + s->end, 0xC3, (size_t)(total - s->end)));
        CU(floe_container_finish_cuda(&job, NULL));
        fetch(got, job.stream, (size_t)total);
        if (memcmp(got, expected, (size_t)total) != 0)
            for (uint64_t i = 0; i < total; i++)
                if (got[i] != expected[i])
                    fail_msg("byte %llu of %llu differs", (unsigned long long)i, (unsigned long long)total);
        fetch(records, job.records, s->nrecords * sizeof *records);
        assert_memory_equal(records, s->records, s->nrecords * sizeof *records);
        assert_int_equal(fetch64(job.total), total);
        assert_int_equal(fetch32(job.failed), FLOE_OK);
        assert_zero(job.scratch, scratch_nbytes);
    }
    drop(job.stream), drop(job.records), drop((void *)(uintptr_t)job.end), drop(job.scratch);
    drop(job.total), drop(job.failed), drop(again);
    free(expected), free(got), free(begun), free(records);
}

/* The more room, the more blocks, most of them for nothing. */
static void finish_and_compare(const sample *s, uint64_t first_record, bool with_index)
{
    finish_in_room(s, first_record, with_index, 0);
    if (s->nrecords < 20)
        finish_in_room(s, first_record, with_index, 700000);
}

static void finish_sizes(const uint64_t *payloads, uint64_t n)
{
    floe_header h = header_of(n);
    sample s = sample_of(&h, payloads, n, n + payloads[0]);
    finish_and_compare(&s, 0, true);
    sample_free(&s);
}

static void one_payload_of_every_size(void **state)
{
    (void)state;
    const uint64_t edge[] = {1,   2,   3,   5,   7,   9,    13,   17,   31,    33,   127,
                             129, 237, 239, 241, 243, 1087, 1089, 4096, 32768, 32772};
    for (uint64_t n = 0; n <= 300; n += 4)
        finish_sizes(&n, 1);
    for (uint64_t n = 1020; n <= 1030; n++)
        finish_sizes(&n, 1);
    for (uint64_t n = 16380; n <= 16390; n++)
        finish_sizes(&n, 1);
    for (size_t i = 0; i < sizeof edge / sizeof edge[0]; i++)
        finish_sizes(&edge[i], 1);
    for (uint64_t blocks = 1; blocks <= 16; blocks++)
        for (uint64_t stripes = 0; stripes < 16; stripes += 5) {
            uint64_t n = 1024 * blocks + 64 * stripes + 4 * blocks;
            finish_sizes(&n, 1);
        }
}

/* Around the number of pieces that one block does alone, that a batch has, and far above. */
static void large_payloads(void **state)
{
    (void)state;
    for (uint64_t pieces = 2; pieces <= 18; pieces += pieces == 9 ? 5 : 1) {
        uint64_t n = pieces * FLOE_CHECKSUM_PIECE + 4;
        finish_sizes(&n, 1);
        n -= 4;
        finish_sizes(&n, 1);
    }
    const uint64_t some[] = {5000000, 0, 1500004, 16384, 8, 3000012}, huge = 72000004;
    finish_sizes(some, 1); /* more pieces than blocks */
    finish_sizes(some, 6);
    if (!is_small())
        finish_sizes(&huge, 1); /* several batches a block */
    const uint64_t more[] = {40000, 300000, 4, 0, 0, 32768, 65536};
    finish_sizes(more, 7);
}

static void many_records(void **state)
{
    (void)state;
    enum { MOST = 6000 };
    uint64_t *sizes = malloc(MOST * sizeof *sizes), seed = 7;
    const uint64_t counts[] = {2, 3, 8, 10, 11, 16, 17, 31, 32, 33, 64, 83, 84, 340, 341, 342, 700, MOST};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        if (is_small() && counts[k] > 700)
            continue;
        for (uint64_t i = 0; i < counts[k]; i++) /* mostly small, some with several pieces */
            sizes[i] = random_below(&seed, 10) ? 4 * random_below(&seed, 300) : 4 * random_below(&seed, 20000);
        finish_sizes(sizes, counts[k]);
    }
    for (uint64_t i = 0; i < 300; i++)
        sizes[i] = 4;
    finish_sizes(sizes, 300);
    free(sizes);
}

static void a_part_of_a_stream_has_no_index(void **state)
{
    (void)state;
    const uint64_t sizes[] = {1000, 70000, 12};
    floe_header h = header_of(3);
    sample s = sample_of(&h, sizes, 3, 3);
    finish_and_compare(&s, 0, false);
    finish_and_compare(&s, 1000000007u, false);
    sample_free(&s);
}

static void a_stream_without_records(void **state)
{
    (void)state;
    floe_header h = header_of(0);
    sample s = sample_of(&h, NULL, 0, 1);
    finish_and_compare(&s, 0, true);
    finish_and_compare(&s, 0, false);
    sample_free(&s);
}

static void same_report(const floe_container_finish *job, uint32_t status, uint64_t nbytes)
{
    floe_device_report r;
    fetch(&r, job->report, sizeof r);
    assert_int_equal(r.status, status);
    assert_int_equal(r.reserved, 0);
    assert_int_equal(r.nbytes, status ? 0 : nbytes);
    assert_int_equal(r.nexceptions, 7);
    assert_true(r.max_error == 0.5);
    assert_int_equal(r.max_pw_error == 0.25, job->pwrel);
}

/* Nothing is touched after a failure, but for the report; an index that does not fit is one. */
static void failures_stop_finishing(void **state)
{
    (void)state;
    const floe_dev_chunk_stats stats[2] = {
        {.nexceptions = 1},
        {.nexceptions = 7, .max_error_bits = floe_bits_f64(0.5), .max_pw_error_bits = floe_bits_f64(0.25)}};
    const uint32_t attempt = 1;
    const uint64_t size = 100000;
    floe_header h = header_of(1);
    sample s = sample_of(&h, &size, 1, 5);
    uint8_t *got = malloc(s.nbytes);
    for (int k = 0; k < 4; k++) {
        uint32_t failed = k == 0 ? FLOE_ERR_LIMIT : 0;
        uint64_t room = k == 0 ? s.nbytes : k == 1 ? s.nbytes - 1 : k == 2 ? s.end - 8 : s.nbytes;
        floe_container_finish job = {.stream = dev_filled(0xC3, s.nbytes),
                                     .capacity = room,
                                     .records = dev_of(s.records, sizeof *s.records),
                                     .nrecords = 1,
                                     .end = dev_of(&s.end, sizeof s.end),
                                     .with_index = true,
                                     .scratch = dev_filled(0, (size_t)floe_container_finish_nbytes(1)),
                                     .failed = dev_of(&failed, sizeof failed),
                                     .report = dev_filled(0xC3, sizeof *job.report),
                                     .chunk_stats = {dev_of(stats, sizeof stats), dev_of(&attempt, sizeof attempt), 0},
                                     .pwrel = k % 2};
        CU(floe_container_finish_cuda(&job, NULL));
        same_report(&job, k == 0 ? FLOE_ERR_LIMIT : k < 3 ? FLOE_ERR_CAPACITY : FLOE_OK, s.nbytes);
        assert_int_equal(fetch32(job.failed), k == 0 ? FLOE_ERR_LIMIT : k < 3 ? FLOE_ERR_CAPACITY : FLOE_OK);
        fetch(got, job.stream, s.nbytes);
        for (size_t i = 0; k < 3 && i < s.nbytes; i++)
            assert_int_equal(got[i], 0xC3);
        drop(job.report), drop((void *)(uintptr_t)job.chunk_stats.first),
            drop((void *)(uintptr_t)job.chunk_stats.attempt);
        assert_zero(job.scratch, (size_t)floe_container_finish_nbytes(1));
        drop(job.stream), drop(job.records), drop((void *)(uintptr_t)job.end), drop(job.scratch), drop(job.failed);
    }
    free(got);
    sample_free(&s);
}

/* What a chunk's coder leaves, with something else beside it. */
typedef struct stats_chunk {
    uint64_t other[3];
    uint32_t attempt, more;
    floe_dev_chunk_stats stats[2];
} stats_chunk;

/* Counts are added up, errors compared, of the attempt that each chunk came to. */
static void the_report_is_that_of_all_chunks(void **state)
{
    (void)state;
    enum { MOST = 70 };
    uint64_t sizes[MOST], nexceptions = 0;
    stats_chunk chunks[MOST];
    uint32_t zero = 0;
    for (uint32_t i = 0; i < MOST; i++) {
        sizes[i] = 4;
        chunks[i] = (stats_chunk){.other = {~0u, ~0u, ~0u}, .attempt = i % 3 == 0, .more = ~0u};
        for (uint32_t k = 0; k < 2; k++)
            chunks[i].stats[k] =
                (floe_dev_chunk_stats){100 * i + k, 1, floe_bits_f64(i == 41 ? 9 + k : 1 + 1.0 / (i + 1)),
                                       floe_bits_f64(i == 69 ? 0.5 + k : 0.25)};
        nexceptions += 100 * i + chunks[i].attempt;
    }
    floe_header h = header_of(MOST);
    sample s = sample_of(&h, sizes, MOST, 5);
    floe_device_report r;
    stats_chunk *dev = dev_of(chunks, sizeof chunks);
    floe_container_finish job = {.stream = dev_of(s.bytes, s.nbytes),
                                 .capacity = s.nbytes,
                                 .records = dev_of(s.records, MOST * sizeof *s.records),
                                 .nrecords = MOST,
                                 .end = dev_of(&s.end, sizeof s.end),
                                 .with_index = true,
                                 .scratch = dev_filled(0, (size_t)floe_container_finish_nbytes(MOST)),
                                 .failed = dev_of(&zero, sizeof zero),
                                 .report = dev_filled(0xC3, sizeof *job.report),
                                 .chunk_stats = {dev->stats, &dev->attempt, sizeof *dev},
                                 .pwrel = true};
    CU(floe_container_finish_cuda(&job, NULL));
    fetch(&r, job.report, sizeof r);
    assert_int_equal(r.status, FLOE_OK);
    assert_int_equal(r.nbytes, s.nbytes);
    assert_int_equal(r.nexceptions, nexceptions);
    assert_true(r.max_error == 9);          /* of attempt 0 */
    assert_true(r.max_pw_error == 0.5 + 1); /* of attempt 1 */
    drop(job.stream), drop(job.records), drop((void *)(uintptr_t)job.end), drop(job.scratch), drop(job.failed);
    drop(job.report), drop(dev);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_payload_of_every_size),
        cmocka_unit_test(large_payloads),
        cmocka_unit_test(many_records),
        cmocka_unit_test(a_part_of_a_stream_has_no_index),
        cmocka_unit_test(a_stream_without_records),
        cmocka_unit_test(failures_stop_finishing),
        cmocka_unit_test(the_report_is_that_of_all_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
