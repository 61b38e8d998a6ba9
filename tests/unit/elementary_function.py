"""One elementary function at a time, compiled once, and the comparison of its results as bits."""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.unit.jit import function as compile_function

function = cache(compile_function)


def evaluate(op, kind, *args):
    return function(op, kind, len(args))(*(np.asarray(a, kind.numpy) for a in args))


def same_bits(a, b):
    """Equal as bits, every NaN being the same."""
    a, b = np.asarray(a), np.asarray(b)
    unsigned = f"u{a.itemsize}"
    return bool(np.all((a.view(unsigned) == b.view(unsigned)) | (np.isnan(a) & np.isnan(b))))
