"""Every function takes tensors that have nothing but DLPack, and tensors that PyTorch conjugates or negates lazily."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.frontends.families import ops
from tests.cases.trial import as_tuple, to_host
from tests.unit.fake_dlpack import Bare

RANDOM = np.random.default_rng(11)


def drawn(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.standard_normal(shape).astype(np.float32)


def indices(*shape: int, below: int) -> np.ndarray[Any, Any]:
    return RANDOM.integers(0, below, shape)


X, Y, V, W = drawn(4, 6), drawn(4, 6), drawn(6), drawn(6, 6)
BATCH, HEADS, IMAGE = drawn(2, 4, 6), drawn(1, 2, 5, 8), drawn(2, 4, 3, 3)
SEGMENTS = np.array([0, 0, 1, 2])
LENGTHS = np.array([2, 3])
#: One call of every function that is written by hand, and of some of each sort that is declared: a name, tensors, keywords.
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("gelu", (X,), {}),
    ("gelu_backward", (X, Y), {}),
    ("silu_double_backward", (X, Y, X), {}),
    ("add", (X, V), {}),
    ("add_backward", (X, X, V), {}),
    ("sum", (X,), {"axis": 0}),
    ("layer_norm", (X, V, V), {}),
    ("layer_norm_backward", (Y, X, V, V), {}),
    ("softmax", (X,), {}),
    ("softmax_backward", (Y, X), {}),
    ("log_softmax", (X,), {}),
    ("log_softmax_backward", (Y, X), {}),
    ("rms_norm", (X, V), {}),
    ("lerp", (X, Y, X), {}),
    ("quantize_per_token", (X, np.abs(drawn(4)) + 1), {}),
    ("cumsum", (X,), {"axis": 1}),
    ("where", (X > 0, X, Y), {}),
    ("cross_entropy", (X, indices(4, below=6)), {}),
    ("matmul", (X, W), {}),
    ("matmul_backward", (X, X, W), {}),
    ("bmm", (BATCH, BATCH.transpose(0, 2, 1)), {}),
    ("mv", (W, V), {}),
    ("dot", (V, V), {}),
    ("outer", (V, V), {}),
    ("addmm", (X, X, W), {}),
    ("array_equal", (X, X), {}),
    ("addmm_backward", (X, X, X, W), {}),
    ("vdot", (V, V), {}),
    ("vecdot", (X, Y), {}),
    ("linear", (X, W, V), {}),
    ("linear_backward", (X, X, W, V), {}),
    ("multi_head_attention", (BATCH, BATCH, BATCH, W, W, W, W), {"heads": 2}),
    ("kron", (X, W), {}),
    ("tensordot", (X, W), {"axes": 1}),
    ("scaled_dot_product_attention", (HEADS, HEADS, HEADS), {}),
    ("sliding_window_attention", (HEADS, HEADS, HEADS), {"window": 2}),
    ("gather", (X, indices(4, 6, below=6)), {}),
    ("gather_backward", (Y, X, indices(4, 6, below=6)), {}),
    ("index_select", (X, indices(3, below=4)), {"axis": 0}),
    ("embedding", (indices(3, below=6), W), {}),
    ("embedding_bag", (indices(3, 2, below=6), W), {}),
    ("scatter_add", (X, indices(4, 6, below=6), Y), {}),
    ("index_add", (X, indices(4, below=4), Y), {"axis": 0}),
    ("bincount", (indices(9, below=4),), {"length": 4}),
    ("segment_sum", (X, SEGMENTS), {"num_segments": 3}),
    ("segment_sum_backward", (drawn(3, 6), X, SEGMENTS), {}),
    ("group_norm", (IMAGE, drawn(4), drawn(4)), {"num_groups": 2}),
    ("group_norm_silu", (IMAGE,), {"num_groups": 2}),
    ("sync_batch_norm", (IMAGE, drawn(4), drawn(4), drawn(4), np.abs(drawn(4))), {}),
    ("global_response_norm", (IMAGE.transpose(0, 2, 3, 1), drawn(4), drawn(4)), {}),
    ("local_response_norm", (IMAGE,), {"size": 3}),
    ("cov", (X,), {}),
    ("corrcoef", (X,), {}),
    ("cdist", (X, Y), {}),
    ("cdist_backward", (drawn(4, 4), X, Y), {}),
    ("pdist", (X,), {}),
    ("diff", (X,), {}),
    ("diff_backward", (drawn(4, 5), X), {}),
    ("ediff1d", (X,), {}),
    ("gradient", (X,), {"axis": 1}),
    ("trapezoid", (X,), {}),
    ("trapezoid_backward", (drawn(4), X), {}),
    ("cumulative_trapezoid", (X,), {}),
    ("unwrap", (X,), {}),
    ("interp", (X, np.sort(V), V), {}),
    ("trace", (W,), {}),
    ("polyadd", (V, X[0, :3]), {}),
    ("polymul", (V, X[0, :3]), {}),
    ("polyder", (V,), {}),
    ("polyint", (V,), {}),
    ("view_as_complex", (drawn(3, 2),), {}),
    ("view_as_real", (drawn(3).astype(np.complex64),), {}),
    ("bitcast", (X,), {"dtype": "s32"}),
    ("index_get_backward", (drawn(2, 6), X, np.array([0, 3])), {}),
    ("scaled_mm_backward", (X, np.ones((4, 3), np.int8), np.ones((3, 6), np.int8), np.float32([1]), np.float32([2])), {}),
    ("group_norm_backward", (IMAGE, IMAGE, drawn(4)), {"num_groups": 2}),
    ("group_norm_silu_backward", (IMAGE, IMAGE, drawn(4)), {"num_groups": 2}),
    ("ediff1d_backward", (drawn(23), X), {}),
    ("segment_mean_backward", (drawn(3, 6), X, SEGMENTS), {}),
    ("embedding_bag_backward", (drawn(3, 6), indices(3, 2, below=5), drawn(5, 6)), {}),
    ("index_add_backward", (X, X, indices(4, below=4), Y), {}),
    ("scatter_add_backward", (X, X, indices(4, 6, below=6), Y), {}),
    ("scaled_dot_product_attention", (X, X, X), {}),
    ("alibi_bias_backward", (BATCH,), {}),
    ("varlen_attention", (BATCH, BATCH, BATCH, np.array([0, 1, 2])), {}),
    ("grouped_mm_backward", (X, X, drawn(2, 6, 6), np.array([1, 4])), {}),
    ("einsum", ("ij,kj->ik", X, Y), {}),
    ("einsum_backward", (X, "ij->ij", Y), {}),
    ("rope", (HEADS, drawn(5, 4), drawn(5, 4)), {}),
    ("alibi", (HEADS, drawn(2)), {}),
    ("multilabel_margin_loss", (X, np.array([[1, 2, -1, 0, 0, 0]] * 4)), {}),
    ("linear_cross_entropy", (X, W, indices(4, below=6)), {}),
    ("chunked_logprobs", (X, W, indices(4, below=6)), {}),
    ("asarray", (X,), {}),
    ("permute", (X,), {}),
    ("reshape", (X,), {"shape": (3, 8)}),
    ("reshape", (X.T,), {"shape": (3, 8)}),
    ("flip", (X,), {"axis": 1}),
    ("split", (X,), {"split_size": 3}),
    ("pad", (X,), {"pad_width": 1, "mode": "reflect"}),
    ("roll", (X,), {"shift": 2, "axis": 0}),
    ("tril_backward", (X,), {}),
    ("repeat_interleave", (X, SEGMENTS), {"axis": 0}),
    ("block_diag", (X, Y, V), {}),
    ("full_like", (X, 3.0), {}),
    ("meshgrid", (V, V), {}),
    ("put_flat", (X, indices(3, below=24), V[:3]), {}),
    ("scatter", (X, indices(4, 6, below=6), Y), {}),
    ("scatter_backward", (X, X, indices(4, 6, below=6), Y), {}),
    ("scatter_nd", (X, indices(3, 2, below=4), V[:3]), {}),
    ("scatter_nd_reduce_backward", (X, X, indices(3, 2, below=4), V[:3]), {"reduce": "prod"}),
    ("index_put", (X, (np.array([0, 3]),), drawn(2, 6)), {}),
    ("index_put_backward", (X, X, (np.array([0, 3]),), drawn(2, 6)), {}),
    ("nonzero", (X > 0,), {}),
    ("argwhere", (X > 0,), {"size": 5}),
    ("masked_select", (X, X > 0), {}),
    ("masked_select_backward", (V[:2], X, np.arange(24).reshape(4, 6) < 2), {}),
    ("compress", (V > 0, X), {"axis": 1}),
    ("masked_scatter", (X, X > 0, Y), {}),
    ("select_scatter", (X, V), {"axis": 0, "index": 1}),
    ("dynamic_slice", (X, np.array([1, 2])), {"sizes": (2, 3)}),
    ("dynamic_update_slice", (X, Y[:2, :3], np.array([1, 2])), {}),
    ("unravel_index", (indices(3, below=24),), {"shape": (4, 6)}),
    ("segment_softmax", (X, SEGMENTS), {"num_segments": 3}),
    ("segment_reduce", (X, "sum", np.array([1, 3])), {}),
    ("segment_reduce_backward", (drawn(2, 6), X, "max", np.array([1, 3])), {}),
    ("jagged_index_select", (X, np.array([1, 0]), np.array([1, 3])), {}),
    ("ctc_loss", (drawn(7, 2, 6), indices(2, 3, below=5) + 1, np.array([7, 6]), LENGTHS), {}),
]


#: Calls of functions over lists of tensors, whose results are lists too.
LISTS: dict[str, tuple[Any, ...]] = {
    "clip_grad_norm": ([X, V], 0.5),
    "master_weight_cast": ([X, V], "bf16"),
    "multi_tensor_apply": (baracuda.mul, [X, V], [Y, V]),
}


def each(value: Any, made: Callable[[Any], Any]) -> Any:
    """The value with every array in it replaced by what is made of its copy."""
    if isinstance(value, list):
        return [each(v, made) for v in value]
    return made(value.copy()) if isinstance(value, np.ndarray) else value


def copied(value: Any) -> Any:
    return each(value, lambda x: x)


def bare(value: Any) -> Any:
    return each(value, Bare)


def flat(value: Any) -> list[Any]:
    return [x for v in value for x in flat(v)] if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_producers_of_dlpack_alone(name: str) -> None:
    function = getattr(baracuda, name)
    expected = flat(function(*map(copied, LISTS[name])))
    for _ in range(2):
        results = flat(function(*map(bare, LISTS[name])))
        assert all(isinstance(f, (np.ndarray, np.generic)) for f in results)
        assert [(f.tobytes(), f.shape, f.dtype) for f in results] == [(e.tobytes(), e.shape, e.dtype) for e in expected]


@pytest.mark.parametrize(("name", "tensors", "keywords"), CALLS, ids=[c[0] for c in CALLS])
def test_producers_of_dlpack_alone(name: str, tensors: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    function = getattr(baracuda, name)
    expected = as_tuple(function(*map(copied, tensors), **keywords))
    for _ in range(2):  # the second call follows a recipe, where there is one
        results = as_tuple(function(*map(bare, tensors), **keywords))
        assert all(type(f) is np.ndarray for f in results)
        assert [f.tobytes() for f in results] == [e.tobytes() for e in expected]
        assert [(f.shape, f.dtype) for f in results] == [(e.shape, e.dtype) for e in expected]


#: Functions of complex tensors: a name and how many.
COMPLEX = [("exp", 1), ("add", 2), ("mul", 2), ("mul_backward", 3), ("matmul", 2), ("vdot", 2), ("sum", 1), ("resolve_conj", 1)]
LAZY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "conjugated": torch.conj,
    "negated": torch._neg_view,
    "both": lambda z: torch._neg_view(z.conj()),
}


@pytest.mark.parametrize("how", LAZY)
@pytest.mark.parametrize(("name", "count"), COMPLEX)
def test_lazily_conjugated_and_negated_tensors_are_read_as_their_values(name: str, count: int, how: str) -> None:
    shape = (5,) if name == "vdot" else (5, 5)
    plain = [torch.from_numpy(drawn(*shape) + 1j * drawn(*shape)) for _ in range(count)]
    lazy = [LAZY[how](plain[0]), *plain[1:]]
    assert lazy[0].is_conj() or lazy[0].is_neg()
    function = getattr(baracuda, name)
    for _ in range(2):
        results = as_tuple(function(*lazy))
        expected = as_tuple(function(*(z.resolve_conj().resolve_neg() for z in lazy)))
        different = as_tuple(function(*plain))
        for f, e, d in zip(results, expected, different, strict=True):
            assert to_host(f).tobytes() == to_host(e).tobytes()
            assert not torch.equal(f, d)


def test_a_plan_refuses_a_lazily_conjugated_tensor_by_name() -> None:
    x = torch.randn(4, dtype=torch.complex64)
    descriptor = baracuda.exp.describe(x)
    plan, y = baracuda.ExpPlan.select(None, descriptor), torch.zeros_like(x)
    plan.run(None, None, baracuda.ExpArgs(x, y))
    copy = y.clone()
    for lazy, method in ((x.conj(), "resolve_conj"), (torch._neg_view(x), "resolve_neg")):
        for run in (plan.run, plan.bind):
            with pytest.raises(baracuda.InvalidProblemError, match=rf"x: its memory holds .*pass \.{method}\(\)"):
                run(None, None, baracuda.ExpArgs(lazy, y))
        assert torch.equal(y, copy)


def test_the_table_has_every_module_of_functions() -> None:
    """A function of a module that no call of the table reaches would go untested."""
    from baracuda import _MODULE

    reached = {_MODULE.get(name, "declared") for name in (*(name for name, _, _ in CALLS), *LISTS)}
    modules = {m for m in _MODULE.values() if m.startswith("baracuda.frontends.")}
    without = {
        "array",
        "catalogue",
        "fuse",
        "generator",
        "profile",
        "recording",
        "plans_double_backward",
        "rotary_tables",
    }  # read no tensor
    missing = {m.rpartition(".")[2] for m in modules - reached} - without
    assert missing == set()
    assert "declared" in reached
    assert len(ops()) > 100
