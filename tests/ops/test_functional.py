"""The daily functions: results in the caller's own library, from any layout, with and without `out`."""

from __future__ import annotations

import doctest
import importlib
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda import InvalidProblemError, UnsupportedError
from baracuda.cli.verify import values as data
from baracuda.cli.verify.bits import canonical_bits
from baracuda.cli.verify.plans import FLOATS
from baracuda.core.elements import ElementKind as K
from baracuda.core.plan import Plan
from tests.cases.trial import as_tuple
from tests.machine import Machine, torch_dtype

torch = pytest.importorskip("torch")

K_IDS = [str(k) for k in FLOATS]
#: Our own, PyTorch's, and NumPy's, which are on the CPU whatever the machine.
LIBRARIES = ("own", "torch", "numpy")


class Library:
    """Arrays of one library on the machine's device."""

    def __init__(self, name: str, machine: Machine) -> None:
        self.name, self.device = name, machine.name

    def make(self, values: np.ndarray, kind: K | None = None) -> Any:
        kind = kind or K.from_numpy(values.dtype)
        if self.name == "own":
            return baracuda.to_device(values.astype(kind.numpy), machine_device(self.device))
        if self.name == "numpy":
            return values.astype(kind.numpy)
        if kind.is_float:
            return torch.tensor(values.astype(np.float64)).to(torch_dtype(kind)).to(self.device)
        return torch.tensor(values.astype(kind.numpy)).to(self.device)

    def numpy(self, value: Any) -> np.ndarray:
        """The values in float64."""
        host = value.detach().cpu().double().numpy() if self.name == "torch" else baracuda.to_host(value)
        return host.astype(np.float64)

    def owns(self, value: Any) -> bool:
        if self.name == "own":
            return type(value) is baracuda.Array and value.device == machine_device(self.device)
        if self.name == "numpy":
            return type(value) is np.ndarray
        return type(value) is torch.Tensor and value.device.type == self.device


def machine_device(name: str) -> baracuda.Device:
    return baracuda.Device.cpu() if name == "cpu" else baracuda.Device.cuda(0)


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, machine: Machine) -> Library:
    return Library(request.param, machine)


def bits(library: Library, value: Any) -> np.ndarray:
    if library.name != "torch":
        return canonical_bits(baracuda.to_host(value))
    if value.dtype == torch.bfloat16:
        return np.asarray(value.detach().cpu().contiguous().view(torch.int16).numpy())
    return canonical_bits(value.detach().cpu().numpy())


def every(library: Library, element: K) -> list[tuple[str, Any]]:
    """Each function with its tensors: a name, and what calls it."""
    b = baracuda
    real = element.compute
    x, y = (library.make(data.normal(seed, (6, 40)), element) for seed in "xy")
    scale = library.make(0.01 + 0.05 * data.uniform("s", (6,)), real)
    zero = library.make(data.integers("z", (6,), -3, 3), K.S32)
    gamma = library.make(data.normal("g", (40,)), element)
    scores = library.make(data.normal("a", (2, 3, 4, 10)), element)
    slopes = library.make(data.normal("m", (3,)), element)
    rms = library.make(0.5 + data.uniform("r", (6, 1)), real)
    codes = library.make(data.integers("q", (6, 40), -128, 127), K.S8)
    return [
        ("softmax", lambda: b.softmax(x)),
        ("softmax_backward", lambda: b.softmax_backward(x, y, 0)),
        ("log_softmax", lambda: b.log_softmax(x, 0)),
        ("log_softmax_backward", lambda: b.log_softmax_backward(x, y)),
        ("rms_norm", lambda: b.rms_norm(x, gamma, saved=True)),
        ("rms_norm_backward", lambda: b.rms_norm_backward(x, y, gamma, rms)),
        ("alibi", lambda: b.alibi(scores, slopes)),
        ("alibi_backward", lambda: b.alibi_backward(scores, slopes)),
        ("lerp", lambda: b.lerp(x, y, 0.3)),
        ("lerp_backward", lambda: b.lerp_backward(x, x, y, 0.3)),
        ("quantize_per_token", lambda: b.quantize_per_token(x, scale, zero)),
        ("quantize_per_token_backward", lambda: b.quantize_per_token_backward(x, y, scale, zero)),
        ("dequantize_per_token", lambda: b.dequantize_per_token(codes, scale, zero, dtype=element)),
        ("dequantize_per_token_backward", lambda: b.dequantize_per_token_backward(x, scale)),
    ]


@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
def test_results_belong_to_the_caller(library: Library, element: K) -> None:
    for name, call in every(library, element):
        results = call()
        for result in results if isinstance(results, tuple) else (results,):
            assert library.owns(result), name
            assert np.isfinite(library.numpy(result)).all(), name


@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
def test_both_libraries_get_the_same_bits(machine: Machine, element: K) -> None:
    first, second = (Library(name, machine) for name in LIBRARIES[:2])
    for (name, one), (_, two) in zip(every(first, element), every(second, element), strict=True):
        a, b = one(), two()
        pairs = zip(a, b, strict=True) if isinstance(a, tuple) else [(a, b)]
        for left, right in pairs:
            assert np.array_equal(first.numpy(left), second.numpy(right)), name


def test_layouts(library: Library) -> None:
    """Transposed, stepped, reversed and expanded tensors give the bits of their contiguous copies."""
    base = library.make(data.normal("x", (24, 30)), K.F32)
    views = [base.T, base[::2, 1::3], base[:, 5], base[None]]
    if library.name == "torch":
        views += [base[:1].expand(9, 30), base[3:4, :] + 0 * base]
    else:
        views.append(base[::-1, ::-1])
    if isinstance(base, np.ndarray):
        views += [np.broadcast_to(base[:1], (9, 30)), base[3:4, :] + 0 * base]
    for view in views:
        copy = library.make(library.numpy(view), K.F32)
        assert tuple(baracuda.softmax(view).shape) == tuple(view.shape)
        assert np.array_equal(bits(library, baracuda.softmax(view)), bits(library, baracuda.softmax(copy)))
        assert np.array_equal(bits(library, baracuda.lerp(view, view, 0.5)), bits(library, baracuda.lerp(copy, copy, 0.5)))


def test_values_against_torch(library: Library) -> None:
    x = data.normal("x", (6, 40))
    ours = library.numpy(baracuda.softmax(library.make(x, K.F64), 0))
    assert np.allclose(ours, torch.softmax(torch.tensor(x), 0).numpy(), rtol=1e-14, atol=0)
    y, rms = baracuda.rms_norm(library.make(x, K.F64), axis=(0, 1), eps=1e-5, saved=True)
    assert tuple(rms.shape) == (1, 1)
    assert np.allclose(library.numpy(y), torch.nn.functional.rms_norm(torch.tensor(x), (6, 40), eps=1e-5).numpy(), rtol=1e-13)


def test_out_is_written_and_returned(library: Library) -> None:
    x = library.make(data.normal("x", (6, 40)), K.F32)
    expected = bits(library, baracuda.softmax(x))
    out = library.make(np.zeros((6, 40)), K.F32)
    assert baracuda.softmax(x, out=out) is out
    assert np.array_equal(bits(library, out), expected)
    assert baracuda.softmax(x, out=x) is x
    assert np.array_equal(bits(library, x), expected)


def test_lerp_broadcasts(library: Library) -> None:
    a, b = library.make(data.normal("a", (5, 1, 7)), K.F32), library.make(data.normal("b", (3, 1)), K.F32)
    y = baracuda.lerp(a, b, 0.25)
    assert tuple(y.shape) == (5, 3, 7)
    left, right = library.numpy(a), library.numpy(b)
    assert np.allclose(library.numpy(y), left + 0.25 * (right - left), rtol=1e-6, atol=1e-7)
    with pytest.raises(InvalidProblemError, match=r"b: shape \(4, 2\) does not broadcast with"):
        baracuda.lerp(a, library.make(np.zeros((4, 2)), K.F32), 0.5)


def test_optional_gradients(library: Library) -> None:
    dy = library.make(data.normal("a", (2, 3, 4, 10)), K.F32)
    slopes = library.make(data.normal("s", (3,)), K.F32)
    both = baracuda.alibi_backward(dy, slopes)
    for i, name in enumerate(("scores", "slopes")):
        only = baracuda.alibi_backward(dy, slopes, wrt=(name,))
        assert np.array_equal(bits(library, only), bits(library, both[i]))
    with pytest.raises(InvalidProblemError, match="expected some of scores, slopes"):
        baracuda.alibi_backward(dy, slopes, wrt=())


def test_gradients_that_are_recorded(machine: Machine) -> None:
    """Inputs that require grad are read; one cannot be written while gradients are recorded."""
    x = torch.randn(6, 40, device=machine.name, requires_grad=True)
    with torch.no_grad():
        y = baracuda.softmax(x)
    assert not y.requires_grad
    assert torch.allclose(y, torch.softmax(x, -1), atol=1e-6)
    assert torch.allclose(baracuda.softmax(x), y)
    with pytest.raises(InvalidProblemError, match="requires grad"):
        baracuda.softmax(x.detach(), out=x)
    with torch.no_grad():
        baracuda.softmax(x, out=x)
    assert torch.equal(x, y)


def test_errors_are_those_of_the_plan(library: Library) -> None:
    x = library.make(data.normal("x", (6, 40)), K.F32)
    with pytest.raises(InvalidProblemError, match="axis: 2; expected an axis from -2 to 1"):
        baracuda.softmax(x, 2)
    with pytest.raises(InvalidProblemError, match="axis: 5"):
        baracuda.rms_norm(x, axis=5)
    with pytest.raises(InvalidProblemError, match=r"weight: shape \(6,\) does not broadcast with \(6, 40\)"):
        baracuda.rms_norm(x, x[:, 0])
    with pytest.raises(InvalidProblemError, match="batch, heads, queries, keys"):
        baracuda.alibi(x, x)
    with pytest.raises(InvalidProblemError, match="tokens, features"):
        baracuda.quantize_per_token(x[0], x[:1, 0])
    with pytest.raises(UnsupportedError, match="dtype: s4; expected one of s8, u8"):
        baracuda.quantize_per_token(x, x[:, 0], dtype="int4")
    with pytest.raises(UnsupportedError, match="softmax: s32; expected one of f16, bf16, f32, f64"):
        baracuda.softmax(library.make(np.arange(6), K.S32))
    with pytest.raises(InvalidProblemError, match=r"x: got a builtins\.list"):
        baracuda.softmax([1.0, 2.0])
    with pytest.raises(InvalidProblemError, match="y: shape"):
        baracuda.softmax(x, out=x[:, :3])


@pytest.mark.parametrize("axis", [True, 0.0, 1.5, "1", 2, ()], ids=repr)
def test_what_is_no_axis(library: Library, axis: Any) -> None:
    x = library.make(np.ones((3, 4)), K.F32)
    rms = library.make(np.ones((3, 1)), K.F32)
    calls = [
        lambda: baracuda.softmax(x, axis), lambda: baracuda.log_softmax(x, axis), lambda: baracuda.softmax_backward(x, x, axis),
        lambda: baracuda.log_softmax_backward(x, x, axis), lambda: baracuda.rms_norm(x, axis=axis),
        lambda: baracuda.rms_norm_backward(x, x, None, rms, axis=axis), lambda: baracuda.rms_norm(x, axis=(0, axis)),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(InvalidProblemError, match=r"axis: .*; expected (an axis from -2 to 1|a whole number)"):
            call()


def test_what_are_no_axes_of_a_norm(library: Library) -> None:
    x = library.make(np.ones((3, 4)), K.F32)
    with pytest.raises(InvalidProblemError, match="names an axis twice"):
        baracuda.rms_norm(x, axis=(1, -1))
    for axis in ((), []):
        with pytest.raises(InvalidProblemError, match="expected a whole number or a tuple of 1 or more"):
            baracuda.rms_norm(x, axis=axis)


@pytest.mark.parametrize("eps", [-1e-6, float("nan"), float("inf"), True, None, "1", 1j, 10**400], ids=repr)
def test_what_is_no_eps(library: Library, eps: Any) -> None:
    with pytest.raises(InvalidProblemError, match=r"eps: .*; expected a number at least 0 and finite"):
        baracuda.rms_norm(library.make(np.ones((3, 4)), K.F32), eps=eps)


def test_numbers_of_numpy_are_numbers(library: Library) -> None:
    x, y = (library.make(data.normal(seed, (3, 4)), K.F32) for seed in "xy")
    for number in (0.25, 1):
        for kind in (np.float32, np.float64):
            for call in (lambda n: baracuda.rms_norm(x, eps=n), lambda n: baracuda.lerp(x, y, n)):
                assert np.array_equal(bits(library, call(kind(number))), bits(library, call(number)))


def test_other_options_that_are_none(library: Library) -> None:
    """Codes are s8 or u8, and values floats."""
    x, scale = (library.make(np.ones(shape), K.F32) for shape in ((3, 4), (3,)))
    codes = baracuda.quantize_per_token(x, scale)
    for dtype in ("s16", "f32"):
        with pytest.raises(UnsupportedError, match=r"dtype: .*; expected one of s8, u8"):
            baracuda.quantize_per_token(x, scale, dtype=dtype)
        with pytest.raises(InvalidProblemError, match=r"dtype: .*; expected an element"):
            baracuda.quantize_per_token(x, scale, dtype=[dtype])
    with pytest.raises(UnsupportedError, match=r"dtype: s32; expected a float"):
        baracuda.dequantize_per_token(codes, scale, dtype="s32")


def test_plans_are_reused(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second call with the same shapes selects nothing."""
    x = library.make(data.normal("x", (6, 40)), K.F32)
    baracuda.softmax(x)
    monkeypatch.setattr(Plan, "select_layouts", None)
    baracuda.softmax(x)


MODULES = (
    "ops.softmax.softmax",
    "ops.normalization.rms_norm",
    "ops.attention.alibi",
    "ops.elementwise.binary",
    "ops.quantization.per_token",
)


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"baracuda.{name}")).failed == 0


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softmin", "logsumexp", "layer_norm", "normalize"])
def test_saved_results_that_are_not_given_are_computed(name: str, machine: Machine) -> None:
    library = Library("torch", machine)
    x, dy = (library.make(data.normal(f"{name}{i}", (5, 70)), K.F32) for i in range(2))
    words = {"axis": -1} if name in ("logsumexp", "normalize") else {}
    forward, backward = getattr(baracuda, name), getattr(baracuda, f"{name}_backward")
    dy = dy[:, 0] if name == "logsumexp" else dy
    results = forward(x, **words, **({"saved": True} if name in ("layer_norm", "normalize") else {}))
    saves = dict(
        zip({"layer_norm": ("y", "mean", "rstd"), "normalize": ("y", "norm")}.get(name, ("y",)), as_tuple(results), strict=True)
    )
    wanted = as_tuple(backward(dy, x, **{n: v for n, v in saves.items() if n in backward.names}, **words))
    gradients = as_tuple(backward(dy, x, **words))
    assert gradients
    for a, b in zip(gradients, wanted, strict=True):
        assert torch.equal(a, b)
