"""Cases of the reductions and arg-reductions."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import torch

from tests.cases.case import OpCases, Shapes

SPACES: list[Shapes] = [((3, 67),), ((2, 5, 1030),), ((4, 1),), ((1, 1),), ((3, 0, 5),)]
#: Without empty rows.
FILLED: list[Shapes] = [*SPACES[:-1], ((7, 130, 3),)]
#: With a row that is cut into blocks.
LONG: list[Shapes] = [*FILLED, ((16411,),)]
TWO: list[Shapes] = [((3, 67), (3, 67)), ((4, 1, 130), (5, 1))]
AXES: tuple[dict[str, Any], ...] = ({}, {"axis": 0, "keepdims": True}, {"axis": -1}, {"axis": (0, -1)})
ONE_AXIS: tuple[dict[str, Any], ...] = ({}, {"axis": 0, "keepdims": True}, {"axis": -1})


def over(reference: Callable[..., Any]) -> Callable[..., Any]:
    """A reference that takes (x, axes, keepdims), called with one op's keywords."""

    def called(*tensors: Any, axis: Any = None, keepdims: bool = False, **keywords: Any) -> Any:
        rank = max(t.ndim for t in tensors if t is not None)
        axes = tuple(range(rank)) if axis is None else (axis,) if isinstance(axis, int) else axis
        return reference(*tensors, tuple(sorted({a % rank for a in axes})), keepdims, **keywords)

    return called


def one_by_one(step: Callable[[torch.Tensor, int], torch.Tensor]) -> Callable[..., Any]:
    """Over several axes, one after another, of a reduction that torch has along one."""

    def reduced(x: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
        for axis in axes:
            x = step(x, axis)
        return x if keepdims else x.squeeze(axes)

    return over(reduced)


def flat(step: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    """With the reduced axes gathered into the last one, in logical order."""

    def reduced(x: torch.Tensor, axes: tuple[int, ...], keepdims: bool, **keywords: Any) -> Any:
        outer = [a for a in range(x.ndim) if a not in axes]
        rows = x.permute(*outer, *axes).reshape(*[x.shape[a] for a in outer], prod(x.shape[a] for a in axes))
        shape = [1 if a in axes else x.shape[a] for a in range(x.ndim)]

        def shaped(y: torch.Tensor) -> torch.Tensor:
            return y.reshape(shape) if keepdims else y

        result = step(rows, **keywords)
        return tuple(map(shaped, result)) if isinstance(result, tuple) else shaped(result)

    return over(reduced)


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.is_floating_point() or x.is_complex() else x.to(torch.int64)


def _ordered(x: torch.Tensor) -> torch.Tensor:
    return x.int() if x.dtype == torch.bool else x


def _real(x: torch.Tensor) -> torch.Tensor:
    return x if x.is_floating_point() or x.is_complex() else x.double()


def _var(x: torch.Tensor, correction: float = 0.0) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    return ((x - mean).abs() ** 2).sum(-1) / max(x.shape[-1] - correction, 0)


def _nanvar(x: torch.Tensor, correction: float = 0.0) -> torch.Tensor:
    gone = x.isnan()
    count = (~gone).sum(-1)
    mean = x.nansum(-1, keepdim=True) / count.unsqueeze(-1)
    total = torch.where(gone, 0.0, x - mean).square().sum(-1)
    return torch.where(count > correction, total / (count - correction), float("nan"))


def _without_nan(x: torch.Tensor, other: float, step: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    filled = step(torch.where(x.isnan(), other, x))
    return torch.where(x.isnan().all(-1), float("nan"), filled)


def _numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    return flat(lambda x: torch.from_numpy(np.asarray(function(x.numpy(), axis=-1))))


def _reduce_xor(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.asarray(np.bitwise_xor.reduce(x.numpy(), axis=-1)))


def _root(x: torch.Tensor) -> torch.Tensor:
    """The square root whose gradient at 0 is 0, as that of torch.std."""
    zero = x == 0
    return torch.where(zero, 0.0, torch.where(zero, 1.0, x).sqrt())


def _norm(x: torch.Tensor, axes: tuple[int, ...], keepdims: bool, p: float = 2) -> torch.Tensor:
    return torch.linalg.vector_norm(_real(x), p, axes, keepdims)


_ORDERS = (2, 1, 0, np.inf, -np.inf, 3)
_MOMENTS = tuple({**axes, "correction": c} for axes in AXES for c in (0.0, 1.0))

CASES = {
    "sum": OpCases(flat(lambda x: _wide(x).sum(-1)), shapes=SPACES, keywords=AXES, absolute=60.0),
    "prod": OpCases(
        flat(lambda x: _wide(x).prod(-1)), ("nonzero",), [((3, 31),), *SPACES[2:]], AXES, tolerance=120.0, specials=False,
        modulus=True,
    ),
    "mean": OpCases(flat(lambda x: _real(x).mean(-1)), shapes=SPACES, keywords=AXES, absolute=8.0),
    "reduce_sum_square": OpCases(flat(lambda x: (x * x).sum(-1)), shapes=SPACES, keywords=AXES, tolerance=16.0),
    "reduce_log_sum": OpCases(flat(lambda x: x.sum(-1).log()), ("positive",), FILLED, AXES, absolute=8.0, specials=False),
    "max": OpCases(flat(lambda x: x.amax(-1)), shapes=FILLED, keywords=AXES),
    "min": OpCases(flat(lambda x: x.amin(-1)), shapes=FILLED, keywords=AXES),
    "aminmax": OpCases(flat(lambda x: (x.amin(-1), x.amax(-1))), shapes=FILLED, keywords=AXES),
    "ptp": OpCases(flat(lambda x: x.amax(-1) - x.amin(-1)), shapes=FILLED, keywords=AXES),
    "all": OpCases(flat(lambda x: (x != 0).all(-1)), shapes=SPACES, keywords=AXES),
    "any": OpCases(flat(lambda x: (x != 0).any(-1)), shapes=SPACES, keywords=AXES),
    "reduce_xor": OpCases(flat(_reduce_xor), shapes=SPACES, keywords=AXES),
    "count_nonzero": OpCases(flat(lambda x: (x != 0).sum(-1)), shapes=SPACES, keywords=AXES),
    "nansum": OpCases(flat(lambda x: _wide(x).nansum(-1)), shapes=SPACES, keywords=AXES, absolute=60.0),
    "nanprod": OpCases(
        flat(lambda x: torch.where(x.isnan(), 1.0, x).prod(-1)), ("nonzero",), FILLED[:1], AXES, tolerance=120.0, specials=False
    ),
    "nanmean": OpCases(flat(lambda x: x.nanmean(-1)), shapes=FILLED, keywords=AXES, absolute=8.0),
    "nanmax": OpCases(flat(lambda x: _without_nan(x, -np.inf, lambda v: v.amax(-1))), shapes=FILLED, keywords=AXES),
    "nanmin": OpCases(flat(lambda x: _without_nan(x, np.inf, lambda v: v.amin(-1))), shapes=FILLED, keywords=AXES),
    "var": OpCases(flat(_var), shapes=LONG, keywords=_MOMENTS, tolerance=16.0),
    "std": OpCases(
        flat(lambda x, correction=0.0: _root(_var(x, correction))),
        shapes=FILLED[:2], keywords=_MOMENTS, tolerance=16.0, absolute=0.001,
    ),
    "var_mean": OpCases(
        flat(lambda x, correction=0.0: (_var(x, correction), x.mean(-1))), ("positive",), FILLED, _MOMENTS, tolerance=24.0
    ),
    "std_mean": OpCases(
        flat(lambda x, correction=0.0: (_root(_var(x, correction)), x.mean(-1))),
        ("positive",), FILLED[:2], _MOMENTS, tolerance=24.0,
    ),
    "nanvar": OpCases(flat(_nanvar), shapes=FILLED, keywords=_MOMENTS, tolerance=16.0),
    "nanstd": OpCases(
        flat(lambda x, correction=0.0: _root(_nanvar(x, correction))),
        shapes=FILLED[:2], keywords=_MOMENTS, tolerance=16.0, absolute=0.001,
    ),
    "logsumexp": OpCases(flat(lambda x: _real(x).logsumexp(-1)), shapes=LONG, keywords=AXES, absolute=2.0, modulus=True),
    "logmeanexp": OpCases(
        flat(lambda x: x.logsumexp(-1) - np.log(x.shape[-1])), shapes=FILLED, keywords=AXES, absolute=8.0, specials=False
    ),
    "vector_norm": OpCases(
        over(_norm), ("nonzero",), FILLED, tuple({**a, "p": o} for a in AXES[:3] for o in _ORDERS), tolerance=32.0
    ),
    "dist": OpCases(
        over(lambda a, b, axes, keepdims, p=2: _norm(a - b, axes, keepdims, p)),
        ("any",), TWO, ({}, {"p": 1}, {"axis": -1}), tolerance=24.0,
    ),
    "argmax": OpCases(flat(lambda x: _ordered(x).argmax(-1)), shapes=FILLED, keywords=AXES),
    "argmin": OpCases(flat(lambda x: _ordered(x).argmin(-1)), shapes=FILLED, keywords=AXES),
    "nanargmax": OpCases(_numpy(np.nanargmax), shapes=FILLED, keywords=AXES, specials=False),
    "nanargmin": OpCases(_numpy(np.nanargmin), shapes=FILLED, keywords=AXES, specials=False),
    "all_finite_check": OpCases(
        over(lambda x, axes, keepdims, scale=1.0: (x * scale, (~x.isfinite()).any() if not keepdims else None)),
        shapes=FILLED, keywords=({}, {"scale": 0.5}),
    ),
}  # fmt: skip


def _under(fill: float, step: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    def reduced(x: torch.Tensor, mask: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
        other = torch.tensor(fill if x.is_floating_point() else max(min(fill, 2**31 - 1), -(2**31)), dtype=x.dtype)
        result: torch.Tensor = flat(step)(torch.where(mask, x, other), axis=axes, keepdims=keepdims)
        return result

    return over(reduced)


def _masked_mean(x: torch.Tensor, mask: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    x, mask = torch.broadcast_tensors(x, mask)
    return torch.where(mask, x, 0.0).sum(axes, keepdims) / mask.sum(axes, keepdims)


_MASKED: dict[str, Any] = {"domains": ("any", "mask"), "shapes": TWO, "keywords": AXES[:3], "absolute": 60.0}
CASES |= {
    "masked_sum": OpCases(_under(0.0, lambda x: x.sum(-1)), **_MASKED),
    "masked_prod": OpCases(_under(1.0, lambda x: x.prod(-1)), **{**_MASKED, "domains": ("nonzero", "mask")}, tolerance=200.0),
    "masked_mean": OpCases(over(_masked_mean), **_MASKED),
    "masked_max": OpCases(_under(-np.inf, lambda x: x.amax(-1)), **_MASKED, elements=("f16", "bf16", "f32", "f64", "s32")),
    "masked_min": OpCases(_under(np.inf, lambda x: x.amin(-1)), **_MASKED, elements=("f16", "bf16", "f32", "f64", "s32")),
}
