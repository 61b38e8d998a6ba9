"""The functions around attention against PyTorch in float64: kinds of attention, partial results, packed sequences, caches, and
rotary embedding."""

from __future__ import annotations

import doctest
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.cases.trial import to_device, to_host
from tests.lowering.test_attention import same

Tensor = torch.Tensor
B, H, G, S, D = 2, 4, 2, 33, 16
TOLERANCE = {torch.float64: 1e-13, torch.float32: 4e-6, torch.float16: 8e-3, torch.bfloat16: 6e-2}


def close(actual: Tensor, expected: Tensor, tolerance: float) -> None:
    assert actual.shape == expected.shape
    error = (actual.cpu().double() - expected.detach().cpu()).abs().max() / max(1.0, float(expected.detach().abs().max()))
    assert error <= tolerance, float(error)


def tensors(device: str, dtype: torch.dtype = torch.float32) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    shapes = ((B, H, S, D), (B, G, S, D), (B, G, S, D), (B, H, S, D))
    return tuple(torch.randn(s, generator=generator).to(dtype).to(device) for s in shapes)


def exact(*operands: Tensor) -> list[Tensor]:
    return [t.detach().cpu().double().requires_grad_() for t in operands]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_attention_sink(dtype: torch.dtype, device: str) -> None:
    q, k, v, dy = tensors(device, dtype)
    sink = torch.linspace(-1, 2, H).to(dtype).to(device)
    y, lse = baracuda.attention_sink(q, k, v, sink, causal=True, saved=True)
    x = exact(q, k, v, sink)
    keys, values = (t.repeat_interleave(H // G, 1) for t in x[1:3])
    s = (x[0] @ keys.transpose(-1, -2) / D**0.5).masked_fill(torch.ones(S, S).tril() == 0, -torch.inf)
    s = torch.cat([s, x[3][None, :, None, None].expand(B, H, S, 1)], -1)
    expected = torch.softmax(s, -1)[..., :-1] @ values
    expected.backward(dy.cpu().double())
    close(y, expected, TOLERANCE[dtype])
    close(lse, torch.logsumexp(s, -1), 1e-5)
    for gradient, t in zip(baracuda.attention_sink_backward(dy, q, k, v, y, lse, sink, causal=True), x, strict=True):
        assert t.grad is not None
        close(gradient, t.grad, 4 * TOLERANCE[dtype])
    assert baracuda.attention_sink_backward(dy, q, k, v, y, lse, sink, causal=True, wrt=("sink",)).shape == (H,)


def test_merge_attention_states(device: str) -> None:
    q, k, v, dy = tensors(device)
    attended = [baracuda.scaled_dot_product_attention(q, k[:, :, s], v[:, :, s], saved=True) for s in (slice(10), slice(10, S))]
    (a, a_lse), (b, b_lse) = attended
    y, lse = baracuda.merge_attention_states(a, a_lse, b, b_lse)
    whole, whole_lse = baracuda.scaled_dot_product_attention(q, k, v, saved=True)
    close(y, whole.double(), 2e-6)
    close(lse, whole_lse.double(), 2e-6)
    x = exact(a, a_lse, b, b_lse)
    total = torch.logaddexp(x[1], x[3])
    expected = torch.exp(x[1] - total)[..., None] * x[0] + torch.exp(x[3] - total)[..., None] * x[2]
    dlse = torch.ones_like(lse)
    torch.autograd.backward([expected, total], [dy.cpu().double(), dlse.cpu().double()])
    gradients = baracuda.merge_attention_states_backward(dy, a, a_lse, b, b_lse, y, lse, dlse=dlse)
    for f, t in zip(gradients, x, strict=True):
        assert t.grad is not None
        close(f, t.grad, 4e-6)


def test_merging_nothing(device: str) -> None:
    """A part without keys changes no bit, and two such parts are one."""
    q, k, v, _ = tensors(device)
    y, lse = baracuda.scaled_dot_product_attention(q, k, v, saved=True)
    nothing = torch.zeros_like(y), torch.full_like(lse, -torch.inf)
    merged, merged_lse = baracuda.merge_attention_states(y, lse, *nothing)
    assert same(merged, y)
    assert same(merged_lse, lse)
    both, both_lse = baracuda.merge_attention_states(*nothing, *nothing)
    assert not both.any()
    assert bool((both_lse == -torch.inf).all())


def test_varlen_attention(device: str) -> None:
    """Packed sequences have the bits that each has alone."""
    q, k, v, dy = tensors(device)
    starts = torch.tensor([0, 10, 10, S])
    packed = [t[0].swapaxes(0, 1).contiguous() for t in (dy, q, k, v)]
    y, lse = baracuda.varlen_attention(*packed[1:], starts, saved=True, causal=True)
    gradients = baracuda.varlen_attention_backward(*packed, y, lse, starts, causal=True)
    for a, b in ((0, 10), (10, S)):
        alone = [t[:1, :, a:b] for t in (dy, q, k, v)]
        expected, log_sum = baracuda.scaled_dot_product_attention(*alone[1:], causal=True, saved=True)
        assert same(y[a:b].swapaxes(0, 1), expected[0])
        assert same(lse[:, a:b], log_sum[0])
        slopes = baracuda.scaled_dot_product_attention_backward(*alone, expected, log_sum, causal=True)
        assert all(same(g[a:b].swapaxes(0, 1), s[0]) for g, s in zip(gradients, slopes, strict=True))
    with pytest.raises(InvalidProblemError, match="starts"):
        baracuda.varlen_attention(*packed[1:], [0, 40])


def test_varlen_attention_of_queries_and_keys_of_their_own_lengths(device: str) -> None:
    """A sequence without queries gives its keys no gradient, one without keys its queries none: zeros, written."""
    starts, key_starts = [0, 3, 3, 7, 9], [0, 5, 9, 9, 11]
    q, k, v, dy = (torch.randn(n, H, D, device=device) for n in (9, 11, 11, 9))
    leaves = [t.detach().requires_grad_() for t in (q, k, v)]
    pieces = []
    for (a, b), (c, d) in zip(pairwise(starts), pairwise(key_starts), strict=True):
        one = [x[i:j].swapaxes(0, 1) for x, i, j in zip(leaves, (a, c, c), (b, d, d), strict=True)]
        scores = one[0] @ one[1].swapaxes(-1, -2) / D**0.5
        pieces.append((scores.softmax(-1) @ one[2]).swapaxes(0, 1))
    want = torch.cat(pieces)
    y, lse = baracuda.varlen_attention(q, k, v, starts, key_starts, saved=True)
    torch.testing.assert_close(y, want.detach(), rtol=1e-4, atol=1e-5)
    gradients = baracuda.varlen_attention_backward(dy, q, k, v, y, lse, starts, key_starts)
    for g, s in zip(gradients, torch.autograd.grad(want, leaves, dy), strict=True):
        torch.testing.assert_close(g, s, rtol=1e-4, atol=1e-5)
    for call, message in (
        (lambda: baracuda.varlen_attention(q, k, v, starts), "key_starts: None with 9 rows of q and 11 of k"),
        (lambda: baracuda.varlen_attention_backward(dy, q, k, v, y, lse, starts), "key_starts: None with 9 rows of q and 11"),
        (
            lambda: baracuda.varlen_attention(q, k, v[:9], starts, key_starts),
            r"v: shape is \(9, 4, 16\); expected \(11, 4, value_depth\)",
        ),
        (lambda: baracuda.varlen_attention_backward(dy[:8], q, k, v, y, lse, starts, key_starts), "dy: shape is"),
        (lambda: baracuda.varlen_attention_backward(dy, q, k, v, y, lse[:, :8], starts, key_starts), "lse: shape is"),
    ):
        with pytest.raises(InvalidProblemError, match=message):
            call()


def test_bad_sinks_and_extents(device: str) -> None:
    q, k, v, _ = tensors(device)
    sink = torch.zeros(H + 1, device=device)
    for call, message in (
        (lambda: baracuda.attention_sink(q, k, v, sink), r"sink: shape is \(5,\); expected \(4,\)"),
        (lambda: baracuda.attention_sink(q, k, v, sink[:1]), r"expected \(4,\)"),
        (lambda: baracuda.alibi_bias(sink, -1, 3), "queries: -1; expected a whole number at least 0"),
        (lambda: baracuda.alibi_bias(sink, 3, 2.0), "keys: 2.0; expected a whole number at least 0"),
    ):
        with pytest.raises(InvalidProblemError, match=message):
            call()


def test_names_are_options(device: str) -> None:
    q, k, v, dy = tensors(device)
    slopes = torch.rand(H, device=device)
    attend, backward = baracuda.scaled_dot_product_attention, baracuda.scaled_dot_product_attention_backward
    for name, value, option in (
        ("sliding_window_attention", 3, {"window": (3, 3)}),
        ("attention_softcap", 2.0, {"softcap": 2.0}),
        ("attention_alibi", slopes, {"slopes": slopes}),
    ):
        y, lse = getattr(baracuda, name)(q, k, v, value, saved=True, causal=True)
        expected, log_sum = attend(q, k, v, saved=True, causal=True, **option)
        assert same(y, expected)
        assert same(lse, log_sum)
        gradients = getattr(baracuda, f"{name}_backward")(dy, q, k, v, y, lse, value, causal=True)
        assert all(same(a, b) for a, b in zip(gradients, backward(dy, q, k, v, y, lse, causal=True, **option), strict=True))


def test_alibi_bias(device: str) -> None:
    q, k, v, _ = tensors(device)
    slopes = torch.rand(H, device=device)
    bias = baracuda.alibi_bias(slopes, S, S)
    distance = torch.arange(S)[None] - torch.arange(S)[:, None]
    assert same(bias, (slopes.cpu()[:, None, None] * distance).to(device))
    close(baracuda.scaled_dot_product_attention(q, k, v, bias=bias), baracuda.attention_alibi(q, k, v, slopes).double(), 2e-6)
    dy = torch.rand(H, S, S, device=device)
    close(baracuda.alibi_bias_backward(dy), (dy.cpu().double() * distance).sum((1, 2)), 1e-5)


def test_decoding_with_a_cache(device: str) -> None:
    """Steps appended to a cache and decoded one by one are the rows of causal attention, bit for bit."""
    q, k, v, _ = tensors(device)
    whole = baracuda.scaled_dot_product_attention(q, k, v, causal=True)
    caches = [torch.full((B, G, 40, D), torch.nan, device=device) for _ in range(2)]
    lengths = torch.zeros(B, dtype=torch.int32, device=device)
    for step in range(5):
        for cache, new in zip(caches, (k, v), strict=True):
            baracuda.kv_cache_append(cache, new[:, :, step : step + 1], step)
        lengths += 1
        decoded = baracuda.decode_attention(q[:, :, step], *caches, lengths)
        assert same(decoded, whole[:, :, step])
    baracuda.kv_cache_append(caches[0], k[:, :, :2], torch.tensor([7, 30]))
    assert same(caches[0][1, :, 30:32], k[1, :, :2])
    assert same(caches[0][0, :, 7:9], k[0, :, :2])
    for positions in (39, [0], [0, -1]):
        with pytest.raises(InvalidProblemError, match="positions"):
            baracuda.kv_cache_append(caches[0], k[:, :, :2], positions)


def test_multi_head_attention(device: str) -> None:
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(24, 4, batch_first=True).double()
    x, z = torch.randn(2, 7, 24).double().requires_grad_(), torch.randn(2, 9, 24).double().requires_grad_()
    expected, _ = module(x, z, z)
    dy = torch.randn_like(expected)
    expected.backward(dy)
    weights, biases = module.in_proj_weight.detach().chunk(3), module.in_proj_bias.detach().chunk(3)
    last = module.out_proj.weight, module.out_proj.bias
    operands = [t.detach().to(device) for t in (x, z, z, *weights, last[0], *biases, last[1])]
    dy = dy.to(device)
    y, saved = baracuda.multi_head_attention(*operands, heads=4, saved=True)
    close(y, expected, 1e-14)
    gradients = baracuda.multi_head_attention_backward(dy, *operands, saved=saved)
    for got, want in (
        (gradients["q"], x.grad),
        (gradients["k"] + gradients["v"], z.grad),
        (torch.cat([gradients[f"{n}_weight"] for n in "qkv"]), module.in_proj_weight.grad),
        (torch.cat([gradients[f"{n}_bias"] for n in "qkv"]), module.in_proj_bias.grad),
        (gradients["out_weight"], last[0].grad),
        (gradients["out_bias"], last[1].grad),
    ):
        assert want is not None
        close(got, want, 1e-13)
    assert list(baracuda.multi_head_attention_backward(dy, *operands, saved=saved, wrt=("k_bias",))) == ["k_bias"]


def test_multi_head_attention_with_inputs_of_different_widths_and_a_bias(device: str) -> None:
    """Every gradient, together and alone, against autograd through torch's own function."""
    generator = torch.Generator().manual_seed(0)
    shapes = {
        "q": (2, 7, 24), "k": (2, 9, 10), "v": (2, 9, 6), "q_weight": (24, 24), "k_weight": (24, 10), "v_weight": (24, 6),
        "out_weight": (24, 24), "q_bias": (24,), "k_bias": (24,), "v_bias": (24,), "out_bias": (24,),
    }  # fmt: skip
    leaves = {n: torch.randn(s, generator=generator, dtype=torch.float64).requires_grad_() for n, s in shapes.items()}
    bias = torch.randn(7, 9, generator=generator, dtype=torch.float64).requires_grad_()
    expected, _ = torch.nn.functional.multi_head_attention_forward(
        *(leaves[n].swapaxes(0, 1) for n in "qkv"), 24, 4, None, torch.cat([leaves[f"{n}_bias"] for n in "qkv"]), None, None,
        False, 0.0, leaves["out_weight"], leaves["out_bias"], need_weights=False, attn_mask=bias, use_separate_proj_weight=True,
        q_proj_weight=leaves["q_weight"], k_proj_weight=leaves["k_weight"], v_proj_weight=leaves["v_weight"],
    )  # fmt: skip
    expected = expected.swapaxes(0, 1)
    dy = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    names = [*leaves, "bias"]
    slopes = dict(zip(names, torch.autograd.grad(expected, [*leaves.values(), bias], dy), strict=True))
    operands, scores = [t.detach().to(device) for t in leaves.values()], bias.detach().to(device)
    y, saved = baracuda.multi_head_attention(*operands, heads=4, saved=True, bias=scores)
    close(y, expected, 1e-13)
    for wrt in (None, names, *([n] for n in names)):
        gradients = baracuda.multi_head_attention_backward(dy.to(device), *operands, saved=saved, wrt=wrt, bias=scores)
        assert list(gradients) == (list(leaves) if wrt is None else wrt)
        for name, gradient in gradients.items():  # that of k's bias is zero but for rounding: softmax does not see it
            close(gradient, slopes[name], 1e-13)
    with pytest.raises(InvalidProblemError, match="expected some of q, k, v"):
        baracuda.multi_head_attention_backward(dy.to(device), *operands, saved=saved, wrt=("bias",))


# --- rotary embedding -------------------------------------------------------------------------------------------------


def turned(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """The rotation, written with torch; the tables broadcast to the pairs of x."""
    pairs = cos.shape[-1]
    a, b = (x[..., : 2 * pairs : 2], x[..., 1 : 2 * pairs : 2]) if interleaved else (x[..., :pairs], x[..., pairs : 2 * pairs])
    u, v = a * cos - b * sin, b * cos + a * sin
    turned = torch.stack([u, v], -1).flatten(-2) if interleaved else torch.cat([u, v], -1)
    return torch.cat([turned, x[..., 2 * pairs :]], -1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("interleaved", [False, True])
def test_rope(dtype: torch.dtype, interleaved: bool, device: str) -> None:
    generator = torch.Generator().manual_seed(0)
    for shape, axis, rotary in (((2, 3, 10, 16), -2, 16), ((2, 10, 3, 16), -3, 12), ((10, 8), -2, 4)):
        x, dy = (torch.randn(shape, generator=generator).to(dtype).to(device) for _ in range(2))
        cos, sin = baracuda.rope_scaling_tables(10, rotary, like=x)
        wide = [t.cpu().double()[:, None] if axis == -3 else t.cpu().double() for t in (cos, sin)]
        exact_x = x.detach().cpu().double().requires_grad_()
        expected = turned(exact_x, wide[0], wide[1], interleaved)
        expected.backward(dy.cpu().double())
        y = baracuda.rope(x, cos, sin, interleaved=interleaved, axis=axis)
        tolerance = {torch.float64: 1e-15, torch.float32: 2e-7}.get(dtype, 8e-3)
        close(y, expected, tolerance)
        assert exact_x.grad is not None
        close(baracuda.rope_backward(dy, cos, sin, interleaved=interleaved, axis=axis), exact_x.grad, tolerance)
        again = x.clone()
        assert baracuda.rope(again, cos, sin, interleaved=interleaved, axis=axis, out=again) is again
        assert same(again, y)
        transposed = x.swapaxes(0, -1).contiguous().swapaxes(0, -1)
        assert same(baracuda.rope(transposed, cos, sin, interleaved=interleaved, axis=axis), y)


def test_rope_at_positions(device: str) -> None:
    """Tables looked up at positions of each batch element's own."""
    x = torch.randn(2, 3, 4, 8).to(device)
    cos, sin = baracuda.rope_scaling_tables(20, 8, like=x)
    positions = torch.tensor([[0, 1, 2, 3], [16, 17, 18, 19]])
    y = baracuda.rope(x, cos[positions][:, None], sin[positions][:, None])
    assert same(y[0], baracuda.rope(x[0], cos[:4], sin[:4]))
    assert same(y[1], baracuda.rope(x[1], cos[16:], sin[16:]))


def frequencies(scaling: str, depth: int, base: float, factor: float, length: int) -> np.ndarray:
    """What each paper says, pair by pair."""
    scaled = []
    for p in range(depth // 2):
        used = base * factor ** (depth / (depth - 2)) if scaling == "ntk" else base
        f = used ** (-2 * p / depth)
        turns = length * f / (2 * np.pi)
        if scaling == "linear":
            f /= factor
        elif scaling == "llama3" and turns < 4:
            share = 0.0 if turns < 1 else (turns - 1) / 3
            f = (1 - share) * f / factor + share * f
        elif scaling == "yarn":
            first = max(np.floor(depth * np.log(length / (32 * 2 * np.pi)) / (2 * np.log(base))), 0)
            last = min(np.ceil(depth * np.log(length / (2 * np.pi)) / (2 * np.log(base))), depth - 1)
            ramp = min(max((p - first) / (last - first), 0.0), 1.0)
            f = ramp * f / factor + (1 - ramp) * f
        scaled.append(f)
    return np.array(scaled)


@pytest.mark.parametrize("scaling", ["none", "linear", "ntk", "yarn", "llama3"])
def test_rope_scaling_tables(scaling: str, device: str) -> None:
    like = to_device(np.zeros(1), device)
    options = {"base": 5e5, "scaling": scaling, "factor": 4.0, "original_length": 2048, "start": 7, "like": like}
    cos, sin = map(to_host, baracuda.rope_scaling_tables(50, 64, **options))
    angles = np.arange(7, 57)[:, None] * frequencies(scaling, 64, 5e5, 4.0, 2048)[None]
    size = 0.1 * np.log(4.0) + 1 if scaling == "yarn" else 1.0
    assert cos.dtype == np.float32
    np.testing.assert_allclose(cos, np.cos(angles) * size, atol=1e-7)
    np.testing.assert_allclose(sin, np.sin(angles) * size, atol=1e-7)


def test_bad_rotary_input(device: str) -> None:
    x, integers, doubles = (to_device(np.zeros((2, 4, 8), kind), device) for kind in (np.float32, np.int32, np.float64))
    cos, sin = baracuda.rope_scaling_tables(4, 8, like=x)
    for arguments, options, words in (
        ((x, cos, sin[:3]), {}, r"sin: shape is \(3, 4\); expected \(4, 4\)"),
        ((x[..., :6], cos, sin), {}, "at most 3 angles"),
        ((x, cos, sin), {"axis": -1}, "axis"),
        ((x, cos, sin), {"out": doubles}, "out"),
    ):
        with pytest.raises(InvalidProblemError, match=words):
            baracuda.rope(*arguments, **options)
    with pytest.raises(UnsupportedError, match="x: element is s32; expected one of f16"):
        baracuda.rope(integers, cos, sin)
    for options in ({"depth": 7}, {"scaling": "other"}, {"factor": 0.0}, {"scaling": "yarn", "low": 9.0, "high": 2.0}):
        with pytest.raises(InvalidProblemError):
            baracuda.rope_scaling_tables(4, **{"depth": 8, "like": x, **options})


# --- documentation ----------------------------------------------------------------------------------------------------

NAMES = [
    "scaled_dot_product_attention",
    "flex_attention",
    "multi_head_attention",
    "varlen_attention",
    "sliding_window_attention",
    "attention_sink",
    "attention_softcap",
    "attention_alibi",
    "alibi_bias",
    "rope",
    "rope_scaling_tables",
    "decode_attention",
    "merge_attention_states",
    "kv_cache_append",
]


@pytest.mark.cpu_only
@pytest.mark.parametrize("name", NAMES)
def test_catalogue_and_examples(name: str) -> None:
    entry = next(e for e in baracuda.catalogue() if e.row.op == name)
    assert entry.function == name
    wanted = f"{name}_backward" if entry.row.backward == "yes" else ""
    assert entry.backward == wanted
    function: Any = getattr(baracuda, name)
    for example in doctest.DocTestFinder().find(function, name, globs={}):
        assert doctest.DocTestRunner().run(example).failed == 0
