/* SPDX-License-Identifier: BSD-3-Clause */
/* A stranger's program: one round trip through the installed library, and the address of every other public function, so
 * that linking proves them all. The same text is compiled as C11 and as C++17 (consumer.cpp). */
#include <floe/floe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*any_function)(void);

static const any_function rest[] = {
    (any_function)floe_dtype_size,      (any_function)floe_dtype_name,         (any_function)floe_dtype_parse,
    (any_function)floe_field_nelems,    (any_function)floe_params_init,        (any_function)floe_params_format,
    (any_function)floe_ctx_stats,       (any_function)floe_workspace_nbytes,   (any_function)floe_decompress_region,
    (any_function)floe_stream_attr,     (any_function)floe_stream_attr_nbytes, (any_function)floe_stream_header_nbytes,
    (any_function)floe_verify,          (any_function)floe_compress_stream,    (any_function)floe_compress_with,
    (any_function)floe_decompress_with, (any_function)floe_decompress_stream,  (any_function)floe_status_exit_code,
    (any_function)floe_describe,
};

static int round_trip(floe_ctx *ctx, const floe_field *field, float *back)
{
    floe_params params;
    floe_error error;
    floe_info info;
    info.size = sizeof info;
    floe_field out = floe_field_of(back, FLOE_F32, field->rank, field->shape);
    if (floe_params_parse(&params, "abs=1e-3 preset=fast", &error) != FLOE_OK)
        return 1;
    uint64_t capacity = floe_compress_bound(field, &params), nbytes = 0;
    void *stream = malloc((size_t)capacity);
    int failed = stream == NULL || floe_compress(ctx, field, &params, stream, capacity, &nbytes) != FLOE_OK ||
                 floe_stream_info(stream, nbytes, &info, &error) != FLOE_OK || info.rank != field->rank ||
                 floe_decompress(ctx, stream, nbytes, &out) != FLOE_OK;
    free(stream);
    return failed;
}

int main(void)
{
    enum { N = 40 };
    static float values[N * N], back[N * N];
    const uint64_t shape[2] = {N, N};
    floe_ctx *ctx = NULL;
    for (int i = 0; i < N * N; i++)
        values[i] = (float)((i % N) * (i / N)) * 0.25f;
    floe_field field = floe_field_of(values, FLOE_F32, 2, shape);
    floe_status status = floe_ctx_create(&ctx, NULL);
    if (status != FLOE_OK || round_trip(ctx, &field, back)) {
        fprintf(stderr, "consumer: %s: %s\n", floe_status_text(status), ctx ? floe_ctx_message(ctx) : "no context");
        return 1;
    }
    floe_ctx_free(&ctx);
    for (int i = 0; i < N * N; i++)
        if (!(fabs((double)values[i] - (double)back[i]) <= 1e-3))
            return 1;
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        if (rest[i] == NULL)
            return 1;
    printf("floe %s\n", floe_version());
    return ctx != NULL;
}
