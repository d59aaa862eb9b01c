/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams read on a GPU against the CPU: headers with and without attributes; every changed byte, every cut, and parts that lie
 * with right checksums. */
#include "tests/gpu/container_gpu_kit.h"

/* ---- reading ------------------------------------------------------------------------------------------------------- */

/* All checks of the CPU, in order. */
static floe_status cpu_read(const uint8_t *p, size_t n, floe_header *h)
{
    floe_error err = {0};
    size_t header_nbytes = 0;
    uint64_t index_offset = 0;
    if (floe_header_peek(p, n, &header_nbytes, &err) != FLOE_OK || floe_header_read(p, n, h, &err) != FLOE_OK)
        return err.status;
    uint64_t nchunks = floe_grid_nchunks(h);
    if (floe_footer_read(p + n - FLOE_FOOTER_NBYTES, FLOE_FOOTER_NBYTES, n, nchunks, &index_offset, &err) != FLOE_OK)
        return err.status;
    const uint8_t *index = p + index_offset;
    if (floe_index_check(index, n - index_offset - FLOE_FOOTER_NBYTES, nchunks, header_nbytes, index_offset, &err) !=
        FLOE_OK)
        return err.status;
    for (uint64_t i = 0; i < nchunks; i++) {
        floe_index_entry entry;
        floe_record record;
        floe_index_entry_read(index, i, &entry);
        const uint8_t *at = p + entry.offset;
        if (floe_record_head_read(at, n - entry.offset, &record, &err) != FLOE_OK)
            return err.status;
        if (memcmp(&record, &entry.record, sizeof record) != 0)
            return FLOE_ERR_FORMAT;
    }
    for (uint64_t i = 0; i < nchunks; i++) {
        floe_index_entry entry;
        floe_index_entry_read(index, i, &entry);
        const uint8_t *payload = p + entry.offset + FLOE_RECORD_HEAD_NBYTES;
        if (floe_payload_check(&entry.record, payload, index_offset - entry.offset - FLOE_RECORD_HEAD_NBYTES, &err) !=
            FLOE_OK)
            return err.status;
    }
    return FLOE_OK;
}

/* What the device works on; all but the stream is allocated once. */
typedef struct reader {
    floe_container_open open;
    floe_container_verify verify;
    size_t scratch_nbytes;
} reader;

static reader reader_of(const floe_header *expected, uint64_t max_records)
{
    reader r = {.scratch_nbytes = (size_t)floe_container_verify_nbytes(max_records)};
    floe_container_open *o = &r.open;
    o->codec = FLOE_CODEC_LORENZO;
    o->dtype = expected->dtype;
    o->rank = expected->rank;
    memcpy(o->shape, expected->shape, sizeof o->shape);
    o->header = dev_alloc(sizeof *o->header);
    o->records = dev_alloc((max_records + 1) * sizeof *o->records);
    o->max_records = max_records;
    o->nrecords = dev_alloc(sizeof *o->nrecords);
    o->verify_scratch = dev_filled(0xC3, r.scratch_nbytes);
    o->status = dev_filled(0xC3, sizeof *o->status);
    r.verify = (floe_container_verify){.records = o->records,
                                       .nrecords = max_records,
                                       .dev_nrecords = o->nrecords,
                                       .scratch = o->verify_scratch,
                                       .status = o->status};
    return r;
}
static void reader_free(reader *r)
{
    drop(r->open.header), drop(r->open.records), drop(r->open.nrecords), drop(r->open.verify_scratch);
    drop(r->open.status);
}

/* Opens and verifies n bytes at the beginning of dev. opened: what opening alone reports. */
static uint32_t gpu_read(reader *r, const uint8_t *dev, size_t n, uint32_t *opened)
{
    r->open.stream = r->verify.stream = dev;
    r->open.nbytes = r->verify.nbytes = n;
    CU(floe_container_open_cuda(&r->open, NULL));
    *opened = fetch32(r->open.status);
    CU(floe_container_verify_cuda(&r->verify, NULL));
    return fetch32(r->open.status);
}

static uint32_t gpu_read_host(reader *r, const uint8_t *bytes, size_t n, uint32_t *opened)
{
    uint8_t *dev = dev_of(bytes, n);
    uint32_t status = gpu_read(r, dev, n, opened);
    drop(dev);
    return status;
}

static void read_and_compare(const sample *s)
{
    reader r = reader_of(&s->header, s->nrecords);
    uint32_t opened;
    assert_int_equal(gpu_read_host(&r, s->bytes, s->nbytes, &opened), FLOE_OK);
    assert_int_equal(opened, FLOE_OK);
    assert_int_equal(fetch64(r.open.nrecords), s->nrecords);
    assert_zero(r.open.verify_scratch, r.scratch_nbytes);
    floe_dev_record *records = malloc((s->nrecords + 1) * sizeof *records);
    fetch(records, r.open.records, s->nrecords * sizeof *records);
    assert_memory_equal(records, s->records, s->nrecords * sizeof *records);
    floe_header h, expected;
    fetch(&h, r.open.header, sizeof h);
    assert_int_equal(floe_header_read(s->bytes, s->nbytes, &expected, NULL), FLOE_OK);
    assert_true(h.version == expected.version && h.dtype == expected.dtype && h.rank == expected.rank);
    assert_true(h.codec == expected.codec && h.preset == expected.preset && h.mode == expected.mode);
    assert_true(h.has_fill == expected.has_fill && h.fill_bits == expected.fill_bits && h.nattrs == expected.nattrs);
    assert_memory_equal(h.shape, expected.shape, h.rank * sizeof *h.shape);
    assert_memory_equal(h.chunk, expected.chunk, h.rank * sizeof *h.chunk);
    assert_memory_equal(&h.bound, &expected.bound, 4 * sizeof h.bound);
    free(records);
    reader_free(&r);
}

static void read_sizes(const uint64_t *payloads, uint64_t n)
{
    floe_header h = header_of(n);
    sample s = sample_of(&h, payloads, n, 99 + n);
    read_and_compare(&s);
    sample_free(&s);
}

static void good_streams_are_read(void **state)
{
    (void)state;
    enum { MOST = 3000 };
    uint64_t sizes[MOST], seed = 17;
    for (uint64_t n = 0; n <= 300; n += 7) /* sizes that our encoders never make, too */
        read_sizes(&n, 1);
    const uint64_t counts[] = {0, 1, 2, 8, 16, 17, 82, 83, 84, 256, 257, 700, MOST};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        if (is_small() && counts[k] > 700)
            continue;
        for (uint64_t i = 0; i < counts[k]; i++)
            sizes[i] = random_below(&seed, 20) ? random_below(&seed, 1200) : random_below(&seed, 80000);
        read_sizes(sizes, counts[k]);
    }
    const uint64_t large[] = {3000000, 1, 2000001};
    read_sizes(large, 3);
}

static floe_header header_with(const floe_attr *attrs, uint32_t nattrs)
{
    floe_header h = header_of(3);
    h.attrs = attrs;
    h.nattrs = nattrs;
    return h;
}

static void good_attributes_are_read(void **state)
{
    (void)state;
    const uint64_t sizes[] = {40, 0, 30};
    char *text = malloc(900001), longer[700];
    memset(text, 'x', 900000), text[900000] = 0;
    memset(longer, 'y', 699), longer[699] = 0;
    const floe_attr attrs[] = {{"name", "Wassertiefe \xc3\xbc\xc3\xb6 \xe2\x82\xac \xf0\x9f\x8c\x8a"},
                               {"units", "m\n\tand more"},
                               {"k", ""},
                               {"long", longer},
                               {"longest", text}};
    for (uint32_t n = 1; n <= 5; n++) {
        if (n == 5 && is_small())
            continue;
        floe_header h = header_with(attrs, n);
        sample s = sample_of(&h, sizes, 3, n);
        read_and_compare(&s);
        sample_free(&s);
    }
    floe_attr many[200];
    for (int i = 0; i < 200; i++)
        many[i] = attrs[i % 3];
    floe_header h = header_with(many, 200);
    sample s = sample_of(&h, sizes, 3, 1);
    read_and_compare(&s);
    sample_free(&s);
    free(text);
}

static void other_layouts_are_an_argument_error(void **state)
{
    (void)state;
    const uint64_t size = 100;
    floe_header h = header_of(1), other;
    sample s = sample_of(&h, &size, 1, 1);
    for (int k = 0; k < 6; k++) {
        uint32_t opened, expected = k == 0 || k == 4 ? FLOE_OK : k == 5 ? FLOE_ERR_LIMIT : FLOE_ERR_ARGUMENT;
        other = h;
        other.shape[0] += k == 1;
        other.rank += k == 2;
        other.dtype = k == 3 ? FLOE_F64 : other.dtype;
        if (k == 4)
            other.rank = 0, other.dtype = FLOE_F64; /* anything goes */
        reader r = reader_of(&other, k == 5 ? 0 : 1);
        assert_int_equal(gpu_read_host(&r, s.bytes, s.nbytes, &opened), expected);
        assert_int_equal(opened, expected);
        assert_int_equal(fetch64(r.open.nrecords), expected == FLOE_OK);
        reader_free(&r);
    }
    sample_free(&s);
}

static void the_true_size_may_be_on_the_device(void **state)
{
    (void)state;
    const uint64_t sizes[] = {100, 2000};
    floe_header h = header_of(2);
    sample s = sample_of(&h, sizes, 2, 1);
    uint8_t *room = malloc(s.nbytes + 5000), *dev;
    memset(room, 0xC3, s.nbytes + 5000);
    memcpy(room, s.bytes, s.nbytes);
    dev = dev_of(room, s.nbytes + 5000);
    for (int k = 0; k < 4; k++) {
        uint64_t nbytes = s.nbytes + (k == 1 ? 8 : 0) - (k == 2 ? s.nbytes : 0);
        uint32_t opened;
        reader r = reader_of(&h, 2);
        r.open.dev_nbytes = dev_of(&nbytes, sizeof nbytes);
        uint32_t status = gpu_read(&r, dev, k == 3 ? s.nbytes - 1 : s.nbytes + 5000, &opened);
        assert_int_equal(opened, k == 0 ? FLOE_OK : FLOE_ERR_FORMAT);
        assert_int_equal(status, opened);
        drop((void *)(uintptr_t)r.open.dev_nbytes);
        reader_free(&r);
    }
    drop(dev);
    free(room);
    sample_free(&s);
}

/* ---- damage -------------------------------------------------------------------------------------------------------- */

/* Prints what both report. */
static uint32_t judged_alike(reader *r, const uint8_t *bytes, size_t n, const char *what, size_t where)
{
    floe_header h;
    uint32_t opened;
    uint32_t cpu = cpu_read(bytes, n, &h), gpu = gpu_read_host(r, bytes, n, &opened);
    if (cpu == FLOE_OK && (h.rank != r->open.rank || h.dtype != r->open.dtype || h.shape[0] != r->open.shape[0]))
        cpu = FLOE_ERR_ARGUMENT;
    if ((cpu == FLOE_OK) != (gpu == FLOE_OK) || (opened != FLOE_OK && opened != gpu))
        fail_msg("%s %zu: the CPU says %u, the GPU %u and %u", what, where, cpu, opened, gpu);
    /* a lie about the shape may come before what is wrong with the payloads */
    if (cpu != gpu && gpu != FLOE_ERR_ARGUMENT && gpu != FLOE_ERR_LIMIT)
        fail_msg("%s %zu: the CPU says %u, the GPU %u", what, where, cpu, gpu);
    return gpu;
}

static sample damage_sample(void)
{
    static const uint64_t sizes[] = {4, 260, 0, 100, 9, 24};
    static const floe_attr attrs[] = {{"units", "\xc2\xb5m"}, {"name", "a\tb"}};
    floe_header h = header_of(6);
    h.attrs = attrs;
    h.nattrs = 2;
    return sample_of(&h, sizes, 6, 23);
}

static void every_changed_byte_is_noticed(void **state)
{
    (void)state;
    sample s = damage_sample();
    reader r = reader_of(&s.header, s.nrecords);
    uint64_t seed = 3;
    for (size_t i = 0; i < s.nbytes; i += is_small() ? 5 : 1) {
        uint8_t kept = s.bytes[i];
        s.bytes[i] ^= (uint8_t)(1 << random_below(&seed, 8));
        if (judged_alike(&r, s.bytes, s.nbytes, "changed byte", i) == FLOE_OK)
            fail_msg("byte %zu is changed, and nobody notices", i);
        s.bytes[i] = kept;
    }
    judged_alike(&r, s.bytes, s.nbytes, "nothing", 0);
    reader_free(&r);
    sample_free(&s);
}

static void every_cut_and_every_tail_is_noticed(void **state)
{
    (void)state;
    sample s = damage_sample();
    reader r = reader_of(&s.header, s.nrecords);
    for (size_t n = 0; n < s.nbytes; n += is_small() ? 3 : 1)
        judged_alike(&r, s.bytes, n, "cut", n);
    uint8_t *longer = calloc(s.nbytes + 50, 1);
    memcpy(longer, s.bytes, s.nbytes);
    for (size_t n = 1; n <= 50; n++)
        judged_alike(&r, longer, s.nbytes + n, "tail", n);
    free(longer);
    reader_free(&r);
    sample_free(&s);
}

/* Damage in the middle of large payloads, where several warps share a record. */
static void damage_in_large_payloads_is_noticed(void **state)
{
    (void)state;
    const uint64_t sizes[] = {500000, 70001, 40};
    floe_header h = header_of(3);
    sample s = sample_of(&h, sizes, 3, 8);
    reader r = reader_of(&h, 3);
    uint64_t seed = 5;
    for (int k = 0; k < (is_small() ? 5 : 40); k++) {
        size_t i = s.header_nbytes + (size_t)random_below(&seed, s.nbytes - s.header_nbytes);
        s.bytes[i] ^= 0x10;
        judged_alike(&r, s.bytes, s.nbytes, "changed byte", i);
        s.bytes[i] ^= 0x10;
    }
    reader_free(&r);
    sample_free(&s);
}

/* Puts all checksums right that cover changed bytes; payloads aside. */
static void sign(sample *s)
{
    uint8_t *p = s->bytes, *index = p + s->end, *footer = p + s->nbytes - FLOE_FOOTER_NBYTES;
    size_t checked = s->header_nbytes - FLOE_HEADER_CHECK_NBYTES;
    floe_store64(p + checked, floe_xxh3(p, checked));
    for (uint64_t i = 0; i < s->nrecords; i++) {
        uint8_t *head = p + s->records[i].offset;
        floe_store32(head + FLOE_RECORD_CHECK_AT, (uint32_t)floe_xxh3(head, FLOE_RECORD_CHECK_AT));
    }
    floe_store64(index + s->nrecords * FLOE_INDEX_ENTRY_NBYTES,
                 floe_checksum(index, s->nrecords * FLOE_INDEX_ENTRY_NBYTES));
    floe_store64(footer + FLOE_FOOTER_CHECK_AT, floe_xxh3(footer, FLOE_FOOTER_CHECK_AT));
}

/* One of the values that find off-by-one errors. */
static uint64_t lie(uint64_t *seed, uint64_t truth)
{
    switch (random_below(seed, 7)) {
    case 0: return truth + 1;
    case 1: return truth - 1;
    case 2: return truth + 8;
    case 3: return truth - 8;
    case 4: return truth ^ (uint64_t)1 << random_below(seed, 64);
    case 5: return UINT64_MAX - random_below(seed, 64);
    default: return random_next(seed) >> random_below(seed, 64);
    }
}

static void parts_that_lie_are_judged_alike(void **state)
{
    (void)state;
    uint64_t seed = 11;
    sample s = damage_sample();
    reader r = reader_of(&s.header, s.nrecords);
    uint8_t *whole = malloc(s.nbytes);
    memcpy(whole, s.bytes, s.nbytes);
    for (size_t turn = 0; turn < (is_small() ? 300 : 4000); turn++) {
        memcpy(s.bytes, whole, s.nbytes);
        for (uint64_t k = 0; k <= random_below(&seed, 2); k++) {
            uint8_t *part = s.bytes;
            uint64_t size = s.header_nbytes;
            switch (random_below(&seed, 5)) {
            case 0: /* a byte of the header: kinds, flags, attributes */
                part[8 + random_below(&seed, size - 16)] = (uint8_t)random_next(&seed);
                continue;
            case 1: break; /* a word of it */
            case 2: part += s.records[random_below(&seed, s.nrecords)].offset, size = FLOE_RECORD_HEAD_NBYTES; break;
            case 3: part += s.end, size = s.nbytes - s.end; break;
            default: part += s.nbytes - FLOE_FOOTER_NBYTES, size = FLOE_FOOTER_NBYTES; break;
            }
            uint8_t *word = part + 8 * random_below(&seed, size / 8);
            floe_store64(word, lie(&seed, floe_load64(word)));
        }
        sign(&s);
        judged_alike(&r, s.bytes, s.nbytes, "lie", turn);
    }
    free(whole);
    reader_free(&r);
    sample_free(&s);
}

/* 8 bytes too many, or the record after them, at three places: before the first record, between two, after the last. */
static void gaps_between_records_are_refused(void **state)
{
    (void)state;
    const uint64_t size = 64;
    floe_header h = header_of(2);
    for (int where = 0; where < 4; where++) { /* 3: nowhere */
        uint64_t at = floe_header_nbytes(&h);
        uint8_t bytes[1000] = {0};
        floe_index_entry entries[2];
        assert_int_equal(floe_header_write(&h, bytes, sizeof bytes, NULL), FLOE_OK);
        for (int i = 0; i < 2; i++) {
            at += where == i ? 8 : 0;
            entries[i] = (floe_index_entry){at, {(uint64_t)i, size, floe_checksum(bytes + 500, size)}};
            floe_record_head_write(&entries[i].record, bytes + at);
            at += floe_record_nbytes(size);
        }
        at += where == 2 ? 8 : 0;
        floe_index_write(entries, 2, at, bytes + at);
        reader r = reader_of(&h, 2);
        uint32_t status = judged_alike(&r, bytes, (size_t)(at + floe_index_nbytes(2)), "gap", (size_t)where);
        assert_int_equal(status, where == 3 ? FLOE_OK : FLOE_ERR_FORMAT);
        reader_free(&r);
    }
}

/* At, and past, the most that a header may have. */
static void items_at_their_limit(void **state)
{
    (void)state;
    const uint64_t size = 4;
    for (uint32_t n = FLOE_HEADER_MAX_ATTRS - 1; n <= FLOE_HEADER_MAX_ATTRS + 1; n++) {
        floe_header h = header_of(1);
        sample s = sample_of(&h, &size, 1, 1);
        size_t fields = s.header_nbytes - FLOE_HEADER_CHECK_NBYTES, more = n * FLOE_ITEM_HEAD_NBYTES;
        uint8_t *bytes = calloc(s.nbytes + more, 1), *index = bytes + s.end + more;
        memcpy(bytes, s.bytes, fields);
        memcpy(bytes + fields + more, s.bytes + fields, s.nbytes - fields);
        for (uint32_t i = 0; i < n; i++)
            floe_store16(bytes + fields + FLOE_ITEM_HEAD_NBYTES * i, FLOE_ITEM_OPTIONAL + 5);
        floe_store32(bytes + 12, (uint32_t)(s.header_nbytes + more));
        floe_store32(bytes + 24, n);
        floe_store64(bytes + fields + more, floe_xxh3(bytes, fields + more));
        floe_index_entry entry = {s.header_nbytes + more, {0, size, s.records[0].checksum}};
        floe_index_write(&entry, 1, s.end + more, index);
        reader r = reader_of(&h, 1);
        uint32_t status = judged_alike(&r, bytes, s.nbytes + more, "items", n);
        assert_int_equal(status, n > FLOE_HEADER_MAX_ATTRS ? FLOE_ERR_FORMAT : FLOE_OK);
        reader_free(&r);
        free(bytes);
        sample_free(&s);
    }
}

/* Random bytes where an attribute's text was, biased towards what UTF-8 is made of. */
static void texts_are_judged_alike(void **state)
{
    (void)state;
    static const uint8_t made_of[] = {0x41, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xc3, 0xdf, 0xe0, 0xe2,
                                      0xed, 0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff, 0x09, 0x0a, 0x1f, 0x90, 0x85};
    static const uint64_t sizes[] = {4, 4, 4};
    const floe_attr attr = {"key", "value of sixteen"};
    floe_header h = header_with(&attr, 1);
    sample s = sample_of(&h, sizes, 3, 1);
    reader r = reader_of(&h, 3);
    uint8_t *text = s.bytes + 8 * floe_header_field_words(1) + FLOE_ITEM_HEAD_NBYTES, whole[19];
    uint64_t seed = 77;
    memcpy(whole, text, sizeof whole);
    for (size_t turn = 0; turn < (is_small() ? 200 : 3000); turn++) {
        memcpy(text, whole, sizeof whole);
        size_t at = (size_t)random_below(&seed, sizeof whole);
        for (size_t i = at; i < sizeof whole && i < at + 1 + turn % 4; i++)
            text[i] = made_of[random_below(&seed, sizeof made_of)];
        sign(&s);
        judged_alike(&r, s.bytes, s.nbytes, "text", turn);
    }
    reader_free(&r);
    sample_free(&s);
}

/* ---- verification by itself ---------------------------------------------------------------------------------------- */

/* What is added to the truth, and what comes of it. */
typedef struct verify_case {
    floe_dev_record record;
    int64_t nbytes;
    uint32_t before, after;
} verify_case;

static void verify_one(const uint8_t *stream, uint64_t nbytes, uint64_t room, const verify_case *c)
{
    floe_dev_record record = {c->record.offset, nbytes + c->record.nbytes,
                              floe_checksum(stream + FLOE_RECORD_HEAD_NBYTES, nbytes) + c->record.checksum};
    floe_container_verify job = {.stream = dev_of(stream, room),
                                 .nbytes = room + (uint64_t)c->nbytes,
                                 .records = dev_of(&record, sizeof record),
                                 .nrecords = 1,
                                 .scratch = dev_filled(0, (size_t)floe_container_verify_nbytes(1)),
                                 .status = dev_of(&c->before, sizeof c->before)};
    CU(floe_container_verify_cuda(&job, NULL));
    assert_int_equal(fetch32(job.status), c->after);
    drop((void *)(uintptr_t)job.stream), drop((void *)(uintptr_t)job.records), drop(job.scratch), drop(job.status);
}

/* A payload without its head, as it comes from the host. */
static void a_record_alone_is_verified(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 4, 240, 244, 16384, 20004, 400000, 400003};
    static const verify_case cases[] = {
        {{0, 0, 0}, 0, FLOE_OK, FLOE_OK},
        {{0, 0, 0}, 1000000, FLOE_OK, FLOE_OK}, /* more may be read than there is */
        {{0, 0, 1}, 0, FLOE_OK, FLOE_ERR_CHECKSUM},
        {{0, 0, 1}, 0, FLOE_ERR_LIMIT, FLOE_ERR_LIMIT}, /* nothing is done after a failure */
        {{0, 8, 0}, 0, FLOE_OK, FLOE_ERR_FORMAT},
        {{0, UINT64_MAX - 500000, 0}, 0, FLOE_OK, FLOE_ERR_FORMAT},
        {{0, 0, 0}, -1, FLOE_OK, FLOE_ERR_FORMAT},
        {{4, 0, 0}, 1000000, FLOE_OK, FLOE_ERR_FORMAT},
    };
    uint64_t seed = 9;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        uint64_t n = sizes[k], room = floe_record_nbytes(n);
        uint8_t *p = calloc(room, 1);
        for (uint64_t i = 0; i < n; i++)
            p[FLOE_RECORD_HEAD_NBYTES + i] = (uint8_t)random_next(&seed);
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
            verify_one(p, n, room, &cases[c]);
        free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_streams_are_read),
        cmocka_unit_test(good_attributes_are_read),
        cmocka_unit_test(other_layouts_are_an_argument_error),
        cmocka_unit_test(the_true_size_may_be_on_the_device),
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(every_cut_and_every_tail_is_noticed),
        cmocka_unit_test(damage_in_large_payloads_is_noticed),
        cmocka_unit_test(parts_that_lie_are_judged_alike),
        cmocka_unit_test(gaps_between_records_are_refused),
        cmocka_unit_test(items_at_their_limit),
        cmocka_unit_test(texts_are_judged_alike),
        cmocka_unit_test(a_record_alone_is_verified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
