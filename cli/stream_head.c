/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/stream_head.h"

#include <stdlib.h>
#include <string.h>

bool cli_stream_is(io_reader *reader, int *failed)
{
    static const char magic[] = "FLOE"; /* behind the first byte: docs/format/container.md */
    char head[sizeof magic];
    size_t got;
    floe_source source = io_reader_source(reader);
    *failed = 0;
    if (io_reader_layout(reader))
        return false;
    if (source.read(source.user, 0, head, sizeof head, &got) != FLOE_OK)
        *failed = cli_fail_with(io_reader_error(reader));
    return !*failed && got == sizeof head && memcmp(head + 1, magic, sizeof magic - 1) == 0;
}

int cli_stream_open(const char *path, io_reader **reader, floe_info *info)
{
    floe_error err = {0};
    if (io_reader_open(reader, path, &err) != FLOE_OK)
        return cli_fail_with(&err);
    if (io_reader_layout(*reader))
        return cli_fail(FLOE_ERR_FORMAT, "'%s' is a .npy array, not a floe stream", io_reader_name(*reader));
    return cli_stream_head(*reader, info);
}

int cli_stream_head(io_reader *reader, floe_info *info)
{
    floe_error err = {0};
    floe_source source = io_reader_source(reader);
    unsigned char *head = malloc(CLI_STREAM_HEAD_NBYTES);
    size_t got;
    info->size = sizeof *info;
    if (!head)
        return cli_fail(FLOE_ERR_MEMORY, "out of memory");
    if (io_reader_keep(reader, CLI_STREAM_HEAD_NBYTES, &err) != FLOE_OK) {
        free(head);
        return cli_fail_with(&err);
    }
    floe_status status = source.read(source.user, 0, head, CLI_STREAM_HEAD_NBYTES, &got);
    int failed = 0;
    if (status != FLOE_OK)
        failed = cli_fail_with(io_reader_error(reader));
    else if ((status = floe_stream_info(head, got, info, &err)) != FLOE_OK)
        failed = cli_fail(status, "'%s': %s", io_reader_name(reader),
                          err.message[0] ? err.message : floe_status_text(status));
    free(head);
    return failed;
}
