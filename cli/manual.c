/* SPDX-License-Identifier: BSD-3-Clause */
/* The man page: one page for all commands. */
#include "cli/command.h"

#include <string.h>

/* Escapes what groff would take for its own: backslashes, hyphens, and a dot or quote at the start of a line. */
static void escaped(FILE *out, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        line_start = *text == '\n';
        if (*text == '-' || *text == '\\')
            fputs(*text == '-' ? "\\-" : "\\e", out);
        else if (*text == '\n')
            fputs("\n.PP\n", out);
        else
            fputc(*text, out);
    }
}

static void print_option(FILE *out, const cli_option *option)
{
    fputs(".TP\n.B ", out);
    if (option->letter)
        fprintf(out, "\\-%c, ", option->letter);
    fputs("\\-\\-", out);
    escaped(out, option->name);
    if (option->arg) {
        fputs(" \\fI", out);
        escaped(out, option->arg);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    escaped(out, option->help);
    if (option->choices && option->choices[0] != '@' && !strchr(option->choices, '=')) {
        fputs(": ", out);
        escaped(out, option->choices);
    }
    if (option->fallback)
        fprintf(out, " (default: %s)", option->fallback);
    if (option->repeat)
        fputs(" (may be repeated)", out);
    fputc('\n', out);
}

static void print_command(FILE *out, const cli_command *command)
{
    fprintf(out, ".SS floe %s %s\n", command->name, command->operands);
    escaped(out, command->summary);
    fputs(".\n", out);
    if (command->details) {
        fputs(".PP\n", out);
        escaped(out, command->details);
        fputc('\n', out);
    }
    for (int id = 0; id < OPT_COUNT; id++)
        if ((command->options & CLI_OPT(id)) && id != OPT_HELP)
            print_option(out, &cli_options[id]);
    if (command->example) {
        fputs(".PP\nExample:\n.PP\n.RS\n.nf\n", out);
        escaped(out, command->example);
        fputs("\n.fi\n.RE\n", out);
    }
}

void cli_man_print(FILE *out)
{
    fprintf(out, ".TH FLOE 1 \"\" \"floe %s\" \"User Commands\"\n", floe_version());
    fputs(".SH NAME\nfloe \\- error\\-bounded compression of scientific arrays\n.SH SYNOPSIS\n", out);
    for (const cli_command *c = cli_commands; c->name; c++)
        fprintf(out, "%s.B floe %s\n.RI \"%s [\" options ]\n", c == cli_commands ? "" : ".br\n", c->name, c->operands);
    fputs(
        ".SH DESCRIPTION\n"
        "floe keeps scientific floating\\-point arrays small within an error that the user states. Every finite value "
        "that it gives back is within that bound; NaN, infinities and fill values come back bit for bit.\n"
        "Shapes are in C order, slowest axis first, as in NumPy and HDF5.\n"
        ".SH COMMANDS\n",
        out);
    for (const cli_command *c = cli_commands; c->name; c++)
        print_command(out, c);
    fputs(".SH EXIT STATUS\n", out);
    for (int i = 0; cli_exit_codes[i]; i += 2) {
        fprintf(out, ".TP\n.B %s\n", cli_exit_codes[i]);
        escaped(out, cli_exit_codes[i + 1]);
        fputc('\n', out);
    }
    fputs(".SH ENVIRONMENT\n.TP\n.B TMPDIR\nwhere a pipe is copied to that has to be read twice\n", out);
}
