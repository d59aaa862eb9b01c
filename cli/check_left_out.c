/* SPDX-License-Identifier: BSD-3-Clause */
/* What a group holds that does not fit the field, the memory or this build: reported, so that nobody takes it for forgotten. */
#include <string.h>

#include "cli/check.h"

void check_left_out_add(check_left_out_list *list, const char *name, const char *alias, const char *why)
{
    enum { MOST = sizeof list->of / sizeof list->of[0] };
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->of[i].alias, alias) == 0)
            return;
    if (list->count == MOST)
        return;
    check_left_out *to = &list->of[list->count++];
    to->name = name, to->alias = alias;
    snprintf(to->why, sizeof to->why, "%s", why);
}

/* Nothing but one metric, by its name. */
static floe_status metric_ask(floe_ctx *ctx, const check_request *request, uint32_t number)
{
    floe_assess_options options = *request->options;
    floe_assess_report report = {.size = sizeof report};
    options.metrics = (floe_metric_set){{0}, 0, 0};
    floe_metric_set_add(&options.metrics, number);
    return floe_assess(ctx, request->original, request->decoded, &options, &report);
}

/* The library's reason: a call that requests the metric by its name fails before it reads anything. */
static bool reason_find(floe_ctx *ctx, const check_request *request, uint32_t number, char why[CHECK_WHY])
{
    if (metric_ask(ctx, request, number) == FLOE_OK)
        return false;
    snprintf(why, CHECK_WHY, "%s", floe_ctx_message(ctx));
    return true;
}

/* Without memory no call gets further than to report that it lacks some. One that fails otherwise requests what is not there. */
void check_wishes_add(const floe_ctx_options *machine, const check_request *request, const floe_metric_set *wished,
                      floe_metric_set *set, check_left_out_list *list)
{
    floe_ctx_options poor = *machine;
    floe_ctx *ctx = NULL;
    uint32_t n;
    poor.max_memory = 1;
    const bool can_tell = floe_ctx_create(&ctx, &poor) == FLOE_OK && floe_metric_find("n", &n) == FLOE_OK &&
                          metric_ask(ctx, request, n) == FLOE_ERR_LIMIT;
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        if (!floe_metric_set_has(wished, i) || floe_metric_set_has(set, i))
            continue;
        if (!can_tell || metric_ask(ctx, request, i) == FLOE_ERR_LIMIT)
            floe_metric_set_add(set, i);
        else
            check_left_out_add(list, floe_metric_at(i)->name, floe_metric_at(i)->alias, floe_ctx_message(ctx));
    }
    floe_ctx_free(&ctx);
}

/* Of the metrics of a pass; a field of one axis holds no images, and nobody expects their SSIM. */
static bool is_expected(const check_request *request, const floe_metric *m, floe_metric_pass pass)
{
    if (m->pass != pass || m->nfields > (request->decoded ? 2 : 1))
        return false;
    return request->original->rank > 1 || !strstr(m->name, "image");
}

static void pass_look(floe_ctx *ctx, const check_request *request, const floe_metric_set *computed,
                      floe_metric_pass pass, check_left_out_list *list)
{
    char why[CHECK_WHY];
    const uint32_t before = list->count;
    bool any = false;
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        const bool found = floe_metric_set_has(computed, i);
        any = any || (found && m->pass == pass);
        if (!found && is_expected(request, m, pass) && reason_find(ctx, request, i, why))
            check_left_out_add(list, m->name, m->alias, why);
    }
    if (any || list->count == before)
        return;
    list->count = before + 1; /* all of it, for the reason of the first */
    list->of[before].name = list->of[before].alias = check_pass_name(pass);
}

void check_left_out_find(const check_request *request, const floe_metric_set *computed, check_left_out_list *list)
{
    static const floe_metric_pass passes[] = {FLOE_PASS_WINDOW, FLOE_PASS_SPECTRUM}; /* that not every field has */
    const floe_ctx_options plain = {.size = sizeof plain, .backend = FLOE_BACKEND_CPU, .threads = 1};
    floe_ctx *ctx = NULL;
    if (floe_ctx_create(&ctx, &plain) != FLOE_OK)
        return;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (request->options->metrics.groups >> passes[i] & 1)
            pass_look(ctx, request, computed, passes[i], list);
    floe_ctx_free(&ctx);
}

void check_left_out_say(const check_left_out_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const char *why = list->of[i].why;
        fprintf(stderr, "floe: left out: %s", list->of[i].alias);
        for (; i + 1 < list->count && strcmp(list->of[i + 1].why, why) == 0; i++)
            fprintf(stderr, ", %s", list->of[i + 1].alias);
        fprintf(stderr, " (%s)\n", why);
    }
}
