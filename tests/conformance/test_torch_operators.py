"""PyTorch's own samples of its operators, computed in the mode, with their gradients."""

from __future__ import annotations

import pytest

pytest.importorskip("expecttest")  # PyTorch's samples need it

from tests.conformance.torch_operator_cases import EXCEPTIONS, reason
from tools.torch_operators import ELEMENTS, OPERATORS, outcomes

#: Without --full one of so many operators, and of its samples as many.
SHARE, FEW, MANY = 8, 3, 12


@pytest.mark.parametrize("element", ["f32", "bool"])
def test_operators_are_computed_as_by_pytorch(element: str, request: pytest.FixtureRequest) -> None:
    full = request.config.getoption("--full")
    names = [n for n in OPERATORS if reason(n) is None]
    sample = names if full else names[:: SHARE if element == "f32" else 3 * SHARE]
    bad = [o for o in outcomes(ELEMENTS[element], tuple(sample), MANY if full else FEW) if o.kind != "ok"]
    assert not bad, "\n".join(f"{o.operator}, sample {o.sample}: {o.kind}: {o.detail}" for o in bad)


def test_exceptions_are_operators() -> None:
    known = {*OPERATORS, *(n.partition(".")[0] + "." for n in OPERATORS), *(n.rpartition(".")[0] + "." for n in OPERATORS)}
    assert not [n for n in EXCEPTIONS if n not in known]
