#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ratios, errors and speeds of all codecs and presets of floe beside SZ3, SPERR and zfp, on each field of a folder.

    bench/compare/compare.py [--floe build/floe] [--out FOLDER] [--bounds 1e-1,1e-2] [--no-peers] [FOLDER]
    bench/compare/compare.py --psnr 50,70,90 [--floe build/floe] [FOLDER]

FOLDER holds .npy files, or raw little-endian arrays called NAME_XxYxZ.f32 or .f64, fastest axis first. Without it, fields
are made by `floe fields`. Bounds are relative to the range that floe finds, and the same absolute bound is given to all.
Every output is decoded and checked value by value. OUT gets compare.csv, ratios.md and a rate-distortion plot of each field.

With --psnr, codec wavelet alone, preset best, beside SPERR: SPERR gets each PSNR in dB, floe the one that SPERR came
to, and a table of their ratios goes to the standard output.

What is timed: of floe, whole calls in memory by `floe bench`; of SZ3, the calls of its Python module pysz; of SPERR and zfp,
writing and reading a chunk through the HDF5 filter of hdf5plugin, in a file that is in memory, so with HDF5's copies.
Speeds are the best of --repeats, in MB (10^6 bytes) of uncompressed data a second.
"""
import argparse
import csv
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

COLUMNS = ("field", "shape", "codec", "preset", "bound", "ratio", "bits_per_value", "error_over_bound", "psnr",
           "compress_mb_s", "decompress_mb_s", "threads", "lzma_gain")
MADE = {kind: "96x96x96" for kind in ("turbulence", "lognormal", "mixing", "orbitals", "seismic")} | {"weather": "24x192x192"}


def fail(why):
    sys.exit(f"compare: {why}")


def enter_venv(folder, modules):
    """Goes on in a virtual environment that has the modules, made where this Python lacks one."""
    try:
        for module in modules:
            __import__(module)
        return
    except ImportError as lack:
        python = folder / "bin" / "python"
        if pathlib.Path(sys.executable) == python:
            fail(f"{lack}, although it was installed into {folder}")
    if not python.exists() or subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode:
        print(f"compare: installing {', '.join(modules)} into {folder}", file=sys.stderr)
        for command in ([sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "-q", *modules]):
            if subprocess.run(command, stdout=sys.stderr).returncode:
                fail("cannot install the peers (is there a network, and python3-venv?); --no-peers runs floe alone")
    os.execv(python, [str(python), *sys.argv])


class Field:
    def __init__(self, path):
        import numpy
        self.path, self.name, self.words = path, path.stem, []
        if path.suffix == ".npy":
            self.data = numpy.load(path)
        else:
            found = re.fullmatch(r"(.+)_((?:\d+x)*\d+)", path.stem)
            if not found:
                fail(f"{path.name}: its name does not end in _XxYxZ{path.suffix}")
            self.name, shape = found[1], [int(n) for n in found[2].split("x")][::-1]
            self.words = ["--dims", found[2], "--dtype", path.suffix[1:]]
            self.data = numpy.fromfile(path, "<" + path.suffix[1:].replace("f32", "f4").replace("f64", "f8"))
            self.data = self.data.reshape(shape)
        if self.data.dtype.kind != "f":
            fail(f"{path.name}: only f32 and f64 are compared")
        self.shape = "x".join(str(n) for n in self.data.shape)


def fields_of(args, scratch):
    if args.folder:
        paths = sorted(p for p in args.folder.iterdir() if p.suffix in (".npy", ".f32", ".f64"))
    else:
        paths = [scratch / f"{kind}.npy" for kind in MADE]
        for path in paths:
            run([args.floe, "fields", path.stem, "--shape", MADE[path.stem], "--dtype", "f32", "-o", path, "-q"])
    if not paths:
        fail(f"{args.folder} holds no .npy, .f32 or .f64 files")
    return [Field(path) for path in paths]


def judge(original, decoded, bound):
    """Largest error over the bound, and PSNR. What is not finite has to come back as it was."""
    import numpy
    finite = numpy.isfinite(original)
    kept = numpy.array_equal(original[~finite], decoded[~finite], equal_nan=True) and numpy.isfinite(decoded[finite]).all()
    if not kept or original.shape != decoded.shape:
        return float("inf"), float("nan")
    error = numpy.abs(original[finite].astype("f8") - decoded[finite].astype("f8"))
    rms = float(numpy.sqrt(numpy.mean(error * error)))
    return float(error.max()) / bound[0], 20 * numpy.log10(bound[1] / rms) if rms else float("inf")


# ---- floe ----------------------------------------------------------------------------------------------------------


def run(command, may_refuse=False):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode == 2 and may_refuse:
        return None
    if done.returncode:
        fail(f"{' '.join(str(word) for word in command)}: {done.stderr.strip()}")
    return done.stdout


def floe_coders(floe):
    """All (codec, preset) that the command offers; what it chooses itself comes last."""
    text = " ".join(run([floe, "help", "compress"]).split())
    codecs, presets = (re.search(rf"--{word} NAME [^[]*\[([^]]*)\]", text)[1].split() for word in ("codec", "preset"))
    return [(c, p) for c in sorted(codecs, key="auto".__eq__) for p in presets]


def floe_row(args, field, coder, bound, scratch):
    """None where the command refuses; else a row, and what bound floe made of it: absolute, and the range."""
    import numpy
    how = [*field.words, "--codec", coder[0], "--preset", coder[1], "--bound", f"rel={bound}", "--threads", args.threads]
    stream, decoded = scratch / "field.floe", scratch / "decoded.npy"
    report = run([args.floe, "compress", field.path, "-o", stream, *how, "--force", "--json"], may_refuse=True)
    if report is None:
        return None
    run([args.floe, "decompress", stream, "-o", decoded, "--force", "--quiet"])
    speeds = json.loads(run([args.floe, "bench", "--in", field.path, *how, "--repeats", args.repeats, "--json", "-"]))["rows"][0]
    absolute = json.loads(report)["abs_bound"]
    limits = (absolute, absolute / float(bound))
    error, psnr = judge(field.data, numpy.load(decoded), limits)
    packed = stream.read_bytes()
    row = row_of(field, coder, bound, len(packed), (error, psnr), (speeds["compress"]["max"], speeds["decompress"]["max"]))
    return row | {"threads": args.threads, "lzma_gain": len(packed) / len(lzma.compress(packed, preset=1))}, limits


def row_of(field, coder, bound, nbytes, quality, speeds):
    values = (field.name, field.shape, *coder, bound, field.data.nbytes / nbytes, 8 * nbytes / field.data.size, *quality, *speeds)
    return dict(zip(COLUMNS, values)) | {"threads": 1, "lzma_gain": ""}


# ---- peers ---------------------------------------------------------------------------------------------------------


def sz3(data, absolute):
    """The smaller stream of its two kinds of algorithms. Yields what hdf5_filter does."""
    from pysz import sz, szAlgorithm, szConfig, szErrorBoundMode
    found = []
    for algorithm in (szAlgorithm.INTERP_LORENZO, szAlgorithm.LORENZO_REG):
        config = szConfig()
        config.errorBoundMode, config.absErrorBound, config.cmprAlgo = szErrorBoundMode.ABS, absolute, algorithm
        started = time.perf_counter()
        stream, _ = sz.compress(data, config)
        packed = time.perf_counter()
        decoded, _ = sz.decompress(stream, data.dtype, data.shape)
        found.append((len(stream), decoded, packed - started, time.perf_counter() - packed))
    return min(found, key=lambda f: f[0])


def hdf5_filter(data, options):
    """Bytes, values, seconds there and back. It is read from another file, for HDF5 keeps chunks that were just written."""
    import h5py
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("field", data.shape, data.dtype, chunks=data.shape, **options)
        started = time.perf_counter()
        dataset[...] = data
        file.flush()
        packed = time.perf_counter() - started
        nbytes, image = dataset.id.get_storage_size(), file.id.get_file_image()
    with h5py.File(h5py.h5f.open_file_image(image)) as file:
        started = time.perf_counter()
        decoded = file["field"][...]
        return nbytes, decoded, packed, time.perf_counter() - started


def peers_of(data, value_range):
    """{name: function of an absolute bound}. SPERR and zfp are not made for fill values and NaN; SPERR needs 2 or 3 axes."""
    import hdf5plugin
    import numpy
    peers = {"SZ3": lambda b: sz3(data, b)}
    if numpy.ptp(data.astype("f8")) <= value_range * 1.001:  # of all values it is that of the valid ones: false with NaN too
        if data.ndim in (2, 3):  # without swap it would take the axes in reverse
            peers["SPERR"] = lambda b: hdf5_filter(data, hdf5plugin.Sperr(absolute=b, swap=True))
        peers["zfp"] = lambda b: hdf5_filter(data, hdf5plugin.Zfp(accuracy=b))
    return peers


def peer_rows(args, field, bound, limits):
    for name, code in peers_of(field.data, limits[1]).items():
        best = [float("inf")] * 2
        for _ in range(int(args.repeats)):
            nbytes, decoded, *seconds = code(limits[0])
            best = [min(pair) for pair in zip(best, seconds)]
        speeds = [field.data.nbytes / 1e6 / s for s in best]
        yield row_of(field, (name, ""), bound, nbytes, judge(field.data, decoded, limits), speeds)


def psnr_table(args, fields, scratch):
    """Ratio of codec wavelet over SPERR's where both have the same PSNR, or floe a higher one."""
    import hdf5plugin
    import numpy
    from compare_report import mean, table
    cases, stream, decoded = [], scratch / "field.floe", scratch / "decoded.npy"
    for field in fields:
        report = run([args.floe, "compress", field.path, "-o", stream, *field.words, "--bound", "rel=1e-2", "--force", "--json"])
        limits = (1, 100 * json.loads(report)["abs_bound"])
        if "SPERR" not in peers_of(field.data, limits[1]):
            continue
        for requested in args.psnr.split(","):
            nbytes, values, *_ = hdf5_filter(field.data, hdf5plugin.Sperr(peak_signal_to_noise_ratio=float(requested), swap=True))
            reached = judge(field.data, values, limits)[1]
            run([args.floe, "compress", field.path, "-o", stream, *field.words, "--codec", "wavelet", "--preset", "best",
                 "--bound", f"psnr={reached}", "--force", "--quiet"])
            run([args.floe, "decompress", stream, "-o", decoded, "--force", "--quiet"])
            if judge(field.data, numpy.load(decoded), limits)[1] < reached:
                fail(f"{field.name}: floe has not reached psnr={reached}")
            cases.append((field.name, reached, field.data.nbytes / nbytes, nbytes / stream.stat().st_size))
            print(f"{field.name} {requested}", file=sys.stderr)
    rows = [[name, f"{psnr:.2f}", f"{ratio:.2f}", f"{ratio * over:.2f}", f"{over:.3f}"] for name, psnr, ratio, over in cases]
    print("\n".join(table(["field", "PSNR", "SPERR", "wavelet best", "over SPERR"], rows, 1)))
    print(f"geometric mean {mean([c[-1] for c in cases]):.3f}, least {min(c[-1] for c in cases):.3f}")


# ---- all of it -----------------------------------------------------------------------------------------------------


def measure(args, fields, scratch):
    """Rows, written to the CSV file as they come."""
    coders, rows = floe_coders(args.floe), []
    with open(args.out / "compare.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        for field in fields:
            for bound in args.bounds:
                found = [f for f in (floe_row(args, field, coder, bound, scratch) for coder in coders) if f]
                case = [f[0] for f in found] + ([] if args.no_peers else list(peer_rows(args, field, bound, found[0][1])))
                table.writerows(case)
                file.flush()
                rows += case
                print(f"{field.name} {bound}", file=sys.stderr)
    return rows


def main():
    here = pathlib.Path(__file__).resolve().parent
    build = here.parent.parent / "build"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--floe", default=str(build / "floe"), help="the command (build/floe)")
    parser.add_argument("--out", type=pathlib.Path, default=build / "compare", help="where results go (build/compare)")
    parser.add_argument("--venv", type=pathlib.Path, default=build / "compare-venv", help="where peers are installed")
    parser.add_argument("--bounds", default="1e-1,1e-2,1e-3,1e-4,1e-5", help="relative bounds (1e-1,1e-2,1e-3,1e-4,1e-5)")
    parser.add_argument("--repeats", default="3", help="runs of which the best counts, at least 3")
    parser.add_argument("--threads", default="1", help="of floe; peers run on one (1)")
    parser.add_argument("--psnr", help="compare with SPERR at these PSNRs instead")
    parser.add_argument("--no-peers", action="store_true", help="floe alone: needs NumPy only")
    args = parser.parse_args()
    if not shutil.which(args.floe):
        fail(f"there is no {args.floe}; build it, or say --floe")
    if int(args.repeats) < 3:
        fail("--repeats is at least 3, as it is for floe bench")
    os.environ["OMP_NUM_THREADS"] = "1"
    enter_venv(args.venv.absolute(), ["numpy"] if args.no_peers else ["numpy", "h5py", "hdf5plugin", "pysz"])
    from compare_report import report
    args.bounds = args.bounds.split(",")
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        fields = fields_of(args, scratch)
        if args.psnr:
            psnr_table(args, fields, scratch)
            return
        rows = measure(args, fields, scratch)
    sys.exit(0 if report(rows, args.out) else 1)


if __name__ == "__main__":
    main()
