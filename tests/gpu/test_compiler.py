"""What a compiler has got wrong on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import baracuda
from baracuda.formula.functions import equal, maximum, minimum
from tests.cases.trial import to_device, to_host


@pytest.mark.parametrize("bound", [1, 8, 1000])
def test_a_held_integer_compared_with_its_bound(bound: int) -> None:
    """ptxas 13.0 to 13.3 for sm_90 compares the integer itself."""

    @baracuda.fuse
    def held(x):  # type: ignore[no-untyped-def]
        return equal(maximum(minimum(x, bound), 0), bound)

    x = np.arange(-3 * bound, 3 * bound, dtype=np.int32)
    assert np.array_equal(to_host(held(to_device(x, "cuda"))), x >= bound)
