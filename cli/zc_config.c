/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines "key = value" under "[SECTION]"; what follows a # or ; is a remark. Names are alike in any case. */
#define _XOPEN_SOURCE 700
#include "cli/zc_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/say.h"

typedef struct key_row {
    const char *section, *key;
    const char *metrics; /* NULL: read, and of no matter here; "": cannot be had */
} key_row;

static const key_row rows[] = {
    {"DATA", "minValue", "min"},
    {"DATA", "maxValue", "max"},
    {"DATA", "valueRange", "range"},
    {"DATA", "avgValue", "mean"},
    {"DATA", "entropy", "entropy_bytes"},
    {"DATA", "entropyFloatpoint", "entropy"},
    {"DATA", "autocorr", "original_autocorr"},
    {"DATA", "autocorr3D", "original_autocorr"},
    {"DATA", "fft", "spectrum"},
    {"DATA", "lap", "laplacian_min laplacian_max laplacian_rms"},
    {"COMPARE", "compressTime", ""},
    {"COMPARE", "decompressTime", NULL}, /* a .floe file brings these two along */
    {"COMPARE", "compressSize", NULL},
    {"COMPARE", "minAbsErr", "min_error"},
    {"COMPARE", "avgAbsErr", "avg_error"},
    {"COMPARE", "maxAbsErr", "max_error"},
    {"COMPARE", "autoCorrAbsErr", "autocorr"},
    {"COMPARE", "errAutoCorr", "autocorr"},
    {"COMPARE", "errAutoCorr3D", "autocorr"},
    {"COMPARE", "absErrPDF", "error_pdf"},
    {"COMPARE", "pwrErrPDF", "pw_rel_error_pdf"},
    {"COMPARE", "minRelErr", "min_rel_error"},
    {"COMPARE", "avgRelErr", "avg_rel_error"},
    {"COMPARE", "maxRelErr", "max_rel_error"},
    {"COMPARE", "rmse", "rmse"},
    {"COMPARE", "nrmse", "nrmse"},
    {"COMPARE", "snr", "snr"},
    {"COMPARE", "psnr", "psnr"},
    {"COMPARE", "valErrCorr", "value_error_correlation"},
    {"COMPARE", "pearsonCorr", "pearson"},
    {"COMPARE", "KS_test", "ks ks_pvalue"},
    {"COMPARE", "ssim", "ssim"},
    {"COMPARE", "ssimImage2D", "ssim_image"},
    {"COMPARE", "derivativeOrder1_sep_maxDiff", "first_max_error"},
    {"COMPARE", "derivativeOrder1_sep_psnr", "first_psnr"},
    {"COMPARE", "derivativeOrder1_sep_ssim", "first_ssim"},
    {"COMPARE", "derivativeOrder1_psnr", "gradient_psnr"},
    {"COMPARE", "derivativeOrder2_psnr", "second_gradient_psnr"},
    {"COMPARE", "derivativeOrder1_ssim", "gradient_ssim"},
    {"COMPARE", "derivativeOrder2_ssim", "second_gradient_ssim"},
    {"COMPARE", "derivativeOrder1_sobolev", "sobolev_error"},
    {"ENV", "RscriptPath", NULL},
    {"ENV", "checkingStatus", NULL},
    {"ENV", "executionMode", NULL},
    {"ENV", "visMode", NULL},
};
enum { NROWS = sizeof rows / sizeof *rows };

/* Pictures, and what is made of them. */
static const char *const picture_sections[] = {"PLOT", "REPORT"};
enum { NPICTURES = sizeof picture_sections / sizeof *picture_sections };

typedef struct config {
    const char *path;
    uint32_t nfields;
    bool quiet, reported[NPICTURES];
    floe_metric_set *metrics;
    int line;
    char section[64];
} config;

static char *trimmed(char *text)
{
    text += strspn(text, " \t\r\n");
    for (size_t n = strlen(text); n && strchr(" \t\r\n", text[n - 1]); n--)
        text[n - 1] = 0;
    return text;
}

static void note(const config *c, const char *what, const char *key)
{
    if (c->quiet)
        return;
    fprintf(stderr, "floe: %s, line %d: ", c->path, c->line);
    cli_print_safe(stderr, key);
    fprintf(stderr, " %s\n", what);
}

static int fail(const config *c, const char *what)
{
    return cli_fail(FLOE_ERR_ARGUMENT, "%s, line %d: %s", c->path, c->line, what);
}

/* Whether the section is one of pictures, which is reported once. */
static bool is_of_pictures(config *c, const char *key)
{
    for (int i = 0; i < NPICTURES; i++) {
        char what[64];
        if (strcasecmp(c->section, picture_sections[i]) != 0)
            continue;
        snprintf(what, sizeof what, "and all else in [%s] is left out: floe draws nothing", picture_sections[i]);
        if (!c->reported[i])
            note(c, what, key);
        c->reported[i] = true;
        return true;
    }
    return false;
}

static void metrics_add(floe_metric_set *metrics, const char *names)
{
    floe_metric_set more;
    if (floe_metric_set_parse(&more, names, NULL) != FLOE_OK)
        return;
    for (size_t i = 0; i < sizeof more.word / sizeof more.word[0]; i++)
        metrics->word[i] |= more.word[i];
    metrics->groups |= more.groups;
}

static const key_row *row_find(const config *c, const char *key)
{
    for (int i = 0; i < NROWS; i++)
        if (strcasecmp(rows[i].section, c->section) == 0 && strcasecmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

static int key_apply(config *c, const char *key, const char *value)
{
    if (is_of_pictures(c, key))
        return 0;
    if (strcasecmp(c->section, "ENV") == 0 && strcasecmp(key, "dataEndianType") == 0)
        return strcasecmp(value, "LITTLE_ENDIAN_DATA") == 0 ? 0 : fail(c, "floe reads little-endian data only");
    const key_row *row = row_find(c, key);
    if (!row) {
        note(c, "is not known, and left out", key);
        return 0;
    }
    char *end;
    const bool on = strtol(value, &end, 10) != 0;
    if (!row->metrics || (strcmp(row->section, "COMPARE") == 0 && c->nfields < 2))
        return 0;
    if (end == value || *end)
        return fail(c, "the value is 1 or 0");
    if (on && !row->metrics[0])
        note(c, "is left out: nothing is compressed here", key);
    else if (on)
        metrics_add(c->metrics, row->metrics);
    return 0;
}

/* A value may stand in quotes. */
static char *unquoted(char *value)
{
    const size_t n = strlen(value);
    if (n < 2 || (value[0] != '"' && value[0] != '\'') || value[n - 1] != value[0])
        return value;
    value[n - 1] = 0;
    return trimmed(value + 1);
}

static int line_read(config *c, char *line)
{
    static const char utf8_mark[] = "\xef\xbb\xbf"; /* what some editors begin a file with */
    if (c->line == 1 && strncmp(line, utf8_mark, strlen(utf8_mark)) == 0)
        line += strlen(utf8_mark);
    line[strcspn(line, "#;")] = 0;
    line = trimmed(line);
    const size_t n = strlen(line);
    char *equals = strchr(line, '=');
    if (n == 0)
        return 0;
    if (line[0] == '[') {
        if (line[n - 1] != ']' || n >= sizeof c->section)
            return fail(c, "this is no [SECTION]");
        snprintf(c->section, sizeof c->section, "%.*s", (int)(n - 2), line + 1);
        return 0;
    }
    if (!equals)
        return fail(c, "this is no KEY = VALUE");
    *equals = 0;
    return key_apply(c, trimmed(line), unquoted(trimmed(equals + 1)));
}

int zc_config_read(const char *path, uint32_t nfields, bool quiet, floe_metric_set *metrics)
{
    config c = {.path = path, .nfields = nfields, .quiet = quiet, .metrics = metrics};
    const floe_metric_set before = *metrics;
    FILE *file = fopen(path, "r");
    char line[4096];
    int failed = 0;
    if (!file)
        return cli_fail(FLOE_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    while (!failed && fgets(line, sizeof line, file)) {
        c.line++;
        const size_t n = strlen(line); /* a byte of 0 ends it early */
        const bool is_whole = n && (line[n - 1] == '\n' || feof(file));
        failed = is_whole ? line_read(&c, line) : fail(&c, "the line is too long, or no text");
    }
    if (!failed && ferror(file))
        failed = cli_fail(FLOE_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    fclose(file);
    if (!failed && memcmp(&before, metrics, sizeof before) == 0)
        failed = cli_fail(FLOE_ERR_ARGUMENT, "%s switches on no metric", path);
    return failed;
}
