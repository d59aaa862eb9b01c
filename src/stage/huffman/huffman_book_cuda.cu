/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/huffman/huffman_book_cuda.h"

#include "stage/huffman/huffman_book_build.cuh"
#include "stage/huffman/huffman_book_read.cuh"

int floe_huffman_books_build_cuda(const floe_huffman_hist *hist, uint32_t nchunks, floe_huffman_book *books,
                                  uint32_t *words, uint32_t *nwords, const uint32_t *skip, void *stream)
{
    if (nchunks == 0)
        return cudaSuccess;
    cudaStream_t on = (cudaStream_t)stream;
    FLOE_LAUNCH_EARLY(huffman_table_choose_kernel, nchunks * FLOE_HUFFMAN_TABLES, FLOE_HUFFMAN_SYMBOLS, 0, on, hist,
                      books, skip);
    FLOE_LAUNCH_EARLY(huffman_book_write_kernel, nchunks, FLOE_BOOK_THREADS, 0, on, books, words, nwords, skip);
    return cudaGetLastError();
}

int floe_huffman_books_read_cuda(const uint8_t *bytes, const uint64_t *at, const uint32_t *nwords, uint32_t nchunks,
                                 floe_huffman_decoder *decoders, uint32_t *bad, void *stream)
{
    enum { FILL = 128 }; /* blocks at most; each takes about a multiprocessor */
    if (nchunks == 0)
        return cudaSuccess;
    const bool long_jumps = sizeof(floe_book_reader) <= floe_gpu_limits_cuda().shared_nbytes;
    const size_t nbytes = long_jumps ? sizeof(floe_book_reader) : FLOE_BOOK_READER_LEAST;
    cudaError_t error =
        cudaFuncSetAttribute(huffman_book_read_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (error != cudaSuccess)
        return error;
    const uint32_t share = min((uint32_t)FILL, floe_gpu_limits_cuda().processors) / nchunks,
                   nblocks = share < 1                     ? 1
                             : share < FLOE_HUFFMAN_TABLES ? share
                                                           : FLOE_HUFFMAN_TABLES;
    FLOE_LAUNCH_EARLY(huffman_book_read_kernel, nchunks * nblocks, FLOE_BOOK_THREADS, nbytes, (cudaStream_t)stream,
                      bytes, at, nwords, nblocks, long_jumps, decoders, bad);
    return cudaGetLastError();
}
