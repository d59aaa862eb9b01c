/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Says all that floe_assess finds, a line for each metric, for crosscheck.py to read.
 *
 *   crosscheck_values SHAPE f32|f64 ORIGINAL DECODED [exact] [periodic] [window=N] [METRICS]
 *
 * Numbers: "alias value". Series and counts of histograms: "alias value value ...", histograms with "alias.edges" besides.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <floe/floe.h>

#define DIE(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

static floe_field read_field(const char *path, floe_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < rank; i++)
        n *= shape[i];
    void *data = malloc(n * floe_dtype_size(dtype));
    FILE *f = fopen(path, "rb");
    if (!data || !f || fread(data, floe_dtype_size(dtype), n, f) != n)
        DIE("cannot read %s", path);
    fclose(f);
    return floe_field_of(data, dtype, rank, shape);
}

static void histogram_say(const char *alias, const floe_histogram *h)
{
    printf("%s", alias);
    for (uint32_t i = 0; i < h->nbins; i++)
        printf(" %llu", (unsigned long long)h->count[i]);
    printf("\n%s.edges", alias);
    for (uint32_t i = 0; i <= h->nbins; i++)
        printf(" %.17g", floe_histogram_edge(h, i));
    putchar('\n');
}

static void metric_say(const floe_assess_report *r, uint32_t number)
{
    const floe_metric *m = floe_metric_at(number);
    const char *at = (const char *)r + m->offset;
    if (m->kind == FLOE_METRIC_HISTOGRAM) {
        histogram_say(m->alias, (const floe_histogram *)(const void *)at);
    } else if (m->kind == FLOE_METRIC_SERIES) {
        const floe_series *s = (const floe_series *)(const void *)at;
        printf("%s", m->alias);
        for (uint64_t i = 0; i < s->count; i++)
            printf(" %.17g", s->value[i]);
        putchar('\n');
    } else if (m->kind != FLOE_METRIC_SPOTS) {
        printf("%s %.17g\n", m->alias, floe_metric_value(r, number));
    }
}

int main(int argc, char **argv)
{
    uint64_t shape[FLOE_MAX_RANK];
    uint32_t rank = 0;
    floe_dtype dtype;
    floe_ctx *ctx;
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    if (argc < 5 || floe_dtype_parse(argv[2], &dtype) != FLOE_OK)
        DIE("crosscheck_values SHAPE f32|f64 ORIGINAL DECODED [exact] [periodic] [window=N] [METRICS]");
    for (char *p = argv[1]; *p && rank < FLOE_MAX_RANK; p += *p == 'x')
        shape[rank++] = strtoull(p, &p, 10);
    const floe_field x = read_field(argv[3], dtype, rank, shape), y = read_field(argv[4], dtype, rank, shape);
    floe_assess_options_init(&o);
    o.fill = FLOE_FILL_NONE;
    for (int i = 5; i < argc; i++)
        if (strcmp(argv[i], "exact") == 0)
            o.exact = 1;
        else if (strcmp(argv[i], "periodic") == 0)
            o.periodic = 1;
        else if (strncmp(argv[i], "window=", 7) == 0)
            o.window = (uint32_t)strtoul(argv[i] + 7, NULL, 10);
        else if (floe_metric_set_parse(&o.metrics, argv[i], NULL) != FLOE_OK)
            DIE("bad metrics");
    if (floe_ctx_create(&ctx, NULL) != FLOE_OK || floe_assess(ctx, &x, &y, &o, &r) != FLOE_OK)
        DIE("%s", floe_ctx_message(ctx));
    for (uint32_t i = 0; floe_metric_at(i); i++)
        if (floe_metric_set_has(&r.computed, i))
            metric_say(&r, i);
    floe_ctx_free(&ctx);
    free(x.data);
    free(y.data);
    return 0;
}
