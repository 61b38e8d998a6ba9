"""Functions that declare what they take: every public one does, and what is outside is refused before their code runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.bounds import AtLeast
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.backward import Backward
from baracuda.frontends.creating import CreatingFunction
from baracuda.frontends.declared import DECLARED, MOST_CALLS, declared
from baracuda.frontends.double_backward import DoubleBackward
from baracuda.frontends.families import compositions
from baracuda.frontends.function import Function
from baracuda.frontends.fuse import Fused
from baracuda.frontends.product_function import MatmulBackward, MatmulFunction
from baracuda.ops.declaration.words import Dtype, Quantized
from tests.unit.fake_dlpack import Bare

#: Public functions that take no tensors to compute with.
EXEMPT = {
    "asarray": "takes whatever NumPy makes an array of",
    "mask_indices": "takes no tensor",
    "multi_tensor_apply": "takes a function, whose own parameters say what is taken",
    "to_device": "takes whatever NumPy makes an array of",
    "to_host": "takes an array of the library's own, or what NumPy makes one of",
    "fuse": "a decorator of a function",
    "profile": "takes nothing",
    "record": "takes a function and examples of its arguments, which it describes",
}
MACHINES = (Function, Backward, DoubleBackward, MatmulFunction, MatmulBackward, Fused)

X, Y, V = np.ones((3, 4), np.float32), np.ones((3, 4), np.float32), np.ones(4, np.float32)


def public() -> list[str]:
    exported = [n for m, names in baracuda._EXPORTS.items() if m.startswith("baracuda.frontends.") for n in names.split()]
    return [*exported, *compositions()]


@pytest.mark.parametrize(
    "name", [n for n in public() if n != "catalogue" and inspect.isfunction(inspect.unwrap(getattr(baracuda, n)))]
)
def test_every_public_function_is_declared(name: str) -> None:
    function = getattr(baracuda, name)
    assert (name in EXEMPT) is not hasattr(function, "declaration")
    if name not in EXEMPT:
        assert DECLARED[name] is function.declaration
        own, said = inspect.signature(function), function.declaration.signature
        if isinstance(function, CreatingFunction):  # what it is like stands last
            where = set(own.parameters) - set(said.parameters) | {"like"}
            assert where == {"device", "like"}
            own, said = (s.replace(parameters=[p for n, p in s.parameters.items() if n not in where]) for s in (own, said))
        assert own == said
        assert function.__doc__


def test_what_is_public_is_a_function_a_machine_or_a_type() -> None:
    for name in public():
        value = inspect.unwrap(getattr(baracuda, name))
        assert inspect.isfunction(value) or isinstance(value, (*MACHINES, type)) or name == "catalogue", name
    assert len(DECLARED) > 120


# --- one function of every sort of parameter --------------------------------------------------------------------------

CALLS: list[dict[str, Any]] = []


@declared(x="*before n@axis *after : T float", y="*before m *after : T", w="n or number : T", z=lambda n, mode: (n,) * len(mode))
def mixed(
    x: Any,
    y: Any,
    w: Any = None,
    axis: int = -1,
    *,
    z: Any = None,
    mode: Literal["a", "bb"] = "a",
    p: Annotated[float, AtLeast(0)] = 2.0,
    wrt: Sequence[str] | None = None,
    dtype: Dtype = None,
    out: Any = None,
) -> Any:
    """What the function was given."""
    CALLS.append({"x": x, "y": y, "w": w, "axis": axis, "mode": mode, "p": p, "wrt": wrt, "dtype": dtype})
    return CALLS[-1]


@declared(tensors="list n k", others="... : float")
def several(tensors: Sequence[Any], *others: Any, flag: bool = False) -> Any:
    """Lists of tensors, and any number of them."""
    return tensors, others, flag


@declared(lengths="n or number or numbers : int", scale="n or none")
def on_the_host(scale: Any, lengths: Any) -> Any:
    """Numbers in place of tensors, and None without a default."""
    return scale, lengths


@declared(mixed, "mode", "y", x="...")
def handing_on(x: Any, *, p: Annotated[float, AtLeast(1)] = 3.0, **options: Any) -> Any:
    """Options of another function."""
    return mixed(x, x, p=p, **options)


for _function in (mixed, several, on_the_host, handing_on):
    del DECLARED[_function.__name__]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mixed(X), "mixed: y missing; expected x, y, w, axis, z, mode, p, wrt, dtype, out"),
        (lambda: mixed(X, Y, V, -1, 5), "mixed: got 5 arguments by position; expected at most 4: x, y, w, axis"),
        (lambda: mixed(X, Y, x=X), "mixed: x is given twice"),
        (lambda: mixed(X, Y, dim=1, axis=1), "mixed: axis is given twice"),
        (lambda: mixed(X, Y, V, 1, dim=1), "mixed: axis is given twice"),
        (lambda: mixed(X, Y, mod="a"), "mod: mixed has no such parameter; expected some of x, y, w, axis, z, mode, p, wrt"),
        (lambda: mixed(None, Y), "x: got a builtins.NoneType; expected a NumPy array, a torch.Tensor or an object with"),
        (lambda: mixed(1.0, Y), "x: got a builtins.float; expected a NumPy array, a torch.Tensor or an object with"),
        (lambda: mixed([X], Y), "x: got a builtins.list; expected a NumPy array, a torch.Tensor or an object with"),
        (lambda: mixed(X, Y, "a"), "w: got a builtins.str; expected a NumPy array, a torch.Tensor or an object with"),
        (lambda: mixed(X, Y, [1.0]), "w: [1.0]; expected a tensor or a number"),
        (lambda: mixed(X, Y, axis=2), "axis: 2; expected -2 to 1 for x of shape (3, 4)"),
        (lambda: mixed(X, Y, axis=1.0), "axis: 1.0; expected a whole number"),
        (lambda: mixed(X, Y[:2]), "y: shape is (2, 4); expected (3, m)"),
        (lambda: mixed(X, Y.astype(float)), "y: element is f64; expected f32, that of x"),
        (lambda: mixed(X, Y, V[:3]), "w: shape is (3,); expected (4,)"),
        (lambda: mixed(X, Y, z=V, mode="bb"), "z: shape is (4,); expected (4, 4)"),
        (lambda: mixed(X, Y, mode="c"), "mode: 'c'; expected 'a' or 'bb'"),
        (lambda: mixed(X, Y, p=-1), "p: -1; expected a number at least 0"),
        (lambda: mixed(X, Y, p=float("nan")), "p: nan; expected a number at least 0"),
        (lambda: mixed(X, Y, p=None), "p: None; expected a number at least 0"),
        (lambda: mixed(X, Y, wrt="x"), "wrt: 'x'; expected a tuple of any length, each a word or None"),
        (lambda: mixed(X, Y, dtype="f31"), "dtype: 'f31'; expected an element, or the dtype or name of one or None"),
        (lambda: several(X), "tensors: array([["),
        (lambda: several([X, 1.0]), "tensors[1]: got a builtins.float; expected a NumPy array"),
        (lambda: several([X, V]), "tensors[1]: shape is (4,); expected (3, 4)"),
        (lambda: several([X], V, 1), "others[1]: got a builtins.int; expected a NumPy array"),
        (lambda: several([X], flag=1), "flag: 1; expected True or False"),
        (lambda: on_the_host(None, [1, 2.5]), "lengths: [1, 2.5]; expected a tensor or a whole number or a list of whole"),
        (lambda: on_the_host(None, True), "lengths: True; expected a tensor or a whole number or a list of whole numbers"),
        (lambda: on_the_host(V, [1, 2]), "scale: shape is (4,); expected (2,)"),
        (lambda: handing_on(X, mode="a"), "mode: handing_on has no such parameter; expected some of x, p, w, axis, z, wrt"),
        (lambda: handing_on(X, p=0.5), "p: 0.5; expected a number at least 1"),
        (lambda: handing_on(X, wrt=1), "wrt: 1; expected a tuple of any length, each a word or None"),
    ],
)  # fmt: skip
def test_what_is_refused_and_how(call: Any, message: str) -> None:
    before = len(CALLS)
    for _ in range(2):  # what was refused is refused again
        with pytest.raises(InvalidProblemError) as caught:
            call()
        assert str(caught.value).startswith(message)
    assert len(CALLS) == before


def test_what_is_taken_and_as_what() -> None:
    for _ in range(2):
        taken = mixed(X, Y, np.float64(2), dim=np.int64(1), p=np.float32(0.5), wrt=["x"], dtype=np.float16)
        assert taken["x"] is X
        assert (type(taken["w"]), type(taken["axis"]), type(taken["p"])) == (float, int, float)
        assert taken["wrt"] == ("x",)
        assert taken["dtype"] is ElementKind.F16
        assert mixed(X, Y, wrt=None, dtype=None)["axis"] == -1
    assert several((X, X)) == ((X, X), (), False)
    tensors, others, flag = several([X], V, X, flag=True)
    assert (tensors, others[0] is V, others[1] is X, flag) == ([X], True, True, True)
    assert on_the_host(None, ()) == (None, ())
    assert on_the_host(None, 3) == (None, 3)
    assert handing_on(X, axis=0)["p"] == 3.0


def test_numbers_in_place_of_tensors_change_from_call_to_call() -> None:
    assert [mixed(X, Y, w)["w"] for w in (1.0, 2.0, 2, True, 1j)] == [1.0, 2.0, 2, True, 1j]


def test_a_checked_call_is_no_licence_for_another() -> None:
    """What a call with the same names and positions is refused for, although another one was fine."""
    mixed(X, Y, p=1.0)
    for wrong in ({"p": -1.0}, {"p": True}, {"mode": "c"}, {"p": float("nan")}):
        with pytest.raises(InvalidProblemError):
            mixed(X, Y, **wrong)
    with pytest.raises(InvalidProblemError):
        mixed(X, Y.astype(np.float64), p=1.0)
    with pytest.raises(InvalidProblemError):
        mixed(X, Y, V, True)


def test_tensors_of_any_library_are_adopted() -> None:
    for _ in range(2):
        taken = mixed(Bare(X.copy()), Bare(Y.copy()))
        assert type(taken["x"]) is type(taken["y"]) is np.ndarray
        lazy = torch.ones(3, 4, dtype=torch.complex64).conj()
        assert not several([lazy])[0][0].is_conj()
        assert not several([], lazy.imag)[1][0].is_neg()


def test_what_is_remembered_holds_nothing_and_has_an_end() -> None:
    @declared(x="n or list n")
    def kept(x: Any, p: int | tuple[int, ...] = 0, f: Callable[[], int] | None = None) -> Any:
        """Its option."""
        return p

    calls = DECLARED.pop("kept")._checked_calls
    for n in range(MOST_CALLS + 7):
        assert (kept(np.ones(n % 7 + 1), n), kept(V, (1, n))) == (n, (1, n))
        assert 0 < len(calls) <= MOST_CALLS
    calls.clear()
    for n in range(3):
        kept([V, V])
        kept(V, f=lambda n=n: n)
        kept(Bare(V.copy()))
    assert len(calls) == 2
    assert str(calls).count("function") == 1  # its type
    with pytest.raises(InvalidProblemError, match=r"x\[1\]: shape is"):
        kept([V, X])
    with pytest.raises(InvalidProblemError, match="f: 3; expected a function or None"):
        kept(V, f=3)


def test_declarations_that_cannot_be() -> None:
    def plain(x: Any, y: Any, p: int = 0) -> Any: ...

    def open_(x: Any, **options: Any) -> Any: ...

    with pytest.raises(TypeError, match=r"plain: patterns of \['z'\], which are no parameters, and none of \['y'\]"):
        declared(x="n", z="n")(plain)
    with pytest.raises(TypeError, match="open_: takes any options, and hands them on to no function"):
        declared(x="n")(open_)


def test_what_help_shows_is_the_function() -> None:
    assert mixed.__name__ == "mixed"
    assert mixed.__doc__ == "What the function was given."
    assert list(inspect.signature(mixed).parameters)[:3] == ["x", "y", "w"]


def test_elements_that_are_not_among_some_are_not_supported() -> None:
    @declared(x="...")
    def coded(x: Any, dtype: Quantized = ElementKind.S8) -> Any:
        """The element of codes."""
        return dtype

    assert [coded(X, d) for d in ("int8", np.uint8, torch.int8)] == [ElementKind.S8, ElementKind.U8, ElementKind.S8]
    for wrong in ("s16", None, ["s8"], 8):
        with pytest.raises(baracuda.UnsupportedError, match=r"^dtype: .*; expected one of s8, u8, or a dtype or name of it$"):
            coded(X, wrong)
    del DECLARED["coded"]
