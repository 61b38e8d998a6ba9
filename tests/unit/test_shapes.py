"""Patterns of tensors: what they fit, what names stand for, and what is said where they do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.ops.declaration.patterns import Declared, Names, pattern

F32, F64, S32, C64, F8 = ElementKind.F32, ElementKind.F64, ElementKind.S32, ElementKind.C64, ElementKind.F8E4M3


def fit(declared: Declared, shape: tuple[int, ...], names: Names | None = None) -> Names:
    return pattern(declared).check_shape("x", shape, dict(names or {}))


@pytest.mark.parametrize(
    ("declared", "shape", "names", "meant"),
    [
        ("n k", (2, 3), {}, {"n": 2, "k": 3}),
        ("n n", (2, 2), {}, {"n": 2}),
        ("n 2", (5, 2), {}, {"n": 5}),
        ("()", (), {}, {}),
        ("?", (2, 3), {}, {}),
        ("... n", (4, 5, 6), {}, {"n": 6}),
        ("*batch n k", (4, 5, 6), {}, {"batch": (4,), "n": 5, "k": 6}),
        ("*batch n", (6,), {}, {"batch": (), "n": 6}),
        ("*batch *rest", (4, 5), {"batch": (4,)}, {"rest": (5,)}),
        ("*batch *rest", (4, 5), {}, {}),
        ("*lead n@axis *rest", (2, 3, 4), {"axis": 1}, {"lead": (2,), "n": 3, "rest": (4,)}),
        ("*lead n@axis *rest", (2, 3, 4), {"axis": -1}, {"lead": (2, 3), "n": 4, "rest": ()}),
        ("n+1", (4,), {"n": 3}, {}),
        ("n-1", (0,), {"n": 0}, {}),
        ("n*m-1", (5,), {"n": 2, "m": 3}, {}),
        ("n-1", (7,), {}, {}),
        ("n", (7,), {"n": None}, {}),
        ("m n or n", (3,), {}, {"n": 3}),
        (lambda n, keep: (n,) if keep else (), (), {"n": 3, "keep": False}, {}),
        (lambda n: (n,), (4, 5), {}, {}),
        (lambda n: None, (4, 5), {"n": 1}, {}),
    ],
)  # fmt: skip
def test_what_fits(declared: Declared, shape: tuple[int, ...], names: Names, meant: Names) -> None:
    assert fit(declared, shape, names) == {**names, **meant}


@pytest.mark.parametrize(
    ("declared", "shape", "names", "message"),
    [
        ("n k", (2,), {}, "x: shape is (2,); expected (n, k)"),
        ("n", (2, 3), {}, "x: shape is (2, 3); expected (n,)"),
        ("n n", (2, 3), {}, "x: shape is (2, 3); expected (n, n)"),
        ("n 2", (5, 3), {}, "x: shape is (5, 3); expected (n, 2)"),
        ("()", (1,), {}, "x: shape is (1,); expected ()"),
        ("... n k", (5,), {}, "x: shape is (5,); expected (..., n, k)"),
        ("*batch n k", (4, 5, 6), {"batch": (3,), "k": 6}, "x: shape is (4, 5, 6); expected (3, n, 6)"),
        ("*batch", (4,), {"batch": (3,)}, "x: shape is (4,); expected (3,)"),
        ("n-1", (3,), {"n": 3}, "x: shape is (3,); expected (2,)"),
        ("m n or n or number", (2,), {"n": 3}, "x: shape is (2,); expected (m, 3) or (3,)"),
        ("*lead n@axis", (2,), {"axis": 1}, "axis: 1; expected -1 to 0 for x of shape (2,)"),
        ("*lead n@axis", (), {"axis": 0}, "x: it is a scalar; expected one axis or more, of which axis 0 is one"),
        ("n@axis *rest", (2, 3), {"axis": 0, "rest": (4,)}, "x: shape is (2, 3); expected (n, 4)"),
        (lambda n: (n, n), (3,), {"n": 3}, "x: shape is (3,); expected (3, 3)"),
    ],
)  # fmt: skip
def test_what_does_not_fit(declared: Declared, shape: tuple[int, ...], names: Names, message: str) -> None:
    with pytest.raises(InvalidProblemError) as caught:
        fit(declared, shape, names)
    assert str(caught.value) == message


def test_members_of_lists_have_a_pattern_of_their_own() -> None:
    both = pattern("n or list m n")
    assert both.check_shape("x", (3,), {}) == {"n": 3}
    assert both.check_shape("x[0]", (2, 3), {}, member=True) == {"m": 2, "n": 3}
    with pytest.raises(InvalidProblemError, match=r"x\[1\]: shape is \(3,\); expected \(2, 3\)"):
        both.check_shape("x[1]", (3,), {"m": 2, "n": 3}, member=True)


@pytest.mark.parametrize(
    ("declared", "taken", "refused", "error", "message"),
    [
        ("n : float", [F32, F64], S32, UnsupportedError, "x: element is s32; expected one of f16, bf16, f32, f64"),
        ("n : float", [F32], F8, UnsupportedError, "x: element is f8e4m3; expected one of f16, bf16, f32, f64"),
        ("n : float complex", [F32, C64], S32, UnsupportedError, "x: element is s32; expected one of f16, bf16, f32, f64, comp"),
        ("n : s32 s64", [S32], F32, InvalidProblemError, "x: element is f32; expected one of s32, s64"),
        ("n : bool", [ElementKind.BOOL], F32, InvalidProblemError, "x: element is f32; expected bool"),
        ((lambda: (1,), "f32"), [F32], F64, InvalidProblemError, "x: element is f64; expected f32"),
    ],
)  # fmt: skip
def test_elements(declared: Declared, taken: list[ElementKind], refused: ElementKind, error: Any, message: str) -> None:
    for kind in taken:
        pattern(declared).check_kind("x", kind, {})
    with pytest.raises(error) as caught:
        pattern(declared).check_kind("x", refused, {})
    assert str(caught.value).startswith(message)


def test_a_capital_letter_is_one_element_wherever_it_stands() -> None:
    names: Names = {}
    pattern("n : T float").check_kind("x", F32, names)
    pattern("m : T").check_kind("y", F32, names)
    with pytest.raises(InvalidProblemError, match=r"^y: element is f64; expected f32, that of x$"):
        pattern("m : T").check_kind("y", F64, names)


def test_what_stands_in_place_of_a_tensor() -> None:
    whole = pattern("n or number or numbers or none : int")
    assert (whole.number, whole.numbers, whole.none) == (True, True, True)
    assert str(whole) == "a tensor or a whole number or a list of whole numbers"
    plain = pattern("n")
    assert (plain.number, plain.numbers, plain.none, plain.each) == (False, False, False, ())


@pytest.mark.parametrize("text", ["", "n or", "... n ...", "n : f31", "a@axis ... b"])
def test_what_is_no_pattern(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        pattern(text)


def test_shapes_of_arrays_fit_as_they_are() -> None:
    assert fit("*batch n", np.zeros((2, 3)).shape) == {"batch": (2,), "n": 3}
