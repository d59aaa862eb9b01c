# SPDX-License-Identifier: BSD-3-Clause
"""floe_assess against NumPy, SciPy and scikit-image: crosscheck.py PROGRAM, where PROGRAM is crosscheck_values.

Fields of 1 to 4 axes, f32 and f64, some with NaN and infinities, here and there or in a whole corner, some with a large
offset, and some that vary by no more than a billionth of theirs. Every number that these libraries know is worked out by
them, from double precision copies of the values.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.ndimage
import scipy.special
import scipy.stats
from skimage.metrics import structural_similarity

PROGRAM = sys.argv[1]
failed = compared = 0
case = ""


def floe(x, y, *words):
    """Metrics by alias: a float, or an array."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("x", "y")]
        x.tofile(paths[0])
        y.tofile(paths[1])
        shape = "x".join(str(n) for n in x.shape)
        dtype = "f32" if x.dtype == np.float32 else "f64"
        text = subprocess.run([PROGRAM, shape, dtype, *paths, *words], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        name, *values = line.split()
        values = np.array([float(v) for v in values])
        found[name] = values if len(values) != 1 or ".edges" in name else values[0]
    return found


def same(found, name, want, tolerance=1e-11, scale=0.0):
    """Relative to the larger of the value itself and scale."""
    near(found, name, want, tolerance * np.maximum(np.abs(want), scale))


def near(found, name, want, limit):
    global failed, compared
    compared += 1
    got = np.asarray(found[name], dtype=float)
    want = np.asarray(want, dtype=float)
    with np.errstate(invalid="ignore"):
        right = got.shape == want.shape and np.all((np.abs(got - want) <= limit) | (got == want) | (np.isnan(got) & np.isnan(want)))
    if not right:
        failed += 1
        print(f"crosscheck: {case}: {name} is {got}, not {want}")


def values(found, prefix, v):
    deviation = np.std(v)
    same(found, prefix + "min", np.min(v))
    same(found, prefix + "max", np.max(v))
    same(found, prefix + "range", np.ptp(v))
    same(found, prefix + "mean", np.median(v) + np.mean(v - np.median(v)), scale=max(deviation, 2e-5 * np.max(np.abs(v))))
    same(found, prefix + "variance", np.var(v - np.median(v)))
    same(found, prefix + "std_dev", np.std(v - np.median(v)))
    same(found, prefix + "skewness", scipy.stats.skew(v - np.median(v)), scale=1)
    same(found, prefix + "kurtosis", scipy.stats.kurtosis(v - np.median(v), fisher=False), scale=1)


def errors(found, x, y):
    e = y - x
    mse = np.mean(e**2)
    same(found, "bias", np.mean(e), scale=np.sqrt(mse))
    same(found, "average_difference", np.mean(x - y), scale=np.sqrt(mse))
    same(found, "min_difference", np.min(e))
    same(found, "max_difference", np.max(e))
    same(found, "min_error", np.min(np.abs(e)))
    same(found, "avg_error", np.mean(np.abs(e)))
    same(found, "max_error", np.linalg.norm(e, np.inf))
    same(found, "max_rel_error", np.max(np.abs(e)) / np.ptp(x))
    ratio = np.abs(e[x != 0] / x[x != 0])
    same(found, "min_pw_rel_error", np.min(ratio))
    same(found, "avg_pw_rel_error", np.mean(ratio))
    same(found, "max_pw_rel_error", np.max(ratio))
    same(found, "mse", mse)
    same(found, "rmse", np.sqrt(mse))
    same(found, "nrmse", np.sqrt(mse) / np.ptp(x))
    same(found, "psnr", 20 * np.log10(np.ptp(x) / np.sqrt(mse)))
    same(found, "psnr_half", 20 * np.log10(np.ptp(x) / 2 / np.sqrt(mse)))
    same(found, "snr", 10 * np.log10(np.var(x - np.median(x)) / mse))
    same(found, "l1", np.linalg.norm(e, 1))
    same(found, "l2", np.linalg.norm(e, 2))
    dx, dy = x - np.median(x), y - np.median(y)
    same(found, "covariance", np.cov(dx, dy, bias=True)[0, 1])
    same(found, "pearson", scipy.stats.pearsonr(dx, dy)[0])
    same(found, "value_error_correlation", scipy.stats.pearsonr(dx, e)[0], 1e-9, scale=1)


def histograms(found, x, y):
    for name, v in (("value_histogram", x), ("decoded_histogram", y), ("error_pdf", y - x)):
        edges = found[name + ".edges"]
        same(found, name, np.histogram(v, np.append(edges[:-1], np.nextafter(edges[-1], np.inf)))[0], 0)
    same(found, "rel_error_pdf", found["error_pdf"], 0)
    p, q = found["value_histogram"], found["decoded_histogram"]
    width = found["value_histogram.edges"][1] - found["value_histogram.edges"][0]
    same(found, "entropy", scipy.stats.entropy(p, base=2), scale=1e-3)
    same(found, "decoded_entropy", scipy.stats.entropy(q, base=2), scale=1e-3)
    same(found, "kl", scipy.stats.entropy(p + 0.5, q + 0.5), scale=1e-3)
    same(found, "kl_reverse", scipy.stats.entropy(q + 0.5, p + 0.5), scale=1e-3)
    middles = (np.arange(len(p)) + 0.5) * width
    same(found, "wasserstein", scipy.stats.wasserstein_distance(middles, middles, p, q), 1e-9)
    same(found, "ks", np.max(np.abs(np.cumsum(p - q))) / len(x))
    same(found, "ks_pvalue", scipy.special.kolmogorov(np.sqrt(len(x) / 2) * found["ks"]), 1e-9, scale=1e-3)


def exact(found, x, y):
    same(found, "ks", scipy.stats.ks_2samp(x, y, mode="asymp")[0])
    same(found, "wasserstein", scipy.stats.wasserstein_distance(x, y), 1e-10)


def byte_entropy(found, prefix, field):
    counts = np.bincount(np.frombuffer(field.tobytes(), np.uint8), minlength=256)
    same(found, prefix + "entropy_bytes", scipy.stats.entropy(counts, base=2))


# ---- stencils ----------------------------------------------------------------------------------------------------------


# Pairs that do not count are NaN in both fields; so is what is made of them, wherever it is.


def centred(v):
    """v less its mean, and how far off a mean may be that is a double."""
    d = v - np.nanmedian(v)
    return d - np.nanmean(d), np.spacing(np.abs(np.nanmedian(v)))


def inner(v):
    return v[tuple(slice(1, -1) for _ in v.shape)]


def first(v):
    return [inner(g) for g in np.gradient(v)] if v.ndim > 1 else [inner(np.gradient(v))]


def second(v):
    return [inner(scipy.ndimage.convolve1d(v, [1, -2, 1], axis=a)) for a in range(v.ndim)]


def mixed(v):
    return [inner(np.gradient(np.gradient(v, axis=a), axis=b)) for a in range(v.ndim) for b in range(a)]


def precision(x, y, dtype):
    """Of derivatives, in the values' own size: f32 fields are worked on in f32, but for those of tight errors."""
    tight = np.nanmax(np.abs(y - x)) < 2**-17 * max(np.nanmax(np.abs(x)), np.nanmax(np.abs(y)))
    return 4e-7 if dtype == np.float32 and not tight else 1e-15


def compare(found, name, a, b, e, size, unit):
    """a and b are derivatives of the two fields, whose values are as large as size, e is their difference."""
    rmse = np.sqrt(np.mean(e**2))
    digits = unit * size / rmse  # those that a derivative of values far from 0 has left
    same(found, name + "_max_error", np.max(np.abs(e)), 1e-10 + 10 * digits)
    same(found, name + "_rmse", rmse, 1e-10 + digits / (1 if unit < 1e-12 else 20))
    same(found, name + "_psnr", 20 * np.log10(np.ptp(a) / rmse), 1e-10 + digits)


def stencils(found, x, y, unit, is_f32):
    """x, y as fields, in double. What is linear is taken of their difference, so that it has all its digits."""
    size = np.nanmax(np.abs(x))
    counts = np.isfinite(sum(second(x)))  # all that a point's stencil touches

    def at_points(derivatives):
        return [d[counts] for d in derivatives]

    d1, d2, digits = at_points(first(y - x)), at_points(second(y - x)), max(1e-10, unit)
    same(found, "derivative_points", counts.sum(), 0)
    same(found, "derivative_skipped", counts.size - counts.sum(), 0)
    for name, e in (("first", d1), ("second", d2)):
        same(found, name + "_max_error", np.squeeze([np.max(np.abs(d)) for d in e]), digits)
        same(found, name + "_rmse", np.squeeze([np.sqrt(np.mean(d**2)) for d in e]), digits)
    a, b = at_points(first(x)), at_points(first(y))
    for name, of in (
        ("gradient", lambda ds: np.sqrt(sum(d**2 for d in ds))),
        ("derivative", lambda ds: sum(np.abs(2 * d) for d in ds)),
    ):
        compare(found, name, of(a), of(b), of(b) - of(a), size, unit)
    compare(found, "divergence", sum(a), sum(b), sum(d1), size, unit)
    same(found, "gradient_max", np.max(np.sqrt(sum(d**2 for d in a))), digits, scale=1e-5 * size)
    same(found, "gradient_rms", np.sqrt(np.mean(sum(d**2 for d in a))), digits, scale=1e-5 * size)
    a, b = at_points(second(x)), at_points(second(y))
    for name, of in (
        ("second_gradient", lambda ds: np.sqrt(sum(d**2 for d in ds))),
        ("second_derivative", lambda ds: sum(np.abs(d) for d in ds)),
    ):
        compare(found, name, of(a), of(b), of(b) - of(a), size, unit)
    laplacian = [inner(scipy.ndimage.laplace(v))[counts] for v in (x, y, y - x)]
    compare(found, "laplacian", *laplacian, size, unit)
    same(found, "laplacian_rms", np.sqrt(np.mean(laplacian[0] ** 2)), digits, scale=1e-5 * size)
    e = np.nanmean((y - x) ** 2) + sum(np.mean(d**2) for d in d1)
    same(found, "sobolev_error", np.sqrt(e), digits)
    sobolev(found, x, 4e-7 if is_f32 else 1e-10)


DECODED = [f"decoded_{name}" for name in ("gradient_max", "gradient_rms", "laplacian_min", "laplacian_max", "laplacian_rms")]


def decoded(found, x, y, digits):
    """The decoded field by itself, at the points of both."""
    counts = np.isfinite(sum(second(x)))
    lengths = np.sqrt(sum(d**2 for d in first(y)))[counts]
    laplacian = sum(second(y))[counts]
    for name, want in zip(
        DECODED,
        (np.max(lengths), np.sqrt(np.mean(lengths**2)), np.min(laplacian), np.max(laplacian), np.sqrt(np.mean(laplacian**2))),
    ):
        same(found, name, want, digits, scale=1e-5 * np.nanmax(np.abs(y)))


def sobolev(found, x, digits):
    """Stencils have their corners, too."""
    counts = np.isfinite(sum(second(x)) + sum(mixed(x)))
    squares = [inner(x) ** 2, sum(d**2 for d in first(x)), sum(d**2 for d in second(x) + mixed(x))]
    for i in range(3):
        norm = np.sqrt(np.mean(sum(squares[: i + 1])[counts])) if counts.any() else np.nan
        same(found, f"sobolev_s{i}", norm, digits)


def autocorrelation(found, name, e):
    """Eq. 2 of the cuZ-Checker paper, as slices. Means are over couples of which both count."""
    d, last_digit = centred(e)
    want = []
    for lag in range(1, 11):
        if min(e.shape) <= lag:
            want.append(np.nan)
            continue
        box = d[tuple(slice(None, n - lag) for n in d.shape)]
        terms = []
        for a in range(d.ndim):
            shifted = d[tuple(slice(lag, None) if a == b else slice(None, n - lag) for b, n in enumerate(d.shape))]
            terms.append(np.nanmean(box * shifted))
        want.append(np.mean(terms) / np.nanvar(d))
    same(found, name, want, 1e-9 + 4 * last_digit / np.nanstd(d), scale=1)


# ---- windows and spectra -------------------------------------------------------------------------------------------------


def like(found, name, dtype, want, tolerance, share):
    """An SSIM. Of f32 its distance from 1 is found in f32, to `share` of it."""
    same(found, name, want, max(tolerance, share * abs(1 - want) / abs(want)) if dtype == np.float32 else tolerance)


def images(found, x, y, dtype):
    """Slices along the last two axes. scikit-image's mean leaves the borders out."""
    span = np.ptp(x)
    slices = [(x[i], y[i]) for i in np.ndindex(x.shape[:-2])]
    plain = [structural_similarity(a, b, data_range=span) for a, b in slices]
    like(found, "ssim_image", dtype, np.mean(plain), 1e-9, 2e-6)
    if min(x.shape[-2:]) >= 11:
        gaussian = [structural_similarity(a, b, data_range=span, gaussian_weights=True, sigma=1.5) for a, b in slices]
        same(found, "ssim_gaussian", np.mean(gaussian), 1e-9)


def similarity(found, x, y, dtype):
    """The definition, window by window; those with a pair that does not count are NaN."""
    axes = tuple(range(-x.ndim, 0))
    a, b = (np.lib.stride_tricks.sliding_window_view(v, (8,) * x.ndim) for v in (x, y))
    ma, mb = np.mean(a, axes, keepdims=True), np.mean(b, axes, keepdims=True)
    va, vb = np.mean((a - ma) ** 2, axes), np.mean((b - mb) ** 2, axes)
    cab = np.mean((a - ma) * (b - mb), axes)
    ma, mb = np.squeeze(ma, axes), np.squeeze(mb, axes)
    span = np.nanmax(x) - np.nanmin(x)
    c1, c2 = (0.01 * span) ** 2, (0.03 * span) ** 2
    index = (2 * ma * mb + c1) * (2 * cab + c2) / ((ma**2 + mb**2 + c1) * (va + vb + c2))
    counted = index[np.isfinite(index)]
    same(found, "ssim_windows", counted.size, 0)
    same(found, "ssim_skipped", index.size - counted.size, 0)
    if counted.size:
        like(found, "ssim", dtype, np.mean(counted), 1e-11, 5e-6)
        like(found, "ssim_min", dtype, np.min(counted), 1e-11, 1e-4)


def boxes(x, y):
    """scikit-image's windows in as many axes as there are; it knows odd ones only."""
    for window in (3, 5, 7):
        want = structural_similarity(x, y, win_size=window, data_range=np.ptp(x), use_sample_covariance=False)
        same(floe(x, y, f"window={window}", "ssim"), "ssim", want, 1e-9)


def spectrum(found, x, y, windowed):
    """By definition; transforms are rounded by some 1e-14 of the largest amplitude. What the mean is off by is in mode 0,
    and, where there is a window, in those beside it."""
    longest = max(x.shape)
    grid = np.meshgrid(*[np.fft.fftfreq(n) for n in x.shape], indexing="ij")
    shell = np.floor(np.sqrt(sum(k**2 for k in grid)) * longest + 0.5).astype(int).ravel()
    window = np.ones(x.shape)
    for a, n in enumerate(x.shape if windowed else ()):
        window *= (np.sin(np.pi * np.arange(n) / n) ** 2).reshape([-1 if a == b else 1 for b in range(x.ndim)])
    count = np.bincount(shell)[: longest // 2 + 1]
    power, rounding = [], []
    for name, v in (("spectrum_power", x), ("decoded_spectrum_power", y)):
        d, last_digit = centred(v)
        modes = np.abs(np.fft.fftn(np.nan_to_num(d) * window)) ** 2 / np.sum(window**2)
        modes.flat[0] *= windowed
        with np.errstate(invalid="ignore"):
            p = np.bincount(shell, modes.ravel())[: len(count)] / count
        power.append(p)
        rounding.append(1e-10 * p + 1e-13 * np.sqrt(p * np.nanmax(p)) + 1e-25 * np.nanmax(p))
        beside = int(np.sqrt(sum((longest / n) ** 2 for n in x.shape)) + 1.5)
        leaked = 4 * last_digit * np.sum(window) / np.sqrt(np.sum(window**2))
        rounding[-1][:beside] += windowed * leaked * np.sqrt(p[:beside])
        near(found, name, p, rounding[-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(power[0] > 1e-24 * np.nanmax(power[0]), power[1] / power[0], np.nan)
        limit = (rounding[1] + ratio * rounding[0]) / power[0]
    near(found, "spectrum_ratio", ratio, limit)
    near(found, "spectrum_deviation", np.nanmax(np.abs(ratio - 1)), np.nanmax(limit))
    same(found, "spectrum_filled", np.isnan(x).sum(), 0)


# ---- cases -------------------------------------------------------------------------------------------------------------


def fields(shape, dtype, kind, seed):
    random = np.random.default_rng(seed)
    grid = np.meshgrid(*[np.linspace(0, 3 + i, n) for i, n in enumerate(shape)], indexing="ij")
    x = np.sin(sum(grid)) + 0.05 * random.standard_normal(shape)
    y = x + 1e-3 * random.uniform(-1, 1.2, shape)
    if kind == "offset":
        x, y = 1e6 + 8 * x, 1e6 + 8 * y
    if kind == "tiny":  # a variation of 1e-3 on 1e6, of which f64 has seven digits
        x, y = 1e6 + 1e-3 * x, 1e6 + 1e-3 * y
    x, y = x.astype(dtype), y.astype(dtype)
    if kind == "special":
        x.ravel()[random.integers(0, x.size, x.size // 50)] = np.nan
        y.ravel()[random.integers(0, x.size, x.size // 50)] = np.inf
        x.ravel()[::97] = y.ravel()[::97] = -np.inf
    if kind == "hole":  # a corner, as land in an ocean has it, where the other field has numbers; and a few besides
        corner = tuple(slice(0, n // 2 + n // 20) for n in shape)
        x[corner], y[corner] = (np.nan, 1e20) if seed % 2 else (-1e30, np.nan)
        y.ravel()[random.integers(0, x.size, 3)] = np.inf
    return x, y


def check(shape, dtype, kind, seed):
    global case
    case = f"{shape} {np.dtype(dtype).name} {kind}"
    x, y = fields(shape, dtype, kind, seed)
    found = floe(x, y, "periodic")
    counts = np.isfinite(x) & np.isfinite(y)
    a, b = x[counts].astype(float), y[counts].astype(float)
    same(found, "n", counts.sum(), 0)
    same(found, "nan", np.isnan(x).sum(), 0)
    same(found, "decoded_inf", np.isinf(y).sum(), 0)
    values(found, "", a)
    values(found, "decoded_", b)
    errors(found, a, b)
    histograms(found, a, b)
    byte_entropy(found, "", x)
    byte_entropy(found, "decoded_", y)
    exact(floe(x, y, "exact", "ks wasserstein"), a, b)
    alone = floe(x, y, "original_autocorr spectrum " + " ".join(DECODED))
    x, y = (np.where(counts, v, np.nan).astype(float) for v in (x, y))
    stencils(found, x, y, precision(x, y, dtype), dtype == np.float32)
    autocorrelation(found, "autocorr", y - x)
    autocorrelation(alone, "original_autocorr", x)
    decoded(alone, x, y, max(1e-10, precision(x, y, dtype)))
    if min(shape) >= 8:
        similarity(found, x, y, dtype)
    if "spectrum_ratio" in found:
        spectrum(found, x, y, windowed=False)
        spectrum(alone, x, y, windowed=True)
    if kind != "plain":
        return
    if min(shape) >= 7:
        boxes(x, y)
    if x.ndim >= 2:
        images(found, x, y, dtype)


def main():
    seed = 0
    for shape in ((5000,), (64,), (60, 71), (48, 48), (20, 31, 42), (24, 24, 24), (7, 12, 13, 14)):
        for dtype in (np.float32, np.float64):
            for kind in ("plain", "offset", "tiny", "special", "hole"):
                seed += 1
                if kind != "tiny" or dtype == np.float64:
                    check(shape, dtype, kind, seed)
    print(f"crosscheck: {compared} numbers compared, {failed} differ")
    return failed > 0


sys.exit(main())
