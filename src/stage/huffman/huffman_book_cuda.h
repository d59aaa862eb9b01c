/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codebooks of stage huffman on a GPU: from histograms to books and their words, from words to decoding tables; the same as
 * huffman_book.c makes. Chunks are independent of each other.
 *
 * All pointers are device memory. The functions only put kernels on the stream, and return a cudaError_t as a number, 0 when
 * all could be started.
 */
#ifndef FLOE_STAGE_HUFFMAN_BOOK_CUDA_H
#define FLOE_STAGE_HUFFMAN_BOOK_CUDA_H

#include "stage/huffman/huffman.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For each chunk c: books[c] is what floe_huffman_book_build makes of hist[c]; the nwords[c] words from
 * words + c * FLOE_HUFFMAN_BOOK_WORDS on are what floe_huffman_book_write makes of that. skip: NULL, or a word a chunk,
 * nonzero for those of which nothing is to be touched. */
int floe_huffman_books_build_cuda(const floe_huffman_hist *hist, uint32_t nchunks, floe_huffman_book *books,
                                  uint32_t *words, uint32_t *nwords, const uint32_t *skip, void *stream);

/* For each chunk c: decoders[c] is what floe_huffman_book_read and floe_huffman_decoder_build make of the nwords[c] untrusted
 * words at bytes + at[c] (4-byte aligned; inside the stream, which the caller has checked). Where the words are not a book,
 * or not all of them are, bad[c] |= 1 and all tables of decoders[c] are UNUSED; else bad[c] is not touched. at[c] UINT64_MAX:
 * nothing of this chunk is touched. */
int floe_huffman_books_read_cuda(const uint8_t *bytes, const uint64_t *at, const uint32_t *nwords, uint32_t nchunks,
                                 floe_huffman_decoder *decoders, uint32_t *bad, void *stream);

#ifdef __cplusplus
}
#endif
#endif
