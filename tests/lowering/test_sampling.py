"""Sampling as a problem: its kernels compile for CUDA, its random bits are those of the public functions, and its plan refuses
what it is not for."""

from __future__ import annotations

import numpy as np
import pytest

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.lowering.sampling.cuda.lower import lower
from baracuda.lowering.sampling.problem import LIMIT, MIN_P, NSIGMA, TEMPERATURE, K, P, Sampling
from baracuda.ops.random.sampling_plan import SamplingDescriptor

F32, BF16, F16 = ElementKind.F32, ElementKind.BF16, ElementKind.F16
_SHAPE = (4, 1000, (1000, 1))


@pytest.mark.parametrize(
    ("problem", "arch"),
    [
        (Sampling(F32, *_SHAPE, True, (0, 1), ((K, 1),), (TEMPERATURE, P, MIN_P, NSIGMA), (1000, 1), True, folded=True), "sm_90"),
        (Sampling(BF16, *_SHAPE, True, (2, 1), (), (P,), None, False, True, bits="threefry"), "sm_80"),
        (Sampling(F16, *_SHAPE, False, (2, 1), (), (), None, False, False, False, True, stream=1), "sm_100"),
    ],
)
def test_kernels_compile(problem: Sampling, arch: str) -> None:
    nvrtc = pytest.importorskip("baracuda.runtime.nvrtc")
    pytest.importorskip("cuda.bindings.nvrtc")
    (launch,) = lower(problem).launches
    assert launch.grid == (4, 1, 1)
    assert len(nvrtc.cubin(launch.source, arch)) > 1000


def test_numbers_are_not_in_the_code() -> None:
    one = Sampling(F32, 4, 1000, (1000, 1), True, (0, 1), (), (K,), None, False)
    two = Sampling(F32, 9, 5000, (6000, 1), True, (7, 1), (), (K,), None, False)
    assert lower(one).launches[0].source == lower(two).launches[0].source


@pytest.mark.parametrize("bits", ["philox", "threefry"])
def test_words(bits: str) -> None:
    """With logits that are all equal, the token is where the row's 64 bits say."""
    key, n = baracuda.rng_key(7), 1 << 12
    tokens = baracuda.sample_min_p(key, np.zeros((9, n), np.float32), 0.0, bits=bits)
    words = [int(baracuda.rng_bits(baracuda.rng_fold_in(key, r, bits=bits), 1, "u64", bits=bits)[0]) for r in range(9)]
    assert tokens.tolist() == [w * n >> 64 for w in words]


def test_what_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="rows of"):
        lower(Sampling(F32, 1, LIMIT + 1, (1, 1), True, (0, 1), (), (), None, False))
    with pytest.raises(InvalidProblemError, match="shape"):
        SamplingDescriptor((2, 3, 4), F32)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="typical"):
        SamplingDescriptor((2, 3), F32, typical=True, probabilities=True)
