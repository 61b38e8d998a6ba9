"""Which element a result has: that of the array API, with PyTorch's answers where the standard has none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.frontends.arrays import torch_dtype
from baracuda.frontends.families import function
from baracuda.ops.declaration.promotion import promote

K = ElementKind
INTEGERS = (K.S8, K.S16, K.S32, K.S64, K.U8, K.U16, K.U32, K.U64)
FLOATS = (K.F16, K.BF16, K.F32, K.F64)
KINDS = (*INTEGERS, *FLOATS, K.BOOL, K.C64, K.C128)


def _by_numpy(a: ElementKind, b: ElementKind) -> bool:
    """Whether the array API says what a pair gives: both integers, both floats, or with bool."""
    return K.BF16 not in (a, b) and any(a in group and b in group for group in (INTEGERS, FLOATS, (K.C64, K.C128)))


@pytest.mark.parametrize(("a", "b"), list(product(KINDS, KINDS)))
def test_pairs(a: ElementKind, b: ElementKind) -> None:
    if K.U64 in (a, b) and {a.category, b.category} == {K.U64.category, K.S8.category}:
        with pytest.raises(baracuda.InvalidProblemError, match="have no common element; cast one of them"):
            promote(a, b)
        return
    if _by_numpy(a, b):
        assert promote(a, b).numpy == np.promote_types(a.numpy, b.numpy)
    elif not {a, b} & {K.U16, K.U32, K.U64} and not (a.category is K.C64.category and b is K.F16):
        assert torch_dtype(torch, promote(a, b)) == torch.promote_types(torch_dtype(torch, a), torch_dtype(torch, b)) or (
            {a, b} & {K.C64, K.C128} and {a, b} & {K.F16, K.BF16}
        )
    assert promote(a, b) is promote(b, a)


@pytest.mark.parametrize(
    ("a", "b"), [(K.F16, K.F32), (K.F32, K.F64), (K.S32, K.S64), (K.F32, K.S64), (K.S8, K.F16), (K.BOOL, K.S8)]
)
def test_a_tensor_without_axes_promotes_as_any_other(a: ElementKind, b: ElementKind) -> None:
    """As NumPy 2 has it; PyTorch's answer is another for the first three."""
    many, one = np.ones(3, a.numpy), np.ones((), b.numpy)
    for x, y in ((many, one), (one, many), (many, one.reshape(1)), (np.ones((), a.numpy), one)):
        assert function("mul").describe(x, y).promoted is promote(a, b)
    assert baracuda.mul(many, one).dtype == promote(a, b).numpy
    tensors = torch.ones(3, dtype=torch_dtype(torch, a)), torch.ones((), dtype=torch_dtype(torch, b))
    assert (tensors[0] * tensors[1]).dtype == torch_dtype(torch, promote(a, b) if a.category is not b.category else a)
    assert baracuda.mul(*tensors).dtype == torch_dtype(torch, promote(a, b))


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS])
def test_a_number_takes_the_tensors_element(kind: ElementKind) -> None:
    x = np.ones(2, kind.numpy)
    assert function("mul").describe(x, 2).promoted is kind
    assert function("mul").describe(x, True).promoted is kind
    assert function("mul").describe(x, 2.0).promoted is (kind if kind.is_float else K.F32)
    assert function("mul").describe(x, 2j).promoted is (K.C128 if kind is K.F64 else K.C64)
