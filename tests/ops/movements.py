"""How functions that move elements are tried: bits against NumPy, and gradients as what they are, the transposed movement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import baracuda
from baracuda.core.elements import ElementKind
from tests.cases.trial import as_tuple, to_device, to_host

Array = Any
#: Every element of whole bytes.
ELEMENTS = tuple(k for k in ElementKind if k.bits >= 8)
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Movement:
    """A call: of a function, on tensors of some shapes, and what NumPy says of it.

    Attributes
    ----------
    name, keywords
        The function's and what it is given besides tensors.
    shapes
        The shapes of the tensors; where `listed`, they are given as one list.
    reference
        What NumPy makes of the tensors.
    backward
        Keywords of the gradient, by default those of the function; None: there is none to try.
    like
        Whether the gradient is given the tensors after dy.
    named
        The names of the tensors after the first, where these do not come next by position.
    """

    name: str
    shapes: Sequence[Shape]
    reference: Callable[..., Any]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    backward: Mapping[str, Any] | None = field(default_factory=dict)
    listed: bool = False
    like: bool = True
    named: Sequence[str] = ()

    def __str__(self) -> str:
        words = ",".join(f"{k}={v}" for k, v in self.keywords.items())
        return f"{self.name}({','.join('x'.join(map(str, s)) or '()' for s in self.shapes)}{';' * bool(words)}{words})"

    def __call__(self, tensors: Sequence[Any], function: Any = None) -> Any:
        function = function or getattr(baracuda, self.name)
        return function(*self.given(tensors)[0], **self.given(tensors)[1], **self.keywords)

    def given(self, tensors: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """How the tensors are given: by position and by name."""
        if self.listed:
            return [list(tensors)], {}
        by_position = len(tensors) - len(self.named)
        return list(tensors[:by_position]), dict(zip(self.named, tensors[by_position:], strict=True))


def drawn(shape: Shape, kind: ElementKind, seed: int) -> Array:
    """Random bytes as elements; of bool 0 and 1."""
    rng = np.random.default_rng([seed, *shape])
    raw = rng.integers(0, 2 if kind is ElementKind.BOOL else 256, (*shape, kind.itemsize), np.uint8)
    return np.ascontiguousarray(raw).view(kind.numpy).reshape(shape)


def laid(x: Array, layout: str) -> Array:
    """The same values in another layout."""
    if layout == "strided" and x.ndim:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), x.dtype)
        wide[..., 1::2] = x
        return wide[..., 1::2]
    if layout == "turned":
        return np.ascontiguousarray(x.T).T
    if layout == "reversed" and x.ndim:
        return np.ascontiguousarray(x[::-1])[::-1]
    return x


def same(got: Any, want: Any) -> None:
    """The same shape, element and bits."""
    got, want = to_host(got), np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes(), f"{got} is not {want}"


def check(movement: Movement, kind: ElementKind, layout: str, device: str) -> None:
    """The bits of NumPy's result, twice: the second call is made of the first one's launches or views."""
    arrays = [laid(drawn(s, kind, i), layout) for i, s in enumerate(movement.shapes)]
    wanted = as_tuple(movement.reference(*arrays))
    for _ in range(2):
        tensors = [to_device(a, device) for a in arrays]
        got = as_tuple(movement(tensors))
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted, strict=True):
            same(g, w)


def check_gradient(movement: Movement, device: str) -> None:
    """The sum of dy * f(x) is that of dx * x, in whole numbers, so exactly; and dx has the shape of x."""
    rng = np.random.default_rng(7)
    arrays = [rng.integers(-8, 9, s).astype(np.float64) for s in movement.shapes]
    results = as_tuple(movement([to_device(a, device) for a in arrays]))
    several = isinstance(movement([to_device(a, device) for a in arrays]), tuple)
    slopes = [rng.integers(-8, 9, tuple(r.shape)).astype(np.float64) for r in results]
    dy: Any = [to_device(s, device) for s in slopes]
    dy = dy if several else dy[0]
    tensors: Any = [to_device(a, device) for a in arrays]
    backward = getattr(baracuda, f"{movement.name}_backward")
    words = {**movement.keywords, **(movement.backward or {})}
    words = {k: v for k, v in words.items() if v is not ...}
    by_position, named = movement.given(tensors) if movement.like else ([], {})
    found = backward(dy, *by_position, **named, **words)
    total = sum(float((s * to_host(r)).sum()) for s, r in zip(slopes, results, strict=True))
    again = 0.0
    for x, dx in zip(arrays, as_tuple(found), strict=True):
        host = to_host(dx)
        assert host.shape == x.shape
        again += float((host * x).sum())
    assert total == again
