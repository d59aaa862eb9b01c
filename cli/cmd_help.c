/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <string.h>

#include "cli/say.h"

static bool is_shell(const char *name)
{
    return strcmp(name, "bash") == 0 || strcmp(name, "zsh") == 0 || strcmp(name, "fish") == 0;
}

int cmd_help(const cli_args *args)
{
    const char *shell = cli_value(args, OPT_COMPLETION);
    const cli_command *command = NULL;
    if (shell && !is_shell(shell))
        return cli_fail(FLOE_ERR_ARGUMENT, "there is no completion for '%s', only for bash, zsh and fish", shell);
    const bool of_metrics = args->noperands && strcmp(args->operand[0], "metrics") == 0;
    if (args->noperands && !of_metrics) {
        command = cli_command_find(args->operand[0]);
        if (!command)
            return cli_fail(FLOE_ERR_ARGUMENT, "unknown command '%s'; 'floe help' lists them", args->operand[0]);
    }
    if (cli_given(args, OPT_MAN))
        cli_man_print(stdout);
    else if (shell)
        cli_completion_print(stdout, shell);
    else if (of_metrics)
        cli_metrics_print(stdout);
    else
        cli_help_print(stdout, command);
    return cli_stdout_finish(0);
}

int cmd_version(const cli_args *args)
{
    char text[2048];
    printf("floe %s\n", floe_version());
    if (cli_given(args, OPT_VERBOSE)) {
        (void)floe_describe(text, sizeof text);
        fputs(text, stdout);
    }
    return cli_stdout_finish(0);
}
