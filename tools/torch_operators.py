"""PyTorch's own samples of its operators, in the mode and by PyTorch itself: `python -m tools.torch_operators f32 [softmax ...]`.

An operator counts as served where all its samples, and their gradients, are computed strictly and agree within what the element
explains. What is not served, refused or different is printed with the first sample that shows it.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

import baracuda
import baracuda.torch

ELEMENTS = {
    "f64": torch.float64,
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "s64": torch.int64,
    "bool": torch.bool,
    "complex64": torch.complex64,
}
#: PyTorch's names of them.
OPERATORS = tuple(f"{operator.name}.{operator.variant_test_name}".rstrip(".") for operator in op_db)
#: Relative and absolute.
TOLERANCE = {
    torch.float64: (1e-6, 1e-8), torch.float32: (1e-3, 1e-4), torch.complex64: (1e-3, 1e-4), torch.bfloat16: (5e-2, 5e-2),
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of one sample: "ok", "not served", "refused", "differs" or "fails"."""

    operator: str
    sample: int
    kind: str
    detail: str = ""


def outcomes(element: torch.dtype, only: tuple[str, ...] = (), most: int = 12) -> Iterator[Outcome]:
    """The outcome of at most so many samples of each operator that PyTorch computes in this element."""
    for operator, name in zip(op_db, OPERATORS, strict=True):
        if element not in operator.dtypes or (only and name not in only and operator.name not in only):
            continue
        differentiable = operator.supports_autograd and element.is_floating_point
        try:
            samples = list(operator.sample_inputs("cpu", element, requires_grad=differentiable))
        except (RuntimeError, ValueError, TypeError):  # PyTorch makes none here
            continue
        for i, sample in list(enumerate(samples))[:: max(1, len(samples) // most)]:
            found = _outcome(operator, sample, differentiable)
            if found is not None:
                yield Outcome(name, i, *found)


def _outcome(operator: Any, sample: Any, differentiable: bool) -> tuple[str, str] | None:
    try:
        torch.manual_seed(0)
        expected = _run(operator, sample, differentiable)
    except (AssertionError, RuntimeError, ValueError, TypeError, IndexError, NotImplementedError):
        return None  # PyTorch itself refuses it
    try:
        torch.manual_seed(0)
        with baracuda.torch.reproducible():
            found = _run(operator, sample, differentiable)
    except baracuda.UnsupportedError as error:
        return "not served" if "no function of baracuda" in str(error) else "refused", str(error)
    except baracuda.Error as error:
        return "refused", str(error)
    except (AssertionError, RuntimeError, TypeError, ValueError, AttributeError, IndexError) as error:
        return "fails", f"{type(error).__name__}: {error}"
    difference = next((d for d in map(_difference, expected, found) if d), "")
    return ("differs", difference) if difference or len(expected) != len(found) else ("ok", "")


def _run(operator: Any, sample: Any, differentiable: bool) -> list[Any]:
    """Results, and gradients of a fixed cotangent."""

    def fresh(v: Any) -> Any:
        return v.detach().clone().requires_grad_(v.requires_grad) if isinstance(v, torch.Tensor) else v

    x, arguments, keywords = tree_map(fresh, (sample.input, list(sample.args), dict(sample.kwargs)))
    results = operator.op(x, *arguments, **keywords)
    gradients: tuple[Any, ...] = ()
    if differentiable:
        read = sample.output_process_fn_grad(results) if sample.output_process_fn_grad else results
        ends = [r for r in tree_flatten(read)[0] if isinstance(r, torch.Tensor) and r.requires_grad]
        leaves = [v for v in tree_flatten((x, arguments, keywords))[0] if isinstance(v, torch.Tensor) and v.requires_grad]
        if ends and leaves:
            gradients = torch.autograd.grad(ends, leaves, [_cotangent(e) for e in ends], allow_unused=True)
    return [*tree_flatten(results)[0], *gradients]


def _cotangent(y: Any) -> Any:
    return torch.linspace(-1, 1, max(y.numel(), 1), dtype=torch.float64)[: y.numel()].reshape(y.shape).to(y.dtype)


def _difference(expected: Any, found: Any) -> str:
    if not isinstance(expected, torch.Tensor) or not isinstance(found, torch.Tensor):
        return "" if isinstance(expected, torch.Tensor) == isinstance(found, torch.Tensor) else f"{found!r} for {expected!r}"
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return f"{found.dtype}{tuple(found.shape)} for {expected.dtype}{tuple(expected.shape)}"
    if expected.is_sparse:
        return ""
    relative, absolute = TOLERANCE.get(expected.dtype, (0.0, 0.0))
    expected, found = expected.detach(), found.detach()
    if torch.allclose(expected, found, relative, absolute, equal_nan=True):
        return ""
    wide = torch.complex128 if expected.is_complex() else torch.float64
    return f"off by {(expected.to(wide) - found.to(wide)).abs().nan_to_num(1e300).max().item():.3g}"


def main() -> None:
    """Print what is not as it should be, and counts."""
    warnings.filterwarnings("ignore")
    element, *only = sys.argv[1:] or ["f32"]
    by_operator: dict[str, list[Outcome]] = {}
    for outcome in outcomes(ELEMENTS[element], tuple(only)):
        by_operator.setdefault(outcome.operator, []).append(outcome)
    worst: Counter[str] = Counter()
    for name, found in by_operator.items():
        bad = next((o for o in found if o.kind != "ok"), None)
        worst["ok" if bad is None else bad.kind] += 1
        if bad is not None:
            print(f"{name} | {bad.kind} | sample {bad.sample} | {bad.detail.splitlines()[0] if bad.detail else ''}"[:200])
    print(f"{element}: {len(by_operator)} operators:", ", ".join(f"{n} {kind}" for kind, n in worst.most_common()))


if __name__ == "__main__":
    main()
