"""Fourier transforms as problems: roots and radices, accuracy by length, the same bits from every schedule, and that kernels
compile."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.fft

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.formula.butterflies import RADICES, butterfly, is_smooth, radices
from baracuda.formula.roots import cosine_of, products_of_roots, roots
from baracuda.frontends import call
from baracuda.lowering.fft.cpu import machine as cpu_machine
from baracuda.lowering.fft.cuda import machine as cuda_machine
from baracuda.lowering.fft.cuda.lower import lower
from baracuda.lowering.fft.passes import passes
from baracuda.lowering.fft.problem import EXACT, Fourier, Mode, Rows, convolution_length, divided, most, normalise
from baracuda.ops.fft.plan import FourierArgs, FourierDescriptor, FourierPlan
from baracuda.runtime.nvrtc import cubin
from tests.cases.trial import to_device, to_host
from tests.ops.composed import drawn, same_bits


def exact_cosine(m: int, n: int) -> Fraction:
    """cos(2 pi m / n) within 2**-150, by the series in whole numbers of the reduced angle."""
    bits = 200
    turns = Fraction(m % n, n)
    sign = 1
    turns = min(turns, 1 - turns)
    if turns > Fraction(1, 4):
        sign, turns = -1, Fraction(1, 2) - turns
    angle = int(2 * turns * _pi(bits))
    square, term, total, k = angle * angle >> bits, 1 << bits, 1 << bits, 0
    while term:
        k += 2
        term = -(term * square >> bits) // (k * (k - 1))
        total += term
        if abs(term) < 2:
            break
    return Fraction(sign * total, 1 << bits)


def _pi(bits: int) -> int:
    def arctangent(x: int) -> int:
        power, total, k = (1 << bits) // x, 0, 1
        while power:
            total += (power if k % 4 == 1 else -power) // k
            power, k = power // (x * x), k + 2
        return total

    return 4 * (4 * arctangent(5) - arctangent(239))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 3, 7, 8, 16, 13, 60, 1000, 8192, 99991])
def test_roots_are_correctly_rounded(n: int, dtype: Any) -> None:
    places = np.unique(np.random.default_rng(n).integers(0, n, 40))
    for m, (re, im) in zip(places.tolist(), roots(places, n, dtype), strict=True):
        for got, exact in ((re, exact_cosine(4 * m, 4 * n)), (im, -exact_cosine(4 * m - n, 4 * n))):
            neighbours = [got, np.nextafter(got, dtype(2)), np.nextafter(got, dtype(-2))]
            errors = [abs(Fraction(float(v)) - exact) for v in neighbours]
            assert errors[0] == min(errors) or abs(exact) < Fraction(1, 1 << 140)


def test_products_of_roots() -> None:
    n = 3 << 20
    m = np.random.default_rng(0).integers(0, n, 1000)
    for dtype, rounding in ((np.float32, 2.0**-24), (np.float64, 2.0**-51)):
        assert np.abs(products_of_roots(m, n, dtype) - roots(m, n, np.float64)).max() <= rounding


class _Floats:
    """Arithmetic on float64; fused multiply-adds round twice here."""

    def add(self, a: float, b: float) -> float:
        return a + b

    def sub(self, a: float, b: float) -> float:
        return a - b

    def mul(self, a: float, b: float) -> float:
        return a * b

    def fma(self, a: float, b: float, c: float) -> float:
        return a * b + c

    def neg_fma(self, a: float, b: float, c: float) -> float:
        return c - a * b

    def neg(self, a: float) -> float:
        return -a

    def cosine(self, turns: Fraction) -> float:
        return float(cosine_of(turns, np.float64))


@pytest.mark.parametrize("r", RADICES)
def test_butterflies(r: int) -> None:
    x = drawn(r, np.complex128)
    got = butterfly(_Floats(), [(float(v.real), float(v.imag)) for v in x])
    np.testing.assert_allclose([complex(*z) for z in got], np.fft.fft(x), atol=1e-13)


def test_lengths_are_products_of_few_radices() -> None:
    for n in range(1, 3000):
        found = radices(n)
        assert (found is not None) == is_smooth(n)
        if found is not None:
            assert math.prod(found) == n
            assert list(found) == sorted(found, reverse=True)
    assert [radices(n) for n in (1, 60, 1024, 8192)] == [(), (10, 6), (16, 8, 8), (16, 8, 8, 8)]
    for c in (17, 97, 10007, 65537):
        length = convolution_length(c)
        assert 2 * c - 1 <= length < 4 * c
        assert is_smooth(length)
    for c in (16384, 3 << 20, 13**5):
        n1, n2 = divided(c, K.F32)
        assert n1 * n2 == c
        assert n1 <= min(n2, most(K.F32))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("n", [5, 16, 60, 97, 1024, 2187, 10007, 15015, 32768])
def test_error_is_at_most_that_of_pocketfft(n: int, dtype: Any, device: str) -> None:
    """Times 1.5, in the root of the mean square, against the transform in a wider kind; a rounding is allowed."""
    x = drawn((4, n), dtype)
    wide = np.complex128 if dtype == np.complex64 else np.clongdouble
    if np.finfo(wide).eps > 1e-17 and dtype == np.complex128:
        pytest.skip("no kind is wider here")
    exact = scipy.fft.fft(x.astype(wide))
    size = np.sqrt((np.abs(exact) ** 2).mean())

    def error(y: Any) -> float:
        return float(np.sqrt((np.abs(y.astype(wide) - exact) ** 2).mean()) / size)

    own = error(to_host(baracuda.fft(to_device(x, device))))
    assert own <= 1.5 * error(scipy.fft.fft(x)) + np.finfo(dtype).eps / 2


@pytest.mark.one_of(3)
@pytest.mark.parametrize("n", [12, 60, 100, 128, 1000, 34])
@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
def test_rows_do_not_depend_on_how_many_there_are(n: int, name: str, device: str) -> None:
    """Vectors of every width, whole and not, and rows that are turned in registers or gathered."""
    x = drawn((37, n), np.float32 if name == "rfft" else np.complex64)
    function = getattr(baracuda, name)
    want = np.concatenate([np.asarray(function(row[None])) for row in x])
    for count in (1, 2, 3, 7, 16, 37):
        same_bits(to_host(function(to_device(x[:count], device))), want[:count])
    same_bits(np.ascontiguousarray(to_host(function(to_device(np.ascontiguousarray(x.T), device), axis=0)).T), want)


def problem(mode: Mode, n: int, kind: K, *, general: bool = False, count: int = 5) -> Fourier:
    numbers = K.C64 if kind is K.F32 else K.C128
    ends = {
        Mode.COMPLEX: ((numbers, n), (numbers, n)),
        Mode.REAL: ((kind, n), (numbers, n // 2 + 1)),
        Mode.HALF: ((numbers, n // 2 + 1), (kind, n)),
    }
    x, y = (Rows(k, (e,), 1, e, 16) for k, e in ends[mode])
    return normalise(Fourier(mode, mode is Mode.HALF, n, 0.5, mode is Mode.REAL, (count,), x, y, general))


@pytest.mark.one_of(6)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("n", [1, 4, 17, 60, 1000, 8192, 1 << 16, 1 << 23])
@pytest.mark.parametrize("kind", [K.F32, K.F64])
def test_cuda_compiles(arch: str, mode: Mode, n: int, kind: K) -> None:
    for general in (False, True)[: 2 if n == 60 else 1]:
        for launch in lower(problem(mode, n, kind, general=general)).launches:
            assert launch.shared <= 99 * 1024
            assert launch.block <= 1024
            cubin(launch.source, arch)


def test_sources_depend_on_lengths_alone() -> None:
    """One kernel serves any number of rows."""
    for mode in Mode:
        few, many = (lower(problem(mode, 1000, K.F32, count=count)) for count in (5, 5000))
        assert [x.source for x in few.launches] == [x.source for x in many.launches]


def test_passes() -> None:
    """Short rows take one pass, long ones two or three, those with a large prime twice as many."""

    def count(n: int, mode: Mode = Mode.COMPLEX) -> int:
        return len(passes(problem(mode, n, K.F32))[0])

    assert [count(n) for n in (64, 8192, 16384, 1 << 26, 1 << 28, 17, 10007)] == [1, 1, 2, 2, 3, 2, 4]
    assert [count(n, Mode.REAL) for n in (64, 16384, 32768)] == [1, 1, 3]


@pytest.mark.parametrize("n", [1 << 16, 3 << 15])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roots_of_long_rows(n: int, dtype: Any, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a table and as products of two they are the same."""
    x = drawn((2, n), dtype)

    def found() -> list[Any]:
        monkeypatch.setattr(call, "_plans", {})
        lower.cache_clear()
        kind = K.from_numpy(x.dtype)
        numbers = K.C64 if kind is K.F32 else K.C128
        results = []
        for rows, mode in ((x, "real"), ((x + 1j * x[::-1]).astype(numbers.numpy), "complex")):
            d = FourierDescriptor(x.shape, 1, n, K.from_numpy(rows.dtype), numbers, mode)
            tensor = to_device(rows, device)
            results += call.apply(FourierPlan, FourierArgs, d, tensor, [tensor], [(d.y_shape, numbers)])
        return [to_host(r) for r in results]

    tabled = found()
    for module in (cpu_machine, cuda_machine):
        monkeypatch.setattr(module, "TABLED", EXACT)
    for a, b in zip(found(), tabled, strict=True):
        same_bits(a, b)
    lower.cache_clear()
