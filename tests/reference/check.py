#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py [FLOE]   checks the reference decoder, and with it docs/format: golden files, the example in the documents, damage; and levels of
these files against what the command FLOE decodes."""
import hashlib
import json
import re
import struct
import subprocess
import sys
from itertools import product
from pathlib import Path

import floe_decode
import zfp_decode
from base import Damaged
from container import read_container

ROOT = Path(__file__).resolve().parent.parent.parent


def golden(folder):
    """Every file decodes to the values whose checksum stands in SHA256SUMS."""
    sums = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())
    files = sorted(folder.glob("*.floe"))
    assert len(files) == len(sums), "%s: %d files, %d checksums" % (folder, len(files), len(sums))
    for file in files:
        _, values = floe_decode.decode(file.read_bytes())
        assert hashlib.sha256(values).hexdigest() == sums[file.stem + ".raw"], "%s: other values" % file
    return len(files)


def levels(floe, file):
    """Each is what the command decodes."""
    def command(name, *options):
        return subprocess.run([floe, name, file, *options], check=True, stdout=subprocess.PIPE).stdout

    count = len(json.loads(command("info", "--json")).get("level_nbytes", [0])) - 1
    for level in range(1, count + 1):
        _, values = floe_decode.decode(file.read_bytes(), level)
        assert values == command("decompress", "--level", str(level), "-o", "-", "--quiet"), "%s: level %d" % (file, level)
    return count


def example(page, file):
    """The bytes that the page shows are those of the file's only chunk."""
    shown = b""
    for at, row in re.findall(r"^([0-9a-f]{4})  ((?:[0-9a-f]{2} )+)", page.read_text(), re.MULTILINE):
        assert int(at, 16) == len(shown), "%s: a gap before %s" % (page, at)
        shown += bytes.fromhex(row)
    _, payloads = read_container(file.read_bytes())
    assert payloads == [shown], "%s does not show the bytes of %s" % (page, file)


def tables(page):
    """The orders of coefficients that the page shows are those that decode."""
    text = page.read_text()
    shown = [bytes.fromhex(block) for block in re.findall(r"^```\n((?:[0-9a-f]{2}[ \n])+)```$", text, re.MULTILINE)]
    assert shown == [zfp_decode.ORDER[rank] for rank in (2, 3, 4)], "%s shows other orders" % page


def plain_index(form, lengths, begin, partition):
    """An index of blocks of these lengths, C = 1, in a form that files of floe do not have."""
    n, places = len(lengths), [begin + sum(lengths[:i]) for i in range(len(lengths) + 1)]
    first = range(0, n, partition)
    heads = {zfp_decode.OFFSETS: places[:-1], zfp_decode.LENGTHS: [], zfp_decode.HYBRID: places[:-1:partition]}[form]
    rest = {zfp_decode.OFFSETS: [], zfp_decode.LENGTHS: lengths,
            zfp_decode.HYBRID: [v for i in first for v in lengths[i:min(i + partition, n) - 1]]}[form]
    words = b"".join(v.to_bytes(8, "little") for v in heads) + b"".join(v.to_bytes(2, "little") for v in rest)
    words += bytes(-len(words) % 4)
    has = form == zfp_decode.HYBRID
    head = bytes([form, 0 if form == zfp_decode.OFFSETS else 16, 0, 0, 0, 0, 0, 0]) + struct.pack("<II", 1, partition if has else 0)
    return head + struct.pack("<QQQQ", n, begin, places[-1], len(words) // 4) + words


def indexes(page):
    """The example of the page, and its places in the other forms."""
    shown = bytes.fromhex("".join(re.findall(r"^[0-9a-f]{2}  ((?:[0-9a-f]{2} ?)+)", page.read_text(), re.MULTILINE)))
    lengths, begin = [40, 43, 41, 47, 40, 1], 96
    want = {i: begin + sum(lengths[:i]) for i in range(7)}
    assert zfp_decode.read_index(shown, 308) == (want, len(shown)), "%s shows another index" % page
    for form, partition in product(range(3), (1, 4, 6, 7)):
        data = plain_index(form, lengths, begin, partition)
        assert zfp_decode.read_index(data, 308) == (want, len(data)), "an index of form %d" % form


def damage(file):
    """No flipped bit and no cut passes."""
    data = file.read_bytes()
    cases = [data[:n] for n in range(len(data))]
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        cases.append(bytes(flipped))
    for case in cases + [data + b"\0"]:
        try:
            read_container(case)
        except Damaged:
            continue
        raise AssertionError("damage to %s was not seen" % file)
    return len(cases)


def main():
    folders = sorted((ROOT / "tests/golden").glob("v*"))
    assert folders, "no golden files"
    first = folders[0] / "example-f32.floe"
    example(ROOT / "docs/format/lorenzo_chunk.md", first)
    tables(ROOT / "docs/format/zfp.md")
    indexes(ROOT / "docs/format/index.md")
    files = sum(golden(folder) for folder in folders)
    nlevels = sum(levels(*sys.argv[1:], file) for folder in folders for file in folder.glob("*.floe")) if sys.argv[1:] else 0
    print("%d golden files, %d of their levels, %d damaged ones" % (files, nlevels, damage(first)))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
