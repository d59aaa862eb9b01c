/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target on the files named, without libFuzzer: to look at a finding with any compiler or debugger. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 1;
    uint8_t *data = NULL;
    size_t nbytes = 0, got;
    do {
        uint8_t *grown = realloc(data, nbytes + 65536);
        if (grown == NULL)
            break;
        data = grown;
        got = fread(data + nbytes, 1, 65536, file);
        nbytes += got;
    } while (got == 65536);
    fclose(file);
    if (data != NULL)
        LLVMFuzzerTestOneInput(data, nbytes);
    free(data);
    return data == NULL;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i])) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            failed = 1;
        }
    }
    printf("replayed %d inputs\n", argc - 1);
    return failed;
}
