# SPDX-License-Identifier: BSD-3-Clause
"""Rows of compare.py as Markdown tables and plots."""
import math
from xml.sax.saxutils import escape

PEERS = ("SZ3", "SPERR", "zfp")
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#999999", "#117733", "#882255")
MISSED = 1 + 1e-9  # rounding of the check itself
LEFT_OUT = 1.01    # what misses its bound by more has no ratio at that bound
WIDTH, HEIGHT, LEFT, BOTTOM = 720, 440, 60, 50


def coder_of(row):
    return f"{row['codec']} {row['preset']}".strip()


def columns_of(rows):
    """{coder: {(field, bound): row}}, without those that equal another everywhere, as presets that a codec ignores."""
    columns, seen = {}, []
    for row in rows:
        columns.setdefault(coder_of(row), {})[row["field"], row["bound"]] = row
    for coder, cases in list(columns.items()):
        ratios = {case: row["ratio"] for case, row in cases.items()}
        if ratios in seen:
            del columns[coder]
        seen.append(ratios)
    return columns


def mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def ratio_text(row):
    return "-" if row is None else number(row["ratio"]) + ("*" if row["error_over_bound"] > MISSED else "")


def table(head, rows, texts):
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    lines.insert(1, "|" + "---|" * texts + "---:|" * (len(head) - texts))
    return lines + [""]


# ---- words and tables ----------------------------------------------------------------------------------------------


def ratios(columns, peers):
    cases = list(dict.fromkeys(case for column in columns.values() for case in column))
    coders = [*peers, *(c for c in columns if c not in peers)]
    lines = table(["field", "bound", *coders],
                  [[*case, *(ratio_text(columns[c].get(case)) for c in coders)] for case in cases], 2)
    if any("*" in line for line in lines):
        lines += ["`*`: the bound is missed.", ""]
    return lines


def over(columns, coder, peer):
    """[(ratio over the peer's, case)], least first."""
    return sorted((row["ratio"] / columns[peer][case]["ratio"], case) for case, row in columns[coder].items()
                  if case in columns[peer] and columns[peer][case]["error_over_bound"] <= LEFT_OUT)


def gains(columns, peers):
    """Of each coder over each peer, and where a peer is ahead of all of floe."""
    own = [c for c in columns if c not in peers]
    rows, best = [], {}
    for coder in own:
        cells = [coder]
        for peer in peers:
            gain = over(columns, coder, peer)
            behind = sum(g < 1 for g, _ in gain)
            cells.append(f"{mean([g for g, _ in gain]):.3f} ({behind} of {len(gain)} behind)" if gain else "-")
            for g, case in gain:
                best[peer, case] = max(best.get((peer, case), (0, "")), (g, coder))
        rows.append(cells)
    lines = table(["geometric mean over", *peers], rows, 1) if peers else []
    for peer in peers:
        ahead = [f"{' '.join(case)} ({coder} has {g:.3f} of it)"
                 for g, coder, case in sorted((*b, case) for (p, case), b in best.items() if p == peer) if g < 1]
        lines.append(f"{peer} is ahead of all of floe: {'; '.join(ahead) or 'in no case'}.")
    return lines + [""]


def speeds(columns):
    rows = []
    for coder, column in columns.items():
        cells = [coder, next(iter(column.values()))["threads"]]
        for key in ("compress_mb_s", "decompress_mb_s"):
            found = [row[key] for row in column.values()]
            cells.append(f"{min(found):.0f} / {mean(found):.0f} / {max(found):.0f}")
        rows.append([str(c) for c in cells])
    return table(["coder", "threads", "compress, MB/s: least / mean / most", "decompress"], rows, 1)


def second_pass(columns, peers):
    """How much smaller another, general compressor makes the streams: what the entropy coder has left."""
    bounds = list(dict.fromkeys(case[1] for column in columns.values() for case in column))
    rows = [[coder, *(f"{mean([row['lzma_gain'] for case, row in column.items() if case[1] == b]):.3f}" for b in bounds)]
            for coder, column in columns.items() if coder not in peers]
    return table(["gain of a second pass by lzma", *bounds], rows, 1)


# ---- plots ---------------------------------------------------------------------------------------------------------


def ticks(low, high, step):
    return [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def plot(name, columns):
    """PSNR over bits a value, a line for each coder; the axis of bits is logarithmic to base 2."""
    lines = {}
    for coder, column in columns.items():
        points = [(math.log2(r["bits_per_value"]), r["psnr"]) for case, r in column.items()
                  if case[0] == name and math.isfinite(r["psnr"])]
        lines |= {coder: sorted(points)} if points else {}
    points = [p for line in lines.values() for p in line] or [(0, 0)]
    (x0, x1), (y0, y1) = ((min(v) - 0.2 * n, max(v) + 0.2 * n) for v, n in zip(zip(*points), (1, 20)))

    def at(x, y):
        return (f"{LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - 160):.1f}",
                f"{HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - BOTTOM - 40):.1f}")

    def text(x, y, words, anchor="middle"):
        return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', text(WIDTH / 2, 20, name),
           text((WIDTH - 100) / 2, HEIGHT - 10, "bits a value"), text(LEFT - 10, 34, "PSNR, dB", "end")]
    for x in ticks(x0, x1, 1):
        (left, top), (_, bottom) = at(x, y1), at(x, y0)
        out += [f'<path d="M{left} {top}V{bottom}" stroke="#ddd"/>', text(left, HEIGHT - BOTTOM + 18, f"{2.0 ** x:g}")]
    for y in ticks(y0, y1, 20):
        (left, height), (right, _) = at(x0, y), at(x1, y)
        out += [f'<path d="M{left} {height}H{right}" stroke="#ddd"/>', text(LEFT - 8, height, f"{y}", "end")]
    for i, (coder, line) in enumerate(lines.items()):
        style = f'stroke="{COLOURS[i % len(COLOURS)]}" stroke-dasharray="{"5 3" if coder in PEERS else "none"}"'
        places = [at(*p) for p in line]
        out.append(f'<polyline fill="none" {style} points="{" ".join(",".join(p) for p in places)}"/>')
        out += [f'<circle cx="{x}" cy="{y}" r="2.5" fill="{COLOURS[i % len(COLOURS)]}"/>' for x, y in places]
        out += [f'<path d="M{WIDTH - 150} {46 + 18 * i}h24" {style}/>', text(WIDTH - 120, 50 + 18 * i, coder, "start")]
    return "\n".join([*out, "</svg>\n"])


def report(rows, out):
    """Prints the tables and writes them and the plots. False where floe missed a bound."""
    columns = columns_of(rows)
    peers = [p for p in PEERS if p in columns]
    text = "\n".join([*ratios(columns, peers), *gains(columns, peers), *speeds(columns), *second_pass(columns, peers)])
    (out / "ratios.md").write_text(text, encoding="utf-8")
    print(text)
    for name in dict.fromkeys(row["field"] for row in rows):
        (out / f"{name}.svg").write_text(plot(name, columns), encoding="utf-8")
    missed = [row for row in rows if row["codec"] not in PEERS and not row["error_over_bound"] <= MISSED]
    for row in missed:
        print(f"FAIL: {row['field']} {row['bound']}: floe {coder_of(row)} missed the bound: {row['error_over_bound']} of it")
    return not missed
