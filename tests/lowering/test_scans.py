"""Scans: values against PyTorch in float64, bits against the canonical order spelled out, and both under every layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.formula.expr import Expr, cast, input_
from baracuda.formula.functions import exp
from baracuda.formula.graph import Graph, Port
from baracuda.formula.oracle import evaluate
from baracuda.formula.scans import (
    cummax,
    cummax_with_index,
    cummin,
    cummin_with_index,
    cumprod,
    cumsum,
    linear_recurrence,
    logcumsumexp,
    scan,
    segmented_cumsum,
)
from tests.machine import threads

LENGTHS = (1, 2, 7, 8, 9, 255, 256, 257, 4095, 4096, 4097, 9000)
WAYS = [(False, False), (True, False), (False, True), (True, True)]
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def draw(shape: Sequence[int], seed: int = 0) -> torch.Tensor:
    return torch.randn(tuple(shape), dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def bits(x: torch.Tensor) -> np.ndarray:
    """The bit patterns of a tensor."""
    sizes = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    raw: np.ndarray = x.detach().cpu().contiguous().view(sizes[x.element_size()]).numpy()
    return raw


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and bool(np.array_equal(bits(a), bits(b)))


# --- words against PyTorch --------------------------------------------------------------------------------------------

#: A word, PyTorch's function of the last axis, what an exclusive scan begins with, and how inputs are made of normal ones.
WORDS: dict[str, tuple[Callable[..., Expr], Callable[[torch.Tensor], torch.Tensor], float, Callable[[Any], Any]]] = {
    "cumsum": (cumsum, lambda x: x.cumsum(-1), 0.0, lambda x: x.abs()),
    "cumprod": (cumprod, lambda x: x.cumprod(-1), 1.0, lambda x: (x * 0.01).exp()),
    "cummax": (cummax, lambda x: x.cummax(-1)[0], -np.inf, lambda x: x),
    "cummin": (cummin, lambda x: x.cummin(-1)[0], np.inf, lambda x: x),
    "logcumsumexp": (logcumsumexp, lambda x: x.logcumsumexp(-1), -np.inf, lambda x: 30 * x),
}


def expected(
    function: Callable[[torch.Tensor], torch.Tensor], first: float, x: torch.Tensor, way: tuple[bool, bool]
) -> torch.Tensor:
    """The scan of the last axis in the direction and form asked for."""
    reverse, exclusive = way
    y = function(x.flip(-1) if reverse else x)
    if exclusive:
        y = torch.cat([torch.full_like(y[..., :1], first), y[..., :-1]], -1)
    return y.flip(-1) if reverse else y


def fused(formula: Callable[..., Any], way: tuple[bool, bool] = (False, False), axis: int | tuple[int, ...] = -1) -> Any:
    """The scan of one tensor, in the direction and form asked for."""
    reverse, exclusive = way
    return baracuda.fuse(lambda x: formula(x, reverse=reverse, exclusive=exclusive), axis=axis)


@pytest.mark.one_of(2)
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("word", WORDS)
def test_values(word: str, dtype: torch.dtype, device: str) -> None:
    formula, function, first, prepare = WORDS[word]
    for number, n in enumerate(LENGTHS):
        way = WAYS[(number + list(TOLERANCE).index(dtype)) % 4]
        x = prepare(draw((3, n), number)).to(dtype)
        wanted = expected(function, first, x.double(), way).to(dtype).double()
        got = fused(formula, way)(x.to(device)).cpu().double()
        torch.testing.assert_close(got, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], msg=f"{n} {way}")


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint8, torch.int8], ids=str)
def test_integers_wrap(dtype: torch.dtype, device: str) -> None:
    """What is stored in 8 bits is computed in 32 of them, and wraps again when it is stored."""
    info = torch.iinfo(dtype)
    for n in (1, 9, 300, 5000):
        x = torch.randint(info.min // 2, info.max // 2, (3, n), generator=torch.Generator().manual_seed(n), dtype=dtype)
        for formula, function in ((cumsum, np.cumsum), (cumprod, np.cumprod)):
            with np.errstate(all="ignore"):
                wanted = function(x.numpy().astype(np.int64), axis=-1).astype(x.numpy().dtype)
            assert np.array_equal(fused(formula)(x.to(device)).cpu().numpy(), wanted)
        assert same(fused(cummax)(x.to(device)), x.cummax(-1)[0])
        assert same(fused(cummin, (True, False))(x.to(device)), x.flip(-1).cummin(-1)[0].flip(-1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
def test_indices_are_those_of_pytorch(dtype: torch.dtype, device: str) -> None:
    """The latest of equal elements; a NaN stays, and the latest one is named; zeros of both signs are equal."""
    few = torch.randint(-3, 4, (4, 5000), generator=torch.Generator().manual_seed(3))
    x = few.to(dtype)
    if dtype.is_floating_point:
        x[1, ::7] = -0.0
        x[2, [700, 702, 4999]] = torch.nan
        x[3, 100], x[3, 200] = torch.inf, -torch.inf
    for formula, function in ((cummax_with_index, torch.cummax), (cummin_with_index, torch.cummin)):
        for reverse in (False, True):
            value, index = fused(formula, (reverse, False))(x.to(device))
            values, indices = function(x.flip(-1) if reverse else x, -1)
            if reverse:
                values, indices = values.flip(-1), x.shape[-1] - 1 - indices.flip(-1)
            assert torch.equal(index.cpu().long(), indices)
            assert torch.equal(value.cpu().nan_to_num(99.0), values.nan_to_num(99.0))
            assert torch.equal(torch.signbit(value.cpu()), torch.signbit(values))


def test_extremes_of_floats(device: str) -> None:
    """NaN from the first one on; +0 above -0 in maxima; infinities; what nothing begins with."""
    x = torch.tensor([[-0.0, 0.0, -0.0, 1.0, torch.inf, 2.0], [2.0, torch.nan, 9.0, -torch.inf, 0.0, 1.0]]).to(device)
    zero, nan, inf = 0.0, float("nan"), float("inf")
    assert str(fused(cummax)(x)[0].tolist()) == str([-zero, zero, zero, 1.0, inf, inf])
    assert str(fused(cummin)(x)[0, :3].tolist()) == str([-zero] * 3)
    assert str(fused(cummax)(x)[1].tolist()) == str([2.0, nan, nan, nan, nan, nan])
    assert str(fused(cumsum)(x)[0].tolist()) == str([-zero, zero, zero, 1.0, inf, inf])
    assert str(fused(cumsum, (False, True))(x)[1, :2].tolist()) == str([zero, 2.0])
    both = fused(logcumsumexp)(torch.tensor([[-inf, -inf, 0.0, -inf, inf, 3.0, nan, 1.0]]).to(device))
    assert str(both.tolist()) == str([[-inf, -inf, 0.0, 0.0, inf, inf, nan, nan]])
    assert fused(logcumsumexp, (False, True))(x[:, 1:2]).tolist() == [[-inf], [-inf]]


def test_recurrence(device: str) -> None:
    def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        h, states = torch.zeros_like(b[:, 0]), []
        for i in range(b.shape[1]):
            h = a[:, i] * h + b[:, i]
            states.append(h)
        return torch.stack(states, -1)

    for n in (1, 9, 700):
        a, b = draw((3, n), 1) * 0.7, draw((3, n), 2)
        recurrence = baracuda.fuse(lambda a, b: linear_recurrence(a, b))
        torch.testing.assert_close(recurrence(a.to(device), b.to(device)).cpu(), reference(a, b), rtol=1e-12, atol=1e-12)
        leaves = [a.clone().requires_grad_(), b.clone().requires_grad_()]
        reference(*leaves).backward(draw((3, n), 3))
        gradients = recurrence.gradient(a.to(device), b.to(device), dy=draw((3, n), 3).to(device))
        for got, leaf in zip(gradients, leaves, strict=True):
            torch.testing.assert_close(got.cpu(), leaf.grad, rtol=1e-11, atol=1e-11)
    first = baracuda.fuse(lambda a, b: linear_recurrence(a, b))(
        torch.tensor([torch.inf]).to(device), torch.tensor([2.0]).to(device)
    )
    assert first.tolist() == [2.0]  # nothing comes before, whatever its factor


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0,), (1,), (1, 1), (3, 1)], ids=str)
def test_small_and_empty(shape: tuple[int, ...], device: str) -> None:
    x = draw(shape).float()
    assert same(fused(cumsum)(x.to(device)), x.cumsum(-1))
    assert same(fused(cumprod, (False, True))(x.to(device)), torch.ones_like(x))


def test_oracle() -> None:
    """The oracle against NumPy: rows along several axes, both directions."""
    x = draw((3, 4, 5)).numpy()
    graph = Graph((Port("x", K.F64),), ((Port("y", K.F64), cumsum(input_("x", K.F64), reverse=True, exclusive=True)),))
    scanned = evaluate(graph, {"x": x}, (3, 4, 5), (True, False, True))["y"]
    rows = x.transpose(1, 0, 2).reshape(4, 15)
    after = np.cumsum(rows[:, ::-1], -1)[:, ::-1] - rows
    assert np.allclose(scanned.transpose(1, 0, 2).reshape(4, 15), after)


# --- the canonical order ----------------------------------------------------------------------------------------------


def by_the_book(elements: list[Any], join: Callable[[Any, Any], Any], way: tuple[bool, bool], nothing: Any) -> list[Any]:
    """The order of `baracuda.formula.order`, element by element; None is what there is not."""
    reverse, exclusive = way

    def then(a: Any, b: Any) -> Any:
        return b if a is None else a if b is None else join(a, b)

    elements = elements[::-1] if reverse else elements
    scanned: list[Any] = []
    span = tile = block_sum = None
    for start in range(0, len(elements), 256):
        if start and start % 4096 == 0:
            tile, block_sum = then(tile, block_sum), None
            if start % (64 * 4096) == 0:
                span, tile = then(span, tile), None
        chunks = []
        for i, x in enumerate(elements[start : start + 256]):
            if i % 8 == 0:
                chunks.append([x])
            else:
                chunks[-1].append(join(chunks[-1][-1], x))
        totals = [chunk[-1] for chunk in chunks]
        for distance in (1, 2, 4, 8, 16):
            totals = [t if j < distance else join(totals[j - distance], t) for j, t in enumerate(totals)]
        before_block = then(then(span, tile), block_sum)
        for j, chunk in enumerate(chunks):
            before = then(before_block, totals[j - 1] if j else None)
            inclusive = [then(before, x) for x in chunk]
            scanned += [nothing if before is None else before, *inclusive[:-1]] if exclusive else inclusive
        block_sum = then(block_sum, totals[-1])
    return scanned[::-1] if reverse else scanned


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_order_of_a_sum(way: tuple[bool, bool], dtype: torch.dtype, device: str) -> None:
    for n in (*LENGTHS, 300, 20000):
        x = draw((1, n), n).to(dtype)
        kind = x.numpy().dtype.type
        wanted = by_the_book(list(x[0].numpy()), lambda a, b: a + b, way, kind(0))
        assert fused(cumsum, way)(x.to(device)).cpu().numpy().tobytes() == np.array(wanted, kind).tobytes()


def test_order_over_spans(device: str) -> None:
    n = 2 * 64 * 4096 + 5000
    for rows in (1, 3):
        x = draw((rows, n), 5).float()
        got = fused(cumsum)(x.to(device)).cpu().numpy()
        wanted = by_the_book(list(x[-1].numpy()), lambda a, b: a + b, (False, False), np.float32(0))
        assert got[-1].tobytes() == np.array(wanted, np.float32).tobytes()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_order_of_an_operation_that_does_not_commute(way: tuple[bool, bool], device: str) -> None:
    """A scan of one's own, with two components of different kinds, between pointwise formulas."""

    def combine(a: tuple[Expr, ...], b: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return b[0] * a[0], b[0] * a[1] + b[1]

    def formula(x: Expr) -> Expr:
        state = (x * 0.5 + 1.0, x)
        components = [scan(combine, state, c, identity=(1.0, 0.0), reverse=way[0], exclusive=way[1]) for c in (0, 1)]
        return components[0] - components[1] * x

    one = np.float32(1)
    for n in (5, 257, 4500):
        x = (draw((2, n), n) * 0.1).float()
        got = baracuda.fuse(formula)(x.to(device)).cpu().numpy()
        for row, values in zip(got, x.numpy(), strict=True):
            elements = [(v * np.float32(0.5) + one, v) for v in values]
            states = by_the_book(elements, lambda a, b: (b[0] * a[0], b[0] * a[1] + b[1]), way, (one, np.float32(0)))
            wanted = np.array([s[0] - s[1] * v for s, v in zip(states, values, strict=True)], np.float32)
            assert row.tobytes() == wanted.tobytes()


# --- the same bits everywhere -----------------------------------------------------------------------------------------

FORMULAS: dict[str, Callable[..., Any]] = {
    "cumsum": cumsum,
    "recurrence": lambda x, **way: linear_recurrence(x * 0.5, x, **way),
    "logcumsumexp": logcumsumexp,
    "index": lambda x, **way: cast(cummax_with_index(x, **way)[1], x.kind),
    "around": lambda x, **way: exp(-abs(cumsum(x * x + 1.0, **way))) + x,
    "restarts": lambda x, **way: segmented_cumsum(x, x > 1.0, **way),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", FORMULAS)
def test_layouts_and_batches(name: str, dtype: torch.dtype, device: str, full: bool) -> None:
    formula = FORMULAS[name]
    turn = list(FORMULAS).index(name) + [torch.float32, torch.float64, torch.bfloat16].index(dtype)
    for number, (rows, n) in enumerate([(37, 5), (70, 64), (40, 300), (5, 4100), (2, 30000)]):
        if not full and (number + turn) % 5:
            continue
        way = WAYS[(number + list(FORMULAS).index(name)) % 4]
        along, across = fused(formula, way), fused(formula, way, 0)
        x = draw((rows, n), n).to(dtype).to(device)
        wanted = along(x)
        assert same(across(x.T.contiguous()).T, wanted), "side by side"
        assert same(across(x.T).T, wanted), "transposed"
        assert same(along(torch.cat([x[:, :1], x], 1)[:, 1:]), wanted), "misaligned"
        assert same(along(x.repeat_interleave(2, 1)[:, ::2]), wanted), "every other"
        assert same(torch.cat([along(x[i : i + 1]) for i in range(min(rows, 3))]), wanted[:3]), "alone"
        assert same(along(x.repeat(3, 1))[-rows:], wanted), "among more"
        if n % 4 == 0:
            several = fused(formula, way, (0, 2))(x.reshape(rows, 4, n // 4).permute(1, 0, 2))
            assert same(several.permute(1, 0, 2).reshape(rows, n), wanted), "two axes"
        if device == "cpu" and dtype is not torch.bfloat16:
            backwards = np.ascontiguousarray(x.numpy()[:, ::-1])[:, ::-1]
            assert same(torch.from_numpy(np.array(along(backwards))), wanted), "negative strides"


@pytest.mark.cpu_only
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_threads(way: tuple[bool, bool]) -> None:
    """Long rows are cut into parts where there are fewer of them than threads."""
    for shape, axis in (((1, 300000), 1), ((2, 70000), 1), ((50000, 3), 0), ((40000, 20), 0)):
        x = draw(shape, 7).float()
        results = []
        for count in (1, 2, 7):
            with threads(count):
                results.append(fused(cumsum, way, axis)(x))
        assert same(results[0], results[1])
        assert same(results[0], results[2])
