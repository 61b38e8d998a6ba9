"""Fourier transforms beside SciPy's and PyTorch's: `python -m benchmarks.transforms [cpu | cuda]`.

For each length the error of ours and of SciPy's (pocketfft) against the transform in a wider kind, in the root of the mean
square, in units of half the kind's rounding; then the time of rows that fill 256 MiB on a GPU and 8 MiB on the CPU.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

import baracuda as bc

LENGTHS = (
    60,
    64,
    97,
    100,
    128,
    243,
    256,
    512,
    1000,
    1024,
    2048,
    3125,
    4096,
    8192,
    10007,
    1 << 14,
    1 << 16,
    1 << 17,
    1 << 20,
    1 << 22,
)
_BYTES = {"cpu": 8 << 20, "cuda": 256 << 20}


def error(n: int, dtype: Any) -> tuple[float, float]:
    """Of ours and of SciPy's."""
    rng = np.random.default_rng(n)
    x = (rng.standard_normal((4, n)) + 1j * rng.standard_normal((4, n))).astype(dtype)
    wide = np.complex128 if dtype == np.complex64 else np.clongdouble
    exact = scipy.fft.fft(x.astype(wide))
    size = np.sqrt((np.abs(exact) ** 2).mean()) * np.finfo(dtype).eps / 2

    def of(y: Any) -> float:
        return float(np.sqrt((np.abs(y.astype(wide) - exact) ** 2).mean()) / size)

    return of(np.asarray(bc.fft(x))), of(scipy.fft.fft(x))


def _median(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Seconds of a call, of at least so many that the clock is fine enough."""
    times = []
    for _ in range(9):
        wait()
        start, calls = time.perf_counter(), 0
        while time.perf_counter() - start < 0.01:
            call()
            calls += 1
            wait()
        times.append((time.perf_counter() - start) / calls)
    return sorted(times)[4]


def speed(n: int, device: str) -> tuple[float, float]:
    """Milliseconds of ours and of the rival: PyTorch (cuFFT) on a GPU, SciPy with two threads on the CPU."""
    shape = (max(_BYTES[device] // (8 * n), 1), n)
    if device == "cuda":
        import torch

        x = torch.randn(shape, dtype=torch.complex64, device="cuda")
        wait = torch.cuda.synchronize
        return 1e3 * _median(lambda: bc.fft(x), wait), 1e3 * _median(lambda: torch.fft.fft(x), wait)
    rng = np.random.default_rng(n)
    rows = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64)
    ours = _median(lambda: bc.fft(rows), lambda: None)
    return 1e3 * ours, 1e3 * _median(lambda: scipy.fft.fft(rows, workers=2), lambda: None)


def main(device: str = "cpu") -> None:
    """Print a line for each length."""
    print("| n | error f32 | SciPy's | error f64 | SciPy's | ms, f32 | rival | ratio |\n| --- |" + " --- |" * 7)
    ratios = []
    for n in LENGTHS:
        errors = [e for dtype in (np.complex64, np.complex128) for e in error(n, dtype)]
        ours, rival = speed(n, device)
        ratios.append(rival / ours)
        print(
            f"| {n} | " + " | ".join(f"{e:.2f}" for e in errors) + f" | {ours:.3f} | {rival:.3f} | {ratios[-1]:.2f} |", flush=True
        )
    print(f"\ngeometric mean {np.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
