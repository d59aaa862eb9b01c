/* SPDX-License-Identifier: BSD-3-Clause */
/* Shell completions. Choices of "@" (a file) are left to the shell. */
#include "cli/command.h"

#include <string.h>

static bool has(const cli_command *command, int id) { return (command->options & CLI_OPT(id)) != 0; }

static bool has_choices(const cli_option *option) { return option->choices && option->choices[0] != '@'; }

/* ---- bash -------------------------------------------------------------------------------------------------------- */

/* Two commands may have options of one name and other choices. */
static void bash_values(FILE *out)
{
    fputs("    case \"$command $previous\" in\n", out);
    for (int id = 0; id < OPT_COUNT; id++) {
        const cli_option *option = &cli_options[id];
        const char *before = "    ";
        if (!has_choices(option))
            continue;
        for (const cli_command *c = cli_commands; c->name; c++) {
            if (!has(c, id))
                continue;
            fprintf(out, "%s'%s --%s'", before, c->name, option->name);
            before = " | ";
            if (option->letter)
                fprintf(out, " | '%s -%c'", c->name, option->letter);
        }
        fprintf(out, ") words='%s' ;;\n", option->choices);
    }
    fputs("    esac\n", out);
}

static void bash_commands(FILE *out)
{
    fputs("    case $command in\n", out);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(out, "    %s) words='", c->name);
        for (int id = 0; id < OPT_COUNT; id++)
            if (has(c, id))
                fprintf(out, "--%s ", cli_options[id].name);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n", out);
}

static void command_names(FILE *out)
{
    for (const cli_command *c = cli_commands; c->name; c++)
        fprintf(out, "%s%s", c == cli_commands ? "" : " ", c->name);
}

static void print_bash(FILE *out)
{
    fputs("# bash completion for floe, made by: floe help --completion bash\n"
          "_floe() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
          "    local words=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        words='",
          out);
    command_names(out);
    fputs("'\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
          "        return\n"
          "    fi\n",
          out);
    bash_values(out);
    fputs("    if [ -n \"$words\" ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
          "        case ${COMPREPLY[0]-} in *=) compopt -o nospace ;; esac\n"
          "        return\n"
          "    fi\n"
          "    case $current in\n"
          "    -*) ;;\n"
          "    *)\n"
          "        if [ \"$command\" = help ]; then\n"
          "            words='",
          out);
    command_names(out);
    fputs("'\n"
          "            mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
          "        fi\n"
          "        return\n"
          "        ;;\n"
          "    esac\n",
          out);
    bash_commands(out);
    fputs("    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
          "}\n"
          "complete -o default -F _floe floe\n",
          out);
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

/* A text inside '...[ ]...' of _arguments: brackets, colons and quotes are taken out of its way. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void zsh_option(FILE *out, const cli_option *option)
{
    fprintf(out, "            '%s--%s%s[", option->repeat ? "*" : "", option->name, option->arg ? "=" : "");
    zsh_text(out, option->help);
    fputc(']', out);
    if (option->arg) {
        fputc(':', out);
        zsh_text(out, option->arg);
        if (has_choices(option))
            fprintf(out, ":(%s)", option->choices);
        else
            fputs(option->choices ? ":_files" : ":", out);
    }
    fputs("' \\\n", out);
}

static void print_zsh(FILE *out)
{
    fputs("#compdef floe\n# zsh completion for floe, made by: floe help --completion zsh\n"
          "_floe() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          out);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(out, "        '%s:", c->name);
        zsh_text(out, c->summary);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe 'command' commands\n"
          "        return\n"
          "    fi\n"
          "    case $words[2] in\n",
          out);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(out, "    %s)\n        _arguments -s \\\n            '1: :' \\\n", c->name);
        for (int id = 0; id < OPT_COUNT; id++)
            if (has(c, id))
                zsh_option(out, &cli_options[id]);
        if (c->choices && c->choices[0] != '@')
            fprintf(out, "            '2:command:(%s)'\n        ;;\n", c->choices);
        else
            fputs(c->choices ? "            '*:input:_files'\n        ;;\n" : "            '*: :'\n        ;;\n", out);
    }
    fputs("    esac\n}\n_floe \"$@\"\n", out);
}

/* ---- fish -------------------------------------------------------------------------------------------------------- */

static void fish_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void fish_option(FILE *out, const cli_command *command, const cli_option *option)
{
    fprintf(out, "complete -c floe -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    if (option->arg)
        fputs(option->choices && !has_choices(option) ? " -r -F" : " -x", out);
    if (has_choices(option)) {
        fputs(" -a ", out);
        fish_text(out, option->choices);
    }
    fputs(" -d ", out);
    fish_text(out, option->help);
    fputc('\n', out);
}

static void print_fish(FILE *out)
{
    fputs("# fish completion for floe, made by: floe help --completion fish\n", out);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(out, "complete -c floe -n __fish_use_subcommand -f -a %s -d ", c->name);
        fish_text(out, c->summary);
        fputc('\n', out);
        for (int id = 0; id < OPT_COUNT; id++)
            if (has(c, id))
                fish_option(out, c, &cli_options[id]);
        if (c->choices && c->choices[0] != '@')
            fprintf(out, "complete -c floe -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", c->name, c->choices);
    }
}

void cli_completion_print(FILE *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(out);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(out);
    else
        print_fish(out);
}
