#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ratios of floe on a folder of fields, beside those that GPU compressors reached at the same bounds.

    bench/ratio_peers.py [--floe build/floe] [--peers bench/peers.csv] [--bounds 1e-2,1e-3,1e-4] FOLDER

FOLDER holds raw little-endian f32 arrays called NAME_XxYxZ.f32, fastest axis first. Every stream is verified value by value
before it counts. Prints Markdown tables, geometric means, and PASS or FAIL for what floe promises; exits with 1 on any FAIL.
GPU compressors' figures are not measured here: they stand in the CSV file (`make compare` measures SZ3, SPERR and zfp). For
lossless, byte shuffle + zstd -3 is measured, where there is a zstd command.
"""
import argparse
import csv
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# (title, options of `floe compress`, peers, their title; whether it has to reach them in every case, or in the mean)
COMPARED = (("fast", ["-p", "fast"], ("cuSZp", "PFPL"), "best of cuSZp, PFPL", False),
            ("lorenzo balanced", ["-c", "lorenzo"], ("cuSZ", "cuSZp", "PFPL", "FZ-GPU"), "best Lorenzo peer", True),
            ("balanced", [], ("cuSZ-Hi",), "cuSZ-Hi", True),
            ("best", ["-p", "best"], ("cuSZ-Hi",), "", True))
LOSSLESS = "lossless"


class Field:
    def __init__(self, path):
        found = re.fullmatch(r"(.+)_((?:\d+x)*\d+)", path.stem)
        if not found:
            sys.exit(f"ratio_peers: {path.name}: its name does not end in _XxYxZ.f32")
        self.path, self.key, self.name, self.dims = path, path.stem, found[1], found[2]


def floe_ratio(floe, field, bound, options):
    """Compresses with --verify, so that a stream outside the bound is an error."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [floe, "compress", str(field.path), "-o", f"{scratch}/field.floe", "--dims", field.dims,
                   "--dtype", "f32", "--bound", bound, "--verify", "--json", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"ratio_peers: {field.key}: {done.stderr.strip()}")
        return json.loads(done.stdout)["ratio"]


def zstd_ratio(field):
    """Byte shuffle, all first bytes, then all second ones and so on, and zstd -3; None without zstd."""
    if not shutil.which("zstd"):
        return None
    raw = field.path.read_bytes()
    shuffled = b"".join(raw[i::4] for i in range(4))
    packed = subprocess.run(["zstd", "-3", "-q", "-c"], input=shuffled, capture_output=True, check=True).stdout
    return len(raw) / len(packed)


def read_peers(path):
    """{(field, bound): {peer: ratio}}"""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row.pop("field"), float(row.pop("bound"))): {k: float(v) for k, v in row.items() if v} for row in rows}


def text(ratio):
    return "-" if ratio is None else f"{ratio:.1f}" if ratio >= 100 else f"{ratio:.2f}"


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def print_head(cells, texts=1):
    print_row(cells)
    print("|" + "---|" * texts + "---:|" * (len(cells) - texts))


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else None


def judge(ok, what):
    print(f"{'PASS' if ok else 'FAIL'}: {what}")
    return ok


def bounded(floe, fields, bounds, peers):
    """Table and verdicts for error bounds relative to the range."""
    print_head(["field", "rel", *(t for title, _, _, names, _ in COMPARED for t in (title, names) if t)], 2)
    gains = {title: [] for title, *_ in COMPARED}
    for field in fields:
        for bound in bounds:
            known = peers.get((field.key, float(bound)), {})
            cells = [field.name, bound]
            for title, options, names, shown, _ in COMPARED:
                ratio = floe_ratio(floe, field, f"rel={bound}", options)
                best = max((known[n] for n in names if n in known), default=None)
                cells += [text(ratio)] + ([text(best)] if shown else [])
                if best:
                    gains[title].append((ratio / best, f"{field.name} {bound}"))
            print_row(cells)
    print()
    ok = True
    for title, _, names, _, always in COMPARED:
        if not gains[title]:
            continue
        mean, least = geometric_mean([g for g, _ in gains[title]]), min(gains[title])
        peer = f"the best of {', '.join(names)}" if len(names) > 1 else names[0]
        ok &= judge(mean >= 1 and (least[0] >= 1 or not always),
                    f"{title} over {peer}: geometric mean {mean:.3f}, least {least[0]:.3f} ({least[1]})")
    return ok


def lossless(floe, fields):
    print_head(["field, lossless", "shuffle + zstd -3", "fast", "balanced"])
    gains = []
    for field in fields:
        zstd, fast, balanced = zstd_ratio(field), *(floe_ratio(floe, field, LOSSLESS, ["-p", p]) for p in ("fast", "balanced"))
        print_row([field.name, text(zstd), text(fast), text(balanced)])
        if zstd:
            gains.append((balanced / zstd, field.name))
    print()
    if not gains:
        print("no zstd command: nothing to compare with")
        return True
    mean, least = geometric_mean([g for g, _ in gains]), min(gains)
    return judge(least[0] >= 1, f"balanced over shuffle + zstd -3, lossless: geometric mean {mean:.3f}, "
                                f"least {least[0]:.3f} ({least[1]})")


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--floe", default=str(here.parent / "build" / "floe"), help="the command (build/floe)")
    parser.add_argument("--peers", default=here / "peers.csv", help="what others reached (bench/peers.csv)")
    parser.add_argument("--bounds", default="1e-2,1e-3,1e-4", help="relative bounds (1e-2,1e-3,1e-4)")
    args = parser.parse_args()
    if not shutil.which(args.floe):
        sys.exit(f"ratio_peers: there is no {args.floe}; build it, or say --floe")
    fields = [Field(path) for path in sorted(args.folder.glob("*.f32"))]
    if not fields:
        sys.exit(f"ratio_peers: {args.folder} holds no .f32 files")
    ok = bounded(args.floe, fields, args.bounds.split(","), read_peers(args.peers))
    print()
    ok &= lossless(args.floe, fields)
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
