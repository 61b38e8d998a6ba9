"""Draws that reject, and those that are made of them: distributions against SciPy's, gradients against PyTorch's, edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats as st
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.cases.trial import to_device, to_host
from tests.ops.test_random import a_key, drawn

#: Continuous draws with the distribution they are of.
CONTINUOUS: dict[str, list[tuple[tuple[float, ...], Any]]] = {
    "gamma_sample": [((a,), st.gamma(a)) for a in (0.2, 0.8, 1.0, 3.0, 1e3, 1e7)],
    "chisquare_sample": [((3.0,), st.chi2(3))],
    "student_t_sample": [((3.0,), st.t(3)), ((0.4,), st.t(0.4))],
    "beta_sample": [((0.5, 2.0), st.beta(0.5, 2)), ((0.3, 70.0), st.beta(0.3, 70))],
    "f_sample": [((3.0, 4.0), st.f(3, 4))],
    "generalized_normal_sample": [((1.5,), st.gennorm(1.5)), ((0.5,), st.gennorm(0.5))],
}
RATES = (1e-3, 0.3, 3.0, 9.99, 10.0, 37.5, 3000.25, 1e6, 1e9)
TRIALS = ((5, 0.5), (1000, 0.005), (1000, 0.5), (30, 0.4), (100, 0.95), (10**6, 0.3), (2 * 10**9, 4e-9), (10**9, 0.25))
#: Draws in a test, and with --full.
FEW, MANY = 100_000, 10_000_000


def is_likely(counts: np.ndarray, distribution: Any) -> bool:
    """Whether whole numbers are of a distribution, by the chi-square test over at most 200 ranges of them."""
    low, high = distribution.ppf(1e-4), distribution.ppf(1 - 1e-4)
    ends = np.unique(np.floor(np.linspace(low - 1, high, int(min(200, high - low + 1)) + 1)))
    expected = np.diff([0.0, *distribution.cdf(ends), 1.0]) * counts.size
    found = np.histogram(counts, [-np.inf, *(ends + 0.5), np.inf])[0]
    usual = expected > 10
    if expected[~usual].sum() > 10:
        found, expected = (np.append(x[usual], x[~usual].sum()) for x in (found, expected))
    else:
        found, expected = found[usual], expected[usual]
    return len(found) < 2 or bool(st.chisquare(found, expected / expected.sum() * found.sum()).pvalue > 1e-4)


@pytest.mark.one_of(2)
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str, element: str, device: str, full: bool) -> None:
    for bits in ("philox", "threefry"):
        for given, distribution in CONTINUOUS[name] if bits == "philox" else CONTINUOUS[name][:1]:
            x = drawn(name, device, *given, shape=MANY if full else FEW, dtype=element, bits=bits)
            assert x.dtype == {"f32": np.float32, "f64": np.float64}[element]
            assert st.kstest(x.astype(np.float64), distribution.cdf).pvalue > 1e-4, (given, bits)
            mean, deviation = distribution.mean(), distribution.std()
            if np.isfinite(deviation) and name != "f_sample":
                assert abs(x.astype(np.float64).mean() - mean) < 5 * deviation / x.size**0.5
            assert np.array_equal(x[:777], drawn(name, device, *given, shape=(7, 111), dtype=element, bits=bits).ravel())


@pytest.mark.parametrize("element", ["f32", "f64", "s64"])
def test_poisson(element: str, device: str, full: bool) -> None:
    for rate in RATES:
        x = drawn("poisson", device, rate, shape=MANY if full else FEW, dtype=element).astype(np.float64)
        if element != "f32" or rate < 2**24:
            assert (x == np.floor(x)).all()
            assert is_likely(x, st.poisson(float(np.float32(rate)) if element == "f32" else rate)), rate
        assert abs(x.mean() - rate) < 5 * (rate / x.size) ** 0.5
        assert abs(x.var() / rate - 1) < 5 * ((2 + 1 / rate) / x.size) ** 0.5


@pytest.mark.parametrize("element", ["f32", "f64", "s32"])
def test_binomial(element: str, device: str, full: bool) -> None:
    for n, p in TRIALS:
        x = drawn("binomial", device, n, p, shape=MANY if full else FEW, dtype=element).astype(np.float64)
        assert x.min() >= 0
        assert x.max() <= n
        if element != "f32" or n * p < 2**24:
            assert is_likely(x, st.binom(n, float(np.float32(p)) if element == "f32" else p)), (n, p)
        assert abs(x.mean() - n * p) < 5 * (n * p * (1 - p) / x.size) ** 0.5


def test_an_element_is_its_own(device: str) -> None:
    """A draw of many rates is that of each rate alone, at the same place: what lanes beside it do changes nothing."""
    rates = np.float32([0.1, 3, 9, 10, 50, 1e5, 0, np.nan, np.inf])
    together = drawn("poisson", device, to_device(rates, device), shape=(500, 9))
    alone = np.stack([drawn("poisson", device, float(r), shape=(500, 9))[:, i] for i, r in enumerate(rates)], 1)
    assert np.array_equal(together, alone, equal_nan=True)
    shapes = np.float32([0.01, 0.5, 1, 3, 1e4])
    dense = np.ascontiguousarray(np.broadcast_to(shapes, (300, 5)))
    for keywords in ({}, {"log": True}, {"bits": "threefry"}):
        together = drawn("gamma_sample", device, to_device(dense, device), **keywords)
        alone = drawn("gamma_sample", device, to_device(shapes, device), shape=(300, 5), **keywords)
        assert np.array_equal(together, alone)
        turned = to_device(np.ascontiguousarray(dense.T), device).T
        assert np.array_equal(together, drawn("gamma_sample", device, turned, **keywords))


def test_edges(device: str) -> None:
    def of(name: str, *values: Any, **keywords: Any) -> Any:
        given = [to_device(np.float32(v), device) if isinstance(v, list) else v for v in values]
        return drawn(name, device, *given, **keywords).tolist()

    nan, inf = float("nan"), float("inf")
    assert np.array_equal(of("poisson", [0, nan, inf, -1, 1e-30]), [0, nan, inf, nan, 0], equal_nan=True)
    assert of("poisson", [0, nan, inf, -1], dtype="s64") == [0, 0, 2**63 - 1, 0]
    n, p = [5, 0, 5, 5, nan, -1, inf, inf, 3, 4, inf], [0, 0.5, 1, nan, 0.5, 0.5, 0.5, 0, 1.5, -0.1, 1]
    expected = [0, 0, 5, nan, nan, nan, inf, 0, nan, nan, inf]
    assert np.array_equal(of("binomial", n, p), expected, equal_nan=True)
    x = of("gamma_sample", [0, 1e-30, nan, inf, -1, 1e38])
    assert np.array_equal(x[:5], [0, 0, nan, inf, nan], equal_nan=True)
    assert x[5] == pytest.approx(1e38)
    logs = of("gamma_sample", [1e-30, 1e-3], log=True)
    assert -1e33 < logs[0] < -1e28
    assert set(of("beta_sample", 1e-30, 1e-30, shape=50)) == {0.0, 1.0}
    assert sorted(of("dirichlet_sample", [1e-20, 1e-10, 1e-30])) == [0.0, 0.0, 1.0]
    assert of("student_t_sample", [inf])[0] == drawn("randn", device, 1)[0]
    for element in ("f16", "bf16", "f32", "f64"):
        assert of("gamma_sample", 3.0, shape=0, dtype=element) == []
        assert 0.5 < np.mean(of("gamma_sample", 3.0, shape=50, dtype=element)) < 6
    assert max(of("poisson", 300.0, shape=100, dtype="u8")) == 255


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_gamma_gradient(element: str, device: str) -> None:
    """PyTorch's own gradient is right to some 1e-3."""
    dtype = {"f32": np.float32, "f64": np.float64}[element]
    shapes = np.array([1e-3, 0.1, 0.5, 1, 3, 9, 50, 1e4, 1e8], dtype)
    a = np.ascontiguousarray(np.broadcast_to(shapes, (300, 9)))
    dy = np.random.default_rng(0).normal(size=a.shape).astype(dtype)
    x = drawn("gamma_sample", device, to_device(a, device))
    of_torch = torch._standard_gamma_grad(torch.tensor(a).double(), torch.tensor(x).double()).numpy() * dy
    key, held = a_key(device), to_device(dy, device)
    dense = to_host(baracuda.gamma_sample_backward(held, key, to_device(a, device)))
    assert dense.dtype == dtype
    assert np.allclose(dense[x > 1e-30], of_torch[x > 1e-30], rtol=7e-3, atol=0)
    assert np.allclose(dense[:, 1:], of_torch[:, 1:], rtol=1e-3, atol=1e-12)
    summed = to_host(baracuda.gamma_sample_backward(held, key, to_device(shapes, device)))
    assert np.allclose(summed, dense.sum(0, dtype=np.float64), rtol=1e-3 if element == "f32" else 1e-9, atol=1e-5)
    logs = to_host(baracuda.gamma_sample_backward(held, key, to_device(a, device), log=True))
    assert np.allclose(logs[:, 1:] * x[:, 1:], dense[:, 1:], rtol=1e-4, atol=1e-12)
    tiny = np.full(9, 1e-30, dtype)  # x underflows, its logarithm has a slope
    slope = to_host(baracuda.gamma_sample_backward(held, key, to_device(np.broadcast_to(tiny, a.shape).copy(), device), log=True))
    assert np.isfinite(slope[dy != 0]).all() or element == "f32"  # 1e60 is beyond f32


def test_slope_against_differences(device: str) -> None:
    """x follows a where P(a, x) stays: SciPy's inverse of P at the probability of a draw."""
    from scipy.special import gammainc, gammaincinv

    a = np.array([0.3, 1.0, 4.0, 30.0])
    wide = np.ascontiguousarray(np.broadcast_to(a, (50, 4)))
    x = drawn("gamma_sample", device, to_device(wide, device))
    dx = to_host(baracuda.gamma_sample_backward(to_device(np.ones_like(wide), device), a_key(device), to_device(wide, device)))
    p, h = gammainc(wide, x), 1e-6 * wide
    assert np.allclose(dx, (gammaincinv(wide + h, p) - gammaincinv(wide - h, p)) / (2 * h), rtol=1e-4, atol=1e-7)


def test_gradients_of_shares(device: str) -> None:
    """Beta and Dirichlet draws through their gamma draws, by PyTorch's autograd."""
    a = np.array([0.5, 2.0, 30.0])
    dy = np.random.default_rng(0).normal(size=(50, 3))
    logs = drawn("gamma_sample", device, to_device(a, device), shape=(50, 3), log=True)
    x = torch.tensor(np.exp(logs))
    slopes = torch._standard_gamma_grad(torch.tensor(a).expand(50, 3).contiguous(), x)
    x.requires_grad_()
    (x / x.sum(-1, keepdim=True)).backward(torch.tensor(dy))
    held, key = to_device(dy, device), a_key(device)
    found = to_host(baracuda.dirichlet_sample_backward(held, key, to_device(a, device)))
    assert x.grad is not None
    assert np.allclose(found, (x.grad * slopes).sum(0).numpy(), rtol=1e-3, atol=1e-5)
    shares = drawn("dirichlet_sample", device, to_device(a, device), shape=50)
    assert np.allclose(shares, (x / x.sum(-1, keepdim=True)).detach().numpy(), rtol=1e-12)

    b = np.full((50, 3), 1.5)
    y = drawn("beta_sample", device, to_device(a, device), to_device(b, device))
    first = np.exp(logs)
    second = first * (1 - y) / y
    by_first = torch._standard_gamma_grad(torch.tensor(a).expand(50, 3).contiguous(), torch.tensor(first)).numpy()
    by_second = torch._standard_gamma_grad(torch.tensor(b), torch.tensor(second)).numpy()
    whole = (first + second) ** 2
    da, db = map(to_host, baracuda.beta_sample_backward(held, key, to_device(a, device), to_device(b, device)))
    assert np.allclose(da, (dy * by_first * second / whole).sum(0), rtol=1e-3, atol=1e-5)
    assert np.allclose(db, -dy * by_second * first / whole, rtol=2e-3, atol=1e-7)
    only = baracuda.beta_sample_backward(held, key, to_device(a, device), 1.5, wrt=("a",))
    assert np.allclose(to_host(only), da)
    with pytest.raises(InvalidProblemError, match=r"wrt: 'b'; expected some of a"):
        baracuda.beta_sample_backward(held, key, to_device(a, device), 1.5, wrt=("b",))


def test_vectors(device: str) -> None:
    alpha = np.float32([0.5, 2, 3])
    shares = drawn("dirichlet_sample", device, to_device(alpha, device), shape=FEW)
    assert np.allclose(shares.sum(-1), 1, atol=1e-6)
    for i, a in enumerate(alpha):
        assert st.kstest(shares[:, i].astype(np.float64), st.beta(a, alpha.sum() - a).cdf).pvalue > 1e-4
    for d, p in ((1, 2.0), (3, 2.0), (4, 0.7)):
        x = drawn("ball_sample", device, d, p, FEW).astype(np.float64)
        assert st.kstest((np.abs(x) ** p).sum(-1) ** (d / p), "uniform").pvalue > 1e-4
        assert np.abs(x.mean(0)).max() < 0.01
        assert abs(np.corrcoef(np.sign(x[:-1, 0]), np.sign(x[1:, 0]))[0, 1]) < 0.02


def test_correlated_normal_numbers(device: str) -> None:
    covariance = np.array([[2, 0.5, 0.1], [0.5, 1, 0.3], [0.1, 0.3, 3]])
    mean, factor = np.array([1.0, 2, 3]), np.linalg.cholesky(covariance)
    held = {name: to_device(v, device) for name, v in (("mean", mean), ("covariance", covariance), ("scale_tril", factor))}
    mean_ = held.pop("mean")
    both = [drawn("multivariate_normal_sample", device, mean_, **{n: v}, shape=FEW) for n, v in held.items()]
    assert np.allclose(both[0], both[1], atol=1e-12)
    assert np.allclose(both[0], mean + drawn("randn", device, (FEW, 3), "f64") @ factor.T, atol=1e-12)
    assert np.allclose(np.cov(both[0].T), covariance, atol=0.05)
    stacked = to_device(np.stack([covariance, 4 * covariance]).astype(np.float32), device)
    x = drawn("multivariate_normal_sample", device, to_device(np.zeros(3, np.float32), device), stacked, (4, 2))
    assert x.shape == (4, 2, 3)
    scale = to_device(np.ones((2, 3), np.float32), device)
    zero = to_device(np.zeros((5, 1, 3), np.float32), device)
    assert np.array_equal(drawn("multivariate_normal_sample", device, zero, scale_diag=scale), drawn("randn", device, (5, 2, 3)))
    rng = np.random.default_rng(0).normal(size=(40, 40))
    large = rng @ rng.T
    many = to_device(np.zeros(40), device)
    by_ours = drawn("multivariate_normal_sample", device, many, to_device(large, device))
    by_numpy = drawn("multivariate_normal_sample", device, many, scale_tril=to_device(np.linalg.cholesky(large), device))
    assert np.allclose(by_ours, by_numpy, atol=1e-10)
    bad = to_device(-np.eye(3), device)
    assert np.isnan(drawn("multivariate_normal_sample", device, mean_, bad)).any()
    with pytest.raises(InvalidProblemError, match=r"nothing is given; expected one of covariance, scale_tril, scale_diag"):
        baracuda.multivariate_normal_sample(a_key(device), mean_)
    with pytest.raises(InvalidProblemError, match=r"shape: \(1,\); expected one that \(\) and \(2,\) broadcast to"):
        baracuda.multivariate_normal_sample(a_key(device), to_device(np.zeros(3, np.float32), device), stacked, 1)


def test_orthogonal(device: str) -> None:
    for n, m, element in ((1, None, "f32"), (5, 3, "f32"), (3, 5, "f64"), (37, None, "f64"), (64, 64, "f32"), (40, None, "bf16")):
        q = drawn("orthogonal_sample", device, n, (2,), element, m).astype(np.float64)
        assert q.shape == (2, n, m or n)
        tall = q if n >= q.shape[-1] else q.swapaxes(-1, -2)
        unit = np.eye(tall.shape[-1])
        assert np.abs(tall.swapaxes(-1, -2) @ tall - unit).max() < {"f32": 2e-5, "f64": 1e-13, "bf16": 0.02}[element]
    for n, m in ((3, 3), (4, 2), (2, 4)):
        q = drawn("orthogonal_sample", device, n, (20_000,), "f64", m)
        d = max(n, m)
        for i in range(n):
            for j in range(m):
                assert st.kstest((q[:, i, j] + 1) / 2, st.beta((d - 1) / 2, (d - 1) / 2).cdf).pvalue > 1e-4
        second = np.einsum("bij,bkl->ijkl", q, q) / len(q)
        assert np.abs(second - np.einsum("ik,jl->ijkl", np.eye(n), np.eye(m)) / d).max() < 0.02
    positive = drawn("orthogonal_sample", device, 3, (20_000,), "f64")
    assert abs((np.linalg.det(positive) > 0).mean() - 0.5) < 0.02
    assert np.allclose(drawn("orthogonal_sample", device, 3, gain=2.0), 2 * drawn("orthogonal_sample", device, 3))
    assert drawn("orthogonal_sample", device, 0).shape == (0, 0)
    assert drawn("orthogonal_sample", device, 3, (2, 0)).shape == (2, 0, 3, 3)


def test_bad_input(device: str) -> None:
    with pytest.raises(UnsupportedError, match=r"dtype: 's32'; expected one of f16, bf16, f32, f64"):
        drawn("gamma_sample", device, 2.0, shape=3, dtype="s32")
    with pytest.raises(InvalidProblemError, match=r"p: -1\.0; expected a number above 0 and finite"):
        drawn("ball_sample", device, 3, -1.0)
    with pytest.raises(InvalidProblemError, match=r"key: .*expected u32"):
        baracuda.poisson(to_device(np.zeros(2, np.int64), device), 3.0, shape=4)
