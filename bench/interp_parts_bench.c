/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interp_parts_bench [--rel LIST] FIELD...
 *
 * What each part of codec interp brings: its ratio, and how much is lost where one part is switched off. FIELD is FILE:SHAPE (raw
 * little-endian f32, slowest axis first) or synth:NAME:SHAPE. Every stream is verified. docs/studies.md has results.
 *
 * The library has no such switches. Its functions that make a plan of a structure and tables of counts are wrapped by the linker
 * (cmake/FloeRooms.cmake): a structure that uses a part that is off costs so much that the tuner leaves it.
 */
#include <math.h>

#include <floe/floe.h>

#include "bench/bench_kit.h"
#include "codec/interp/interp_encoder.h"
#include "synth/synth.h"

enum { ROOM = 64 };
#define REFUSED (UINT64_C(1) << 52) /* bits in 1/4096, more than any trial takes */

typedef struct parts {
    const char *name;
    bool natural, unfrozen, untuned_bounds, one_bound, no_mean, no_planes, no_contexts;
    int preset; /* -1: best */
} parts;

static const parts all[] = {
    {.name = "best", .preset = -1},
    {.name = "natural only", .preset = -1, .natural = true},
    {.name = "no late axes", .preset = -1, .unfrozen = true},
    {.name = "alpha, beta fixed", .preset = -1, .untuned_bounds = true},
    {.name = "one bound", .preset = -1, .one_bound = true},
    {.name = "no mean", .preset = -1, .no_mean = true},
    {.name = "no planes, signs", .preset = -1, .no_planes = true},
    {.name = "no contexts", .preset = -1, .no_contexts = true, .no_planes = true},
    {.name = "balanced", .preset = FLOE_PRESET_BALANCED},
    {.name = "no tuner (fast)", .preset = FLOE_PRESET_FAST},
    {.name = "fast, no contexts", .preset = FLOE_PRESET_FAST, .no_contexts = true},
};
enum { NALL = sizeof all / sizeof *all };

static const parts *now;
static bool refused; /* the structure of the last plan uses a part that is off */

/* ---- what is wrapped --------------------------------------------------------------------------------------------------- */

#define WRAP(type, name, ...)                      \
    __typeof__(name) __real_##name, __wrap_##name; \
    type __wrap_##name(__VA_ARGS__)

/* The preset that the header does not name. */
WRAP(bool, floe_interp_encoder_begin, floe_interp_encoder *e, const floe_cpu *cpu, const floe_codec_params *params,
     uint32_t rank, const uint64_t *extent, uint32_t turns)
{
    static floe_codec_params own;
    own = *params;
    own.preset = (floe_preset)(now->preset < 0 ? FLOE_PRESET_BEST : now->preset);
    return __real_floe_interp_encoder_begin(e, cpu, &own, rank, extent, turns);
}

WRAP(void, floe_interp_plan_of, const uint64_t *shape, const floe_interp_structure *s, floe_interp_plan *plan)
{
    const floe_interp_structure first = floe_interp_structure_default();
    refused = (now->natural && memcmp(s->predictor, first.predictor, sizeof s->predictor) != 0) ||
              (now->unfrozen && memcmp(s->start, first.start, sizeof s->start) != 0) ||
              (now->untuned_bounds && s->alpha != first.alpha) || (now->no_mean && s->mean) ||
              (now->no_planes && s->planes);
    __real_floe_interp_plan_of(shape, s, plan);
}

WRAP(void, floe_interp_plan_quantize, floe_interp_plan *plan, const floe_interp_structure *s, bool narrow, double bound,
     double max_abs)
{
    floe_interp_structure same = *s;
    if (now->one_bound)
        same.alpha = same.beta = 1;
    __real_floe_interp_plan_quantize(plan, &same, narrow, bound, max_abs);
}

/* All contexts as one: their counts are those of the first. */
static const uint32_t *counts_of(const floe_context_spec *spec, const uint32_t *counts)
{
    static uint32_t sum[FLOE_CONTEXT_COUNTS];
    if (!now->no_contexts)
        return counts;
    memset(sum, 0, sizeof sum);
    for (uint32_t c = 0; c < floe_context_masks(spec); c++)
        for (uint32_t i = 0; i < FLOE_CONTEXT_MASK_SYMBOLS; i++)
            sum[i] += counts[c * FLOE_CONTEXT_MASK_SYMBOLS + i];
    for (uint32_t c = 0; c < floe_context_values(spec); c++)
        for (uint32_t i = 0; i < FLOE_CONTEXT_VALUE_SYMBOLS; i++)
            sum[FLOE_CONTEXT_VALUES_AT + i] += counts[FLOE_CONTEXT_VALUES_AT + c * FLOE_CONTEXT_STRIDE + i];
    return sum;
}

WRAP(floe_context_tally, floe_context_tally_of, const floe_context_spec *spec, const uint32_t *counts)
{
    floe_context_tally t = __real_floe_context_tally_of(spec, counts);
    t.entropy = refused ? REFUSED : __real_floe_context_tally_of(spec, counts_of(spec, counts)).entropy;
    return t;
}

WRAP(uint64_t, floe_context_tables_build, const floe_cpu *cpu, const floe_context_spec *spec, const uint32_t *counts,
     floe_context_tables *tables)
{
    return __real_floe_context_tables_build(cpu, spec, counts_of(spec, counts), tables);
}

/* ---- fields ------------------------------------------------------------------------------------------------------------ */

static floe_field field_of(const char *word, char name[ROOM])
{
    floe_field f = {.dtype = FLOE_F32, .rank = 0};
    char path[1024];
    const char *colon = strrchr(word, ':'), *at = colon;
    if (!colon || (size_t)(colon - word) >= sizeof path)
        DIE("%s is no FILE:SHAPE or synth:NAME:SHAPE", word);
    snprintf(path, sizeof path, "%.*s", (int)(colon - word), word);
    for (char *end; f.rank < FLOE_MAX_RANK && (*at == ':' || *at == 'x'); at = end)
        f.shape[f.rank++] = strtoull(at + 1, &end, 10);
    uint64_t n;
    if (*at || floe_field_nelems(&f, &n) != FLOE_OK || n == 0)
        DIE("%s: its shape is none", word);
    f.data = bench_alloc(4 * n);
    const bool made = strncmp(path, "synth:", 6) == 0;
    const char *last = made ? path + 6 : strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    snprintf(name, ROOM, "%.*s", (int)strcspn(last, "."), last);
    if (made && synth_fill(path + 6, FLOE_F32, f.rank, f.shape, 0, 0, n, f.data) != FLOE_OK)
        DIE("%s cannot be made", word);
    FILE *file = made ? NULL : fopen(path, "rb");
    if (!made && (!file || fread(f.data, 4, n, file) != n || fgetc(file) != EOF))
        DIE("%s cannot be read, or its size is another one", path);
    if (file)
        fclose(file);
    return f;
}

/* ---- measuring --------------------------------------------------------------------------------------------------------- */

static double ratio_of(floe_ctx *ctx, const floe_field *f, const char *bound, const parts *p)
{
    char text[128];
    floe_params params;
    floe_error err = {0};
    floe_stats stats = {.size = sizeof stats};
    uint64_t nbytes;
    snprintf(text, sizeof text, "rel=%s codec=interp", bound);
    if (floe_params_parse(&params, text, &err) != FLOE_OK)
        DIE("%s: %s", bound, err.message);
    now = p;
    refused = false;
    const uint64_t capacity = floe_compress_bound(f, &params);
    void *stream = bench_alloc(capacity);
    FL(ctx, floe_compress(ctx, f, &params, stream, capacity, &nbytes));
    FL(ctx, floe_verify(ctx, stream, nbytes, f));
    floe_ctx_stats(ctx, &stats);
    free(stream);
    return (double)stats.raw_nbytes / (double)nbytes;
}

int main(int argc, char **argv)
{
    char bounds[256] = "1e-2,1e-3,1e-4", name[ROOM];
    const floe_ctx_options options = {.size = sizeof options, .backend = FLOE_BACKEND_CPU, .threads = 1};
    int first = 1, ncases = 0;
    double logs[NALL] = {0};
    floe_ctx *ctx;
    if (argc > 2 && strcmp(argv[1], "--rel") == 0) {
        snprintf(bounds, sizeof bounds, "%s", argv[2]);
        first = 3;
    }
    if (first >= argc)
        DIE("interp_parts_bench [--rel LIST] FIELD...");
    FL(ctx, floe_ctx_create(&ctx, &options));
    printf("| field | bound");
    for (int p = 0; p < NALL; p++)
        printf(" | %s", all[p].name);
    printf(" |\n|---|---%.*s|\n", 5 * NALL,
           "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:");
    for (int i = first; i < argc; i++) {
        char list[sizeof bounds];
        const floe_field f = field_of(argv[i], name);
        memcpy(list, bounds, sizeof list);
        for (char *b = strtok(list, ","); b; b = strtok(NULL, ","), ncases++) {
            double whole = 0;
            printf("| %s | %s", name, b);
            for (int p = 0; p < NALL; p++) {
                const double ratio = ratio_of(ctx, &f, b, &all[p]);
                whole = p ? whole : ratio;
                logs[p] += log(ratio);
                printf(p ? " | %+.1f %%" : " | %.2f", p ? 100 * (ratio / whole - 1) : ratio);
                fflush(stdout);
            }
            puts(" |");
        }
        free(f.data);
    }
    printf("| geometric mean | ");
    for (int p = 0; p < NALL; p++)
        printf(p ? " | %+.1f %%" : " | %.2f",
               p ? 100 * (exp((logs[p] - logs[0]) / ncases) - 1) : exp(logs[p] / ncases));
    puts(" |");
    floe_ctx_free(&ctx);
    return 0;
}
