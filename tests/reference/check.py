#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the reference decoder, and with it docs/format: golden files, the example in the documents, damage."""
import hashlib
import re
import sys
from pathlib import Path

import floe_decode

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


def example(page, file):
    """The bytes that the page shows are those of the file's only chunk."""
    shown = b""
    for at, row in re.findall(r"^([0-9a-f]{4})  ((?:[0-9a-f]{2} )+)", page.read_text(), re.MULTILINE):
        assert int(at, 16) == len(shown), "%s: a gap before %s" % (page, at)
        shown += bytes.fromhex(row)
    _, payloads = floe_decode.read_container(file.read_bytes())
    assert payloads == [shown], "%s does not show the bytes of %s" % (page, file)


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
            floe_decode.read_container(case)
        except floe_decode.Damaged:
            continue
        raise AssertionError("damage to %s was not seen" % file)
    return len(cases)


def main():
    folders = sorted((ROOT / "tests/golden").glob("v*"))
    assert folders, "no golden files"
    first = folders[0] / "example-f32.floe"
    example(ROOT / "docs/format/lorenzo_chunk.md", first)
    print("%d golden files, %d damaged ones" % (sum(golden(folder) for folder in folders), damage(first)))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
