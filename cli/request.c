/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/request.h"

#include <inttypes.h>
#include <string.h>

#include "cli/say.h"

/* ---- numbers, shapes, boxes -------------------------------------------------------------------------------------- */

bool cli_uint_parse(const char **text, const char *ends, uint64_t limit, uint64_t *value)
{
    const char *c = *text;
    uint64_t n = 0;
    if (*c < '0' || *c > '9')
        return false;
    for (; *c >= '0' && *c <= '9'; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    if (n > limit || (*c && !strchr(ends, *c)))
        return false;
    *value = n;
    *text = c;
    return true;
}

int cli_shape_parse(const char *option, const char *text, uint32_t *rank, uint64_t shape[FLOE_MAX_RANK])
{
    const char *at = text;
    for (*rank = 0;; at++) {
        uint64_t n;
        if (*rank == FLOE_MAX_RANK)
            return cli_fail(FLOE_ERR_ARGUMENT, "--%s '%s' has more than %d axes", option, text, FLOE_MAX_RANK);
        if (!cli_uint_parse(&at, "xX,", INT64_MAX, &n))
            return cli_fail(FLOE_ERR_ARGUMENT, "--%s '%s' is no shape such as 160x160x160", option, text);
        if (n == 0)
            return cli_fail(FLOE_ERR_ARGUMENT, "--%s '%s' has an axis of 0 elements", option, text);
        shape[(*rank)++] = n;
        if (*at == 0)
            return 0;
    }
}

/* One axis of a region: "a:b", "a:", ":b", ":", "a". */
static bool range_parse(const char **at, uint64_t n, uint64_t *lo, uint64_t *hi)
{
    *lo = 0;
    *hi = n;
    if (**at != ':' && !cli_uint_parse(at, ":,", n, lo))
        return false;
    if (**at != ':') {
        *hi = *lo + 1;
        return *lo < n;
    }
    ++*at;
    if (**at && **at != ',' && !cli_uint_parse(at, ",", n, hi))
        return false;
    return *lo < *hi;
}

int cli_region_parse(const char *text, uint32_t rank, const uint64_t *shape, uint64_t *lo, uint64_t *hi)
{
    const char *at = text;
    char axes[CLI_TEXT];
    cli_shape_text(rank, shape, axes);
    for (uint32_t i = 0; i < rank; i++, at++) {
        if (!range_parse(&at, shape[i], &lo[i], &hi[i]))
            return cli_fail(FLOE_ERR_ARGUMENT, "--region '%s' is no box inside %s (axis %" PRIu32 ")", text, axes, i);
        if (*at != (i + 1 < rank ? ',' : 0))
            return cli_fail(FLOE_ERR_ARGUMENT, "--region '%s' needs %" PRIu32 " ranges, for %s", text, rank, axes);
    }
    return 0;
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

int cli_layout_given(const cli_args *args, floe_field *layout)
{
    const char *shape = cli_value(args, OPT_SHAPE), *dims = cli_value(args, OPT_DIMS);
    const char *dtype = cli_value(args, OPT_DTYPE);
    memset(layout, 0, sizeof *layout);
    if (shape && dims)
        return cli_fail(FLOE_ERR_ARGUMENT, "--shape and --dims say the same thing; give one of them");
    if (dtype && floe_dtype_parse(dtype, &layout->dtype) != FLOE_OK)
        return cli_fail(FLOE_ERR_ARGUMENT, "--dtype '%s' is unknown; there are f32, f64, i32 and i64", dtype);
    if (!shape && !dims)
        return 0;
    int failed = cli_shape_parse(shape ? "shape" : "dims", shape ? shape : dims, &layout->rank, layout->shape);
    if (failed)
        return failed;
    for (uint32_t i = 0; dims && i < layout->rank / 2; i++) {
        uint64_t swapped = layout->shape[i];
        layout->shape[i] = layout->shape[layout->rank - 1 - i];
        layout->shape[layout->rank - 1 - i] = swapped;
    }
    floe_field probe = *layout;
    uint64_t nelems;
    if (!dtype)
        probe.dtype = FLOE_F64;
    if (floe_field_nelems(&probe, &nelems) != FLOE_OK)
        return cli_fail(FLOE_ERR_ARGUMENT, "--%s '%s' has too many elements: their bytes do not fit into 63 bits",
                        shape ? "shape" : "dims", shape ? shape : dims);
    return 0;
}

static int check_agreement(const io_reader *reader, const floe_field *given, const floe_field *known)
{
    char have[CLI_TEXT], want[CLI_TEXT];
    bool same = given->rank == known->rank && memcmp(given->shape, known->shape, sizeof given->shape) == 0;
    cli_shape_text(known->rank, known->shape, have);
    cli_shape_text(given->rank, given->shape, want);
    if (given->rank && !same)
        return cli_fail(FLOE_ERR_ARGUMENT, "'%s' says that its shape is %s, not %s", io_reader_name(reader), have,
                        want);
    if (given->dtype && given->dtype != known->dtype)
        return cli_fail(FLOE_ERR_ARGUMENT, "'%s' says that its type is %s, not %s", io_reader_name(reader),
                        floe_dtype_name(known->dtype), floe_dtype_name(given->dtype));
    return 0;
}

int cli_raw_check(const cli_args *args, io_reader *reader)
{
    floe_error err = {0};
    if (cli_given(args, OPT_RAW) || io_reader_refuse_foreign(reader, &err) == FLOE_OK)
        return 0;
    return cli_fail_with(&err);
}

int cli_layout_of(const cli_args *args, io_reader *reader, floe_field *layout)
{
    const floe_field *known = io_reader_layout(reader);
    floe_error err = {0};
    int failed = cli_layout_given(args, layout);
    if (failed)
        return failed;
    if (known) {
        failed = check_agreement(reader, layout, known);
        *layout = *known;
        return failed;
    }
    if ((failed = cli_raw_check(args, reader)))
        return failed;
    if (!layout->rank || !layout->dtype)
        return cli_fail(FLOE_ERR_ARGUMENT, "'%s' is raw: it needs %s", io_reader_name(reader),
                        layout->rank    ? "--dtype, such as f32"
                        : layout->dtype ? "--shape, slowest axis first (or --dims)"
                                        : "--shape, slowest axis first (or --dims), and --dtype");
    if (io_reader_expect(reader, layout, &err) != FLOE_OK)
        return cli_fail_with(&err);
    return 0;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Adds "key=value " to the text form of the parameters. */
static int append_word(char *text, size_t capacity, const char *key, const char *value)
{
    size_t n = strlen(text);
    if (strpbrk(value, " \t\n=") || (strchr(value, ',') && strcmp(key, "chunk") != 0))
        return cli_fail(FLOE_ERR_ARGUMENT, "--%s '%s' is not valid", key, value);
    if ((size_t)snprintf(text + n, capacity - n, "%s=%s ", key, value) >= capacity - n)
        return cli_fail(FLOE_ERR_ARGUMENT, "--%s is too long", key);
    return 0;
}

static int append_bound(const cli_args *args, const char *default_bound, char *text, size_t capacity)
{
    static const cli_option_id shorts[] = {OPT_ABS,  OPT_REL,  OPT_PWREL, OPT_PSNR,
                                           OPT_RATE, OPT_PREC, OPT_RATIO, OPT_LOSSLESS};
    enum { SHORTS = sizeof shorts / sizeof shorts[0] };
    const char *bound = cli_value(args, OPT_BOUND);
    int given = bound != NULL;
    for (int i = 0; i < SHORTS; i++)
        given += cli_given(args, shorts[i]);
    if (given > 1)
        return cli_fail(FLOE_ERR_ARGUMENT, "give one bound, not %d", given);
    if (given == 0 && !default_bound)
        return cli_fail(FLOE_ERR_ARGUMENT, "%s needs a bound, such as --bound rel=1e-3 or --bound lossless",
                        args->command->name);
    for (int i = 0; i < SHORTS - 1; i++)
        if (cli_given(args, shorts[i]))
            return append_word(text, capacity, cli_options[shorts[i]].name, cli_value(args, shorts[i]));
    if (cli_given(args, OPT_LOSSLESS))
        bound = "lossless";
    if (given == 0)
        bound = default_bound;
    const char *value = strchr(bound, '=');
    if (strpbrk(bound, " \t\n,"))
        return cli_fail(FLOE_ERR_ARGUMENT, "--bound '%s' is not valid; it is MODE=VALUE or lossless", bound);
    if (value == NULL && strcmp(bound, "lossless") != 0)
        return cli_fail(
            FLOE_ERR_ARGUMENT,
            "--bound '%s' has no mode; give abs=, rel=, pwrel=, psnr=, ratio=, rate= or prec= and a value, or lossless",
            bound);
    size_t n = value ? (size_t)(value - bound) : strlen(bound);
    bool known = false;
    for (int i = 0; i < SHORTS; i++) {
        const char *mode = cli_options[shorts[i]].name;
        known = known || (strlen(mode) == n && memcmp(mode, bound, n) == 0);
    }
    if (!known)
        return cli_fail(FLOE_ERR_ARGUMENT,
                        "unknown bound '%.*s'; there are abs, rel, pwrel, psnr, ratio, lossless, rate and prec", (int)n,
                        bound);
    snprintf(text, capacity, "%s ", bound);
    return 0;
}

int cli_params(const cli_args *args, const char *default_bound, floe_params *params)
{
    static const cli_option_id ids[] = {OPT_CODEC, OPT_PRESET, OPT_FILL};
    char text[512] = "";
    floe_error err = {0};
    uint32_t rank;
    uint64_t chunk[FLOE_MAX_RANK] = {0};
    int failed = append_bound(args, default_bound, text, sizeof text);
    for (int i = 0; i < 3 && !failed; i++)
        if (cli_given(args, ids[i]))
            failed = append_word(text, sizeof text, cli_options[ids[i]].name, cli_value(args, ids[i]));
    if (failed)
        return failed;
    if (floe_params_parse(params, text, &err) != FLOE_OK)
        return cli_fail(FLOE_ERR_ARGUMENT, "%s", err.message[0] ? err.message : "the parameters are not valid");
    if (cli_given(args, OPT_CHUNK)) {
        failed = cli_shape_parse("chunk", cli_value(args, OPT_CHUNK), &rank, chunk);
        params->chunk_rank = rank;
        memcpy(params->chunk, chunk, sizeof chunk);
    }
    return failed;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

void cli_attrs_add(cli_attrs *attrs, const char *key, const char *value, size_t value_nbytes)
{
    for (uint32_t i = 0; i < attrs->count; i++)
        if (strcmp(attrs->attrs[i].key, key) == 0)
            return;
    if (value_nbytes + 1 > sizeof attrs->texts - attrs->used || attrs->count > CLI_MAX_REPEATS)
        return;
    char *copy = attrs->texts + attrs->used;
    memcpy(copy, value, value_nbytes);
    copy[value_nbytes] = 0;
    attrs->used += value_nbytes + 1;
    attrs->attrs[attrs->count++] = (floe_attr){key, copy};
}

int cli_attrs_parse(const cli_args *args, cli_attrs *attrs)
{
    const char *text;
    attrs->count = 0;
    attrs->used = 0;
    for (int i = 0; (text = cli_value_at(args, OPT_ATTR, i)) != NULL; i++) {
        const char *equals = strchr(text, '=');
        size_t n = equals ? (size_t)(equals - text) : 0;
        if (n == 0)
            return cli_fail(FLOE_ERR_ARGUMENT, "--attr '%s' is not KEY=VALUE", text);
        if (n + 1 > sizeof attrs->texts - attrs->used)
            return cli_fail(FLOE_ERR_ARGUMENT, "the keys of all --attr together are too long");
        char *key = attrs->texts + attrs->used;
        memcpy(key, text, n);
        key[n] = 0;
        attrs->used += n + 1;
        for (uint32_t k = 0; k < attrs->count; k++)
            if (strcmp(attrs->attrs[k].key, key) == 0)
                return cli_fail(FLOE_ERR_ARGUMENT, "--attr %s is given twice", key);
        attrs->attrs[attrs->count++] = (floe_attr){key, equals + 1};
    }
    return 0;
}

/* ---- context ----------------------------------------------------------------------------------------------------- */

bool cli_ctx_retreat(const cli_args *args, floe_status status, floe_ctx_options *options, floe_ctx **ctx)
{
    const char *backend = cli_value(args, OPT_BACKEND);
    const bool is_too_little = status == FLOE_ERR_MEMORY || status == FLOE_ERR_LIMIT;
    if (!backend || strcmp(backend, "auto") != 0 || options->backend != FLOE_BACKEND_CUDA ||
        (status != FLOE_ERR_DEVICE && !is_too_little))
        return false;
    if (!cli_given(args, OPT_QUIET) && !cli_given(args, OPT_JSON)) /* the JSON may be on standard error */
        fprintf(stderr, "floe: working on the CPU: %s\n", floe_ctx_message(*ctx));
    floe_ctx_free(ctx);
    options->backend = FLOE_BACKEND_CPU;
    return floe_ctx_create(ctx, options) == FLOE_OK;
}

/* The GPU where one is usable; else the CPU, and reports why. */
static floe_status create_anywhere(const cli_args *args, floe_ctx_options *options, floe_ctx **ctx)
{
    options->backend = FLOE_BACKEND_CUDA;
    floe_status status = floe_ctx_create(ctx, options);
    return cli_ctx_retreat(args, status, options, ctx) ? FLOE_OK : status;
}

int cli_memory(const cli_args *args, cli_option_id id, uint64_t *nbytes)
{
    const char *text = cli_value(args, id);
    uint64_t n;
    if (!text)
        return 0;
    if (!cli_uint_parse(&text, "", UINT64_MAX / 1000000, &n) || n == 0)
        return cli_fail(FLOE_ERR_ARGUMENT, "--memory '%s' is no number of MB, such as 4000", cli_value(args, id));
    *nbytes = n * 1000000;
    return 0;
}

/* What a stream may take of this machine. */
static int limits(const cli_args *args, floe_ctx_options *options)
{
    const char *text = cli_value(args, OPT_MAX_ELEMS);
    if (text && (!cli_uint_parse(&text, "", UINT64_MAX, &options->max_elems) || options->max_elems == 0))
        return cli_fail(FLOE_ERR_ARGUMENT, "--max-elems '%s' is no number of values", cli_value(args, OPT_MAX_ELEMS));
    return cli_memory(args, OPT_MEMORY_LIMIT, &options->max_memory);
}

int cli_ctx_options(const cli_args *args, floe_ctx_options *options)
{
    static const char *const backends[] = {"auto", "cpu", "cuda"}, *const isas[] = {"auto", "plain", "avx2"};
    const char *backend = cli_value(args, OPT_BACKEND), *isa = cli_value(args, OPT_ISA);
    int b = backend ? 0 : FLOE_BACKEND_CPU, v = 0;
    while (backend && b < 3 && strcmp(backend, backends[b]) != 0)
        b++;
    while (isa && v < 3 && strcmp(isa, isas[v]) != 0)
        v++;
    if (b == 3)
        return cli_fail(FLOE_ERR_ARGUMENT, "--backend '%s' is unknown; there are auto, cpu and cuda", backend);
    if (v == 3)
        return cli_fail(FLOE_ERR_ARGUMENT, "--isa '%s' is unknown; there are auto, plain and avx2", isa);
    *options = (floe_ctx_options){.size = sizeof *options, .backend = (floe_backend)b, .isa = (floe_isa)v};
    return limits(args, options);
}

int cli_ctx_settle(const cli_args *args, floe_ctx_options *options)
{
    floe_ctx *ctx = NULL;
    if (options->backend != FLOE_BACKEND_AUTO)
        return 0;
    floe_status status = create_anywhere(args, options, &ctx);
    int failed = status == FLOE_OK ? 0 : cli_fail_call(status, ctx, NULL, NULL);
    floe_ctx_free(&ctx);
    return failed;
}

int cli_threads(const cli_args *args, uint32_t *threads)
{
    const char *text = cli_value(args, OPT_THREADS);
    uint64_t n = 0;
    *threads = 0;
    if (text && !cli_uint_parse(&text, "", 1024, &n))
        return cli_fail(FLOE_ERR_ARGUMENT, "--threads '%s' is no number from 0 to 1024", cli_value(args, OPT_THREADS));
    *threads = (uint32_t)n;
    return 0;
}

int cli_ctx_create_with(const cli_args *args, uint32_t threads, floe_ctx_options *options, floe_ctx **ctx)
{
    int failed = cli_ctx_options(args, options);
    if (failed)
        return failed;
    options->threads = threads;
    floe_status status =
        options->backend == FLOE_BACKEND_AUTO ? create_anywhere(args, options, ctx) : floe_ctx_create(ctx, options);
    if (status == FLOE_OK)
        return 0;
    failed = cli_fail_call(status, *ctx, NULL, NULL);
    floe_ctx_free(ctx);
    return failed;
}

int cli_ctx_create(const cli_args *args, floe_ctx_options *options, floe_ctx **ctx)
{
    uint32_t threads;
    int failed = cli_threads(args, &threads);
    return failed ? failed : cli_ctx_create_with(args, threads, options, ctx);
}
