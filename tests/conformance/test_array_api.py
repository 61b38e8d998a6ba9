"""A sample of the array API standard: `baracuda.array_api` has its functions with their signatures, its promotion, and the values
of NumPy, whose main namespace keeps the standard as well.

The consortium's own suite is larger, and found at https://github.com/data-apis/array-api-tests. From its folder:

    ARRAY_API_TESTS_MODULE=baracuda.array_api ARRAY_API_TESTS_VERSION=2025.12 python -m pytest array_api_tests \\
        --max-examples 200 --hypothesis-disable-deadline
"""

from __future__ import annotations

import inspect
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special

import baracuda
import baracuda.array_api as xp
from baracuda import Array, Device, ElementKind

SIGNATURES = [
    line for line in (Path(__file__).parent / "signatures.txt").read_text().splitlines() if line and not line.startswith("#")
]
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()  # noqa: SIM905
FLOATS, REALS = ["float32", "float64"], [d for d in DTYPES if d != "bool" and not d.startswith("complex")]
NUMBERS, INTEGERS = [d for d in DTYPES if d != "bool"], [d for d in REALS if "int" in d]
FLOATING = [*FLOATS, "complex64", "complex128"]

#: Expressions of x and y, of shape (3, 4), with their elements. Values are to be NumPy's.
EXPRESSIONS: list[tuple[list[str], str]] = [
    (NUMBERS, "abs add(y) multiply(y) subtract(y) positive square equal(y) not_equal(y) sum prod(axis=0) isfinite"),
    (NUMBERS, "isnan isinf"),
    (NUMBERS, "real conj"),
    (FLOATING, "acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh exp expm1 log log1p log2 log10 sqrt"),
    (FLOATING, "reciprocal negative"),
    (FLOATING, "divide(y) pow(y) mean var std(axis=1,correction=1) mean(axis=(0,1),keepdims=True) sign matmul(y.T)"),
    (FLOATING, "vecdot(y)"),
    (FLOATS, "atan2(y) copysign(y) hypot(y) logaddexp(y) nextafter(y) signbit round floor ceil trunc"),
    (REALS, "maximum(y) minimum(y) less(y) less_equal(y) greater(y) greater_equal(y) floor_divide(y) remainder(y)"),
    (REALS, "max min(axis=0)"),
    (REALS, "argmax argmin(axis=1,keepdims=True) sort sort(axis=0,descending=True) argsort(axis=0) clip(2,5) floor"),
    (REALS, "trunc round sign"),
    (INTEGERS, "bitwise_and(y) bitwise_or(y) bitwise_xor(y) bitwise_invert bitwise_left_shift(y)"),
    (INTEGERS, "bitwise_right_shift(y)"),
    (["bool"], "logical_and(y) logical_or(y) logical_xor(y) logical_not sum bitwise_and(y) bitwise_invert"),
    (DTYPES, "all any(axis=0) count_nonzero(axis=1) flip flip(axis=0) roll(1) roll((1,2),axis=(0,1))"),
    (DTYPES, "reshape((4,3)) expand_dims(axis=1)"),
    (DTYPES, "permute_dims((1,0)) moveaxis(0,1) matrix_transpose tril triu(k=1) tile((2,1)) repeat(2)"),
    (DTYPES, "repeat(3,axis=1) nonzero"),
    (DTYPES, "broadcast_to((2,3,4)) broadcast_arrays(y[0]) meshgrid_(y[0]) concat_(y) concat_(y,axis=None)"),
    (DTYPES, "stack_(y,axis=-1) unstack"),
    (DTYPES, "take(i,axis=1) take_along_axis(j,axis=0) where_(y) zeros_like ones_like full_like(1) squeeze_"),
    (NUMBERS, "cumulative_sum(axis=0) cumulative_sum(axis=1,include_initial=True) cumulative_prod(axis=-1) diff"),
    (NUMBERS, "diff(axis=0,n=2)"),
    (NUMBERS, "diff(prepend=y,append=y) tensordot(y) tensordot(y,axes=((0,1),(0,1)))"),
    ([*REALS, "bool"], "unique_all unique_counts unique_inverse unique_values isin(y) isin(y,invert=True)"),
    (REALS, "searchsorted_(y) searchsorted_(y,side='right')"),
]  # fmt: skip


#: Each expression with the elements of its operands.
CASES = [(e, dtypes) for dtypes, expressions in EXPRESSIONS for e in expressions.split()]


def _of(x: np.ndarray, y: np.ndarray, expression: str, space: Any, put: Any) -> Any:
    """What a namespace says of an expression."""
    name, _, rest = expression.partition("(")
    i, j = put(np.array([2, 0, 3])), put(np.array([[0, 2, 1, 0], [1, 1, 0, 2]]))
    names = {"x": put(x), "y": put(y), "i": i, "j": j, "space": space}
    forms = {
        "meshgrid_": "space.meshgrid(x[0], {0})", "concat_": "space.concat((x, {0}", "stack_": "space.stack((x, {0}",
        "where_": "space.where(x == x, x, y)", "squeeze_": "space.squeeze(x[None], axis=0)",
        "searchsorted_": "space.searchsorted(space.sort(x[0]), {0}",
    }  # fmt: skip
    if name in ("concat_", "stack_"):
        first, _, keywords = rest.rstrip(")").partition(",")
        return eval(f"space.{name[:-1]}((x, {first}), {keywords})", {}, names)
    if name in forms:
        return eval(forms[name].format(rest.removesuffix(")")) + (")" if name == "searchsorted_" else ""), {}, names)
    return eval(f"space.{name}(x, {rest.removesuffix(')')})", {}, names)


def _values(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    if dtype == "bool":
        return rng.random((3, 4)) < 0.5, rng.random((3, 4)) < 0.5
    if "int" in dtype:
        return rng.integers(1, 8, (3, 4)).astype(dtype), rng.integers(1, 5, (3, 4)).astype(dtype)
    x, y = rng.random((3, 4)) * 0.8 + 0.1, rng.random((3, 4)) + 0.25
    if dtype.startswith("complex"):
        return (x - 0.5 + 1j * y).astype(dtype), (y + 1j * x).astype(dtype)
    return x.astype(dtype), y.astype(dtype)


@pytest.fixture(scope="module")
def device(request: pytest.FixtureRequest) -> Device:
    return Device.cpu() if request.config.getoption("--device") == "cpu" else Device.cuda(0)


#: NumPy's words where they are not the standard's.
class _NumPy:
    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def sort(x: Any, axis: int = -1, descending: bool = False) -> Any:
        return np.flip(np.sort(x, axis=axis), axis) if descending else np.sort(x, axis=axis)

    @staticmethod
    def argsort(x: Any, axis: int = -1) -> Any:
        return np.argsort(x, axis=axis, stable=True)

    @staticmethod
    def std(x: Any, axis: Any = None, correction: float = 0) -> Any:
        return np.std(x, axis=axis, ddof=correction)

    @staticmethod
    def unique_values(x: Any) -> Any:
        return np.unique(x)

    @staticmethod
    def matrix_transpose(x: Any) -> Any:
        return x.mT


def _same(ours: Any, theirs: Any, expression: str) -> None:
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            _same(a, b, expression)
        return
    theirs = np.asarray(theirs)
    assert type(ours) is Array
    assert ours.shape == theirs.shape
    got = ours.numpy()
    kind = theirs.dtype
    if expression.startswith(("floor", "ceil", "trunc")) and got.dtype != kind:
        assert got.dtype.kind in "iu"  # NumPy's of integers are floats in its older versions
    else:
        assert got.dtype == kind
    if kind.kind in "fc":
        near = 2e-6 if kind in (np.float32, np.complex64) else 1e-14
        np.testing.assert_allclose(got, theirs, rtol=8 * near, atol=8 * near)
    else:
        np.testing.assert_array_equal(got, theirs)


@pytest.mark.parametrize("at", range(len(CASES)), ids=[e for e, _ in CASES])
def test_values_are_numpys(device: Device, at: int, full: bool) -> None:
    """On every element with --full, on one of four without."""
    expression, dtypes = CASES[at]
    for dtype in dtypes if full else dtypes[at % min(4, len(dtypes)) :: 4]:
        x, y = _values(dtype)
        with np.errstate(all="ignore"):
            theirs = _of(x, y, expression, _NumPy(), lambda v: v)
        _same(_of(x, y, expression, xp, lambda v: xp.asarray(v, device=device)), theirs, expression)


# --- what there is ----------------------------------------------------------------------------------------------------


def test_every_function_is_there_with_its_signature() -> None:
    for line in SIGNATURES:
        name = line.partition("(")[0]
        scope: dict[str, Any] = {}
        exec(f"def {line}: ...", scope)
        ours, theirs = inspect.signature(getattr(xp, name)).parameters, inspect.signature(scope[name]).parameters
        assert [(p.name, p.kind, p.default) for p in ours.values()] == [(p.name, p.kind, p.default) for p in theirs.values()], (
            name
        )
        assert name in xp.__all__
    assert (xp.__array_api_version__, len(SIGNATURES) > 130) == ("2025.12", True)


def test_an_array_has_the_standards_attributes() -> None:
    x = xp.ones((2, 3))
    methods = (
        "abs add and bool complex dlpack dlpack_device eq float floordiv ge getitem gt index int invert le lshift lt matmul mod "
    )
    methods += (
        "mul ne neg or pos pow rshift setitem sub truediv xor radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul rand ror "
    )
    methods += "rxor rlshift rrshift iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift"
    for name in (*(f"__{m}__" for m in methods.split()), "__array_namespace__", "to_device", "T", "mT", "ndim", "size"):
        assert hasattr(x, name), name
    assert (x.shape, x.dtype, x.device, x.ndim, x.size) == ((2, 3), xp.float32, Device.cpu(), 2, 6)
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2025.12") is xp
    with pytest.raises(baracuda.Error, match="api_version"):
        x.__array_namespace__(api_version="1999.12")
    assert x.to_device(x.device) is x


def test_what_the_namespace_says_of_itself() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_device() == Device.cpu()
    assert info.devices()[0] == Device.cpu()
    assert set(info.dtypes()) == set(DTYPES)
    assert set(info.dtypes(kind="unsigned integer")) == {"uint8", "uint16", "uint32", "uint64"}
    assert set(info.dtypes(kind=("bool", "complex floating"))) == {"bool", "complex64", "complex128"}
    defaults = info.default_dtypes()
    assert defaults["real floating"] == xp.asarray(1.0).dtype == xp.float32
    assert defaults["complex floating"] == xp.asarray(1j).dtype == xp.complex64
    assert defaults["integral"] == xp.asarray(1).dtype == xp.int64
    assert defaults["indexing"] == xp.argmax(xp.ones(3)).dtype == xp.int64
    assert info.capabilities()["boolean indexing"] is info.capabilities()["data-dependent shapes"] is True
    assert (xp.pi, xp.e, xp.inf, xp.newaxis) == (np.pi, np.e, np.inf, None)
    assert xp.nan != xp.nan


# --- dtypes -----------------------------------------------------------------------------------------------------------


def _mixes(a: str, b: str) -> bool:
    """Whether the standard leaves a pair open."""
    kinds = {np.dtype(d).kind for d in (a, b)}
    return (len(kinds) == 2 and kinds not in ({"i", "u"}, {"f", "c"})) or ("uint64" in (a, b) and "i" in kinds)


def test_promotion_is_the_standards() -> None:
    for a, b in combinations_with_replacement(DTYPES, 2):
        if _mixes(a, b):
            continue
        wanted = np.result_type(a, b)
        assert xp.result_type(getattr(xp, a), getattr(xp, b)) == getattr(xp, wanted.name)
        if a != "bool":
            sum_ = xp.asarray(np.ones(2, a)) + xp.asarray(np.ones(2, b))
            assert sum_.dtype == getattr(xp, wanted.name)
        assert xp.can_cast(getattr(xp, a), getattr(xp, wanted.name))
    assert not xp.can_cast(xp.float64, xp.float32)
    assert xp.result_type(xp.asarray(1.0), 2, 3j) == xp.complex64


def test_what_is_known_of_dtypes() -> None:
    assert [xp.isdtype(xp.int8, k) for k in ("integral", "signed integer", "bool", xp.int8, (xp.int16, "numeric"))] == [
        True, True, False, True, True,
    ]  # fmt: skip
    assert (xp.iinfo(xp.int8).min, xp.iinfo(xp.uint8).max, xp.iinfo(xp.int64).bits) == (-128, 255, 64)
    for dtype in FLOATS:
        ours, theirs = xp.finfo(getattr(xp, dtype)), np.finfo(dtype)
        assert (ours.eps, ours.max, ours.smallest_normal, ours.bits) == (
            theirs.eps,
            theirs.max,
            theirs.smallest_normal,
            theirs.bits,
        )
    assert xp.finfo(xp.complex64).dtype == xp.float32
    assert np.dtype(xp.float32) == np.float32
    x = xp.asarray([1.5, -2.5])
    assert xp.astype(x, xp.int32).tolist() == [1, -2]
    assert xp.astype(x, xp.float32, copy=False) is x
    for wrong in (lambda: xp.iinfo(xp.float32), lambda: xp.finfo(xp.int8), lambda: xp.isdtype(xp.int8, "float")):
        with pytest.raises(baracuda.Error):
            wrong()


# --- creation ---------------------------------------------------------------------------------------------------------


def test_arrays_of_numbers_in_lists() -> None:
    inner = xp.asarray([1, 2], dtype=xp.int16)
    for obj, kind, values in (
        ([[1, 2], [3, 4]], ElementKind.S64, [[1, 2], [3, 4]]), ([True, False], ElementKind.BOOL, [True, False]),
        ([1, 2.5], ElementKind.F32, [1, 2.5]), ([1j, 2], ElementKind.C64, [1j, 2]), ([], ElementKind.F32, []),
        ([inner, inner], ElementKind.S16, [[1, 2], [1, 2]]), ([inner[0], 3], ElementKind.S16, [1, 3]),
        ((inner, xp.asarray([1.0, 2.0])), ElementKind.F32, [[1, 2], [1, 2]]), ([1 << 63], ElementKind.U64, [1 << 63]),
        (np.float64([1, 2]), ElementKind.F64, [1, 2]), (bytearray(b"ab"), ElementKind.U8, [97, 98]),
    ):  # fmt: skip
        made = xp.asarray(obj)
        assert (made.kind, made.tolist()) == (kind, values)
        assert xp.asarray(obj, dtype=xp.complex128).tolist() == values


def test_copies_are_made_where_they_are_wanted() -> None:
    x, held = xp.asarray([1.0, 2.0]), np.float32([1, 2])
    assert xp.asarray(x).pointer == xp.asarray(x, copy=False).pointer == x.pointer
    assert xp.asarray(x, copy=True).pointer != x.pointer
    assert xp.asarray(held).pointer == held.ctypes.data
    assert xp.asarray(held, copy=True).pointer != held.ctypes.data
    assert xp.from_dlpack(held).pointer == held.ctypes.data
    assert xp.from_dlpack(held, copy=True).pointer != held.ctypes.data
    assert xp.reshape(x, (2, 1), copy=True).pointer != x.pointer
    assert xp.reshape(x, (2, 1), copy=False).pointer == x.pointer
    for wrong in (
        lambda: xp.asarray(x, dtype=xp.float64, copy=False),
        lambda: xp.asarray([1], copy=False),
        lambda: xp.reshape(xp.zeros((2, 3)).T, (6,), copy=False),
    ):
        with pytest.raises(ValueError, match="copy: False"):
            wrong()


def test_arrays_of_a_shape(device: Device) -> None:
    for made, theirs in (
        (xp.zeros((2, 3), device=device), np.zeros((2, 3), np.float32)),
        (xp.ones(3, dtype=xp.int8, device=device), np.ones(3, np.int8)),
        (xp.full((), 2j, device=device), np.full((), 2j, np.complex64)),
        (xp.full((2,), True, device=device), np.full(2, True)),
        (xp.eye(2, 3, k=1, device=device), np.eye(2, 3, 1, np.float32)),
        (xp.arange(5, device=device), np.arange(5)),
        (xp.arange(1, 2, 0.25, device=device), np.arange(1, 2, 0.25, np.float32)),
        (xp.linspace(0, 1, 5, device=device), np.linspace(0, 1, 5, dtype=np.float32)),
        (xp.linspace(0, 1, 4, endpoint=False, dtype=xp.float64, device=device), np.linspace(0, 1, 4, endpoint=False)),
    ):
        assert made.device == device
        _same(made, theirs, "")
    assert (xp.empty((2, 3), device=device).shape, xp.empty_like(xp.zeros(3, dtype=xp.int8)).dtype) == ((2, 3), xp.int8)


def test_the_default_device_is_what_it_was_said_to_be(device: Device) -> None:
    from baracuda.array_api.operands import default_device

    with pytest.raises(baracuda.Error, match="expected a Device"):
        xp.zeros(3, device="cpu")
    before = default_device()
    try:
        xp.set_default_device(device)
        for made in (
            xp.zeros(2),
            xp.asarray([1, 2]),
            xp.asarray(np.zeros(2)),
            xp.asarray(np.float32(1)),
            xp.asarray(bytearray(b"a")),
        ):
            assert made.device == device
        held = xp.asarray([1.0], device=Device.cpu())
        assert xp.asarray(held).device == held.device == Device.cpu()
    finally:
        xp.set_default_device(before)
    assert default_device() == before


def test_special_values() -> None:
    inf, nan = xp.inf, xp.nan
    for name, of, expected in (
        ("floor_divide", ([inf, -inf, 1.0, -1.0, 1.0], [2.0, 2.0, -inf, inf, inf]), [inf, -inf, -0.0, -0.0, 0.0]),
        ("remainder", ([1.0, -1.0, 5.0], [inf, inf, -3.0]), [1.0, inf, -1.0]),
        ("sign", ([-0.0, nan, -3.0],), [0.0, nan, -1.0]),
        ("expm1", ([complex(-inf, nan), complex(-0.0, 0.0)],), [-1 + 0j, 0j]),
        ("tanh", ([complex(inf, 2.0), complex(2.0, nan)],), [1 + 0j, complex(nan, nan)]),
        ("acos", ([complex(0, nan)],), [complex(np.pi / 2, nan)]),
        ("atanh", ([complex(0, nan), complex(inf, nan)],), [complex(0, nan), complex(0, nan)]),
    ):
        dtype = xp.complex128 if isinstance(of[0][0], complex) else xp.float64
        got = getattr(xp, name)(*(xp.asarray(o, dtype=dtype) for o in of)).numpy()
        wanted = np.array(expected, got.dtype)
        np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(np.signbit(got.real), np.signbit(wanted.real))


def test_products_and_norms_of_the_extension(device: Device) -> None:
    a, b = _values("float64")
    x, y = (xp.asarray(v, device=device) for v in (a, b))
    for ours, theirs in (
        (xp.linalg.cross(x[:, :3], y[:, :3]), np.linalg.cross(a[:, :3], b[:, :3])),
        (xp.linalg.diagonal(x, offset=1), np.linalg.diagonal(a, offset=1)),
        (xp.linalg.trace(x), np.linalg.trace(a)),
        (xp.linalg.outer(x[0], y[0]), np.outer(a[0], b[0])),
        (xp.linalg.matrix_power(x[:, :3], 5), np.linalg.matrix_power(a[:, :3], 5)),
        (xp.linalg.matrix_power(x[:, :3], 0), np.eye(3)),
        *((xp.linalg.matrix_norm(x, ord=p), np.linalg.norm(a, p)) for p in ("fro", 1, -1, np.inf, -np.inf)),
        (xp.linalg.vector_norm(x, axis=1, ord=3), np.linalg.vector_norm(a, axis=1, ord=3)),
    ):
        _same(ours, theirs, "")
    with pytest.raises(baracuda.UnsupportedError, match="singular values"):
        xp.linalg.matrix_norm(x, ord="nuc")


def test_transforms_of_the_extension(device: Device) -> None:
    z, r = _values("complex128")[0], _values("float64")[0]
    x, y = (xp.asarray(v, device=device) for v in (z, r))
    for ours, theirs in (
        *((getattr(xp.fft, f)(x, n=5, axis=0, norm="ortho"), getattr(np.fft, f)(z, 5, 0, "ortho")) for f in ("fft", "hfft")),
        *((getattr(xp.fft, f)(y), getattr(np.fft, f)(r)) for f in ("fft", "rfft", "ihfft", "fftn", "rfftn")),
        *((getattr(xp.fft, f)(x, axes=[1, 0]), getattr(np.fft, f)(z, axes=(1, 0))) for f in ("fftn", "ifftn", "irfftn")),
        (xp.fft.irfft(x, n=7), np.fft.irfft(z, 7)),
        (xp.fft.fftfreq(9, d=0.5, dtype=xp.float64, device=device), np.fft.fftfreq(9, 0.5)),
        (xp.fft.rfftfreq(8, dtype=xp.float64, device=device), np.fft.rfftfreq(8)),
        (xp.fft.fftshift(y, axes=[0]), np.fft.fftshift(r, 0)),
        (xp.fft.ifftshift(y), np.fft.ifftshift(r)),
    ):
        _same(ours, theirs, "")
    assert set(xp.fft.__all__) <= set(dir(np.fft))
    assert len(xp.fft.__all__) == 14


def test_special_functions_are_scipys(device: Device) -> None:
    """Those that SciPy finds here when it is given our arrays."""
    names = dir(xp.special)
    assert {"ndtr", "gammaln", "gammainc", "betainc", "i0e", "expit", "psi", "logsumexp"} < set(names)
    for name in names:
        theirs = getattr(scipy.special, name)
        if device.kind.name == "CUDA" and name in ("hyp2f1", "loggamma"):  # of SciPy itself
            continue
        given = [np.linspace(0.1, 0.9, 9) + 0.1 * i for i in range(getattr(theirs, "nin", 1))]
        more = (2,) if name == "multigammaln" else ()
        if more:
            given[0] += 1
        results = getattr(xp.special, name)(*(xp.asarray(v, device=device) for v in given), *more)
        for ours, wanted in zip(*(r if isinstance(r, tuple) else (r,) for r in (results, theirs(*given, *more))), strict=True):
            np.testing.assert_allclose(ours.numpy(), wanted, rtol=1e-12, atol=1e-15, err_msg=name)
    assert not hasattr(xp.special, "bdtr")
