/* SPDX-License-Identifier: BSD-3-Clause */
/* From options to what floe_assess takes. */
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/check.h"
#include "cli/say.h"
#include "cli/zc_config.h"

/* ---- metrics ------------------------------------------------------------------------------------------------------ */

static int fail_unknown(const char *word)
{
    enum { MOST = 512 };
    static const char *const groups[] = {"reduction", "stencil", "window", "spectrum", "properties", "all"};
    check_figure figures[CHECK_FIGURES];
    const char *words[MOST];
    int count = 0;
    for (; count < 6; count++)
        words[count] = groups[count];
    check_figures_find(NULL, figures);
    for (int i = 0; i < CHECK_FIGURES; i++)
        words[count++] = figures[i].alias;
    for (uint32_t i = 0; floe_metric_at(i) && count + 2 <= MOST; i++) {
        words[count++] = floe_metric_at(i)->alias;
        words[count++] = floe_metric_at(i)->name;
    }
    char lower[CLI_TEXT];
    snprintf(lower, sizeof lower, "%s", word);
    for (char *c = lower; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    const char *nearest = cli_nearest(lower, words, count);
    if (nearest)
        return cli_fail(FLOE_ERR_ARGUMENT, "unknown metric '%s'; did you mean '%s'?", word, nearest);
    return cli_fail(FLOE_ERR_ARGUMENT, "unknown metric '%s'; 'floe help metrics' lists them", word);
}

int check_metric_add(floe_metric_set *set, const char *word)
{
    floe_metric_set more;
    if (check_figure_number(word) >= 0)
        return 0;
    if (floe_metric_set_parse(&more, word, NULL) != FLOE_OK)
        return fail_unknown(word);
    for (size_t i = 0; i < sizeof more.word / sizeof more.word[0]; i++)
        set->word[i] |= more.word[i];
    set->groups |= more.groups;
    return 0;
}

static bool is_empty(const floe_metric_set *set)
{
    static const floe_metric_set nothing;
    return memcmp(set, &nothing, sizeof nothing) == 0;
}

/* Words between commas or blanks: takes the next one off the list. */
static bool word_next(const char **list, char word[CLI_TEXT])
{
    static const char between[] = ", \t\n";
    *list += strspn(*list, between);
    const size_t n = strcspn(*list, between);
    snprintf(word, CLI_TEXT, "%.*s", (int)(n < CLI_TEXT ? n : CLI_TEXT - 1), *list);
    *list += n;
    return n > 0;
}

bool check_figure_listed(const cli_args *args, char word[CLI_TEXT])
{
    const char *list = cli_value(args, OPT_METRICS);
    while (list && word_next(&list, word))
        if (check_figure_number(word) >= 0)
            return true;
    return false;
}

/* --metrics */
static int listed(const char *list, floe_metric_set *set)
{
    char word[CLI_TEXT];
    if (!word_next(&list, word))
        return cli_fail(FLOE_ERR_ARGUMENT, "--metrics names no metric");
    do {
        const int failed = check_metric_add(set, word);
        if (failed)
            return failed;
    } while (word_next(&list, word));
    return is_empty(set) ? check_metric_add(set, "n") : 0; /* figures only; an empty set would be everything */
}

/* Who sets the window wants to see what is found with it: where it does not fit, that is an error. */
static int window_named(const cli_args *args, floe_metric_set *set)
{
    const bool given = cli_given(args, OPT_WINDOW) || cli_given(args, OPT_STEP);
    return given && set->groups >> FLOE_PASS_WINDOW & 1 ? check_metric_add(set, "ssim") : 0;
}

/* So with a bound. */
static int bound_named(const cli_args *args, floe_metric_set *set)
{
    return cli_given(args, OPT_OUTSIDE) ? check_metric_add(set, "outside") : 0;
}

int check_metrics(const cli_args *args, uint32_t nfields, const check_gates *gates, floe_metric_set *set,
                  floe_metric_set *wished)
{
    const char *list = cli_value(args, OPT_METRICS), *config = cli_value(args, OPT_CONFIG);
    const bool quiet = cli_given(args, OPT_QUIET), only_gates = quiet && gates->count && !list && !config;
    int failed = 0;
    *set = *wished = (floe_metric_set){{0}, 0, 0};
    if (config)
        failed = zc_config_read(config, nfields, quiet, wished);
    set->groups = wished->groups;
    if (list && !failed)
        failed = listed(list, set);
    if (!list && !config)
        failed = check_metric_add(set, only_gates ? "n" : "all");
    for (uint32_t i = 0; i < gates->count && !failed; i++)
        if (!gates->gate[i].is_figure)
            floe_metric_set_add(set, gates->gate[i].number);
    if (!failed)
        failed = bound_named(args, set);
    return failed ? failed : window_named(args, set);
}

/* ---- options ------------------------------------------------------------------------------------------------------ */

/* A whole number, whose range the library has. */
static int number(const cli_args *args, cli_option_id id, uint32_t *value)
{
    const char *text = cli_value(args, id);
    uint64_t n;
    if (!text)
        return 0;
    if (!cli_uint_parse(&text, "", UINT32_MAX, &n))
        return cli_fail(FLOE_ERR_ARGUMENT, "--%s '%s' is no whole number", cli_options[id].name, cli_value(args, id));
    *value = (uint32_t)n;
    return 0;
}

/* abs=0, which compression has no use for: all that differs is outside. */
static bool is_zero_bound(const char *text)
{
    char *end;
    return strncmp(text, "abs=", 4) == 0 && strtod(text + 4, &end) == 0 && end > text + 4 && !*end;
}

/* abs=, rel= or pwrel=. */
static int bound(const char *text, floe_assess_options *options)
{
    floe_params params;
    floe_error err = {0};
    if (is_zero_bound(text)) {
        options->mode = FLOE_BOUND_ABS;
        options->bound = 0;
        return 0;
    }
    if (strpbrk(text, ", \t\n") || floe_params_parse(&params, text, &err) != FLOE_OK || params.mode < FLOE_BOUND_ABS ||
        params.mode > FLOE_BOUND_PWREL)
        return cli_fail(FLOE_ERR_ARGUMENT,
                        "--bound '%s' is none that values can be outside of: abs=, rel= or pwrel=%s%s", text,
                        err.message[0] ? ": " : "", err.message);
    options->mode = params.mode;
    options->bound = params.bound;
    return 0;
}

/* The bound that the stream promises; psnr promises none for single values, rate and prec none at all. */
static void bound_of_stream(const floe_info *stream, floe_assess_options *options)
{
    if (stream->mode == FLOE_BOUND_PSNR || cli_mode_is_size(stream->mode))
        return;
    options->mode = stream->mode == FLOE_BOUND_PWREL ? FLOE_BOUND_PWREL : FLOE_BOUND_ABS;
    options->bound = stream->mode == FLOE_BOUND_PWREL ? stream->bound : stream->abs_bound;
}

static int fill(const cli_args *args, const floe_info *stream, floe_assess_options *options)
{
    floe_params params;
    int failed = cli_params(args, "lossless", &params); /* of which only the fill value matters */
    if (failed)
        return failed;
    options->fill = params.fill;
    options->fill_value = params.fill_value;
    options->fill_integer = params.fill_integer;
    if (stream && stream->has_fill && !cli_given(args, OPT_FILL)) {
        options->fill = cli_dtype_is_integer(stream->dtype) ? FLOE_FILL_INTEGER : FLOE_FILL_VALUE;
        options->fill_value = stream->fill_value;
        options->fill_integer = stream->fill_integer;
    }
    return 0;
}

int check_options(const cli_args *args, const floe_info *stream, floe_assess_options *options)
{
    const struct {
        cli_option_id id;
        uint32_t *value;
    } numbers[] = {{OPT_WINDOW, &options->window}, {OPT_STEP, &options->step},
                   {OPT_LAGS, &options->lags},     {OPT_BINS, &options->bins},
                   {OPT_WORST, &options->worst},   {OPT_VALUE_BINS, &options->value_bins}};
    int failed = 0;
    floe_assess_options_init(options);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !failed; i++)
        failed = number(args, numbers[i].id, numbers[i].value);
    options->periodic = cli_given(args, OPT_PERIODIC);
    options->exact = cli_given(args, OPT_EXACT);
    if (!failed)
        failed = fill(args, stream, options);
    if (failed)
        return failed;
    if (cli_given(args, OPT_OUTSIDE))
        return bound(cli_value(args, OPT_OUTSIDE), options);
    if (stream)
        bound_of_stream(stream, options);
    return 0;
}

static const char of_boxes[] =
    "ssim ssim_min ssim_loss ssim_max_loss ssim_windows ssim_skipped first_ssim second_ssim derivative_ssim "
    "gradient_ssim second_derivative_ssim second_gradient_ssim divergence_ssim laplacian_ssim";

/* Metrics that depend on an option. */
static const struct {
    cli_option_id id;
    const char *metrics;
} uses[] = {
    {OPT_WINDOW, of_boxes},
    {OPT_STEP, of_boxes},
    {OPT_LAGS, "autocorr autocorr_max autocorr_axis0 autocorr_axis1 autocorr_axis2 autocorr_axis3 original_autocorr"},
    {OPT_BINS, "error_pdf rel_error_pdf pw_rel_error_pdf"},
    {OPT_VALUE_BINS, "value_histogram decoded_histogram entropy decoded_entropy kl kl_reverse ks ks_pvalue wasserstein "
                     "wasserstein_resolution"},
    {OPT_WORST, "worst_errors"},
    {OPT_PERIODIC, "spectrum_power decoded_spectrum_power spectrum_ratio spectrum_deviation"},
    {OPT_EXACT, "ks ks_pvalue wasserstein wasserstein_resolution"},
};

static bool is_used(const char *metrics, const floe_metric_set *found)
{
    floe_metric_set set;
    bool is = floe_metric_set_parse(&set, metrics, NULL) != FLOE_OK;
    for (size_t i = 0; i < sizeof set.word / sizeof set.word[0]; i++)
        is = is || (set.word[i] & found->word[i]);
    return is;
}

void check_options_idle_say(const cli_args *args, const floe_metric_set *found)
{
    int count = 0;
    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++)
        if (cli_given(args, uses[k].id) && !is_used(uses[k].metrics, found))
            fprintf(stderr, "%s--%s", count++ ? ", " : "floe: ", cli_options[uses[k].id].name);
    if (count)
        fputs(" changed nothing: no metric that depends on it was found\n", stderr);
}

int check_memory(const cli_args *args, uint64_t *nbytes)
{
    if (cli_given(args, OPT_MEMORY))
        return cli_memory(args, OPT_MEMORY, nbytes);
    *nbytes = UINT64_MAX;
#ifdef _SC_PHYS_PAGES
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        *nbytes = (uint64_t)pages * (uint64_t)page / 2;
#endif
    return 0;
}
