"""What numbers and options of every declared op may be: whatever else is given is refused by the name of its parameter, before
anything is traced or compiled."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.bounds import Above, AtLeast, AtMost, Below, Bound, Finite, OtherThan
from baracuda.core.parameters import Choice, Domain, Either, Flag, Instance, Nothing, Number, Several, Whole, domain_of
from baracuda.frontends.families import function, ops
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.traced import Scalar

INF, NAN = math.inf, math.nan
OPS = sorted(ops())


def _parts(domain: Domain) -> list[Domain]:
    return [p for d in domain.domains for p in _parts(d)] if isinstance(domain, Either) else [domain]


def _beyond(bound: Bound) -> list[Any]:
    """Numbers that a bound excludes."""
    if isinstance(bound, AtLeast):
        return [bound.limit - 1, -INF]
    if isinstance(bound, AtMost):
        return [bound.limit + 1, INF]
    if isinstance(bound, Above):
        return [bound.limit, -INF]
    if isinstance(bound, Below):
        return [bound.limit, INF]
    return [bound.limit] if isinstance(bound, OtherThan) else [INF, -INF]


def _wrong(domain: Domain) -> list[Any]:
    """Values of every type that are not in a domain."""
    parts = _parts(domain)
    numbers = [p for p in parts if isinstance(p, (Number, Whole))]
    wrong: list[Any] = [b"no", object(), {}, np.ones(3)]
    if not any(isinstance(p, Instance) for p in parts):
        wrong.append("no")
    if not any(isinstance(p, (Flag, Instance)) for p in parts):
        wrong.append(True)
    if not any(isinstance(p, Nothing) for p in parts):
        wrong.append(None)
    if not any(isinstance(p, Several) for p in parts):
        wrong += [(), [1]]
    if not any(isinstance(p, Number) and not p.bounds for p in parts):
        wrong += [1.5 if not any(isinstance(p, Number) for p in parts) else NAN, NAN]
    if not any(isinstance(p, Number) and p.complex_too for p in parts):
        wrong.append(1j)
    if not numbers and not any(isinstance(p, Choice) for p in parts):
        wrong.append(1)
    for n in numbers:
        wrong += [v for b in n.bounds for v in _beyond(b)]
    return wrong


@pytest.mark.parametrize("name", OPS)
def test_what_is_not_in_a_domain_is_refused_by_name(name: str) -> None:
    """With the binding of the op's own function and with that of its backward."""
    op = ops()[name]
    functions = [function(name), *([function(f"{name}_backward")] if op.differentiable else [])]
    for binding in (f.binding for f in functions):
        for parameter, domain in binding.domains.items():
            for value in _wrong(domain):
                with pytest.raises(baracuda.InvalidProblemError, match=f"^{parameter}: "):
                    binding((None,) * len(binding.tensors), {parameter: value})


@pytest.mark.parametrize("name", OPS)
def test_defaults_are_in_their_domains(name: str) -> None:
    signature = ops()[name].signature
    for parameter, default in {**signature.scalars, **signature.options}.items():
        if default is not inspect.Parameter.empty:
            signature.domains[parameter].check(parameter, default)


@pytest.mark.parametrize("name", OPS)
def test_no_option_is_any_word(name: str) -> None:
    for parameter, domain in ops()[name].signature.domains.items():
        assert not any(isinstance(p, Instance) and p.type_ is str for p in _parts(domain)), parameter


#: What PyTorch refuses too, or what has no meaning.
REFUSED: list[tuple[str, str, list[Any]]] = [
    ("huber_loss", "delta", [0, -1.0]),
    ("smooth_l1_loss", "beta", [-0.5]),
    ("hardshrink", "lambd", [-0.1]),
    ("softshrink", "lambd", [-0.1]),
    ("celu", "alpha", [0, 0.0, -0.0]),
    ("softplus", "beta", [0, -1]),
    ("softcap", "cap", [0, INF]),
    ("isclose", "rtol", [-1e-9]),
    ("allclose", "atol", [-1]),
    ("cross_entropy", "label_smoothing", [-0.1, 1.5]),
    ("hinge_embedding_loss", "margin", [-1]),
    ("margin_ranking_loss", "margin", [-1]),
    ("multi_margin_loss", "margin", [-1]),
    ("multi_margin_loss", "p", [0, 3, 1.0]),
    ("triplet_margin_loss", "margin", [0, -1]),
    ("cosine_embedding_loss", "margin", [-1.5, 1.5]),
    ("layer_norm", "eps", [-1e-5, NAN]),
    ("batch_norm", "momentum", [-0.1, 1.1]),
    ("gumbel_softmax", "tau", [0, -1.0]),
    ("entmax", "alpha", [1, 2.5]),
    ("renorm", "max_norm", [-1]),
    ("logit", "eps", [-0.1, 0.6]),
    ("var", "correction", [NAN, INF]),
    ("multigammaln", "d", [0, 65]),
    ("adam_step", "weight_decay", [-0.1]),
    ("adam_step", "eps", [-1e-8]),
    ("sgd_step", "momentum", [-0.1]),
    ("sgd_step", "weight_decay", [-0.1]),
    ("rprop_step", "etaplus", [1.0]),
    ("loss_scale_update", "growth_interval", [0, 1.5]),
    ("one_hot", "num_classes", [0]),
]


@pytest.mark.parametrize(("name", "parameter", "values"), REFUSED)
def test_numbers_without_meaning_are_refused(name: str, parameter: str, values: list[Any]) -> None:
    binding = function(name).binding
    for value in values:
        with pytest.raises(baracuda.InvalidProblemError, match=f"^{parameter}: {value!r}; expected"):
            binding((), {parameter: value})


#: What only looks out of bounds: PyTorch or NumPy give it a meaning.
TAKEN: list[tuple[str, str, list[Any]]] = [
    ("leaky_relu", "negative_slope", [-1, 2.5, np.float32(0.5)]),
    ("elu", "alpha", [-1]),
    ("celu", "alpha", [-1]),
    ("swiglu_clamped", "limit", [INF]),
    ("threshold", "threshold", [-INF, NAN]),
    ("nan_to_num", "nan", [NAN, INF]),
    ("var", "correction", [-1, 1.5]),
    ("focal_loss", "alpha", [-1]),
    ("smooth_l1_loss", "beta", [0]),
    ("layer_norm", "eps", [0]),
    ("embedding", "padding_idx", [-1, None]),
    ("cross_entropy", "ignore_index", [-100, 255]),
]


@pytest.mark.parametrize(("name", "parameter", "values"), TAKEN)
def test_numbers_with_a_meaning_are_taken(name: str, parameter: str, values: list[Any]) -> None:
    for value in values:
        function(name).binding((), {parameter: value})


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("hardtanh", "min", "max"), ("rprop_step", "step_min", "step_max")]
    + [(f"fake_quantize_{n}", "quant_min", "quant_max") for n in ("per_tensor", "per_channel", "learnable")],
)
def test_numbers_in_the_wrong_order_are_refused(name: str, low: str, high: str) -> None:
    binding = function(name).binding
    default = ops()[name].signature.scalars[high]
    binding((), {low: 3, high: 3})
    with pytest.raises(baracuda.InvalidProblemError, match=f"^{low}: 4; expected at most {high}, which is 3"):
        binding((), {low: 4, high: 3})
    with pytest.raises(baracuda.InvalidProblemError, match=f"^{low}: 1e\\+30; expected at most {high}, which is {default}"):
        binding((), {low: 1e30})


def test_a_recipe_is_no_way_around_the_order() -> None:
    x = np.zeros(3, np.float32)
    for _ in range(3):
        baracuda.hardtanh(x, min=-2, max=2)
    with pytest.raises(baracuda.InvalidProblemError, match=r"^min: 2; expected at most max, which is -2"):
        baracuda.hardtanh(x, min=2, max=-2)


def test_what_has_no_default_is_asked_for_by_name() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=r"^num_classes: one_hot needs it; expected a whole number at least 1"):
        baracuda.one_hot(np.array([1]))
    with pytest.raises(TypeError, match=r"^dim: timestep_embedding needs it"):
        baracuda.timestep_embedding(np.ones(2, np.float32))


# --- rows without axes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in OPS if ops()[n].rows and ops()[n].axis_option and not ops()[n].rowless])
def test_rows_without_axes_are_refused(name: str) -> None:
    binding = function(name).binding
    with pytest.raises(baracuda.InvalidProblemError, match=r"^axis: \(\); expected a whole number or a tuple of 1 or more"):
        binding((), {"axis": ()})
    binding((), {"axis": (0,)})


@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "var", "all", "nansum"])
def test_a_reduction_over_no_axes_is_numpys(name: str) -> None:
    """PyTorch reduces over all of them."""
    x = np.float32([[1, -2], [3, 4]])
    result = getattr(baracuda, name)(x > 0 if name == "all" else x, axis=())
    assert np.array_equal(result, getattr(np, name)(x > 0 if name == "all" else x, axis=()))
    assert "Differs from PyTorch: axis=()" in getattr(baracuda, name).__doc__


# --- domains ----------------------------------------------------------------------------------------------------------


def test_bounds_of_annotations_add_up() -> None:
    from typing import Annotated

    domain = domain_of(Annotated[Scalar, Above(0), Finite()])
    assert str(domain) == "a number above 0 and finite"
    assert [domain.check("x", v) for v in (1, 0.5, np.float32(2))] == [1, 0.5, 2.0]
    assert str(domain_of(Annotated[Scalar, OtherThan(0)] | None)) == "a number other than 0 or None"


def test_an_op_asks_for_a_meaning_of_its_annotations() -> None:
    def formula(x: baracuda.Expr, *, how: Any) -> baracuda.Expr:
        return x

    with pytest.raises(TypeError, match="says of no parameter what it may be"):
        Op(formula, ops()["relu"].rule, name="nothing")
