/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * floe: error-bounded compression of scientific arrays.
 *
 * Rules that hold for the whole API:
 *  - The caller owns every buffer it hands in. floe owns only what a _create function made, until its _free. What a call
 *    writes overlaps nothing else of that call: that is not checked, and the result is undefined.
 *  - A context is used by one thread at a time, and not by the callbacks of its own call; contexts are independent. There
 *    are no globals.
 *  - On failure a function returns a status other than FLOE_OK, the context holds a message, and outputs are undefined
 *    unless the function says otherwise. The library never prints, exits or aborts.
 *  - Shapes are in C order, slowest axis first, as in NumPy and HDF5. Sizes and counts are 64-bit.
 *  - Structs that may grow start with their own size: set .size = sizeof(the struct), or use the _init function. This goes for those
 *    that floe fills, too: it leaves size as it is, and fills no more than that.
 */
#ifndef FLOE_H
#define FLOE_H

#include <stddef.h>
#include <stdint.h>

#include <floe/status.h>
#include <floe/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLOE_MAX_RANK 4

/* ---- fields ---------------------------------------------------------------------------------------------------- */

/* Integers are in two's complement, and compared as integers. Every bound but pwrel works for them.
 * On a GPU they are the work of codec zfp alone; with other codecs they are the CPU's, in host memory. */
typedef enum floe_dtype { FLOE_F32 = 1, FLOE_F64 = 2, FLOE_I32 = 3, FLOE_I64 = 4 } floe_dtype;

typedef enum floe_place { FLOE_HOST = 0, FLOE_DEVICE = 1 } floe_place;

/* An n-d array that lies in the caller's memory. */
typedef struct floe_field {
    void *data;
    floe_dtype dtype;
    floe_place place;
    uint32_t rank;                 /* 1 to 4 */
    uint64_t shape[FLOE_MAX_RANK]; /* elements along each axis, slowest first; any may be 0 (an empty field) */
    int64_t stride[FLOE_MAX_RANK]; /* distance of neighbours along each axis, in elements; all 0 means contiguous */
} floe_field;

/* A contiguous host field over ptr. */
floe_field floe_field_of(const void *ptr, floe_dtype dtype, uint32_t rank, const uint64_t *shape);

/* The same in device memory. */
floe_field floe_field_of_device(const void *ptr, floe_dtype dtype, uint32_t rank, const uint64_t *shape);

/* Bytes of one element: 4 or 8; 0 for an unknown dtype. */
size_t floe_dtype_size(floe_dtype dtype);
const char *floe_dtype_name(floe_dtype dtype);
/* "f32", "f64", "i32", "i64", also "float32", "float64", "float", "double", "int32", "int64", "<f4", "<f8", "<i4", "<i8". */
floe_status floe_dtype_parse(const char *text, floe_dtype *dtype);

/* Number of elements; FLOE_ERR_ARGUMENT when rank, dtype or shape are invalid or the bytes overflow 63 bits. */
floe_status floe_field_nelems(const floe_field *field, uint64_t *nelems);

/* ---- parameters ------------------------------------------------------------------------------------------------ */

typedef enum floe_bound_mode {
    FLOE_BOUND_ABS = 1,      /* |x - y| <= bound */
    FLOE_BOUND_REL = 2,      /* |x - y| <= bound * (max - min) over the finite, valid values */
    FLOE_BOUND_PWREL = 3,    /* |x - y| <= bound * |x| */
    FLOE_BOUND_PSNR = 4,     /* 20 log10((max - min) / RMSE) >= bound, in dB */
    FLOE_BOUND_LOSSLESS = 5, /* bit for bit */
    /* How much to store, not how well: codec zfp keeps finite values finite and promises no error. By other codecs a rate is the
     * RATIO that takes as many bits for the whole field, and the stream says so; they have no PREC. */
    FLOE_BOUND_RATE = 6, /* bits a value, the same for each block */
    FLOE_BOUND_PREC = 7, /* bit planes of each block, 1 to 64 */
    /* Bytes of the field over those of the stream: floe looks for the absolute bound that gives about so much, and keeps it. */
    FLOE_BOUND_RATIO = 8
} floe_bound_mode;

typedef enum floe_codec {
    FLOE_CODEC_AUTO = 0,
    FLOE_CODEC_LORENZO = 1,
    FLOE_CODEC_ZFP = 2,
    FLOE_CODEC_INTERP = 3,
    FLOE_CODEC_WAVELET = 4
} floe_codec;

/* "auto", "lorenzo", "zfp", "interp", "wavelet"; "unknown" for other numbers. */
const char *floe_codec_name(floe_codec codec);

/* Size against speed. Where a codec has nothing more for BEST it does as for BALANCED. Codec AUTO is LORENZO in
 * FAST; in BALANCED a sample of the field decides between it and INTERP, in BEST between all but ZFP (docs/api.md). */
typedef enum floe_preset { FLOE_PRESET_BALANCED = 0, FLOE_PRESET_FAST = 1, FLOE_PRESET_BEST = 2 } floe_preset;

typedef enum floe_fill_mode {
    FLOE_FILL_AUTO = 0,   /* look for a fill value: an extreme that stands far from all other values */
    FLOE_FILL_NONE = 1,   /* every finite value is data */
    FLOE_FILL_VALUE = 2,  /* fill_value marks missing cells */
    FLOE_FILL_INTEGER = 3 /* fill_integer does, in fields of integers: i64 has values that no double has */
} floe_fill_mode;

typedef struct floe_params {
    size_t size;
    floe_bound_mode mode;
    double bound; /* meaning by mode; ignored when lossless */
    floe_codec codec;
    floe_preset preset;
    floe_fill_mode fill;
    /* compared after conversion to the field's dtype, bit for bit: ARGUMENT where that overflows, or becomes 0; integers: whole */
    double fill_value;
    uint64_t chunk[FLOE_MAX_RANK]; /* shape of a chunk, slowest first; all 0: chosen by floe */
    uint32_t chunk_rank;           /* axes given in chunk; 0: chosen by floe */
    int64_t fill_integer;          /* of FLOE_FILL_INTEGER */
} floe_params;

/* abs = 0 (invalid until a bound is set), codec auto, preset balanced, fill auto, chunk chosen by floe. */
void floe_params_init(floe_params *params);

/* Reads "rel=1e-3 preset=fast": words separated by blanks or commas, each key=value or `lossless`.
 * Keys: abs rel pwrel psnr lossless ratio rate prec codec preset fill chunk. Starts from floe_params_init. err may be NULL. */
floe_status floe_params_parse(floe_params *params, const char *text, floe_error *err);

/* Writes the text form back (always NUL-terminated; FLOE_ERR_CAPACITY when it does not fit). */
floe_status floe_params_format(const floe_params *params, char *text, size_t capacity);

/* ---- context --------------------------------------------------------------------------------------------------- */

typedef enum floe_backend { FLOE_BACKEND_AUTO = 0, FLOE_BACKEND_CPU = 1, FLOE_BACKEND_CUDA = 2 } floe_backend;

typedef enum floe_isa { FLOE_ISA_AUTO = 0, FLOE_ISA_PLAIN = 1, FLOE_ISA_AVX2 = 2 } floe_isa;

typedef struct floe_ctx_options {
    size_t size;
    floe_backend backend;    /* AUTO: where the data lie: host memory on the CPU, device memory on the GPU */
    uint32_t threads;        /* 0: OMP_NUM_THREADS, or a thread a processor; fewer where no more can be had */
    floe_isa isa;            /* AUTO: the best that the processor has; bytes do not depend on it */
    uint64_t max_elems;      /* reader limit: elements of a field; 0: none */
    uint64_t max_memory;     /* limit on what floe allocates for it, on the host and on the GPU each; 0: none */
    void *workspace;         /* scratch memory of the caller, 64-byte aligned; NULL: floe allocates and keeps its own */
    size_t workspace_nbytes; /* with it compress and decompress on the CPU allocate nothing; on a GPU: docs/api.md */
    /* what follows matters where a GPU works */
    int device;             /* its number + 1; 0: the one that is current when first needed; below: ARGUMENT */
    void *stream;           /* cudaStream_t on which all is ordered; NULL: the default stream */
    void *device_workspace; /* scratch in device memory, 256-byte aligned; NULL: floe allocates and keeps its own */
    size_t device_workspace_nbytes;
} floe_ctx_options;

typedef struct floe_ctx floe_ctx;

/* options may be NULL (all defaults). On failure *ctx is NULL, or a context that serves only floe_ctx_message and
 * floe_ctx_free: free it either way. */
floe_status floe_ctx_create(floe_ctx **ctx, const floe_ctx_options *options);
void floe_ctx_free(floe_ctx **ctx);
/* What the last failed call of this context had to say; "" when none failed. Valid until the next call. */
const char *floe_ctx_message(const floe_ctx *ctx);

/* What the last compress, decompress or verify of this context did. */
typedef struct floe_stats {
    size_t size;
    uint64_t nelems;          /* elements handled */
    uint64_t raw_nbytes;      /* their size */
    uint64_t stream_nbytes;   /* size of the whole .floe stream */
    uint64_t nexceptions;     /* values stored bit for bit outside the predictor (compress only) */
    double max_error;         /* largest |x - y| over finite values; compress and verify */
    double max_pw_error;      /* largest |x - y| / |x| over finite non-zero values; pwrel and verify only, else NaN */
    uint64_t nchunks;         /* chunks in the stream */
    uint64_t nchunks_damaged; /* salvage: chunks that have lost values */
} floe_stats;
/* ARGUMENT: stats is NULL, or its size was not set. ctx may be NULL: nothing was done. */
floe_status floe_ctx_stats(const floe_ctx *ctx, floe_stats *stats);

/* ---- compress and decompress in memory ------------------------------------------------------------------------- */

/* The most bytes that floe_compress can need for this field; 0 when field or params are invalid. */
uint64_t floe_compress_bound(const floe_field *field, const floe_params *params);

/* Why the values of such a field are read more than once where their source can seek: bits. 0: one pass, or invalid params. */
typedef enum floe_passes {
    FLOE_PASSES_RANGE = 1, /* the bound depends on the range */
    FLOE_PASSES_CODEC = 2, /* a sample decides on the codec */
    FLOE_PASSES_FILL = 4   /* a fill value is looked for */
} floe_passes;
uint32_t floe_compress_passes(const floe_field *field, const floe_params *params);

/* The scratch that compressing or decompressing such a field needs with this context. */
floe_status floe_workspace_nbytes(floe_ctx *ctx, const floe_field *field, const floe_params *params, size_t *nbytes);

/* field -> dst[0 .. *nbytes); what lies behind may change, up to capacity. FLOE_ERR_CAPACITY when that is too small. */
floe_status floe_compress(floe_ctx *ctx, const floe_field *field, const floe_params *params, void *dst,
                          uint64_t capacity, uint64_t *nbytes);

/* Stream -> out, whose dtype and shape must be those of the stream (strides are free). */
floe_status floe_decompress(floe_ctx *ctx, const void *src, uint64_t nbytes, floe_field *out);

/* The box lo[i] <= index[i] < hi[i] of the stream's field -> out, whose shape must be hi - lo.
 * Reads only the chunks, and decodes only the tiles, that the box touches. */
floe_status floe_decompress_region(floe_ctx *ctx, const void *src, uint64_t nbytes, const uint64_t *lo,
                                   const uint64_t *hi, floe_field *out);

/* A preview -> out, whose shape is ceil(n / 2^level) of the stream's. Codec interp: every 2^level-th value of each axis, bit for bit as
 * floe_decompress gives it. Codec wavelet: means; fill and NaN are filled smoothly, and of pwrel signs are left out. Both keep values
 * coarse first: only the bytes of the level are read, which may be few (floe_stream_level_nbytes). Scratch is in proportion to the values of the
 * level (docs/api.md, memory). The checksum of a chunk is checked only where all of it is read; parts of a level have checks of their own,
 * in chunks of interp and wavelet since version 3. UNSUPPORTED above
 * floe_info.levels. */
floe_status floe_decompress_level(floe_ctx *ctx, const void *src, uint64_t nbytes, uint32_t level, floe_field *out);

/* ---- on a GPU ---------------------------------------------------------------------------------------------------- */

/*
 * A field may lie in the device memory of the context's GPU (floe_field.place = FLOE_DEVICE), and so may a stream, aligned to
 * 16 bytes. floe_compress, floe_decompress and floe_decompress_region wait for the result; they take field and stream in either
 * memory, floe_verify the stream. What floe_stream_info and floe_stream_attr read is in host memory. The bytes are the CPU's.
 *
 * The calls below only put work on the context's stream: nothing waits or allocates, provided that all lies in device memory
 * and the device workspace is large enough (a context's own grows, waiting for the device, where it is not). So they can be
 * captured in a CUDA graph; the graph may be replayed with other values in the same buffers. It works in the context's memory:
 * beside no other call or graph of that context, and no more after a call for which the workspace has grown.
 */

/* What came of a call; lies in device memory, complete when the stream has come this far. */
typedef struct floe_device_report {
    uint64_t nbytes; /* of the .floe stream; 0 when status is not FLOE_OK */
    uint32_t status; /* a floe_status */
    uint32_t reserved;
    uint64_t nexceptions;           /* compress: as in floe_stats */
    double max_error, max_pw_error; /* compress: as in floe_stats */
} floe_device_report;

/* The scratch in device memory that compressing or decompressing such a field needs, whichever is more. */
floe_status floe_device_workspace_nbytes(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                                         size_t *nbytes);

/* Device field -> dst (device memory, capacity bytes). Not for what takes several rounds with the host: psnr, ratio, rate but by
 * codec zfp, and codec auto in presets balanced and best: name one, such as lorenzo. */
floe_status floe_compress_async(floe_ctx *ctx, const floe_field *field, const floe_params *params, void *dst,
                                uint64_t capacity, floe_device_report *report);

/* Device stream -> out. nbytes: of the stream, or at most so many where dev_nbytes (may be NULL) points to the true
 * number in device memory, such as the nbytes of a floe_device_report. params (NULL: the default) are those of the stream: by
 * another codec it is FLOE_ERR_UNSUPPORTED, in smaller chunks it may be FLOE_ERR_LIMIT, for want of workspace. */
floe_status floe_decompress_async(floe_ctx *ctx, const void *src, uint64_t nbytes, const uint64_t *dev_nbytes,
                                  const floe_params *params, floe_field *out, floe_device_report *report);

/* ---- what a stream says about itself --------------------------------------------------------------------------- */

/* Without padding: no byte of what is filled is left to chance. */
typedef struct floe_info {
    size_t size;
    uint32_t format_version;
    floe_dtype dtype;
    uint32_t rank, nattrs;
    uint64_t shape[FLOE_MAX_RANK];
    uint64_t chunk[FLOE_MAX_RANK]; /* shape of a full chunk */
    uint64_t nchunks;
    floe_codec codec;
    floe_preset preset;
    floe_bound_mode mode;
    int has_fill;
    double fill_value;           /* of i64: rounded to nearest */
    int64_t fill_integer;        /* exactly, of i32 and i64 */
    double bound;                /* as requested */
    double abs_bound;            /* as resolved to an absolute bound; 0 when lossless, NaN for pwrel, rate and prec */
    double value_min, value_max; /* over finite, valid values, i64 rounded to nearest; NaN when not known */
    uint64_t raw_nbytes;
    uint64_t stream_nbytes; /* as far as known: of what was handed in; 0 for a source of unknown size */
    uint32_t levels;        /* the highest that floe_decompress_level takes; 0: none but all values */
    uint32_t reserved;      /* 0 */
} floe_info;

/* How many of the first bytes of a stream floe_stream_info and floe_stream_attr need: its header, attributes included; at most 1 MiB.
 * The first 16 bytes say how many. Of fewer, perhaps none, it says 16: read so many and ask again. */
floe_status floe_stream_header_nbytes(const void *src, uint64_t nbytes, uint64_t *header_nbytes, floe_error *err);

/* Needs the first bytes of a stream only as far as its header reaches, so a truncated stream can be looked at, too. */
floe_status floe_stream_info(const void *src, uint64_t nbytes, floe_info *info, floe_error *err);

/* Attributes: short UTF-8 texts kept with the field, such as name and units. */
typedef struct floe_attr {
    const char *key;
    const char *value;
} floe_attr;
/* Attribute i of a stream; the texts are copied out, NUL-terminated, cut to the capacities, if need
 * be within a character. */
floe_status floe_stream_attr(const void *src, uint64_t nbytes, uint32_t i, char *key, size_t key_capacity, char *value,
                             size_t value_capacity);
/* How long its texts are, without NUL: floe_stream_attr cuts nothing where both capacities are larger. Either pointer may be NULL. */
floe_status floe_stream_attr_nbytes(const void *src, uint64_t nbytes, uint32_t i, size_t *key_nbytes,
                                    size_t *value_nbytes);

/* How many bytes of the stream a level takes: its header, and the first bytes of all chunks. A stream that is cut short may have all of
 * them; FORMAT where it has not. */
floe_status floe_stream_level_nbytes(floe_ctx *ctx, const void *src, uint64_t nbytes, uint32_t level,
                                     uint64_t *level_nbytes);

/* How a chunk is coded, as lines of text, for people to read; "" where its codec has nothing to say. NUL-terminated; CAPACITY where it
 * does not fit: 16 KiB suffice. */
floe_status floe_stream_plan(floe_ctx *ctx, const void *src, uint64_t nbytes, uint64_t chunk, char *text,
                             size_t capacity);

/* Decodes the stream and checks every value of original, which is in host memory, against the bound in the header, exactly.
 * With rate and prec there is none: then only what must come back bit for bit is checked, and the errors are found.
 * FLOE_ERR_BOUND, with the first place in the message, when one is outside. Fills the context's stats. */
floe_status floe_verify(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_field *original);

/* ---- streaming: fields larger than memory ---------------------------------------------------------------------- */

/* Where bytes come from. read puts up to nbytes at offset into dst and says how many it got (fewer only at the end).
 * A source that is not seekable is read strictly forward. nbytes_total is UINT64_MAX when unknown. */
typedef struct floe_source {
    void *user;
    floe_status (*read)(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got);
    uint64_t nbytes_total;
    int seekable;
} floe_source;

/* Where bytes go, strictly forward. */
typedef struct floe_sink {
    void *user;
    floe_status (*write)(void *user, const void *src, size_t nbytes);
} floe_sink;

/* Called between chunks with the work done so far; a return other than 0 stops the call with FLOE_ERR_IO. NULL: none. */
typedef int (*floe_progress_fn)(void *user, uint64_t done, uint64_t total);

typedef struct floe_stream_options {
    size_t size;
    const floe_attr *attrs;
    uint32_t nattrs;
    floe_progress_fn progress;
    void *progress_user;
    /* decompress: values of damaged chunks become NaN (integers: the fill value, else the least number); chunks are counted, no error */
    int salvage;
    const uint64_t *lo, *hi; /* decompress: only this box; NULL: all (a box needs a seekable source) */
    void (*damaged)(void *user, uint64_t chunk, const uint64_t *lo, const uint64_t *hi, const char *why);
    void
        *damaged_user; /* salvage: damaged takes each box of lost values: a chunk, or, of codec interp, a part of one */
    /* decompress: the values of a level, as floe_decompress_level; lo and hi are of all values, the boxes that damaged takes
     * are of the level's. With salvage a stream that is cut short gives the levels whose bytes are there. */
    uint32_t level;
} floe_stream_options;

/* Raw little-endian C-order elements from source -> .floe stream into sink. layout gives dtype and shape; its data is
 * ignored. rel, psnr, ratio, rate but by codec zfp, and codec auto in presets balanced and best read the source more than once: it must be
 * seekable, or hold a single slab of chunks (see docs/api.md), else FLOE_ERR_UNSUPPORTED. Where it is neither, fill=auto means fill=none.
 * Memory stays bounded by a few chunks. options may be NULL. */
floe_status floe_compress_stream(floe_ctx *ctx, const floe_field *layout, const floe_params *params,
                                 const floe_source *source, const floe_sink *sink, const floe_stream_options *options);

/* .floe stream from source -> raw little-endian C-order elements into sink. info (may be NULL) is filled as soon as the
 * header is read, before the first write. */
floe_status floe_decompress_stream(floe_ctx *ctx, const floe_source *source, const floe_sink *sink,
                                   const floe_stream_options *options, floe_info *info);

/* The same in memory: floe_compress with attributes and progress; floe_decompress with a box, a level or both, salvage and progress. A
 * GPU that does all at once calls progress when it is done. floe_compress_bound knows of no attributes: with them dst needs, for each,
 * up to 16 bytes more than its texts. UNSUPPORTED: salvage into device memory. */
floe_status floe_compress_with(floe_ctx *ctx, const floe_field *field, const floe_params *params,
                               const floe_stream_options *options, void *dst, uint64_t capacity, uint64_t *nbytes);
floe_status floe_decompress_with(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_stream_options *options,
                                 floe_field *out);

/* ---- version --------------------------------------------------------------------------------------------------- */

const char *floe_version(void);

/* What there is to work with, as lines of text: threads, instruction set, GPU backend and where it was loaded from, the GPU; or why
 * there is none. Looks for the GPU that is current, as a first call that needs one does. As snprintf: returns the length that
 * there is, writes as much as fits, NUL included. */
size_t floe_describe(char *text, size_t capacity);

#ifdef __cplusplus
}
#endif

#include <floe/assess.h>

#endif
