"""Functions of other libraries called with NumPy's arrays and with ours."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import baracuda
from baracuda import Array, Device

RNG = np.random.default_rng(0)
#: What the functions are called with: 60 rows of 5 numbers in [0, 1), a number and two labels of each row.
ROWS, NUMBERS = RNG.random((60, 5)), RNG.random(60) + 0.1
LABELS, GUESSES = (ROWS[:, 0] + ROWS[:, 1] > 1).astype(np.int64), (ROWS[:, 2] > 0.4).astype(np.int64)

#: A call, given what makes arrays of NumPy's.
Call = Callable[[Callable[[Any], Any]], Any]


def _on_host(results: Any) -> list[np.ndarray]:
    if hasattr(results, "statistic"):  # of a test of SciPy's
        results = (results.statistic, results.pvalue)
    if isinstance(results, (tuple, list)):
        return [value for result in results for value in _on_host(result)]
    return [results.numpy() if isinstance(results, Array) else np.asarray(results)]


def compare(calls: dict[str, Call], tolerance: float = 1e-6, on_host: str = "") -> int:
    """Make each call on NumPy's arrays and on ours, on the device that the command line names; returns how many differ.

    Those named in `on_host` their library computes on the CPU, of whatever library the arrays are: on a GPU they are refused.
    """
    kind, _, index = (sys.argv[1] if len(sys.argv) > 1 else "cpu").partition(":")
    device = Device.cpu() if kind == "cpu" else Device.cuda(int(index or 0))
    baracuda.array_api.set_default_device(device)
    warnings.simplefilter("ignore")
    different = refused = 0
    for name, call in calls.items():
        try:
            ours = _on_host(call(lambda values: baracuda.to_device(np.asarray(values), device)))
            theirs = _on_host(call(np.asarray))
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
            print(f"{name:32} as NumPy's")
        except Exception as error:  # of whatever library: the next call is another matter
            if kind != "cpu" and name in on_host.split() and isinstance(error, TypeError) and ".numpy() copies" in str(error):
                refused += 1
                print(f"{name:32} computed on the CPU only, and refused")
                continue
            different += 1
            print(f"{name:32} {type(error).__name__}: {str(error).strip().splitlines()[0][:90]}")
    more = f", {refused} are computed on the CPU only" if refused else ""
    print(f"{len(calls) - different - refused} of {len(calls)} on {device} are as on NumPy's arrays{more}")
    return different
