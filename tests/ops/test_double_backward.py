"""Second derivatives against PyTorch's double backward of the cases' references, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.formula.functions import exp, sum_, where
from tests.cases import trial as t

#: Pointwise, gated and broadcast ops, rows, statistics over channels, scans, losses; gradients derived and given.
OPS = (
    "gelu", "silu", "softplus", "mish", "tanh", "erf", "log1p", "mul", "div", "pow", "hypot", "swiglu", "lerp", "dyt",
    "sum", "mean", "var", "logsumexp", "vector_norm", "prod", "cumsum", "cumprod", "linear_recurrence", "softmin", "sparsemax",
    "layer_norm", "group_norm", "batch_norm", "normalize", "cross_entropy", "mse_loss", "huber_loss", "cosine_similarity",
    "masked_cumsum", "average",
)  # fmt: skip


def _same(got: Any, want: torch.Tensor | None, what: str) -> None:
    host = t.to_host(got)
    expected = np.zeros(host.shape) if want is None else (want.detach() + 0.0).numpy()
    assert host.shape == expected.shape, what
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(host, expected, rtol=0, atol=1e-10 * size, err_msg=what)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("name", OPS)
def test_second_derivatives_are_torchs(name: str, number: int, device: str) -> None:
    """Of the first trials of an op in float64."""
    trials = [x for x in t.trials_of(name) if x.element is ElementKind.F64 and not x.special]
    trial = trials[number % len(trials)]
    op, tensors, keywords = trial.op, trial.tensors, dict(trial.keywords)
    wrt = t.differentiated(op, tensors)
    values = dict(zip(op.signature.tensors, tensors, strict=False))
    leaves = {n: None if a is None else t.torch_of(a).requires_grad_(n in wrt) for n, a in values.items()}
    results = [r for r in t.as_tuple(t.cases()[trial.name].reference(*leaves.values(), **keywords)) if r.is_floating_point()]
    rng = np.random.default_rng(1)
    dys = [torch.from_numpy(rng.standard_normal(tuple(r.shape))).requires_grad_() for r in results]
    first = torch.autograd.grad(
        [r for r in results if r.requires_grad],
        [leaves[n] for n in wrt],
        [d for r, d in zip(results, dys, strict=True) if r.requires_grad],
        create_graph=True,
        allow_unused=True,
    )
    dds = {n: rng.standard_normal(values[n].shape) for n in wrt}
    counted = [(g, torch.from_numpy(dds[n])) for g, n in zip(first, wrt, strict=True) if g is not None and g.requires_grad]
    sources = [*dys, *(leaves[n] for n in wrt)]
    second = torch.autograd.grad([g for g, _ in counted], sources, [d for _, d in counted], allow_unused=True)

    here = [None if a is None else t.to_device(a, device) for a in tensors]
    forward_results = t.as_tuple(getattr(baracuda, trial.name)(*here, **keywords))
    plain = [n for n in op.results or ("y",) if n not in op.extra]
    names = [n for n, r in zip(plain, forward_results, strict=False) if "float" in t.to_host(r).dtype.name]
    words = {f"d{n}": t.to_device(d.detach().numpy(), device) for n, d in zip(names, dys, strict=True)}
    words |= {f"dd{n}": t.to_device(d, device) for n, d in dds.items()}
    words |= {n: v for n, v in zip(op.signature.tensors, here, strict=False) if v is not None}
    wanted = [*(f"d{n}" for n in names), *wrt]
    gradients = getattr(baracuda, f"{trial.name}_double_backward")(**words, wrt=wanted, **keywords)
    for name, got, want in zip(wanted, t.as_tuple(gradients), second, strict=True):
        _same(got, want, name)


def test_of_a_formula(device: str) -> None:
    @baracuda.fuse
    def weighted(x: Any, w: Any) -> Any:
        return sum_(exp(x) * w)

    rng = np.random.default_rng(2)
    x, w, dy, ddx, ddw = (rng.standard_normal(s) for s in ((4, 9), (9,), (4, 1), (4, 9), (9,)))
    leaves = [torch.from_numpy(v).requires_grad_() for v in (dy, x, w)]
    y = (leaves[1].exp() * leaves[2]).sum(-1, keepdim=True)
    first = torch.autograd.grad(y, leaves[1:], leaves[0], create_graph=True)
    want = torch.autograd.grad(first, leaves, [torch.from_numpy(ddx), torch.from_numpy(ddw)])
    here = [t.to_device(v, device) for v in (x, w, dy, ddx, ddw)]
    got = weighted.double_gradient(*here[:2], dy=here[2], dd={"x": here[3], "w": here[4]})
    for g, v, name in zip(got, want, ("dy", "x", "w"), strict=True):
        _same(g, v, name)


def test_what_has_no_second_derivative_is_refused() -> None:
    x = np.ones((2, 3))
    for name in ("entmax15", "logcumsumexp", "reduce_precision"):
        with pytest.raises(baracuda.UnsupportedError, match="its gradient has no derivative of its own"):
            getattr(baracuda, f"{name}_double_backward")(x, x, x)
    with pytest.raises(baracuda.UnsupportedError, match="second derivatives of complex numbers"):
        baracuda.exp_double_backward(x + 0j, x + 0j, x + 0j)
    with pytest.raises(baracuda.InvalidProblemError, match="every gradient of a gradient is None"):
        baracuda.exp_double_backward(None, x, x)
    with pytest.raises(baracuda.InvalidProblemError, match=r"ddx: shape is \(3,\); expected \(2, 3\)"):
        baracuda.exp_double_backward(np.ones(3), x, x)


def test_a_condition_counts_before_a_scan() -> None:
    """The gradient of a masked running sum sums only what the mask lets through."""
    from baracuda.formula.scans import cumsum

    @baracuda.fuse
    def masked(x: Any, m: Any) -> Any:
        return where(m, cumsum(x), 0.0)

    x, m = np.ones((1, 4)), np.array([[True, False, True, True]])
    (dx,) = masked.gradient(x, m, dy=np.array([[1.0, 10.0, 100.0, 1000.0]]), wrt=("x",))
    assert dx.tolist() == [[1101.0, 1100.0, 1100.0, 1000.0]]


@pytest.mark.parametrize("name", ["prod", "nanprod"])
def test_second_derivatives_of_products_with_zeros(name: str, device: str) -> None:
    """Rows with no zero, with one, with two, with three."""
    x = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 2.0, 3.0], [0.0, 0.0, 4.0, 2.0], [0.0, 0.0, 0.0, 2.0]])
    rng = np.random.default_rng(0)
    leaf, dy = torch.from_numpy(x).requires_grad_(), torch.from_numpy(rng.standard_normal(4)).requires_grad_()
    ddx = rng.standard_normal(x.shape)
    (first,) = torch.autograd.grad(leaf.prod(1), leaf, dy, create_graph=True)
    want = torch.autograd.grad(first, [dy, leaf], torch.from_numpy(ddx))
    operands = [t.to_device(v, device) for v in (ddx, dy.detach().numpy(), x)]
    for got, slope, what in zip(getattr(baracuda, f"{name}_double_backward")(*operands, axis=1), want, ("dy", "x"), strict=True):
        _same(got, slope, what)
