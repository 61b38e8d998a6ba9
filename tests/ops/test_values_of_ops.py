"""Every declared op against an independent reference: values, special values, gradients."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from baracuda.cli.verify import reference
from baracuda.core.elements import ElementKind
from baracuda.frontends.families import ops
from tests.cases import trial as t

BACKWARD_ELEMENTS = (ElementKind.F64, ElementKind.F32, ElementKind.BF16, ElementKind.C128)


def names() -> list[str]:
    return list(ops())


@pytest.mark.parametrize("name", names())
def test_every_op_has_a_case(name: str) -> None:
    assert name in t.cases()


def test_the_sample_has_every_op_keyword_and_element() -> None:
    every, chosen = list(t.trials()), [x for x in t.trials() if str(x) in t.sample()]
    assert len(chosen) < len(every) / 4
    assert {(x.name, x.keywords) for x in chosen} == {(x.name, x.keywords) for x in every}
    assert {(x.name, x.element.category) for x in chosen} == {(x.name, x.element.category) for x in every}
    assert {x.element for x in chosen} == {x.element for x in every}
    hashed = {str(x) for x in reference.of_ops()}
    assert {x.name for x in chosen if str(x) in hashed} == {x.name for x in every if str(x) in hashed}


def compare(got: np.ndarray, want: np.ndarray, trial: t.Trial, spread: float, modulus: np.ndarray | None = None) -> None:
    """Equal within the rounding of the result's element; NaN and infinities in the same places."""
    assert got.shape == want.shape, f"shape {got.shape}; expected {want.shape}"
    label = ElementKind.from_numpy(got.dtype).label
    if label not in t.ROUNDING:
        wrapped = want.astype(got.dtype)
        np.testing.assert_array_equal(got, wrapped)
        return
    if got.dtype.kind == "c":
        size = np.abs(want) if t.cases()[trial.name].modulus else None
        for part in ("real", "imag"):
            compare(getattr(got, part), getattr(want, part), trial, spread, size)
        return
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = want.astype(got.dtype).astype(np.float64)
    result = got.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(rounded), err_msg="NaN elsewhere")
    finite = np.isfinite(rounded) & np.isfinite(result)
    edge = ~finite & ~np.isnan(rounded)
    close_to_edge = np.abs(want) > 0.99 * float(ml_dtypes.finfo(got.dtype).max)
    np.testing.assert_array_equal(result[edge & ~close_to_edge], rounded[edge & ~close_to_edge], err_msg="infinity elsewhere")
    unit = t.ROUNDING[label]
    size = np.where(np.isfinite(modulus), modulus, np.abs(want))[finite] if modulus is not None else np.abs(want[finite])
    typical = float(np.mean(size)) if size.size else 0.0
    least = float(ml_dtypes.finfo(got.dtype).smallest_subnormal)
    cases = t.cases()[trial.name]
    allowed = cases.tolerance * unit * (size + spread * typical + cases.absolute) + least
    error = np.abs(result[finite] - want[finite])
    worst = int(np.argmax(error - allowed)) if error.size else 0
    assert np.all(error <= allowed), f"{result[finite][worst]!r}; expected {want[finite][worst]!r} within {allowed[worst]:.3g}"


def _backward(trial: t.Trial) -> bool:
    return trial.op.differentiable and trial.gradient and trial.element in BACKWARD_ELEMENTS and not trial.special


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The trials of a test: all of them with --full, else the sample."""
    if "trial" in metafunc.fixturenames:
        full = metafunc.config.getoption("--full")
        chosen = [x for x in t.trials() if full or str(x) in t.sample()]
        if metafunc.config.getoption("--device") != "cpu":
            chosen = [x for x in chosen if not x.op.library]
        if metafunc.function is test_gradients:
            chosen = [x for x in chosen if _backward(x)]
        metafunc.parametrize("trial", chosen, ids=str)


def test_values(trial: t.Trial, device: str) -> None:
    got, want = t.forward(trial, device), t.expected(trial)
    for g, w in zip(got, want, strict=True):
        compare(g, w, trial, 0.0)


def test_gradients(trial: t.Trial, device: str) -> None:
    got = t.backward(trial, device)
    want = t.expected_backward(trial)
    for name, gradient in got.items():
        compare(gradient, want[name], trial, 4.0)
