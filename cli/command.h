/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of commands and options, and what was typed. --help, the man page, the shell completions, the parser and the
 * suggestions all read the same table (command_table.c), so none of them can print what another does not have.
 */
#ifndef FLOE_CLI_COMMAND_H
#define FLOE_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include <floe/floe.h>

typedef enum cli_option_id {
    OPT_OUTPUT,
    OPT_BOUND,
    OPT_ABS,
    OPT_REL,
    OPT_PWREL,
    OPT_PSNR,
    OPT_LOSSLESS,
    OPT_RATE,
    OPT_PREC,
    OPT_RATIO,
    OPT_SHAPE,
    OPT_DIMS,
    OPT_DTYPE,
    OPT_RAW,
    OPT_CODEC,
    OPT_PRESET,
    OPT_FILL,
    OPT_CHUNK,
    OPT_ATTR,
    OPT_VERIFY,
    OPT_STRICT,
    OPT_REGION,
    OPT_LEVEL,
    OPT_SALVAGE,
    OPT_AGAINST,
    OPT_METRICS,
    OPT_FAIL_IF,
    OPT_OUTSIDE,
    OPT_WINDOW,
    OPT_STEP,
    OPT_LAGS,
    OPT_BINS,
    OPT_VALUE_BINS,
    OPT_WORST,
    OPT_PERIODIC,
    OPT_EXACT,
    OPT_CONFIG,
    OPT_MEMORY,
    OPT_MEMORY_LIMIT,
    OPT_MAX_ELEMS,
    OPT_SEED,
    OPT_FIELD,
    OPT_IN,
    OPT_RAW_ZFP,
    OPT_NO_HEADER,
    OPT_INDEX,
    OPT_FORM,
    OPT_BLOCKS,
    OPT_PARTITION,
    OPT_THREADS,
    OPT_THREADS_LIST,
    OPT_REPEATS,
    OPT_PEERS,
    OPT_LINK,
    OPT_BACKEND,
    OPT_ISA,
    OPT_FORCE,
    OPT_JSON,
    OPT_JSON_FILE,
    OPT_CSV,
    OPT_EXPLAIN,
    OPT_QUIET,
    OPT_VERBOSE,
    OPT_MAN,
    OPT_COMPLETION,
    OPT_HELP,
    OPT_COUNT
} cli_option_id;

typedef struct cli_option {
    const char *name;     /* without the dashes */
    char letter;          /* 0: none */
    const char *arg;      /* what the argument is called; NULL: a flag */
    const char *choices;  /* the only arguments possible, separated by blanks; NULL: any. "@" stands for a file */
    const char *fallback; /* what holds where it is not given; NULL: nothing */
    bool repeat;          /* may be given more than once */
    const char *help;
} cli_option;

__extension__ typedef unsigned __int128 cli_option_set; /* 64 bits are full */
#define CLI_OPT(id)      ((cli_option_set)1 << (id))
#define CLI_MAX_OPERANDS 2
#define CLI_MAX_REPEATS  64

typedef struct cli_args cli_args;

typedef struct cli_command {
    const char *name;
    const char *operands; /* as in the synopsis */
    int min_operands, max_operands;
    const char *choices; /* of the operand, as in cli_option */
    const char *summary; /* one line */
    const char *details; /* paragraphs of the help and the man page */
    const char *example;
    cli_option_set options; /* CLI_OPT() of each */
    int (*run)(const cli_args *args);
} cli_command;

extern const cli_option cli_options[OPT_COUNT];
extern const cli_command cli_commands[]; /* ends with a NULL name */
/* Rows of the exit codes: "0", "done", "2", ... and NULL. */
extern const char *const cli_exit_codes[];

struct cli_args {
    const cli_command *command;
    int noperands;
    const char *operand[CLI_MAX_OPERANDS];
    const char *value[OPT_COUNT]; /* NULL: not given; "" for a flag; of a repeated option the last */
    int nrepeats;
    struct {
        cli_option_id id;
        const char *value;
    } repeats[CLI_MAX_REPEATS];
};

/* Parses argv[2..] for a command: 0, or the exit code after saying what is wrong. */
int cli_args_parse(cli_args *args, const cli_command *command, int argc, char **argv);
bool cli_given(const cli_args *args, cli_option_id id);
/* The argument, or NULL. */
const char *cli_value(const cli_args *args, cli_option_id id);
/* Argument i of an option that may be repeated, or NULL. */
const char *cli_value_at(const cli_args *args, cli_option_id id, int i);

const cli_command *cli_command_find(const char *name); /* NULL: none */
/* The one of count words that text was probably meant to be, or NULL. */
const char *cli_nearest(const char *text, const char *const *words, int count);

/* Prints text in lines of a width to read; the first one starts at column `at`, the others at `indent`. '\n' breaks. */
void cli_wrapped(FILE *out, const char *text, int at, int indent);

/* The generated texts. */
void cli_help_print(FILE *out, const cli_command *command); /* NULL: all commands */
void cli_metrics_print(FILE *out);
void cli_man_print(FILE *out);
/* shell: bash, zsh or fish. */
void cli_completion_print(FILE *out, const char *shell);

int cmd_compress(const cli_args *args);
int cmd_decompress(const cli_args *args);
int cmd_index(const cli_args *args);
int cmd_info(const cli_args *args);
int cmd_verify(const cli_args *args);
int cmd_check(const cli_args *args);
int cmd_stat(const cli_args *args);
int cmd_fields(const cli_args *args);
int cmd_bench(const cli_args *args);
int cmd_help(const cli_args *args);
int cmd_version(const cli_args *args);

#endif
