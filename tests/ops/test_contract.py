"""The canonical arithmetic, spelled out in NumPy: plans without exp or log must have these very bits, on every device.

The order of sums is written here anew from its description (segments of 1024, 128 lanes, adjacent pairs); everything else
is IEEE arithmetic, which NumPy does as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from baracuda.cli.verify.bits import canonical_bits
from baracuda.cli.verify.plans import FLOATS, LENGTHS, SubjectCase, subject
from baracuda.cli.verify.values import rounded
from baracuda.core.elements import ElementKind as K
from tests.execution import execute
from tests.machine import Machine

Values = Mapping[str, np.ndarray]


def _pairs(parts: list[np.ndarray]) -> np.ndarray:
    while len(parts) > 1:
        parts = [parts[i] + parts[i + 1] if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0]


def canonical_sum(terms: np.ndarray) -> np.ndarray:
    """The sum over the last axis in the canonical order."""
    results = []
    for start in range(0, terms.shape[-1], 1024):
        segment = terms[..., start : start + 1024]
        lanes = []
        for lane in range(min(128, segment.shape[-1])):
            total = segment[..., lane]
            for j in range(lane + 128, segment.shape[-1], 128):
                total = total + segment[..., j]
            lanes.append(total)
        results.append(_pairs(lanes))
    return _pairs(results)


def _softmax_backward(v: Values, real: Any, d: Any) -> dict[str, np.ndarray]:
    return {"dx": v["y"] * (v["dy"] - canonical_sum(v["y"] * v["dy"])[:, None])}


def _rms_norm(v: Values, real: Any, d: Any) -> dict[str, np.ndarray]:
    x = v["x"]
    rms = np.sqrt(canonical_sum(x * x)[:, None] / real(x.shape[1]) + real(d.eps))
    return {"y": x * (real(1) / rms) * v["gamma"], "rms": rms}


def _rms_norm_backward(v: Values, real: Any, d: Any) -> dict[str, np.ndarray]:
    inverse = real(1) / v["rms"]
    g, normal = v["dy"] * v["gamma"], v["x"] * inverse
    mean = canonical_sum(g * normal)[:, None] / real(g.shape[1])
    return {"dx": inverse * (g - normal * mean), "dgamma": canonical_sum((v["dy"] * normal).T)}


def _lerp(v: Values, real: Any, d: Any) -> dict[str, np.ndarray]:
    return {"y": v["a"] + real(d.param) * (v["b"] - v["a"])}


def _lerp_backward(v: Values, real: Any, d: Any) -> dict[str, np.ndarray]:
    return {"da": (real(1) - real(d.param)) * v["dy"], "db": real(d.param) * v["dy"]}


def _dequantize(v: Values, real: Any, d: Any) -> dict[str, np.ndarray]:
    return {"y": (v["q"].astype(np.int32) - v["zero_point"][:, None]).astype(real) * v["scale"][:, None]}


def _dequantize_backward(v: Values, real: Any, d: Any) -> dict[str, np.ndarray]:
    return {"d_input": v["d_output"] * v["scale"][:, None]}


PLANS: dict[str, Callable[[Values, Any, Any], dict[str, np.ndarray]]] = {
    "softmax_backward": _softmax_backward,
    "rms_norm": _rms_norm,
    "rms_norm_backward": _rms_norm_backward,
    "lerp": _lerp,
    "lerp_backward": _lerp_backward,
    "dequantize_per_token_s8": _dequantize,
    "dequantize_per_token_u8": _dequantize,
    "dequantize_per_token_backward_s8": _dequantize_backward,
}


def _widened(inputs: Values, real: Any) -> Values:
    return {n: a.astype(real) if not np.issubdtype(a.dtype, np.integer) else a for n, a in inputs.items()}


def _differing(got: np.ndarray, exact: np.ndarray) -> int:
    expected = rounded(exact, K.from_numpy(got.dtype))
    return int((canonical_bits(got) != canonical_bits(expected)).sum())


@pytest.mark.one_of(4)
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("element", FLOATS, ids=[str(k) for k in FLOATS])
@pytest.mark.parametrize("label", PLANS)
def test_bits_are_those_of_the_contract(machine: Machine, label: str, element: K, n: int) -> None:
    real = element.compute.numpy.type
    variants = ("normal",) if n > 5000 else ("normal", "special")
    for rows, variant in ((r, v) for r in ((3,) if n > 300 else (5, 1100 + n)) for v in variants):
        case = SubjectCase(subject(label), (rows, n), element, variant=variant)
        outcome = execute(machine, case)
        with np.errstate(all="ignore"):
            exact = PLANS[label](_widened(outcome.inputs, real), real, case.descriptor)
        for name, got in outcome.outputs.items():
            assert _differing(got, exact[name]) == 0, f"{case}: {name}"


@pytest.mark.parametrize("shape", [(2, 3, 10, 9), (3, 2, 40, 51), (1, 4, 3, 1030)], ids=str)
@pytest.mark.parametrize("element", FLOATS, ids=[str(k) for k in FLOATS])
def test_slope_gradients_are_those_of_the_contract(machine: Machine, element: K, shape: tuple[int, ...]) -> None:
    """A head's elements are numbered along (batch, query, key)."""
    real = element.compute.numpy.type
    case = SubjectCase(subject("alibi_backward"), shape, element)
    outcome = execute(machine, case)
    i, j = np.indices(shape)[2:].astype(real)
    terms = (outcome.inputs["dy"].astype(real) * (j - i)).transpose(1, 0, 2, 3).reshape(shape[1], -1)
    assert _differing(outcome.outputs["dslopes"], canonical_sum(terms)) == 0
    assert _differing(outcome.outputs["dscores"], outcome.inputs["dy"].astype(real)) == 0
