/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <string.h>

enum { WIDTH = 96, OPTION_COLUMN = 26 };

void cli_wrapped(FILE *out, const char *text, int at, int indent)
{
    while (*text) {
        size_t n = strcspn(text, " \n");
        if (at > indent && at + (int)n > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        }
        fprintf(out, "%.*s", (int)n, text);
        at += (int)n;
        text += n;
        if (*text == '\n') {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        } else if (*text == ' ' && at + 1 + (int)strcspn(text + 1, " \n") <= WIDTH) {
            fputc(' ', out);
            at++;
        } else if (*text == ' ') {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        }
        if (*text)
            text++;
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const cli_option *option)
{
    char left[64], help[256];
    int n = snprintf(left, sizeof left, option->letter ? "  -%c, " : "      ", option->letter);
    n += snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", option->name, option->arg ? " " : "",
                  option->arg ? option->arg : "");
    bool choices = option->choices && option->choices[0] != '@' && !strchr(option->choices, '=');
    snprintf(help, sizeof help, "%s%s%s%s%s%s%s%s", option->help, choices ? " [" : "", choices ? option->choices : "",
             choices ? "]" : "", option->fallback ? " (default: " : "", option->fallback ? option->fallback : "",
             option->fallback ? ")" : "", option->repeat ? " (may be repeated)" : "");
    fputs(left, out);
    if (n + 1 > OPTION_COLUMN) {
        fputc('\n', out);
        n = 0;
    }
    fprintf(out, "%*s", OPTION_COLUMN - n, "");
    cli_wrapped(out, help, OPTION_COLUMN, OPTION_COLUMN);
}

static void print_command(FILE *out, const cli_command *command)
{
    fprintf(out, "floe %s%s%s [options]: %s\n", command->name, command->operands[0] ? " " : "", command->operands,
            command->summary);
    if (command->details) {
        fputs("\n  ", out);
        cli_wrapped(out, command->details, 2, 2);
    }
    fputs("\nOptions:\n", out);
    for (int id = 0; id < OPT_COUNT; id++)
        if (command->options & CLI_OPT(id))
            print_option(out, &cli_options[id]);
    if (command->example)
        fprintf(out, "\nExample:\n  %s\n", command->example);
}

static void print_overview(FILE *out)
{
    fprintf(out, "floe %s: error-bounded compression of scientific arrays\n\nCommands:\n", floe_version());
    for (const cli_command *c = cli_commands; c->name; c++)
        fprintf(out, "  %-12s %s\n", c->name, c->summary);
    fputs("\nExit codes:\n", out);
    for (int i = 0; cli_exit_codes[i]; i += 2)
        fprintf(out, "  %s  %s\n", cli_exit_codes[i], cli_exit_codes[i + 1]);
    fputs("\n'floe help COMMAND' explains one, 'floe help metrics' what check and stat find.\n", out);
}

void cli_help_print(FILE *out, const cli_command *command)
{
    if (command)
        print_command(out, command);
    else
        print_overview(out);
}
