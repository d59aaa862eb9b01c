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

/* Of a file what is there at first is mostly enough, and is not read again by the one who reads on. */
int cli_stream_head(io_reader *reader, floe_info *info)
{
    enum { FIRST_NBYTES = 4096 };
    floe_error err = {0};
    floe_source source = io_reader_source(reader);
    unsigned char *head = malloc(CLI_STREAM_HEAD_NBYTES);
    uint64_t want = FIRST_NBYTES;
    size_t got = 0, n = 1;
    int failed = head ? 0 : cli_fail(FLOE_ERR_MEMORY, "out of memory");
    info->size = sizeof *info;
    while (!failed && n && got < want) {
        const size_t kept = io_reader_is_seekable(reader) ? (size_t)want : CLI_STREAM_HEAD_NBYTES;
        if (io_reader_keep(reader, kept, &err) != FLOE_OK)
            failed = cli_fail_with(&err);
        else if (source.read(source.user, got, head + got, (size_t)want - got, &n) != FLOE_OK)
            failed = cli_fail_with(io_reader_error(reader));
        got += n;
        if (failed || floe_stream_header_nbytes(head, got, &want, NULL) != FLOE_OK)
            break;
    }
    const floe_status status = failed ? FLOE_OK : floe_stream_info(head, got, info, &err);
    if (status != FLOE_OK)
        failed = cli_fail(status, "'%s': %s", io_reader_name(reader),
                          err.message[0] ? err.message : floe_status_text(status));
    free(head);
    return failed;
}
