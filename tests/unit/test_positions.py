"""What follows the tensors by position means what it means in PyTorch, for every op that PyTorch has too."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache, partial
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.op_table import table
from baracuda.frontends.binding import aliases_of
from baracuda.frontends.families import function, ops

#: PyTorch's names of what is ours by another, where these are no aliases; tensors apart.
NAMES = {"d": "p", "equation": "subscripts", "x2": "b"}

#: Where what PyTorch takes by position is not what we take there, and why that is no trap.
DEVIATIONS = {
    **dict.fromkeys(
        ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"),
        "the key comes second; a number is no tensor, so PyTorch's order is refused",
    ),
    "multinomial": "the key comes first; weights are refused as a key",
    **dict.fromkeys(("poisson", "binomial"), "the key comes first; rates and numbers are refused as a key"),
    "embedding_renorm": "the table comes first; a table of floats is refused as indices",
    "index_select": "an axis comes second; an axis is no tensor, so PyTorch's order is refused",
    "polygamma": "the order comes first; a tensor is no order, so PyTorch's order is refused",
    "layer_norm": "normalized_shape comes second; a tuple is no weight",
    "group_norm": "the number of groups comes second; a number is refused as a weight",
    "instance_norm": "running statistics come second; they have the shape of a weight, so the docstring warns",
    "gumbel_softmax": "the noise comes second; it is drawn inside there",
    "huber_loss": "the weight comes third; a reduction is no weight",
    "mse_loss": "the weight comes third instead of size_average, which is no tensor",
    "l1_loss": "the weight comes third instead of size_average, which is no tensor",
    "multi_margin_loss": "the weight comes third instead of p, which has no default place here",
    "binary_cross_entropy_with_logits": "pos_weight comes fourth instead of size_average, which is no tensor",
    "embedding_bag": "per_sample_weights come third instead of offsets; PyTorch's bags are one row of indices",
    "glu": "the axis of the halves comes second; here they are two tensors",
    "rrelu": "the slopes' bounds come second and third; here the slopes are drawn already",
    "weight_norm": "the power comes second in a function that is not public",
    "index_add": "an axis comes second; an axis is no tensor, so PyTorch's order is refused",
    "index_reduce": "an axis comes second; an axis is no tensor, so PyTorch's order is refused",
    "index_copy": "an axis comes second; an axis is no tensor, so PyTorch's order is refused",
    "index_fill": "an axis comes second; an axis is no tensor, so PyTorch's order is refused",
    "scatter": "an axis comes second; an axis is no tensor, so PyTorch's order is refused",
    "scatter_add": "an axis comes second; an axis is no tensor, so PyTorch's order is refused",
    "scatter_reduce": "an axis comes second; an axis is no tensor, so PyTorch's order is refused",
    "rms_norm": "normalized_shape comes second; a tuple is no weight",
    "scaled_mm": "recipes come between the scales; a recipe is no tensor",
    "scaled_grouped_mm": "recipes come between the scales; a recipe is no tensor",
    "logspace": "endpoint comes fourth, as in NumPy; a base is no flag, so PyTorch's order is refused",
    "pad": "NumPy's widths come second, a pair for every axis; PyTorch's list is given by name, and the docstring says so",
    "slice": "starts and stops come second and third, as in ONNX and JAX; PyTorch's narrow begins with the axis",
    "moving_avg_observer": "running_min comes second; what PyTorch writes are results here, and the docstring says so",
    "multi_head_attention": "the weights of q, k and v are apart; a number of heads is no tensor",
}


def _schemas(path: str) -> Iterator[list[tuple[str, bool]]]:
    """The parameters by position of a function of PyTorch's, each way that it can be called: names, and whether tensors."""
    for module in (torch.nn.functional, torch):
        try:
            parameters = inspect.signature(attrgetter(path)(module)).parameters.values()
        except (AttributeError, TypeError, ValueError):
            continue
        positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        yield [(p.name, i == 0 or "Tensor" in str(p.annotation)) for i, p in enumerate(positional)]
        return
    name = path.rpartition(".")[2]
    for full in (name, f"special_{name}", f"linalg_{name}"):
        packet = getattr(torch.ops.aten, full, None)
        for overload in packet.overloads() if packet is not None else ():
            positional = [a for a in getattr(packet, overload)._schema.arguments if not a.kwarg_only]
            if any("Tensor" in str(a.type) for a in positional) and not any("Dimname" in str(a.type) for a in positional):
                yield [(a.name, "Tensor" in str(a.type)) for a in positional]


def _paths(name: str) -> list[str]:
    row = table()[name]
    words = row.nn_functional or row.torch
    return [w.strip() for w in words.split(",") if w.strip()]


def _agrees(theirs: list[tuple[str, bool]], ours: tuple[str, ...], tensors: int | None) -> bool:
    """Whether everything that we take by position is what PyTorch takes there, as far as it takes anything. `tensors` says how
    many of ours are tensors, where that is known."""
    known = NAMES | aliases_of(ours, None)
    names = [known.get(name, name) for name, _ in theirs]
    for i, (own, (_, is_tensor)) in enumerate(zip(ours, theirs, strict=False)):
        if tensors is not None and is_tensor is not (i < tensors):
            return False
        if own in names[:i] + names[i + 1 :] if is_tensor else names[i] not in (own, known.get(own)):
            return False
    return True


def _ours(name: str) -> tuple[tuple[str, ...], int | None]:
    """What one of our functions takes by position, and how many of that are tensors."""
    if name in ops():
        binding = function(name).binding
        return (*binding.tensors, *binding.by_position), len(binding.tensors)
    parameters = inspect.signature(getattr(baracuda, name)).parameters.values()
    return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)), None


@cache
def _theirs(name: str) -> list[list[tuple[str, bool]]]:
    return [s for path in _paths(name) for s in _schemas(path)]


@cache
def _compared() -> list[str]:
    known = [n for n in sorted({*table()} & {*dir(baracuda)}) if callable(getattr(baracuda, n))]
    return [n for n in known if _theirs(n)]


@pytest.mark.parametrize("name", _compared())
def test_positions_are_pytorchs(name: str) -> None:
    agrees = any(_agrees(theirs, *_ours(name)) for theirs in _theirs(name))
    assert agrees or name in DEVIATIONS, f"{_ours(name)[0]}; PyTorch has {_theirs(name)}"
    assert not (agrees and name in DEVIATIONS), "it deviates no longer"


def test_enough_is_compared() -> None:
    assert len(_compared()) > 200
    assert set(DEVIATIONS) <= set(_compared())


X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
Y = X.flip(0)
F = torch.nn.functional


@pytest.mark.parametrize(
    ("ours", "theirs", "more"),
    [
        (baracuda.sum, torch.sum, (0,)),
        (baracuda.mean, torch.mean, ((0, 1), True)),
        (baracuda.var, lambda x, dim: torch.var(x, dim, correction=0), (1,)),
        (baracuda.leaky_relu, F.leaky_relu, (0.1,)),
        (baracuda.hardtanh, F.hardtanh, (-0.5, 0.25)),
        (baracuda.softmax, torch.softmax, (0,)),
        (baracuda.log_softmax, torch.log_softmax, (0,)),
        (baracuda.cumsum, torch.cumsum, (0,)),
        (baracuda.normalize, F.normalize, (1.0, 0)),
        (baracuda.vector_norm, torch.linalg.vector_norm, (1, 0, True)),
        (partial(baracuda.pairwise_distance, Y), partial(F.pairwise_distance, Y), (1.0, 0.5)),
        (partial(baracuda.isclose, Y), partial(torch.isclose, Y), (1e-3, 0.5)),
        (partial(baracuda.cosine_similarity, Y), partial(F.cosine_similarity, Y), (0, 0.1)),
    ],
)  # fmt: skip
def test_values_by_position(ours: Any, theirs: Any, more: tuple[Any, ...]) -> None:
    torch.testing.assert_close(ours(X, *more), theirs(X, *more))


@pytest.mark.parametrize("name", ["renorm", "weight_norm", "spectral_norm"])
def test_a_dim_that_means_the_other_axes_is_refused(name: str) -> None:
    binding = function(name).binding
    with pytest.raises(baracuda.InvalidProblemError, match=rf"^dim: {name} has no such parameter"):
        binding((), {"dim": 0})
    assert binding((), {"axis": 0}).options == {"axis": 0}
    assert "Differs from PyTorch: `axis`" in getattr(baracuda, name).__doc__ or name == "spectral_norm"


@pytest.mark.parametrize("name", sorted(DEVIATIONS))
def test_a_deviation_that_is_no_error_is_documented(name: str) -> None:
    """What PyTorch's order gives is refused, or the docstring says so."""
    documented = "Differs from PyTorch" in getattr(baracuda, name).__doc__
    refused = "refused" in DEVIATIONS[name] or "no tensor" in DEVIATIONS[name] or "is no weight" in DEVIATIONS[name]
    assert documented or refused, name


def test_a_number_of_groups_is_no_weight() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=r"^weight: "):
        baracuda.group_norm(np.ones((2, 4, 3)), 2)


def test_the_signature_has_what_goes_by_position_first() -> None:
    assert list(inspect.signature(baracuda.vector_norm).parameters) == ["x", "p", "axis", "keepdims", "out"]
    parameters = inspect.signature(baracuda.mse_loss).parameters
    assert parameters["axis"].kind is inspect.Parameter.KEYWORD_ONLY
    with pytest.raises(baracuda.InvalidProblemError, match="at most 3"):
        baracuda.mse_loss(np.ones(2), np.ones(2), None, 0)


A, B = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4), np.linspace(1, 3, 12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (lambda: baracuda.softmax(input=A, dim=0), lambda: baracuda.softmax(A, axis=0)),
        (lambda: baracuda.add(input=A, other=B, alpha=2), lambda: baracuda.add(A, B, alpha=2)),
        (lambda: baracuda.matmul(input=A, other=B.T), lambda: baracuda.matmul(A, B.T)),
        (lambda: baracuda.embedding(input=np.array([1, 0]), weight=A), lambda: baracuda.embedding(np.array([1, 0]), A)),
        (lambda: baracuda.vector_norm(A, ord=3, dim=1), lambda: baracuda.vector_norm(A, p=3, axis=1)),
        (lambda: baracuda.hardtanh(A, min_val=-0.5, max_val=1), lambda: baracuda.hardtanh(A, min=-0.5, max=1)),
        (lambda: baracuda.cosine_similarity(x1=A, x2=B, dim=1), lambda: baracuda.cosine_similarity(A, B, axis=1)),
        (lambda: baracuda.mse_loss(input=A, target=B), lambda: baracuda.mse_loss(A, B)),
        (lambda: baracuda.renorm(A, p=2, axis=0, maxnorm=1.0), lambda: baracuda.renorm(A, p=2, axis=0, max_norm=1.0)),
    ],
)
def test_names_of_pytorch_are_taken(theirs: Any, ours: Any) -> None:
    for _ in range(2):
        assert theirs().tobytes() == ours().tobytes()


TWICE = (lambda: baracuda.exp(A, input=A), lambda: baracuda.exp(x=A, input=A), lambda: baracuda.add(A, B, other=B))


@pytest.mark.parametrize("call", TWICE)
def test_a_tensor_under_two_names_is_refused(call: Any) -> None:
    with pytest.raises(baracuda.InvalidProblemError, match="is given twice"):
        call()
