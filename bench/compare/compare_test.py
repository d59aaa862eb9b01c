# SPDX-License-Identifier: BSD-3-Clause
"""compare_test.py FLOE: compare.py on one made-up field, without peers. Ratios are those that `floe info` has."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

FLOE = sys.argv[1]
BOUNDS = ["1e-2", "1e-4"]
SHAPE = "12x20x24"
SCRIPT = pathlib.Path(__file__).with_name("compare.py")


def run(*words, code=0):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def check_ratio(folder, row):
    stream = folder / "t.floe"
    run(FLOE, "compress", folder / "in" / "t.npy", "-o", stream, "-c", row["codec"], "-p", row["preset"], "-b", f"rel={row['bound']}",
        "--force", "--quiet")
    want = json.loads(run(FLOE, "info", stream, "--json"))["ratio"]
    assert abs(float(row["ratio"]) / want - 1) < 1e-12, (row, want)


def check_folder(folder, offered):
    with open(folder / "out" / "compare.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    per_bound = len(rows) // len(BOUNDS)  # a codec may refuse a preset
    assert offered // 2 < per_bound <= offered and [b for b in BOUNDS for _ in range(per_bound)] == [row["bound"] for row in rows]
    for row in rows:
        assert (row["field"], row["shape"], row["threads"]) == ("t", SHAPE, "1")
        assert 0 < float(row["error_over_bound"]) <= 1 and float(row["psnr"]) > 40 and float(row["lzma_gain"]) > 0.5
        assert float(row["compress_mb_s"]) > 0 and float(row["decompress_mb_s"]) > 0
        assert abs(float(row["ratio"]) * float(row["bits_per_value"]) - 32) < 1e-9
        check_ratio(folder, row)
    lines = xml.etree.ElementTree.parse(folder / "out" / "t.svg").findall("{http://www.w3.org/2000/svg}polyline")
    assert lines and all(len(line.get("points").split()) == len(BOUNDS) for line in lines)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "in").mkdir()
    run(FLOE, "fields", "turbulence", "--shape", SHAPE, "--dtype", "f32", "-o", folder / "in" / "t.npy")
    text = run(sys.executable, "-B", SCRIPT, "--floe", FLOE, "--out", folder / "out", "--no-peers", "--bounds", ",".join(BOUNDS), folder / "in")
    choices = [line.split("words='")[1].split("'")[0].split() for line in run(FLOE, "help", "--completion", "bash").splitlines()
               if "'compress --codec'" in line or "'compress --preset'" in line]
    assert "| field | bound | lorenzo" in text and "FAIL" not in text
    check_folder(folder, len(choices[0]) * len(choices[1]))
    (folder / "in" / "no_shape.f32").touch()
    assert "_XxYxZ" in run(sys.executable, "-B", SCRIPT, "--floe", FLOE, "--out", folder / "out", "--no-peers", folder / "in", code=1)
