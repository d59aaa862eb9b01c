# SPDX-License-Identifier: BSD-3-Clause
"""The part of the reference decoder that sums bytes: written from docs/format/container.md, "Checksums", and from the
specification of XXH3-64, whose seed is 0 here."""
import struct

from base import u32, u64

M64 = 2**64 - 1
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee035"
    "90e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04b"
    "cdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad0"
    "31ce45cb3a8f95160428afd7fbcabb4b407e")
P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def secret(at):
    return u64(SECRET, at)


def fold(a, b):
    p = a * b
    return (p ^ p >> 64) & M64


def rotate(v, n):
    return (v << n | v >> (64 - n)) & M64


def avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def avalanche_short(h):
    h = (h ^ h >> 33) * P64[1] & M64
    h = (h ^ h >> 29) * P64[2] & M64
    return h ^ h >> 32


def mix16(d, at, s):
    return fold(u64(d, at) ^ secret(s), u64(d, at + 8) ^ secret(s + 8))


def xxh3_short(d):
    n = len(d)
    if n == 0:
        return avalanche_short(secret(56) ^ secret(64))
    if n <= 3:
        v = d[0] << 16 | d[n >> 1] << 24 | d[n - 1] | n << 8
        return avalanche_short(v ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    if n <= 8:
        h = (u32(d, n - 4) + (u32(d, 0) << 32)) ^ secret(8) ^ secret(16)
        h = (h ^ rotate(h, 49) ^ rotate(h, 24)) * 0x9FB21C651E98DF25 & M64
        h = (h ^ (h >> 35) + n) * 0x9FB21C651E98DF25 & M64
        return h ^ h >> 28
    low = u64(d, 0) ^ secret(24) ^ secret(32)
    high = u64(d, n - 8) ^ secret(40) ^ secret(48)
    return avalanche(n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + fold(low, high) & M64)


def xxh3_long(d):
    n = len(d)
    acc = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]

    def stripe(at, s):
        for i, v in enumerate(struct.unpack_from("<8Q", d, at)):
            k = v ^ secret(s + 8 * i)
            acc[i ^ 1] = acc[i ^ 1] + v & M64
            acc[i] = acc[i] + (k & 0xFFFFFFFF) * (k >> 32) & M64

    for s in range((n - 1) // 64):
        stripe(64 * s, 8 * (s % 16))
        if s % 16 == 15:
            for i in range(8):
                acc[i] = (acc[i] ^ acc[i] >> 47 ^ secret(128 + 8 * i)) * P32[0] & M64
    stripe(n - 64, 121)
    h = n * P64[0]
    for i in range(0, 8, 2):
        h += fold(acc[i] ^ secret(11 + 8 * i), acc[i + 1] ^ secret(19 + 8 * i))
    return avalanche(h & M64)


def xxh3(d):
    n = len(d)
    if n <= 16:
        return xxh3_short(d)
    if n > 240:
        return xxh3_long(d)
    h = n * P64[0]
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            h += mix16(d, 16 * i, 32 * i) + mix16(d, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h & M64)
    for i in range(8):
        h += mix16(d, 16 * i, 16 * i)
    h = avalanche(h & M64)
    for i in range(8, n // 16):
        h += mix16(d, 16 * i, 16 * (i - 8) + 3)
    return avalanche(h + mix16(d, n - 16, 119) & M64)


def checksum(d):
    pieces = [d[i:i + 16384] for i in range(0, len(d), 16384)] or [b""]
    terms = (avalanche(xxh3(p) + (i + 1) * P64[0] & M64) for i, p in enumerate(pieces))
    return avalanche(len(d) * P64[1] + sum(terms) & M64)
