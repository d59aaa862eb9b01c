/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

const cli_option cli_options[OPT_COUNT] = {
    [OPT_OUTPUT] = {"output", 'o', "OUT", "@", NULL, false, "write to OUT; - is standard output"},
    [OPT_BOUND] =
        {"bound", 'b', "MODE=VALUE", "abs= rel= pwrel= psnr= lossless ratio= rate= prec=", NULL, false,
         "the error that is allowed: abs=, rel= (of max - min), pwrel= (of each value), psnr= (dB), lossless; ratio= "
         "(looks for the abs= that makes the stream so much smaller); rate= (bits a value); prec= (bit "
         "planes, --codec zfp only)"},
    [OPT_ABS] = {"abs", 0, "VALUE", NULL, NULL, false, "short for --bound abs=VALUE"},
    [OPT_REL] = {"rel", 0, "VALUE", NULL, NULL, false, "short for --bound rel=VALUE"},
    [OPT_PWREL] = {"pwrel", 0, "VALUE", NULL, NULL, false, "short for --bound pwrel=VALUE"},
    [OPT_PSNR] = {"psnr", 0, "DB", NULL, NULL, false, "short for --bound psnr=DB"},
    [OPT_LOSSLESS] = {"lossless", 0, NULL, NULL, NULL, false, "short for --bound lossless"},
    [OPT_RATE] = {"rate", 0, "BITS", NULL, NULL, false, "short for --bound rate=BITS"},
    [OPT_PREC] = {"prec", 0, "PLANES", NULL, NULL, false, "short for --bound prec=PLANES"},
    [OPT_RATIO] = {"ratio", 0, "TIMES", NULL, NULL, false, "short for --bound ratio=TIMES"},
    [OPT_SHAPE] = {"shape", 's', "NxNxN", NULL, NULL, false,
                   "elements along each axis, slowest first (as NumPy and HDF5)"},
    [OPT_DIMS] = {"dims", 0, "NxNxN", NULL, NULL, false, "the same, fastest first (as zfp and SZ)"},
    [OPT_DTYPE] = {"dtype", 't', "TYPE", "f32 f64 i32 i64", NULL, false, "type of the elements"},
    [OPT_RAW] = {"raw", 0, NULL, NULL, NULL, false,
                 "a raw input is one, though it begins as a file of another format does"},
    [OPT_CODEC] = {"codec", 'c', "NAME", "auto lorenzo zfp interp wavelet", "auto", false, "how to predict"},
    [OPT_PRESET] = {"preset", 'p', "NAME", "best balanced fast", "balanced", false,
                    "what to weigh more: size or speed"},
    [OPT_FILL] = {"fill", 0, "VALUE", "auto none", "auto", false,
                  "the value of missing cells, kept bit for bit and outside the range; auto looks for one"},
    [OPT_CHUNK] = {"chunk", 0, "NxNxN", NULL, NULL, false,
                   "shape of the pieces that decode on their own, slowest first"},
    [OPT_ATTR] = {"attr", 0, "KEY=VALUE", NULL, NULL, true, "a short text kept with the field, such as units=K"},
    [OPT_VERIFY] = {"verify", 0, NULL, NULL, NULL, false,
                    "decode the result and check every value before it gets its name"},
    [OPT_STRICT] = {"strict", 0, NULL, NULL, NULL, false,
                    "fail where the bound is so wide that nearly all values may become one, instead of warning"},
    [OPT_REGION] = {"region", 0, "LO:HI,...", NULL, NULL, false,
                    "only this box, slowest axis first; an open end reaches to the border, as in 0:64,:,10:"},
    [OPT_LEVEL] =
        {"level", 0, "K", NULL, "0", false,
         "only every 2^K-th value of each axis, or means, from the first bytes of each chunk (codecs interp, wavelet)"},
    [OPT_SALVAGE] = {"salvage", 0, NULL, NULL, NULL, false,
                     "decode what is whole; the values of damaged chunks become NaN"},
    [OPT_AGAINST] = {"against", 0, "ORIG", "@", NULL, false, "compare with this array, raw or .npy"},
    [OPT_METRICS] =
        {"metrics", 'm', "LIST", NULL, NULL, false,
         "names, short names or groups (properties reduction stencil window spectrum all), separated by commas; "
         "'floe help metrics' explains them"},
    [OPT_FAIL_IF] = {"fail-if", 0, "GATE", NULL, NULL, true,
                     "exit code 4 where this holds, such as psnr<60; there are < <= > >= =="},
    [OPT_OUTSIDE] =
        {"bound", 'b', "MODE=VALUE", "abs= rel= pwrel=", NULL, false,
         "count the values that are farther off: abs= (0: all that differ), rel= (of max - min), pwrel= (of "
         "each value); of a .floe file its own"},
    [OPT_WINDOW] = {"window", 0, "N", NULL, "8", false, "edge of SSIM's window, 2 to 64"},
    [OPT_STEP] = {"step", 0, "N", NULL, "1", false, "distance of SSIM's windows"},
    [OPT_LAGS] = {"lags", 0, "N", NULL, "10", false, "lags of the autocorrelation, 1 to 64"},
    [OPT_BINS] = {"bins", 0, "N", NULL, "1024", false, "bins of the histograms of errors, at most; 64 to 4096"},
    [OPT_VALUE_BINS] = {"value-bins", 0, "N", NULL, "4096", false,
                        "bins of the histograms of values, at most; 64 to 16384"},
    [OPT_WORST] = {"worst", 0, "N", NULL, "8", false, "largest errors that are listed, 0 to 64"},
    [OPT_PERIODIC] = {"periodic", 0, NULL, NULL, NULL, false,
                      "opposite ends of the field meet: spectra are taken without a Hann window"},
    [OPT_EXACT] = {"exact", 0, NULL, NULL, NULL, false,
                   "KS and Wasserstein distance by sorting all values instead of from histograms"},
    [OPT_CONFIG] = {"config", 0, "FILE", "@", NULL, false, "also what this configuration of Z-checker switches on"},
    [OPT_MEMORY] = {"memory", 0, "MB", NULL, NULL, false,
                    "memory to take besides mapped inputs, in 10^6 bytes (default: half of the machine's)"},
    [OPT_MEMORY_LIMIT] = {"memory", 0, "MB", NULL, NULL, false,
                          "fail rather than take more memory for it, in 10^6 bytes (default: no limit)"},
    [OPT_MAX_ELEMS] = {"max-elems", 0, "N", NULL, NULL, false, "fail where the stream claims more values than N"},
    [OPT_SEED] = {"seed", 0, "N", NULL, "0", false, "another field of the same kind"},
    [OPT_FIELD] = {"field", 0, "KIND", NULL, "turbulence", true, "a kind of test field (see floe fields)"},
    [OPT_IN] = {"in", 'i', "FILE", "@", NULL, true, "measure this array instead; raw ones need --shape and --dtype"},
    [OPT_RAW_ZFP] = {"raw-zfp", 0, NULL, NULL, NULL, false, "the stream is a bare one of zfp, no .floe"},
    [OPT_NO_HEADER] = {"no-header", 0, NULL, NULL, NULL, false, "with --raw-zfp: write no header of zfp"},
    [OPT_INDEX] = {"index", 0, "FILE", "@", NULL, false, "with --raw-zfp: the side index of the stream"},
    [OPT_FORM] = {"form", 0, "NAME", "offsets lengths hybrid packed", "hybrid", false, "what the index keeps"},
    [OPT_BLOCKS] = {"blocks", 0, "N", NULL, "1", false, "index one in N blocks"},
    [OPT_PARTITION] = {"partition", 0, "N", NULL, "32", false,
                       "hybrid and packed: indexed blocks that share an offset"},
    [OPT_THREADS] = {"threads", 'j', "N", NULL, "0", false, "work on N threads; 0 takes OMP_NUM_THREADS, or all"},
    [OPT_THREADS_LIST] = {"threads", 'j', "N,...", NULL, "1", false, "measure with each of these numbers of threads"},
    [OPT_REPEATS] = {"repeats", 0, "N", NULL, "10", false, "measured runs after the warm-up, at least 3"},
    [OPT_PEERS] = {"peers", 0, NULL, NULL, NULL, false, "also measure zfp (serial, the same absolute bound)"},
    [OPT_LINK] = {"link", 0, "SPEED", NULL, NULL, false,
                  "also compute what a link of such a speed gains: 100MB/s, 1GB/s, 10Gbit/s"},
    [OPT_BACKEND] = {"backend", 0, "NAME", "auto cpu cuda", "cpu", false,
                     "where to work; auto: on a GPU, or on the CPU where there is none"},
    [OPT_ISA] = {"isa", 0, "NAME", "auto plain avx2", "auto", false,
                 "vector instructions; the bytes do not depend on them"},
    [OPT_FORCE] = {"force", 'f', NULL, NULL, NULL, false, "replace an existing output"},
    [OPT_JSON] = {"json", 0, NULL, NULL, NULL, false,
                  "print one JSON object on standard output (standard error if the data go there) and nothing else"},
    [OPT_JSON_FILE] = {"json", 0, "FILE", "@", NULL, false, "write the figures to FILE as JSON; - is standard output"},
    [OPT_CSV] = {"csv", 0, NULL, NULL, NULL, false, "print the metrics as CSV on standard output and nothing else"},
    [OPT_EXPLAIN] = {"explain", 0, NULL, NULL, NULL, false,
                     "say of each metric what it is: a line below it in the table, formulas in the JSON"},
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, NULL, false, "print nothing but errors"},
    [OPT_VERBOSE] = {"verbose", 0, NULL, NULL, NULL, false,
                     "version: also what there is to work with, as threads, instruction set, GPU or why there is none; "
                     "info: how chunks "
                     "are coded"},
    [OPT_MAN] = {"man", 0, NULL, NULL, NULL, false, "print the man page (groff)"},
    [OPT_COMPLETION] = {"completion", 0, "SHELL", "bash zsh fish", NULL, false, "print the completion for a shell"},
    [OPT_HELP] = {"help", 'h', NULL, NULL, NULL, false, "print this help"},
};

#define OPTS_BOUND                                                                                       \
    (CLI_OPT(OPT_BOUND) | CLI_OPT(OPT_ABS) | CLI_OPT(OPT_REL) | CLI_OPT(OPT_PWREL) | CLI_OPT(OPT_PSNR) | \
     CLI_OPT(OPT_LOSSLESS) | CLI_OPT(OPT_RATE) | CLI_OPT(OPT_PREC) | CLI_OPT(OPT_RATIO))
#define OPTS_ARRAY  (CLI_OPT(OPT_SHAPE) | CLI_OPT(OPT_DIMS) | CLI_OPT(OPT_DTYPE))
#define OPTS_INPUT  (OPTS_ARRAY | CLI_OPT(OPT_RAW))
#define OPTS_CODING (CLI_OPT(OPT_CODEC) | CLI_OPT(OPT_PRESET) | CLI_OPT(OPT_FILL) | CLI_OPT(OPT_CHUNK))
#define OPTS_INDEX  (CLI_OPT(OPT_FORM) | CLI_OPT(OPT_BLOCKS) | CLI_OPT(OPT_PARTITION))
#define OPTS_LIMITS (CLI_OPT(OPT_MEMORY_LIMIT) | CLI_OPT(OPT_MAX_ELEMS))
#define OPTS_RUN    (CLI_OPT(OPT_BACKEND) | CLI_OPT(OPT_ISA))
#define OPTS_ASSESS                                                                                              \
    (CLI_OPT(OPT_METRICS) | CLI_OPT(OPT_FAIL_IF) | CLI_OPT(OPT_LAGS) | CLI_OPT(OPT_VALUE_BINS) |                 \
     CLI_OPT(OPT_PERIODIC) | CLI_OPT(OPT_CONFIG) | CLI_OPT(OPT_MEMORY) | CLI_OPT(OPT_FILL) | CLI_OPT(OPT_JSON) | \
     CLI_OPT(OPT_CSV) | CLI_OPT(OPT_EXPLAIN))
#define OPTS_SAY (CLI_OPT(OPT_QUIET) | CLI_OPT(OPT_HELP))

const cli_command cli_commands[] = {
    {.name = "compress",
     .operands = "IN",
     .min_operands = 1,
     .max_operands = 1,
     .choices = "@",
     .summary = "make a .floe stream of an array, within a bound",
     .details =
         "IN is a raw array (little-endian, C order), a .npy file, or - for standard input. A raw array needs --shape "
         "(or --dims) and --dtype. One bound must be given. With --codec zfp rate= and prec= are sizes, not bounds: no "
         "error is promised, and the largest one is printed.\n"
         "Says the shape as understood, the absolute bound that it leads to, and at the end ratio, bits per value, "
         "the largest error reached and the speed.\n"
         "A bound relative to the range, looking for a fill value, or choosing a codec reads the input more than once: "
         "a pipe is then copied to an unlinked file in TMPDIR first. With --bound abs=, --fill none and --codec "
         "lorenzo "
         "it streams.\n"
         "With --raw-zfp OUT is a stream as libzfp writes it, and the bound is one of rate= (bits a value), prec= (bit "
         "planes), abs=, rel=, lossless or expert=MINBITS:MAXBITS:MAXPREC:MINEXP; no promise of floe's holds for it. "
         "--index also writes its side index.",
     .example = "floe compress t.f32 -o t.floe --bound rel=1e-3 --shape 160x160x160 --dtype f32",
     .options = CLI_OPT(OPT_OUTPUT) | OPTS_BOUND | OPTS_INPUT | OPTS_CODING | CLI_OPT(OPT_ATTR) | CLI_OPT(OPT_RAW_ZFP) |
                CLI_OPT(OPT_NO_HEADER) | CLI_OPT(OPT_INDEX) | OPTS_INDEX | CLI_OPT(OPT_THREADS) | OPTS_RUN |
                CLI_OPT(OPT_VERIFY) | CLI_OPT(OPT_STRICT) | CLI_OPT(OPT_FORCE) | CLI_OPT(OPT_JSON) | OPTS_SAY,
     .run = cmd_compress},
    {.name = "decompress",
     .operands = "IN",
     .min_operands = 1,
     .max_operands = 1,
     .choices = "@",
     .summary = "make the array of a .floe stream",
     .details =
         "Writes a .npy file where OUT ends in .npy, else the raw elements (little-endian, C order).\n"
         "With --salvage a damaged stream is decoded as far as it is whole; each lost chunk, or part of one, is named, "
         "its values become NaN, and the exit code is 3 when anything was lost.\n"
         "--level K gives a preview from few of the bytes: of codec interp each value as without it, of codec wavelet "
         "means. The "
         "checksums of chunks, which are of all their bytes, are not checked then: parts of a level have checks of "
         "their own, but in streams of floe's first formats of these codecs. With --salvage it works on a stream that "
         "was cut "
         "short.\n"
         "With --raw-zfp IN is a bare stream of zfp. Without its header it needs --shape, --dtype and --bound, or "
         "--index; and without an index one of variable rate is read by one thread of the CPU.",
     .example = "floe decompress t.floe -o t.npy --region 0:64,0:64,10:20",
     .options = CLI_OPT(OPT_OUTPUT) | CLI_OPT(OPT_REGION) | CLI_OPT(OPT_LEVEL) | CLI_OPT(OPT_SALVAGE) |
                CLI_OPT(OPT_RAW_ZFP) | CLI_OPT(OPT_INDEX) | OPTS_ARRAY | OPTS_BOUND | OPTS_LIMITS |
                CLI_OPT(OPT_THREADS) | OPTS_RUN | CLI_OPT(OPT_FORCE) | CLI_OPT(OPT_JSON) | OPTS_SAY,
     .run = cmd_decompress},
    {.name = "index",
     .operands = "IN",
     .min_operands = 1,
     .max_operands = 1,
     .choices = "@",
     .summary = "make the side index of a bare zfp stream",
     .details =
         "Reads through the stream once and writes where its blocks begin, so that it can be decoded in parallel: "
         "floe decompress --raw-zfp IN --index OUT. Without its header the stream needs --shape, --dtype and --bound.",
     .example = "floe index t.zfp -o t.zfpx --form packed",
     .options = CLI_OPT(OPT_OUTPUT) | OPTS_INDEX | OPTS_ARRAY | OPTS_BOUND | CLI_OPT(OPT_THREADS) | OPTS_RUN |
                CLI_OPT(OPT_FORCE) | CLI_OPT(OPT_JSON) | OPTS_SAY,
     .run = cmd_index},
    {.name = "info",
     .operands = "IN",
     .min_operands = 1,
     .max_operands = 1,
     .choices = "@",
     .summary = "say what a .floe stream holds",
     .details = "Reads the header; works on a stream that was cut short, too, and then says so. Of codecs interp and "
                "wavelet also "
                "how many bytes each level takes, and of codec interp with --verbose how its first chunks are coded.",
     .example = "floe info t.floe --json",
     .options = CLI_OPT(OPT_JSON) | CLI_OPT(OPT_VERBOSE) | CLI_OPT(OPT_HELP),
     .run = cmd_info},
    {.name = "verify",
     .operands = "IN",
     .min_operands = 1,
     .max_operands = 1,
     .choices = "@",
     .summary = "check a .floe stream, and its values against the original",
     .details =
         "With --against, decodes the stream and checks every value against the bound in the stream, exactly; exit "
         "code 4 when one is outside. Without, checks that every chunk is whole and decodes.",
     .example = "floe verify t.floe --against t.f32",
     .options = CLI_OPT(OPT_AGAINST) | CLI_OPT(OPT_RAW) | OPTS_LIMITS | CLI_OPT(OPT_THREADS) | OPTS_RUN |
                CLI_OPT(OPT_JSON) | OPTS_SAY,
     .run = cmd_verify},
    {.name = "check",
     .operands = "ORIG DECODED",
     .min_operands = 2,
     .max_operands = 2,
     .choices = "@",
     .summary = "measure what was lost: a decoded array, or a .floe file, against the original",
     .details =
         "Both may be raw, .npy or .floe. A raw array needs --shape (or --dims) and --dtype unless the other one "
         "has them. A "
         ".floe file adds ratio, bits per value and the time to decode it, and the count of values outside its bound.\n"
         "Without --metrics, all that applies is found. --backend says where .floe files are decoded and metrics "
         "found; "
         "what a GPU does not find (SSIM of derivatives, spectra without cuFFT) is found on the CPU.\n"
         "Inputs are mapped, so they may be larger than memory, and a .floe file that is larger is decoded to a "
         "temporary "
         "file in TMPDIR. Only spectra, --exact, SSIM of derivatives and integers need whole copies "
         "in memory; spectra that do not fit are left out, and the command says so.",
     .example = "floe check t.f32 t.floe --metrics psnr,ssim,autocorr --fail-if 'psnr<60'",
     .options = OPTS_ASSESS | OPTS_INPUT | CLI_OPT(OPT_OUTSIDE) | CLI_OPT(OPT_WINDOW) | CLI_OPT(OPT_STEP) |
                CLI_OPT(OPT_BINS) | CLI_OPT(OPT_WORST) | CLI_OPT(OPT_EXACT) | CLI_OPT(OPT_THREADS) | OPTS_RUN |
                OPTS_SAY,
     .run = cmd_check},
    {.name = "stat",
     .operands = "FIELD",
     .min_operands = 1,
     .max_operands = 1,
     .choices = "@",
     .summary = "report the properties of one array",
     .details =
         "FIELD may be raw, .npy or .floe. Range, moments, entropy, special values, derivatives, autocorrelation and "
         "spectrum, as far as they apply; otherwise as floe check.",
     .example = "floe stat t.npy --metrics range,entropy,gradient_max",
     .options = OPTS_ASSESS | OPTS_INPUT | CLI_OPT(OPT_THREADS) | OPTS_RUN | OPTS_SAY,
     .run = cmd_stat},
    {.name = "fields",
     .operands = "[KIND]",
     .min_operands = 0,
     .max_operands = 1,
     .summary = "make deterministic test fields",
     .details = "Without KIND, lists the kinds. The same bytes on any machine; any size, made in pieces.",
     .example = "floe fields turbulence --shape 512x512x512 --dtype f32 -o t.f32",
     .options =
         CLI_OPT(OPT_OUTPUT) | OPTS_ARRAY | CLI_OPT(OPT_SEED) | CLI_OPT(OPT_FORCE) | CLI_OPT(OPT_JSON) | OPTS_SAY,
     .run = cmd_fields},
    {.name = "bench",
     .operands = "",
     .min_operands = 0,
     .max_operands = 0,
     .summary = "measure speed and ratio on this machine",
     .details =
         "Times whole public calls in memory, the range scan included, after a warm-up; checks the round trip and the "
         "bound each time; measures memcpy of the same array in the same run beside them. Figures are uncompressed "
         "MB (10^6 bytes) a second.\n"
         "With --link a second table: the time to send the array as it is, and to compress, send and decompress it, "
         "one "
         "after another or chunk by chunk, where the slowest of the three sets the pace; and the speed of a link that "
         "gains nothing. It is computed from the median speeds; only those are measured.",
     .example = "floe bench --field turbulence --shape 256x256x256 --threads 1,2",
     .options = CLI_OPT(OPT_FIELD) | CLI_OPT(OPT_IN) | OPTS_INPUT | OPTS_BOUND | OPTS_CODING | CLI_OPT(OPT_SEED) |
                CLI_OPT(OPT_THREADS_LIST) | CLI_OPT(OPT_REPEATS) | CLI_OPT(OPT_PEERS) | CLI_OPT(OPT_LINK) | OPTS_RUN |
                CLI_OPT(OPT_FORCE) | CLI_OPT(OPT_JSON_FILE) | OPTS_SAY,
     .run = cmd_bench},
    {.name = "help",
     .operands = "[COMMAND|metrics]",
     .min_operands = 0,
     .max_operands = 1,
     .choices = "compress decompress index info verify check stat fields bench help version metrics",
     .summary = "explain a command",
     .details = "With metrics: all that check and stat find, with formulas. Also prints the man page and the shell "
                "completions, which are made from the same table.",
     .example = "floe help compress",
     .options = CLI_OPT(OPT_MAN) | CLI_OPT(OPT_COMPLETION) | CLI_OPT(OPT_HELP),
     .run = cmd_help},
    {.name = "version",
     .operands = "",
     .min_operands = 0,
     .max_operands = 0,
     .summary = "print the version",
     .details = NULL,
     .options = CLI_OPT(OPT_VERBOSE) | CLI_OPT(OPT_HELP),
     .run = cmd_version},
    {.name = NULL},
};

const char *const cli_exit_codes[] = {
    "0",  "done",
    "2",  "the request makes no sense: usage, parameters, an output that exists",
    "3",  "the input is not valid, damaged, or does not have the size it should have",
    "4",  "a value is outside the bound, or a gate of --fail-if failed",
    "5",  "reading or writing failed",
    "6",  "device or memory failed",
    NULL,
};
