"""Numbers of a call: told apart by type and bits wherever something is remembered, and never part of what is remembered."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.errors import InvalidProblemError
from baracuda.core.identity import identity
from baracuda.frontends import call
from baracuda.ops.attention import score as attention_score
from baracuda.ops.declaration import second, tracing
from baracuda.runtime import jit

pytestmark = pytest.mark.cpu_only

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
WHOLE = np.array([2**53 + 1, -7, 3])
TARGET = np.array([0, 2, 1])
ONE = np.ones(1, np.float32)
Q = np.random.default_rng(0).standard_normal((1, 2, 5, 8), np.float32)


def _bits(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_bits, result))
    return result if result is None else (result.dtype, result.shape, result.tobytes())


# --- told apart -------------------------------------------------------------------------------------------------------

#: A call of one number, and two numbers that compare equal, or are no number, but mean different results.
DIFFERENT: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "div by zeros": (lambda n: baracuda.div(np.ones(2, np.float32), n), 0.0, -0.0),
    "mul of integers": (lambda n: baracuda.mul(WHOLE, n), 1.0, 1),
    "clamp of integers": (lambda n: baracuda.clamp(WHOLE, min=n), 1.0, 1),
    "clamp keyword": (lambda n: baracuda.clamp(WHOLE, None, n), 1.0, 1),
    "copysign": (lambda n: baracuda.copysign(X, n), 0.0, -0.0),
    "backward of div": (lambda n: baracuda.div_backward(X, X, n), 0.0, -0.0),
    "add of alpha": (lambda n: baracuda.add(X, np.zeros((3, 4), np.float32), alpha=n), math.inf, 1.0),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_equal_numbers_of_other_types_or_signs(name: str) -> None:
    compute, first, second_ = DIFFERENT[name]
    one, other = _bits(compute(first)), _bits(compute(second_))
    assert one != other
    assert (_bits(compute(first)), _bits(compute(second_))) == (one, other)  # whatever was called before


def test_nan_is_one_number() -> None:
    before = _held()
    first = baracuda.maximum(X, math.nan)
    for _ in range(5):
        assert _bits(baracuda.maximum(X, float("nan"))) == _bits(first)
    assert _held() - before <= 5


@pytest.mark.parametrize("bad", [True, 1.0, np.True_, "1"])
def test_what_equals_an_axis_is_none(bad: Any) -> None:
    assert baracuda.sum(X, axis=1).shape == (3,)
    with pytest.raises(InvalidProblemError, match="axis"):
        baracuda.sum(X, axis=bad)


def test_descriptors() -> None:
    kind = baracuda.ElementKind.F32
    descriptors = [
        baracuda.BinaryParamDescriptor(baracuda.BinaryKind.LERP, (2,), kind, w) for w in (0.0, -0.0, 0, math.nan, math.nan)
    ]
    assert len(set(descriptors[:3])) == 3
    assert descriptors[3] == descriptors[4]
    assert hash(descriptors[3]) == hash(descriptors[4])
    assert len({d.structure for d in (descriptors[0], descriptors[1], descriptors[3])}) == 1


def test_identity() -> None:
    values = [
        0,
        0.0,
        -0.0,
        False,
        0j,
        complex(0, -0.0),
        np.float32(0),
        np.float64(0),
        np.int64(0),
        "0",
        None,
        (0,),
        (0.0,),
        [].__len__,
    ]
    assert len({identity(v) for v in values}) == len(values)
    assert identity(math.nan) == identity(float("nan"))
    with pytest.raises(TypeError):
        identity([0])


# --- never remembered -------------------------------------------------------------------------------------------------


def _calls(value: Any) -> int:
    """How many calls a public function remembers."""
    return int(getattr(value, "cached_calls", 0)) if callable(value) and not isinstance(value, type) else 0


def _held() -> int:
    """How much is remembered: plans, calls, graphs and loaded code."""
    graphs = (
        tracing._graph_of,
        attention_score._score_graph,
        attention_score._slope_graph,
        second._backward_op,
    )
    cached_graphs = sum(g.cache_info().currsize for g in graphs)
    return len(call._plans) + sum(map(_calls, vars(baracuda).values())) + cached_graphs + len(jit._loaded)


def _index_add(n: float) -> Any:
    return baracuda.index_add(X, np.array([0, 2]), X[:2], alpha=n)


#: Calls of a number that kernels are given at run time.
CALLS: dict[str, Callable[[float], Any]] = {
    "leaky_relu": lambda n: baracuda.leaky_relu(X, n),
    "leaky_relu backward": lambda n: baracuda.leaky_relu_backward(X, X, negative_slope=n),
    "softplus double backward": lambda n: baracuda.softplus_double_backward(X, X, X, beta=n),
    "clamp of two": lambda n: baracuda.clamp(X, -n, n),
    "number for a tensor": lambda n: baracuda.mul(X, n),
    "power": lambda n: baracuda.pow(abs(X), n + 0.25),
    "layer norm": lambda n: baracuda.layer_norm(X, eps=n),
    "layer norm backward": lambda n: baracuda.layer_norm_backward(X, X, eps=n),
    "rms norm": lambda n: baracuda.rms_norm(X, eps=n),
    "lerp": lambda n: baracuda.lerp(X, X + 1, n),
    "lerp backward": lambda n: baracuda.lerp_backward(X, X, X, n),
    "adamw": lambda n: baracuda.adamw_step(X, X, X, abs(X), n * 1e-3, 1.0 + n),
    "addmm": lambda n: baracuda.addmm(X[:, :3], X, X.T[:, :3], alpha=n + 0.25, beta=n + 0.5),
    "addmm backward": lambda n: baracuda.addmm_backward(X[:, :3], X[:, :3], X, X.T[:, :3], alpha=n + 0.25, beta=n + 0.5),
    "attention": lambda n: baracuda.scaled_dot_product_attention(Q, Q, Q, scale=n + 0.25),
    "attention softcap": lambda n: baracuda.scaled_dot_product_attention(Q, Q, Q, softcap=n + 1),
    "index_add": _index_add,
    "huber loss": lambda n: baracuda.huber_loss(X, X[::-1], delta=n),
    "decay of an average": lambda n: baracuda.ema_update(X, X + 1, decay=n),
    "decays of adam": lambda n: baracuda.adam_step(X, X, X, abs(X), 0.1, 3, beta1=n, beta2=n / 2),
    "decays of nadam": lambda n: baracuda.nadam_step(X, X, X, abs(X), 0.1, 3, 0.9, beta1=n, momentum_decay=n),
    "decays of radam": lambda n: baracuda.radam_step(X, X, X, abs(X), 0.1, 9, beta1=n, beta2=n),
    "rho of adadelta": lambda n: baracuda.adadelta_step(X, X, abs(X), abs(X), 0.1, rho=n),
    "order of a norm": lambda n: baracuda.vector_norm(X, p=n + 1, axis=1),
    "order of a norm backward": lambda n: baracuda.vector_norm_backward(X[:, 0], X, p=n + 1, axis=1),
    "order of a distance": lambda n: baracuda.pairwise_distance(X, X[::-1], p=n + 1),
    "order of all distances": lambda n: baracuda.cdist(X, X[::-1], p=n + 1),
    "order of all distances backward": lambda n: baracuda.cdist_backward(X[:, :3], X, X[::-1], p=n + 1),
    "order under a mask": lambda n: baracuda.masked_reduce(X, X > 0, reduction="norm", p=n + 1),
    "ignored class": lambda n: baracuda.cross_entropy(X, TARGET, ignore_index=round(n * 32) % 4),
    "padding of a bag": lambda n: baracuda.embedding_bag(TARGET[None], X, padding_idx=round(n * 32) % 3),
    "growth interval": lambda n: baracuda.loss_scale_update(ONE, np.array([3]), np.array([False]), growth_interval=round(n * 64)),
}


@pytest.mark.parametrize("name", CALLS)
def test_another_number_is_not_remembered(name: str) -> None:
    compute = CALLS[name]
    numbers = [0.05 + 0.03125 * i for i in range(12)]
    compute(numbers[0])
    compute(numbers[1])
    before = _held()
    results = [_bits(compute(n)) for n in numbers]
    assert _held() == before
    assert results == [_bits(compute(n)) for n in numbers]


def test_a_long_training_remembers_nothing() -> None:
    """20,000 calls whose numbers change from one to the next."""
    names = [n for n in CALLS if "double" not in n and "attention" not in n and not n.startswith("addmm")]
    for name in names:
        CALLS[name](0.0625)
        CALLS[name](0.09375)
    before = _held()
    for i in range(20_000):
        CALLS[names[i % len(names)]](0.05 + 0.9 * i / 20_000)
    assert _held() == before


@pytest.mark.parametrize("name", ["leaky_relu", "layer norm", "addmm", "attention", "index_add", "lerp", "huber loss"])
def test_a_number_counts_whatever_came_before(name: str) -> None:
    """The bits of a number do not depend on the one that a plan was first made with."""
    compute = CALLS[name]
    expected = _bits(compute(0.375))
    for other in (0.125, 0.5):
        assert _bits(compute(other)) != expected
        assert _bits(compute(0.375)) == expected


def test_shapes_are_forgotten() -> None:
    """What is remembered of shapes has an end."""
    limits = call.MOST_PLANS, tracing.MOST_GRAPHS
    assert all(0 < limit <= 4096 for limit in limits)
    for n in range(1, 700):
        baracuda.neg(np.zeros(n, np.float32))
    assert _calls(baracuda.neg) <= 512
    assert len(call._plans) <= call.MOST_PLANS


def test_calls_of_all_functions_have_an_end() -> None:
    """What calls keep, code among it, is let go of."""
    x = np.zeros(4, np.float32)
    functions = [getattr(baracuda, n) for n in ("neg", "abs", "exp", "relu", "sin", "cos", "tanh", "sqrt", "square", "sign")]
    for n in range(1, 480):
        for function in functions:
            function(np.broadcast_to(x[:1], n))
    assert sum(map(_calls, vars(baracuda).values())) <= 4096
    assert np.array_equal(baracuda.neg(x), -x)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.int8, np.uint8])
@pytest.mark.parametrize("function", [baracuda.cross_entropy, baracuda.nll_loss])
def test_a_class_that_is_ignored_now_need_not_be_later(function: Any, kind: type) -> None:
    target = TARGET.astype(kind)
    for ignored in (100, 7, 101, 9, 100):
        target[1] = ignored
        assert np.isfinite(function(X, target, ignore_index=ignored)).all()
        for other in (ignored + 1, -100):
            message = rf"target: index {ignored} at \(1,\) is out of range.*or {other}, which"
            with pytest.raises(baracuda.InvalidProblemError, match=message):
                function(X, target, ignore_index=other)
