/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of a .floe file. */
#include <math.h>
#include <string.h>

#include "cli/check.h"

static const check_figure figure_table[CHECK_FIGURES] = {
    {"size:compressed_size", "stream_nbytes", "byte", NAN},
    {"size:compression_ratio", "ratio", "", NAN},
    {"size:bit_rate", "bits_per_value", "bit", NAN},
    {"time:decompress", "decompress_seconds", "s", NAN},
    {"time:decompress_rate", "decompress_mb_per_s", "MB/s", NAN},
};

void check_figures_find(const check_input *input, check_figure figures[CHECK_FIGURES])
{
    memcpy(figures, figure_table, sizeof figure_table);
    if (!input || !input->is_stream)
        return;
    const double stream = (double)input->stream_nbytes, raw = (double)input->info.raw_nbytes;
    const double values[CHECK_FIGURES] = {stream, raw / stream,
                                          8 * stream / (raw / (double)floe_dtype_size(input->info.dtype)),
                                          input->seconds, raw / 1e6 / input->seconds};
    for (int i = 0; i < CHECK_FIGURES; i++)
        figures[i].value = values[i];
}

int check_figure_number(const char *name)
{
    for (int i = 0; i < CHECK_FIGURES; i++)
        if (strcmp(figure_table[i].name, name) == 0 || strcmp(figure_table[i].alias, name) == 0)
            return i;
    return -1;
}
