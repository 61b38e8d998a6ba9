"""Random draws: bits of Philox and Threefry as published and as JAX documents them, distributions against SciPy's, streams that
depend on nothing but the key and an element's number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats as st

import baracuda
from baracuda.core.errors import InvalidProblemError
from tests.cases.trial import to_device, to_host

BITS = ["philox", "threefry"]
#: Draws with the distribution they are of.
CONTINUOUS: dict[str, tuple[dict[str, float], Any]] = {
    "rand": ({"low": -1.0, "high": 3.0}, st.uniform(-1, 4)),
    "randn": ({}, st.norm()),
    "normal": ({"mean": 2.0, "std": 3.0}, st.norm(2, 3)),
    "log_normal": ({"std": 0.5}, st.lognorm(0.5)),
    "exponential": ({"rate": 2.0}, st.expon(scale=0.5)),
    "cauchy": ({"loc": 1.0, "scale": 2.0}, st.cauchy(1, 2)),
    "gumbel_sample": ({"loc": 1.0, "scale": 2.0}, st.gumbel_r(1, 2)),
    "laplace_sample": ({"loc": 1.0, "scale": 2.0}, st.laplace(1, 2)),
    "logistic_sample": ({"loc": 1.0, "scale": 2.0}, st.logistic(1, 2)),
    "maxwell_sample": ({"scale": 2.0}, st.maxwell(scale=2)),
    "pareto_sample": ({"scale": 2.0, "alpha": 3.0}, st.pareto(3, scale=2)),
    "rayleigh_sample": ({"scale": 2.0}, st.rayleigh(scale=2)),
    "weibull_sample": ({"scale": 2.0, "concentration": 1.5}, st.weibull_min(1.5, scale=2)),
    "wald_sample": ({"mean": 1.0, "scale": 2.0}, st.invgauss(0.5, scale=2)),
    "triangular_sample": ({"left": -1.0, "mode": 0.5, "right": 2.0}, st.triang(0.5, -1, 3)),
    "truncated_normal": ({"mean": 1.0, "std": 2.0, "a": 2.0, "b": 9.0}, st.truncnorm(0.5, 4, 1, 2)),
}
DROPOUTS = ["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"]


def a_key(device: str, seed: int = 7) -> Any:
    return to_device(np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32), device)


def drawn(name: str, device: str, *arguments: Any, **keywords: Any) -> Any:
    return to_host(getattr(baracuda, name)(a_key(device), *arguments, **keywords))


def test_published_words(device: str) -> None:
    """The known answers of Random123 for counters and keys of zeros; of key 7 the words that JAX 0.11 draws."""
    zero = a_key(device, 0)
    assert to_host(baracuda.rng_bits(zero, 4)).tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert to_host(baracuda.rng_split(zero, bits="threefry")).tolist() == [[1797259609, 2579123966], [928981903, 3453687069]]
    threefry = {"bits": "threefry"}
    assert drawn("rng_split", device, 2, **threefry).tolist() == [[3625411723, 1954958720], [195045567, 4062205631]]
    assert drawn("rng_fold_in", device, 3, **threefry).tolist() == [276534068, 1641862660]
    assert drawn("rng_bits", device, 3, "u32", **threefry).tolist() == [2895194379, 4185947648, 1300703658]
    assert drawn("rng_bits", device, 2, "u64", **threefry).tolist() == [15571024786774969728, 837714335556982463]
    assert to_host(baracuda.rng_key((3 << 32) + 7)).tolist() == [3, 7]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str, bits: str, device: str) -> None:
    keywords, distribution = CONTINUOUS[name]
    for element in ("f32", "f64"):
        x = drawn(name, device, shape=200_000, dtype=element, bits=bits, **keywords)
        assert st.kstest(x.astype(np.float64), distribution.cdf).pvalue > 1e-4
        assert np.array_equal(x, drawn(name, device, shape=(400, 500), dtype=element, bits=bits, **keywords).ravel())
        assert np.array_equal(x[:77], drawn(name, device, shape=77, dtype=element, bits=bits, **keywords))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_parameters_as_tensors(name: str, device: str) -> None:
    """A draw with parameters in tensors is that with the same ones as numbers, element by element, whatever rows begin with."""
    keywords, _ = CONTINUOUS[name]
    if not keywords or name == "rand":
        pytest.skip("it takes none")
    for rows, columns in ((30, 50), (30, 52)):
        alone = drawn(name, device, shape=(rows, columns), dtype="f32", **keywords)
        wide = {n: to_device(np.full((rows, 1), v, np.float32), device) for n, v in keywords.items()}
        assert np.array_equal(drawn(name, device, shape=(rows, columns), **wide), alone)
        along = {n: to_device(np.full(columns, v, np.float32), device) for n, v in keywords.items()}
        assert np.array_equal(drawn(name, device, shape=(rows, columns), **along), alone)
        dense = {n: to_device(np.full((rows, columns), v, np.float32), device) for n, v in keywords.items()}
        assert np.array_equal(drawn(name, device, **dense), alone)


def test_moments(device: str) -> None:
    """Neighbours, which share the words of a counter, are independent."""
    for bits in BITS:
        for element in ("f32", "f64"):
            z = drawn("randn", device, 1_000_000, element, bits=bits).astype(np.float64)
            assert abs(z.mean()) < 4e-3
            assert abs(z.var() - 1) < 8e-3
            assert abs((z**4).mean() - 3) < 0.05
            for step in (1, 2, 3, 4):
                for f in (np.asarray, np.square, np.sign):
                    assert abs(np.corrcoef(f(z[:-step]), f(z[step:]))[0, 1]) < 5e-3


@pytest.mark.parametrize("bits", BITS)
def test_words_are_even(bits: str, device: str) -> None:
    """Each bit is set in half of the words, and bytes are as likely as each other."""
    for element, width in (("u8", 8), ("u16", 16), ("u32", 32), ("u64", 64)):
        w = drawn("rng_bits", device, 200_000, element, bits=bits)
        for b in range(width):
            assert abs(int(((w >> w.dtype.type(b)) & 1).sum()) - 100_000) < 1200
        counts = np.bincount((w & w.dtype.type(255)).astype(np.int64), minlength=256)
        assert st.chisquare(counts).pvalue > 1e-4


def test_whole_numbers(device: str) -> None:
    x = drawn("randint", device, -3, 4, 70_000)
    assert x.dtype == np.int64
    assert st.chisquare(np.bincount(x + 3, minlength=7)).pvalue > 1e-4
    whole = (("u8", 0, 256), ("s8", -128, 128), ("u64", 0, 1 << 64), ("s64", -(1 << 63), 1 << 63), ("s16", 5, 6))
    for element, low, high in whole:
        y = drawn("randint", device, low, high, 5000, element)
        assert low <= int(y.min())
        assert int(y.max()) < high
    assert drawn("randint", device, 1 << 40, shape=100).max() > 1 << 32
    assert set(drawn("rademacher_sample", device, 100).tolist()) == {-1, 1}
    for low, high, element in ((3, 3, "s64"), (0, 300, "u8"), (-1, 3, "u32")):
        with pytest.raises(InvalidProblemError, match=r"low, high: "):
            drawn("randint", device, low, high, 5, element)


def test_events(device: str) -> None:
    p = np.array([0.0, 0.1, 0.9, 1.0], np.float32)
    x = drawn("bernoulli", device, to_device(p, device), shape=(100_000, 4))
    assert np.all(np.abs(x.mean(0) - p) < 5e-3)
    assert set(np.unique(x)) == {0.0, 1.0}
    assert np.array_equal(drawn("bernoulli", device, 0.1, shape=(100_000, 4))[:, 1], x[:, 1])
    g = drawn("geometric", device, 0.2, shape=100_000)
    counts = np.bincount(np.minimum(g, 30), minlength=31)[1:]
    expected = np.array([0.2 * 0.8 ** (k - 1) for k in range(1, 30)] + [0.8**29]) * 100_000
    assert st.chisquare(counts, expected).pvalue > 1e-4


@pytest.mark.parametrize("name", DROPOUTS)
def test_dropout(name: str, device: str) -> None:
    rank = {"dropout1d": 3, "dropout2d": 4, "dropout3d": 5}.get(name, 4)
    shape = (40, 50, *(3,) * (rank - 2))
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    by_channel = name not in ("dropout", "alpha_dropout")
    for p in (0.25, 0.0, 1.0):
        y = to_host(getattr(baracuda, name)(to_device(x, device), a_key(device), p))
        dx = to_host(getattr(baracuda, name + "_backward")(to_device(np.ones_like(x), device), a_key(device), p))
        kept = dx != 0
        assert abs(kept.mean() - (1 - p)) < 0.03
        if by_channel:
            assert (kept == kept.reshape(40, 50, -1)[:, :, :1].reshape(40, 50, *(1,) * (rank - 2))).all()
        if "alpha" in name and 0 < p < 1:
            a, low = dx.max(), -1.7580993408473766
            b = -a * low * p
            assert np.allclose(y, np.where(kept, a * x + b, a * low + b), rtol=1e-5, atol=1e-6)
            assert abs(y.var() - 1) < 0.1
        elif p < 1:
            assert np.allclose(y, np.where(kept, x / (1 - p), 0), rtol=1e-6)
        else:
            assert not y.any()
    turned = to_device(np.ascontiguousarray(x.swapaxes(0, 1)), device)
    turned = turned.swapaxes(0, 1) if hasattr(turned, "swapaxes") else turned.transpose(0, 1)
    same = to_host(getattr(baracuda, name)(turned, a_key(device), 0.25))
    assert np.array_equal(same, to_host(getattr(baracuda, name)(to_device(x, device), a_key(device), 0.25)))


def test_empty_and_single(device: str) -> None:
    for shape in ((), (0,), (3, 0, 2), (1, 1)):
        assert drawn("randn", device, shape).shape == shape
        assert drawn("randint", device, 5, shape=shape).shape == shape
        x = to_device(np.ones(shape, np.float32), device)
        assert to_host(baracuda.dropout(x, a_key(device), 0.5)).shape == shape
    assert drawn("rng_split", device, 0).shape == (0, 2)
    assert drawn("rng_fold_in", device, to_device(np.arange(6).reshape(2, 3), device)).shape == (2, 3, 2)
    one = drawn("rng_fold_in", device, to_device(np.array([4, 5]), device))
    assert np.array_equal(one[1], drawn("rng_fold_in", device, 5))


def test_bad_input(device: str) -> None:
    with pytest.raises(InvalidProblemError, match=r"key: shape is \(3,\); expected \(2,\)"):
        baracuda.rand(to_device(np.zeros(3, np.uint32), device), 4)
    with pytest.raises(InvalidProblemError, match=r"key: .*expected u32"):
        baracuda.rand(to_device(np.zeros(2, np.int64), device), 4)
    with pytest.raises(InvalidProblemError, match=r"p: 1\.5; expected a number at least 0 and at most 1"):
        baracuda.dropout(to_device(np.zeros(2, np.float32), device), a_key(device), 1.5)


@pytest.mark.parametrize("bits", BITS)
def test_permutations(bits: str, device: str) -> None:
    counts = np.zeros((4, 4), int)
    for seed in range(400):
        order = to_host(baracuda.randperm(a_key(device, seed), 4, bits=bits))
        counts[np.arange(4), order] += 1
    assert (counts.sum(0) == 400).all()
    assert st.chisquare(counts.ravel()).pvalue > 1e-4
    long = drawn("randperm", device, 5000, "s32", bits=bits)
    assert long.dtype == np.int32
    assert np.array_equal(np.sort(long), np.arange(5000))
    assert drawn("randperm", device, 0).shape == (0,)


@pytest.mark.parametrize("replacement", [True, False])
def test_classes_by_weights(replacement: bool, device: str) -> None:
    p = np.float32([[0.1, 0.2, 0, 0.7], [4, 0, 4, 0]])
    many = to_device(np.ascontiguousarray(np.broadcast_to(p, (20_000, 2, 4))), device)
    found = drawn("multinomial", device, many, 2, replacement)
    for row, weights in enumerate(p):
        counts = np.bincount(found[:, row, 0], minlength=4)
        possible = weights > 0
        assert counts[~possible].sum() == 0
        expected = weights[possible].astype(np.float64)
        assert st.chisquare(counts[possible], expected / expected.sum() * 20_000).pvalue > 1e-4
    assert (found[..., 0] != found[..., 1]).all() != replacement
    with pytest.raises(InvalidProblemError, match=r"num_samples: 5 without replacement; expected at most 4"):
        baracuda.multinomial(a_key(device), to_device(p, device), 5)


def test_choices(device: str) -> None:
    x = np.arange(12).reshape(4, 3)
    held = to_device(x, device)
    taken = drawn("choice", device, held, (2, 5))
    assert taken.shape == (2, 5, 3)
    assert all(row.tolist() in x.tolist() for row in taken.reshape(-1, 3))
    assert np.array_equal(np.sort(drawn("choice", device, held, 3, False, axis=1), 1), x)
    weighted = drawn("choice", device, held, 50, p=to_device(np.float32([0, 1, 0, 1]), device))
    assert set(weighted[:, 0].tolist()) == {3, 9}
    for arguments, words in (
        ((5, False), "shape: 5 without replacement"),
        ((2, True, to_device(np.ones(2, "f"), device)), "p: "),
    ):
        with pytest.raises(InvalidProblemError, match=words):
            baracuda.choice(a_key(device), held, *arguments)
