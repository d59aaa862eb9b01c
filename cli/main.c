/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "cli/command.h"
#include "cli/say.h"
#include "io/io.h"

static int fail_unknown_command(const char *name)
{
    const char *words[16];
    int count = 0;
    while (count < 16 && cli_commands[count].name) {
        words[count] = cli_commands[count].name;
        count++;
    }
    const char *nearest = cli_nearest(name, words, count);
    if (nearest)
        return cli_fail(FLOE_ERR_ARGUMENT, "unknown command '%s'; did you mean '%s'?", name, nearest);
    return cli_fail(FLOE_ERR_ARGUMENT, "unknown command '%s'; 'floe help' lists them", name);
}

int main(int argc, char **argv)
{
    io_standard_streams_hold();
    io_cleanup_install();
    if (argc < 2)
        return cli_fail(FLOE_ERR_ARGUMENT, "which command? 'floe help' lists them");

    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const cli_command *command = cli_command_find(name);
    if (!command)
        return fail_unknown_command(name);

    cli_args args;
    int failed = cli_args_parse(&args, command, argc, argv);
    if (failed)
        return failed;
    if (cli_given(&args, OPT_HELP)) {
        cli_help_print(stdout, command);
        return cli_stdout_finish(0);
    }
    return command->run(&args);
}
