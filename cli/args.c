/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as everywhere: --name value, --name=value, -n value, -nvalue, -ab, and -- before operands that look like one. */
#include "cli/command.h"

#include <string.h>

#include "cli/say.h"

const cli_command *cli_command_find(const char *name)
{
    for (const cli_command *c = cli_commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

bool cli_given(const cli_args *args, cli_option_id id) { return args->value[id] != NULL; }
const char *cli_value(const cli_args *args, cli_option_id id) { return args->value[id]; }

const char *cli_value_at(const cli_args *args, cli_option_id id, int i)
{
    for (int k = 0; k < args->nrepeats; k++)
        if (args->repeats[k].id == id && i-- == 0)
            return args->repeats[k].value;
    return NULL;
}

/* ---- suggestions ------------------------------------------------------------------------------------------------- */

enum { LONGEST_WORD = 32 };

/* Edits (insert, delete, replace, swap of neighbours) that lead from a to b; both at most LONGEST_WORD long. */
static int distance(const char *a, const char *b)
{
    int row[3][LONGEST_WORD + 1];
    int na = (int)strlen(a), nb = (int)strlen(b);
    for (int j = 0; j <= nb; j++)
        row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *before2 = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            int best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before2[j - 2] + 1 < best)
                best = before2[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[na % 3][nb];
}

const char *cli_nearest(const char *text, const char *const *words, int count)
{
    const char *nearest = NULL;
    size_t n = strlen(text);
    int best = n < 4 ? 2 : 3; /* fewer edits than this */
    for (int i = 0; i < count && n <= LONGEST_WORD; i++) {
        if (strlen(words[i]) > LONGEST_WORD)
            continue;
        bool begins = n >= 3 && strncmp(words[i], text, n) == 0;
        int d = begins ? 0 : distance(text, words[i]);
        if (d < best) {
            best = d;
            nearest = words[i];
        }
    }
    return nearest;
}

static int fail_unknown_option(const cli_command *command, const char *dashes, const char *name)
{
    const char *words[OPT_COUNT];
    int count = 0;
    for (int id = 0; id < OPT_COUNT; id++)
        if (command->options & CLI_OPT(id))
            words[count++] = cli_options[id].name;
    const char *nearest = dashes[1] ? cli_nearest(name, words, count) : NULL;
    if (nearest)
        return cli_fail(FLOE_ERR_ARGUMENT, "unknown option '%s%s'; did you mean '--%s'?", dashes, name, nearest);
    return cli_fail(FLOE_ERR_ARGUMENT, "unknown option '%s%s'; 'floe help %s' lists them", dashes, name, command->name);
}

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

static int find_long(const cli_command *command, const char *name, size_t n)
{
    for (int id = 0; id < OPT_COUNT; id++)
        if ((command->options & CLI_OPT(id)) && strlen(cli_options[id].name) == n &&
            memcmp(cli_options[id].name, name, n) == 0)
            return id;
    return -1;
}

static int find_letter(const cli_command *command, char letter)
{
    for (int id = 0; id < OPT_COUNT; id++)
        if ((command->options & CLI_OPT(id)) && cli_options[id].letter == letter)
            return id;
    return -1;
}

static int store(cli_args *args, int id, const char *value)
{
    const cli_option *option = &cli_options[id];
    if (args->value[id] && option->arg && !option->repeat)
        return cli_fail(FLOE_ERR_ARGUMENT, "--%s is given twice", option->name);
    if (option->repeat && args->nrepeats == CLI_MAX_REPEATS)
        return cli_fail(FLOE_ERR_ARGUMENT, "--%s is given too often", option->name);
    args->value[id] = value;
    if (option->repeat) {
        args->repeats[args->nrepeats].id = (cli_option_id)id;
        args->repeats[args->nrepeats++].value = value;
    }
    return 0;
}

/* Behind an option that needs an argument: whoever forgot it did not mean a file named -f, which is ./-f. */
static bool is_option(const cli_command *command, const char *word)
{
    if (word[0] != '-' || !word[1])
        return false;
    return word[1] == '-' ? find_long(command, word + 2, strcspn(word + 2, "=")) >= 0
                          : !word[2] && find_letter(command, word[1]) >= 0;
}

static int parse_long(cli_args *args, int *i, int argc, char **argv)
{
    const char *name = argv[*i] + 2;
    const char *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    int id = find_long(args->command, name, n);
    if (id < 0) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), name);
        return fail_unknown_option(args->command, "--", word);
    }
    if (!cli_options[id].arg)
        return equals ? cli_fail(FLOE_ERR_ARGUMENT, "--%s takes no argument", cli_options[id].name)
                      : store(args, id, "");
    if (equals)
        return store(args, id, equals + 1);
    if (*i + 1 >= argc || is_option(args->command, argv[*i + 1]))
        return cli_fail(FLOE_ERR_ARGUMENT, "--%s needs an argument: %s", cli_options[id].name, cli_options[id].arg);
    return store(args, id, argv[++*i]);
}

static int parse_letters(cli_args *args, int *i, int argc, char **argv)
{
    for (const char *c = argv[*i] + 1; *c; c++) {
        int id = find_letter(args->command, *c), failed;
        if (id < 0)
            return fail_unknown_option(args->command, "-", (char[]){*c, 0});
        if (!cli_options[id].arg) {
            failed = store(args, id, "");
        } else if (c[1]) {
            return store(args, id, c + 1);
        } else if (*i + 1 < argc && !is_option(args->command, argv[*i + 1])) {
            return store(args, id, argv[++*i]);
        } else {
            return cli_fail(FLOE_ERR_ARGUMENT, "-%c needs an argument: %s", *c, cli_options[id].arg);
        }
        if (failed)
            return failed;
    }
    return 0;
}

static int check_operands(const cli_args *args, int count, const char *surplus)
{
    static const char *const counts[CLI_MAX_OPERANDS + 1] = {"no operands", "one operand", "two operands"};
    const cli_command *command = args->command;
    if (cli_given(args, OPT_HELP))
        return 0;
    if (count > command->max_operands)
        return cli_fail(FLOE_ERR_ARGUMENT, "%s takes %s; what is '%s'?", command->name, counts[command->max_operands],
                        surplus);
    if (count < command->min_operands)
        return cli_fail(FLOE_ERR_ARGUMENT, "%s needs %s: floe %s %s", command->name,
                        command->min_operands > 1 ? "two inputs" : "an input", command->name, command->operands);
    return 0;
}

int cli_args_parse(cli_args *args, const cli_command *command, int argc, char **argv)
{
    int count = 0;
    bool only_operands = false;
    const char *surplus = NULL;
    *args = (cli_args){.command = command};
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i];
        int failed = 0;
        if (!only_operands && strcmp(word, "--") == 0)
            only_operands = true;
        else if (!only_operands && word[0] == '-' && word[1] == '-')
            failed = parse_long(args, &i, argc, argv);
        else if (!only_operands && word[0] == '-' && word[1])
            failed = parse_letters(args, &i, argc, argv);
        else if (count++ < command->max_operands)
            args->operand[args->noperands++] = word;
        else
            surplus = surplus ? surplus : word;
        if (failed)
            return failed;
    }
    return check_operands(args, count, surplus);
}
