"""Functions of an order or a degree: the options' errors, and values where the shared cases do not reach."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as sp
import torch
from mpmath import mp, mpf

import baracuda
from baracuda.core.errors import InvalidProblemError

X = np.linspace(-3.0, 3.0, 61)
INF, NAN = float("inf"), float("nan")


def relative(got, want, dtype):
    """The largest error in units of the element's rounding of the value."""
    unit = np.finfo(dtype).eps
    return float(np.max(np.abs(got.astype(np.float64) - want) / (np.abs(want) * unit + np.finfo(dtype).tiny)))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: baracuda.legendre_polynomial_p(X, n=torch.ones(3)), InvalidProblemError),
        (lambda: baracuda.legendre_polynomial_p(X, n=np.arange(3)), InvalidProblemError),
        (lambda: baracuda.legendre_polynomial_p(X, n=-1), InvalidProblemError),
        (lambda: baracuda.chebyshev_polynomial_t(X, n=257), InvalidProblemError),
        (lambda: baracuda.polyval(X), InvalidProblemError),
        (lambda: baracuda.polyval(X, p={1.0, 2.0}), InvalidProblemError),
        (lambda: baracuda.polyval(X, p=(1j, 2.0)), InvalidProblemError),
        (lambda: baracuda.polygamma(X, n=21), InvalidProblemError),
        (lambda: baracuda.expn(X, n=51), InvalidProblemError),
        (lambda: baracuda.bessel_jn(X, n=41), InvalidProblemError),
        (lambda: baracuda.sph_harm_y(X, X, n=2, m=3), InvalidProblemError),
        (lambda: baracuda.multigammaln(X, d=0), InvalidProblemError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("n", [0, 1, 30, 256])
def test_polynomials_of_high_degree(n):
    x = np.linspace(-1, 1, 101)
    result = baracuda.chebyshev_polynomial_t(x, n=n)
    np.testing.assert_allclose(result, np.cos(n * np.arccos(x)), atol=3e-15 * (n + 1) ** 2)
    np.testing.assert_allclose(baracuda.legendre_polynomial_p(x, n=n), sp.eval_legendre(n, x), atol=1e-15 * (n + 1))


def test_constant_polynomials_keep_nan():
    x = np.array([NAN, INF, -INF, 0.0])
    assert np.array_equal(baracuda.hermite_polynomial_h(x, n=0), [NAN, 1, 1, 1], equal_nan=True)
    assert np.array_equal(baracuda.polyval(x, p=(3.0,)), [NAN, 3, 3, 3], equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeta(dtype):
    x = np.array([1.0, 0.0, -0.0, INF, -INF, NAN, -2.0, -4.0, 2.0, 0.5, -0.25, -1.5, -7.25, 40.0, 1.001]).astype(dtype)
    with mp.workprec(150):
        exact = [mp.zeta(mpf(float(v))) if np.isfinite(v) and v != 1 else v for v in x]
    want = np.array([INF, -0.5, -0.5, 1.0, NAN, NAN, 0.0, 0.0, *(float(e) for e in exact[8:])])
    got = baracuda.zeta(x).astype(np.float64)
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert np.array_equal(got[[0, 3, 6, 7]], want[[0, 3, 6, 7]])
    assert relative(got[8:], want[8:], dtype) < 20
    q = np.array([0.0, -1.5, 1e-3, 5.0, 1e6, INF, 1e30]).astype(dtype)
    got = baracuda.zeta(np.full_like(q, 1.75), q).astype(np.float64)
    assert got[0] == INF
    assert np.isnan(got[1])
    assert got[5] == 0.0
    with mp.workprec(150):
        finite = [2, 3, 4, 6]
        want = np.array([float(_hurwitz(mpf("1.75"), mpf(float(q[i])))) for i in finite])
    assert relative(got[finite], want, dtype) < 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_poles_of_zeta(dtype):
    """As SciPy's: inf at q = 0, -1, -2, ... and at x = 1, but NaN below x = 1."""
    x, q = (
        v.ravel() for v in np.meshgrid([0.5, -2.0, 1.0, 1.5, 2.0, 3.0, 1e30, INF, -INF], [0.0, -0.0, -1.0, -2.0, -1e20, -INF])
    )
    assert np.array_equal(baracuda.zeta(x.astype(dtype), q.astype(dtype)), sp.zeta(x, q), equal_nan=True)
    at_one = baracuda.zeta(np.ones(5, dtype), np.array([-2.5, 0.25, 7.0, 1e30, NAN], dtype))
    assert np.array_equal(at_one, [INF, INF, INF, INF, NAN], equal_nan=True)
    assert np.isnan(baracuda.zeta(np.full(2, NAN, dtype), np.array([-2.0, 3.0], dtype))).all()
    assert baracuda.zeta(np.full(1, 1e30, dtype), np.full(1, 1e30, dtype))[0] == 0.0


def _hurwitz(x, q):
    """Euler and Maclaurin's formula with 60 terms."""
    a = q + 60
    total = mp.fsum((q + k) ** -x for k in range(60)) + a ** (1 - x) / (x - 1) + a**-x / 2
    return total + mp.fsum(
        mp.bernoulli(2 * j) / mp.factorial(2 * j) * mp.rf(x, 2 * j - 1) / a ** (x + 2 * j - 1) for j in range(1, 20)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 3, 8, 20])
def test_polygamma(n, dtype):
    x = np.array([0.02, 0.5, 1.0, 3.75, 30.0, 1e4, -0.5, -1.25, -3.9]).astype(dtype)
    with mp.workprec(200):
        want = np.array([_polygamma(n, mpf(float(v))) for v in x])
    got = baracuda.polygamma(x, n=n).astype(np.float64)
    inside = np.abs(want) < np.finfo(dtype).max
    assert relative(got[inside], want[inside], dtype) < n + 8
    edge = baracuda.polygamma(np.array([0.0, -1.0, INF, -INF, NAN], dtype), n=n)
    pole = INF if n % 2 else -INF
    assert edge[0] == edge[1] == pole
    assert edge[2] == 0
    assert np.isnan(edge[3:]).all()


def _polygamma(n, x):
    """By the sum far above zero, and the recurrence down to x."""
    total = mpf(0)
    while x < 40:
        total += 1 / x ** (n + 1)
        x += 1
    series = mp.fsum(mp.bernoulli(2 * j) / mp.factorial(2 * j) * mp.rf(n + 1, 2 * j - 1) / x ** (n + 2 * j) for j in range(1, 25))
    return float((-1) ** (n + 1) * mp.factorial(n) * (total + 1 / (n * x**n) + 1 / (2 * x ** (n + 1)) + series))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_binomial_coefficients_of_integers_are_exact(dtype):
    n, k = (g.astype(dtype) for g in np.meshgrid(np.arange(24.0), np.arange(24.0)))
    assert np.array_equal(baracuda.comb(n, k), np.vectorize(_comb)(n, k).astype(dtype))
    edge = baracuda.comb(np.array([5, 5, -1, NAN, INF], dtype), np.array([6, -1, 0, 1, 2], dtype))
    assert np.array_equal(edge, np.array([0, 0, 0, NAN, NAN], dtype), equal_nan=True)


def _comb(n, k):
    return float(sp.comb(int(n), int(k), exact=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ratios_of_gamma_functions(dtype):
    rng = np.random.default_rng(5)
    n, k = rng.uniform(0, 30, 60).astype(dtype), rng.uniform(0, 30, 60).astype(dtype)
    x, m = rng.uniform(-8, 12, 60).astype(dtype), rng.uniform(-6, 6, 60).astype(dtype)
    with mp.workprec(200):
        chosen = [mp.binomial(mpf(float(a)), mpf(float(b))) if b <= a else mpf(0) for a, b in zip(n, k, strict=True)]
        risen = [mp.gammaprod([mpf(float(a)) + mpf(float(b))], [mpf(float(a))]) for a, b in zip(x, m, strict=True)]
    assert relative(baracuda.comb(n, k), np.array([float(c) for c in chosen]), dtype) < 4
    assert relative(baracuda.poch(x, m), np.array([float(c) for c in risen]), dtype) < 8


def test_pochhammer_at_poles():
    x = np.array([-3.0, -3.0, 0.0, 2.0, 1.0, -30.0, -30.0, 0.5, 0.0])
    m = np.array([2.0, 4.0, 0.0, -2.0, 0.5, -25.0, 4.5, -0.5, 0.5])
    want = [6.0, 0.0, 1.0, INF, sp.poch(1.0, 0.5), -float(mp.factorial(30) / mp.factorial(55)), 0.0, INF, 0.0]
    np.testing.assert_allclose(baracuda.poch(x, m), want, rtol=1e-14)


def test_factorials_and_bernoulli_numbers():
    n = np.arange(23.0)
    assert np.array_equal(baracuda.factorial(n), sp.factorial(n.astype(int), exact=True).astype(float))
    assert np.array_equal(baracuda.factorial(np.array([-1.0, -0.5, INF])), [0.0, 0.0, INF])
    numbers = baracuda.bernoulli_numbers(np.array([0.0, 1.0, 2.0, 3.0, 12.0, 258.0, 260.0, 262.0, 263.0, -1.0, 1.5, NAN, INF]))
    want = [1.0, -0.5, 1 / 6, 0.0, -691 / 2730, float(mp.bernoulli(258)), -INF, INF, 0.0, NAN, NAN, NAN, NAN]
    assert np.array_equal(numbers, want, equal_nan=True)
    assert np.array_equal(baracuda.bernoulli_numbers(np.arange(5)), np.float32([1.0, -0.5, 1 / 6, 0.0, -1 / 30]))


def test_gammasgn():
    x = np.array([0.0, -0.0, 3.0, INF, -INF, NAN, -1.0, -0.5, -1.5, -1e300])
    assert np.array_equal(baracuda.gammasgn(x), [1, -1, 1, 1, NAN, NAN, NAN, -1, 1, NAN], equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 50])
def test_expn(n, dtype):
    x = np.array([1e-30, 1e-3, 0.5, 1.0, 1.99, 2.01, 3.5, 20.0, 80.0]).astype(dtype)
    with mp.workprec(200):
        want = np.array([float(mp.expint(n, mpf(float(v)))) for v in x])
    assert relative(baracuda.expn(x, n=n), want, dtype) < 12
    edge = baracuda.expn(np.array([0.0, -0.0, INF, -1.0, NAN], dtype), n=n)
    at_zero = INF if n < 2 else np.array(1 / (n - 1), dtype)
    assert edge[0] == edge[1] == at_zero
    assert edge[2] == 0
    assert np.isnan(edge[3:]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 3, 10, 25, 40, -5])
def test_bessel_jn(n, dtype):
    x = np.array([0.0, 1e-3, 0.3, 2.5, 6.0, 11.0, 13.0, 24.9, 25.1, 39.0, 41.0, 300.0, -7.5]).astype(dtype)
    with mp.workprec(200):
        want = np.array([float(mp.besselj(n, mpf(float(v)))) for v in x])
    size = np.where(np.abs(x) > abs(n), np.sqrt(2 / np.pi / np.maximum(np.abs(x.astype(float)), 1)), 0.0)
    error = np.abs(baracuda.bessel_jn(x, n=n).astype(np.float64) - want)
    assert np.all(error <= (abs(n) + 8) * np.finfo(dtype).eps * np.maximum(np.abs(want), size) + np.finfo(dtype).tiny)
    assert np.array_equal(baracuda.bessel_jn(np.array([INF, -INF, NAN], dtype), n=n), [0, 0, NAN], equal_nan=True)


def test_spherical_harmonics_of_high_degree():
    theta, phi = np.meshgrid(np.linspace(-3, 3, 41), np.linspace(0, 6, 13))
    for n, m in ((20, -7), (64, 64), (64, 0), (40, 13)):
        np.testing.assert_allclose(baracuda.sph_harm_y(theta, phi, n=n, m=m), sp.sph_harm_y(n, m, theta, phi), atol=2e-13)
    assert baracuda.sph_harm_y(np.float32(theta), np.float32(phi), n=2, m=1).dtype == np.complex64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_owens_t(dtype):
    h = np.array([0.0, 0.3, -1.5, 5.0, 9.0, 2.0, 0.0, INF, 12.0, 3.0]).astype(dtype)
    a = np.array([0.7, 0.2, 3.0, -0.5, 0.01, 1e3, INF, 1.0, 1e-30, -INF]).astype(dtype)
    with mp.workprec(300):
        want = np.array([float(_owen(mpf(float(u)), mpf(float(v)))) for u, v in zip(h, a, strict=True)])
    assert relative(baracuda.owens_t(h, a), want, dtype) < 12
    assert np.isnan(baracuda.owens_t(np.array([NAN, 1.0], dtype), np.array([1.0, NAN], dtype))).all()


def _owen(h, a):
    if mp.isinf(h):
        return mpf(0)
    if mp.isinf(a) or (abs(a) > 100 and h):
        return mp.sign(a) * (mp.erfc(abs(h) / mp.sqrt(2)) / 4 if h else mpf(1) / 4)
    return mp.quad(lambda x: mp.exp(-h * h * (1 + x * x) / 2) / (1 + x * x), mp.linspace(0, a, 9)) / (2 * mp.pi)
