"""Attention that is pinned to an architecture: a query's bits depend on the keys that it sees, and on nothing else."""

from __future__ import annotations

from typing import Any

import pytest

import baracuda as bc
from tests.gpu.test_pinned_products import MATH, PINNED, drawn, same

OURS = bc.BackendKind.FORMULA_CUDA


def attention(*tensors: Any, dtype: str = "bfloat16", **options: Any) -> Any:
    return bc.scaled_dot_product_attention(*tensors, preference=bc.PlanPreference(math=MATH[dtype], backend=OURS), **options)


def gradients(*tensors: Any, dtype: str = "bfloat16", **options: Any) -> Any:
    wish = bc.PlanPreference(math=MATH[dtype], backend=OURS)
    return bc.scaled_dot_product_attention_backward(*tensors, preference=wish, **options)


def given(torch: Any, extents: tuple[int, ...], dtype: str, seed: int = 0) -> list[Any]:
    """q, k, v and dy of (batch, heads, key_heads, queries, keys, depth, value_depth)."""
    batch, heads, key_heads, queries, keys, depth, value_depth = extents
    shapes = [(heads, queries, depth), (key_heads, keys, depth), (key_heads, keys, value_depth), (heads, queries, value_depth)]
    return [drawn(torch, (batch, *shape), dtype, seed + i) for i, shape in enumerate(shapes)]


def error(x: Any, exact: Any) -> float:
    return float((x.double() - exact).norm() / exact.norm())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("extents", [(2, 4, 4, 700, 700, 128, 128), (2, 4, 4, 513, 513, 64, 64), (1, 2, 2, 300, 300, 256, 256)], ids=str)  # fmt: skip  # noqa: E501
def test_values(torch: Any, extents: tuple[int, ...], causal: bool, dtype: str) -> None:
    """Not farther from float64 than PyTorch's, forward and backward."""
    q, k, v, dy = given(torch, extents, dtype)
    y, lse = attention(q, k, v, causal=causal, saved=True, dtype=dtype)
    found = [y, *gradients(dy, q, k, v, y, lse, causal=causal, dtype=dtype)]

    def by_torch(kind: Any) -> list[Any]:
        leaves = [x.to(kind).requires_grad_() for x in (q, k, v)]
        out = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal)
        return [out.detach(), *torch.autograd.grad(out, leaves, dy.to(kind))]

    for ours, theirs, exact in zip(found, by_torch(q.dtype), by_torch(torch.float64), strict=True):
        assert error(ours, exact) <= 1.25 * error(theirs, exact) + 1e-5


CASES = [
    ((3, 4, 2, 330, 330, 128, 128), {"causal": True}),
    ((3, 4, 2, 330, 330, 64, 64), {"causal": True, "softcap": 20.0}),
    ((3, 4, 4, 200, 390, 128, 64), {"causal": True, "offset": 190}),
    ((3, 4, 1, 330, 330, 80, 80), {"window": (100, 30)}),
    ((2, 2, 2, 140, 300, 192, 128), {"causal": True, "offset": 160}),
]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(("extents", "options"), CASES, ids=str)
def test_every_company_gives_the_same_bits(torch: Any, extents: tuple[int, ...], options: dict[str, Any], dtype: str) -> None:
    """One batch element, one head, some queries and one query alone have the bits that they have among all."""
    q, k, v, dy = given(torch, extents, dtype)
    y, lse = attention(q, k, v, saved=True, dtype=dtype, **options)
    whole = gradients(dy, q, k, v, y, lse, dtype=dtype, **options)
    group, offset = extents[1] // extents[2], options.get("offset", 0)
    some = [x[1:2] for x in (q, k, v)]
    assert same(torch, attention(*some, dtype=dtype, **options), y[1:2])
    parts = gradients(dy[1:2], *some, y[1:2], lse[1:2], dtype=dtype, **options)
    assert all(same(torch, part, x[1:2]) for part, x in zip(parts, whole, strict=True))
    one = q[:, group : 2 * group], k[:, 1:2], v[:, 1:2]
    if extents[2] > 1:
        assert same(torch, attention(*one, dtype=dtype, **options), y[:, group : 2 * group])
    for first, last in ((0, 1), (7, 8), (63, 130), (100, 101), (extents[3] - 1, extents[3]), (64, 139)):
        moved = options | {"offset": offset + first}
        assert same(torch, attention(q[:, :, first:last], k, v, dtype=dtype, **moved), y[:, :, first:last]), (first, last)
    lengths = torch.tensor([extents[4]] * extents[0], device="cuda", dtype=torch.int32)
    longer = [torch.cat([x, torch.full_like(x[:, :, :77], float("nan"))], 2) for x in (k, v)]
    padded = attention(q, *longer, key_lengths=lengths, dtype=dtype, **options)
    assert same(torch, padded, y)
    laid_out = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    assert same(torch, attention(*laid_out, dtype=dtype, **options), y)


def test_keys_that_are_not_seen_change_nothing(torch: Any) -> None:
    q, k, v, dy = given(torch, (1, 2, 2, 256, 256, 128, 128), "bfloat16")
    y, lse = attention(q, k, v, causal=True, saved=True)
    dq, dk, dv = gradients(dy, q, k, v, y, lse, causal=True)
    for n in (1, 65, 100, 200):
        others = [torch.cat([x[:, :, :n], 30 * x[:, :, n:].flip(2)], 2) for x in (q, k, v, dy)]
        new, new_lse = attention(*others[:3], causal=True, saved=True)
        assert same(torch, new[:, :, :n], y[:, :, :n])
        found = gradients(others[3], *others[:3], new, new_lse, causal=True)
        assert same(torch, found[0][:, :, :n], dq[:, :, :n])
        # Queries that do not come change nothing of a key's gradients, either.
        without = gradients(dy[:, :, n:], q[:, :, n:], k, v, y[:, :, n:], lse[:, :, n:], causal=True, offset=n, wrt=("k", "v"))
        if n % 64 == 0:
            assert all(same(torch, x[:, :, n:], z[:, :, n:]) for x, z in zip(without, (dk, dv), strict=True))


def test_repeated_and_in_a_graph(torch: Any) -> None:
    q, k, v, dy = given(torch, (2, 4, 2, 500, 500, 128, 128), "bfloat16")

    def everything() -> list[Any]:
        y, lse = attention(q, k, v, causal=True, saved=True)
        return [y, lse, *gradients(dy, q, k, v, y, lse, causal=True)]

    want = everything()
    for _ in range(3):
        assert all(same(torch, x, y) for x, y in zip(everything(), want, strict=True))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = everything()
    for x in found:
        x.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    assert all(same(torch, x, y) for x, y in zip(found, want, strict=True))


def descriptor(element: Any = bc.ElementKind.BF16, **fields: Any) -> bc.AttentionDescriptor:
    return bc.AttentionDescriptor(2, 4, 4, 256, 256, 64, 64, element, **fields)


def test_what_is_chosen(torch: Any) -> None:
    stream = bc.Stream(bc.Device.cuda(0))

    def chosen(preference: bc.PlanPreference, element: Any = bc.ElementKind.BF16) -> tuple[bc.BackendKind, str]:
        plan = bc.AttentionPlan.select(stream, descriptor(element, causal=True), preference)
        return plan.sku().backend, str(plan.precision_guarantee())

    assert chosen(PINNED) == chosen(bc.PlanPreference(math=bc.MathPrecision.BF16)) == (OURS, "bf16+f32/dbs")
    assert chosen(bc.PlanPreference(math=bc.MathPrecision.F16), bc.ElementKind.F16) == (OURS, "f16+f32/dbs")
    assert chosen(bc.PlanPreference())[1].endswith("/dbsx")
    assert chosen(PINNED, bc.ElementKind.F32)[1] == "f32+f32/dbsx"


def test_refusals(torch: Any) -> None:
    stream = bc.Stream(bc.Device.cuda(0))
    with pytest.raises(bc.UnsupportedError, match="it computes in f32, and the preference asks for bf16"):
        bc.AttentionPlan.select(stream, descriptor(bc.ElementKind.F32), bc.PlanPreference(math=bc.MathPrecision.BF16))
    everywhere = bc.PlanPreference(math=bc.MathPrecision.BF16, require={"bit_stable_across_hardware"})
    with pytest.raises(bc.UnsupportedError, match=r"formula-cuda \(bf16\+f32/dbs\): it is not bit_stable_across_hardware"):
        bc.AttentionPlan.select(stream, descriptor(), everywhere)
    with pytest.raises(bc.UnsupportedError, match="formula-cuda: bf16 is of tensor cores, the stream is on cpu"):
        bc.AttentionPlan.select(None, descriptor(), bc.PlanPreference(math=bc.MathPrecision.BF16))
