"""Functions composed of several plans: what they give and their gradients, against a reference in float64 and, on a GPU, the
bits of the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch

from baracuda.cli.verify.bits import canonical_bits, parts
from baracuda.core.elements import ElementKind
from tests.cases.case import torch_of
from tests.cases.trial import ROUNDING, as_tuple, to_device, to_host

Array = Any
Function = Callable[..., Any]

FLOATS = (np.float64, np.float32, np.float16, ml_dtypes.bfloat16)
NUMBERS = (*FLOATS, np.complex128, np.complex64)


def drawn(shape: int | Sequence[int], dtype: Any = np.float64, seed: int = 0) -> Array:
    """Normal numbers, the same in every run."""
    rng = np.random.default_rng([seed, *np.atleast_1d(np.asarray(shape, int))])
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return np.asarray(x, dtype)


def called(function: Function, tensors: Sequence[Array], device: str) -> list[Array]:
    """What a function gives for tensors on a device, which must be as they were; on a GPU the bits of the CPU."""
    operands, held = [to_device(t, device) for t in tensors], [t.copy() for t in tensors]
    results = [to_host(r) for r in as_tuple(function(*operands))]
    for g, h in zip(operands, held, strict=True):
        same_bits(to_host(g), h)
    if device != "cpu":
        for r, host in zip(results, as_tuple(function(*tensors)), strict=True):
            same_bits(r, host)
    return results


def same_bits(got: Array, want: Array) -> None:
    """The same shape, element and bits; a NaN for a NaN."""
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    for g, w in zip(parts(got), parts(want), strict=True):
        assert (canonical_bits(g) == canonical_bits(w)).all()


def close(got: Array, want: Array, dtype: Any, units: float) -> None:
    """The same shape, the dtype, and values within one rounding of it and `units` of the kind that it computes in, of a value and
    of the largest; NaN and infinities in the same places."""
    assert got.shape == want.shape
    assert got.dtype == dtype
    own = ElementKind.from_numpy(np.dtype(dtype))
    rounding = ROUNDING[own.label] + units * ROUNDING[own.compute.label]
    finite = np.abs(want[np.isfinite(want)])
    size = float(finite.max()) if finite.size else 0.0
    np.testing.assert_allclose(got.astype(want.dtype), want, rtol=rounding, atol=units * ROUNDING[own.compute.label] * size)


def check(
    forward: Function,
    backward: Function | None,
    reference: Function,
    tensors: Sequence[Array],
    device: str,
    *,
    wrt: Sequence[int] = (0,),
    units: float = 16.0,
) -> None:
    """The results of `forward` and the gradients by `backward` of the tensors numbered in `wrt`, all of one element.

    `backward` takes the gradients of the results, then the tensors.
    """
    dtype = tensors[0].dtype
    leaves = [torch_of(t) for t in tensors]
    for i in wrt:
        leaves[i].requires_grad_()
    want = reference(*leaves)
    (got,) = called(forward, tensors, device)
    close(got, want.detach().resolve_conj().numpy(), dtype, units)
    if backward is None:
        return
    dy = drawn(tuple(want.shape), dtype, seed=3)
    slopes = torch.autograd.grad(want, [leaves[i] for i in wrt], torch_of(dy), allow_unused=True)
    for i, g, s in zip(wrt, called(backward, [dy, *tensors], device), slopes, strict=True):
        expected = torch.zeros_like(leaves[i]) if s is None else s
        close(g, expected.resolve_conj().numpy(), dtype, 4.0 * units)
