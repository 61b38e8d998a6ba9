"""Programs of formulas have the bits of their launches one by one once these are fused, and as few launches as they can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda as b
from baracuda.core.elements import ElementKind
from baracuda.frontends.program import Program as KeptProgram
from tests.fusing.programs import Program
from tests.machine import Machine

F32, BF16, F16 = ElementKind.F32, ElementKind.BF16, ElementKind.F16
KINDS = (F32, BF16, F16, ElementKind.F64)


def drawn(*shape: int, kind: ElementKind = F32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(kind.numpy)


def gelu(x: Any) -> Any:
    return b.mul(b.mul(b.add(b.erf(b.mul(x, 0.7071)), 1.0), x), 0.5)


def softmax(x: Any, axis: int = -1) -> Any:
    e = b.exp(b.sub(x, b.max(x, axis=axis, keepdims=True)))
    return b.div(e, b.sum(e, axis=axis, keepdims=True))


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    d = b.sub(x, b.mean(x, axis=-1, keepdims=True))
    variance = b.mean(b.mul(d, d), axis=-1, keepdims=True)
    return b.add(b.mul(b.mul(d, b.rsqrt(b.add(variance, 1e-5))), weight), bias)


def rms_norm(x: Any, weight: Any) -> Any:
    wide = b.cast(x, dtype=F32)
    scale = b.rsqrt(b.add(b.mean(b.square(wide), axis=-1, keepdims=True), 1e-6))
    return b.mul(weight, b.cast(b.mul(wide, scale), dtype=BF16))


def residual_norm(x: Any, y: Any, weight: Any, bias: Any) -> Any:
    h = b.add(x, y)
    return h, b.layer_norm(h, weight, bias)


def residual_norm_in_place(x: Any, y: Any, weight: Any, bias: Any) -> Any:
    b.add(x, y, out=x)
    return b.layer_norm(x, weight, bias)


def adamw(p: Any, g: Any, m: Any, v: Any) -> Any:
    b.mul(m, 0.9, out=m)
    b.add(m, b.mul(g, 0.1), out=m)
    b.mul(v, 0.99, out=v)
    b.add(v, b.mul(b.mul(g, g), 0.01), out=v)
    step = b.div(m, b.add(b.div(b.sqrt(v), 0.3), 1e-8))
    b.mul(p, 0.999, out=p)
    b.sub(p, b.mul(step, 0.01), out=p)
    return p


def branches(x: Any, y: Any) -> Any:
    s = b.add(x, y)
    t, u = b.tanh(s), b.sigmoid(s)
    return b.mul(t, u), b.sub(t, u)


def dropout(x: Any, bias: Any, mask: Any) -> Any:
    return b.mul(b.mul(b.gelu(b.add(x, bias)), b.cast(mask, dtype=F32)), 1.25)


def logsumexp(x: Any) -> Any:
    m = b.max(x, axis=-1, keepdims=True)
    return b.add(b.log(b.sum(b.exp(b.sub(x, m)), axis=-1, keepdims=True)), m)


def softplus(x: Any) -> Any:
    return b.add(b.relu(x), b.log1p(b.exp(b.neg(b.abs(x)))))


def small_integers(x: Any) -> Any:
    return b.mul(b.maximum(b.mul(x, 3), 5), 7)  # the product wraps before it is compared


def in_threes(x: Any) -> Any:
    return b.add(b.mul(x, 2.0).reshape(-1, 3), 1.0)


CASES: dict[str, tuple[Callable[..., Any], list[np.ndarray], int]] = {
    "gelu": (gelu, [drawn(8, 64)], 1),
    "bf16 gelu": (gelu, [drawn(8, 64, kind=BF16)], 1),
    "softmax": (softmax, [drawn(3, 5, 64)], 1),
    "f16 softmax": (softmax, [drawn(7, 100, kind=F16)], 1),
    "summed by columns": (lambda x, y: (d := b.mul(x, y), b.sum(d, axis=0)), [drawn(40, 50), drawn(40, 50, seed=1)], 2),
    "summed by rows": (lambda x, y: (d := b.mul(x, y), b.sum(d, axis=1)), [drawn(40, 50), drawn(40, 50, seed=1)], 1),
    "columns": (lambda x: softmax(x, 0), [drawn(40, 9)], 1),
    "middle": (lambda x: softmax(x, 1), [drawn(3, 40, 9)], 1),
    "one row": (softmax, [drawn(1, 3000)], 1),
    "long rows": (softmax, [drawn(2, 20000)], 1),
    "layer norm": (layer_norm, [drawn(8, 64), drawn(64), drawn(64, seed=1)], 1),
    "f64 layer norm": (layer_norm, [drawn(8, 6, kind=ElementKind.F64), *(drawn(6, kind=ElementKind.F64),) * 2], 1),
    "rms norm": (rms_norm, [drawn(8, 64, kind=BF16), drawn(64, kind=BF16)], 1),
    "residual": (residual_norm, [drawn(8, 64), drawn(8, 64, seed=1), drawn(64), drawn(64)], 1),
    "residual in place": (residual_norm_in_place, [drawn(8, 640), drawn(8, 640, seed=1), drawn(640), drawn(640)], 1),
    "adamw": (adamw, [drawn(100), drawn(100, seed=1), drawn(100, seed=2), np.abs(drawn(100, seed=3))], 1),
    "branches": (branches, [drawn(8, 64), drawn(8, 64, seed=1)], 1),
    "dropout": (dropout, [drawn(8, 64), drawn(64), drawn(8, 64) > 0], 1),
    "logsumexp": (logsumexp, [drawn(8, 64)], 1),
    "softplus": (softplus, [drawn(8, 640)], 1),
    "s8": (small_integers, [np.arange(-128, 128).astype(np.int8)], 1),
    "u8": (small_integers, [np.arange(256).astype(np.uint8)], 1),
    "s16": (small_integers, [np.arange(-32768, 32768, 17).astype(np.int16)], 1),
    "reshaped": (in_threes, [drawn(4, 6)], 1),
    "transposed": (lambda x, y: b.mul(b.add(x, y).T, 2.0), [drawn(8, 64), drawn(8, 64, seed=1)], 1),
    "broadcast": (lambda x, r: b.add(x, b.mul(r, 3.0)), [drawn(8, 64), drawn(64)], 1),
    "costly broadcast": (lambda x, r: b.add(x, b.exp(r)), [drawn(8, 64), drawn(64)], 2),
    "sliced": (lambda x: b.add((s := b.mul(x, 2.0))[:, :8], s[:, 8:16]), [drawn(8, 64)], 2),
    "with its transpose": (lambda x: b.add((s := b.mul(x, 2.0)), s.T), [drawn(16, 16)], 2),
    "rows, then columns": (lambda x: softmax(softmax(x), 0), [drawn(16, 16)], 2),
    "row of rows": (lambda x: b.mul(softmax(softmax(x)), 2.0), [drawn(16, 48)], 1),
    "joined": (lambda x, y: b.concat((b.mul(x, 2.0), b.add(y, 1.0)), 0), [drawn(3, 4, kind=BF16), drawn(5, 4, kind=BF16)], 2),
    "shuffled": (lambda x: b.relu(b.channel_shuffle(b.mul(x, 2.0), 2)), [drawn(2, 6, 5, 5, kind=F16)], 1),
    "repeated": (lambda x: b.mul(b.tile(b.mul(x, 2.0), (2, 3)), 3.0), [drawn(20, 6)], 1),
    "triangle": (lambda x, y: b.add(b.tril(b.mul(x, 2.0)).reshape(20, 3, 10), y), [drawn(20, 30), drawn(3, 1)], 1),
    "bf16 triangle": (lambda x: softmax(b.tril(b.mul(x, 2.0))), [drawn(20, 30, kind=BF16)], 1),
    "rows, a triangle across": (lambda x: b.tril(softmax(x).T), [drawn(20, 30)], 1),
    "positions": (lambda x: b.argmax(b.mul(x, 2.0).reshape(4, 5, 30), axis=1), [drawn(20, 30)], 1),
    "a dropout": (
        lambda x, y, key: b.mul(b.dropout(b.mul(x, 2.0), key, 0.3).reshape(20, 3, 10), y),
        [drawn(20, 30), drawn(20, 1, 10), np.asarray(b.rng_key(7))],
        1,
    ),
    "rows read at an index": (
        lambda w, i, y: b.layer_norm(b.add(b.embedding(i, w, bounds="clamp"), y)),
        [drawn(20, 30), np.arange(20).reshape(4, 5) * 7 % 20, drawn(4, 5, 30)],
        1,
    ),
    "read at an index, permuted": (
        lambda w, i, y: b.add(b.embedding(i, w, bounds="clamp").reshape(4, 5, 3, 10).transpose(0, 2, 1, 3), y),
        [drawn(20, 30), np.arange(20).reshape(4, 5) * 7 % 20, drawn(4, 3, 5, 10)],
        1,
    ),
    "summed by blocks": (lambda x: b.mul(b.var(b.mul(x, 2.0), axis=-1), 2.0), [drawn(2, 20000)], 2),
    "by blocks, beside a sum": (lambda x: (b.var(x, axis=-1), b.sum(x, axis=-1)), [drawn(2, 20000)], 3),
    "by blocks, spread": (lambda x: b.sub(x, b.logsumexp(x, axis=-1, keepdims=True)), [drawn(2, 20000)], 3),
    "a mask": (lambda x, m: softmax(b.where(m, x, -1e30)), [drawn(20, 30), drawn(20, 30) > 0], 1),
    "planes": (lambda x: b.sub(x, b.mean(x, axis=(0, 2), keepdims=True)), [drawn(4, 8, 5)], 1),
    "a scan": (lambda x: b.mul(b.cumsum(b.mul(x, 2.0), axis=-1), 2.0), [drawn(20, 30)], 3),
    "complex": (lambda x: b.mul(b.mul(x, x), x), [(drawn(50) + 1j * drawn(50, seed=1)).astype(np.complex64)], 1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_program_keeps_its_bits(name: str, machine: Machine) -> None:
    function, arguments, launches = CASES[name]
    Program(function, arguments, machine.stream.device).check(launches)


def test_a_copy_of_what_attention_gives_is_written_at_once(machine: Machine) -> None:
    def attention(q: Any, k: Any, v: Any, out: Any) -> Any:
        return b.positive(b.scaled_dot_product_attention(q, k, v).transpose(0, 2, 1, 3), out=out)

    q, k, v = (drawn(2, 3, 9, 16, seed=i) for i in range(3))
    Program(attention, [q, k, v, drawn(2, 9, 3, 16)], machine.stream.device).check(1)


def test_an_overwritten_tensor_keeps_what_others_read_of_it(machine: Machine) -> None:
    def function(x: Any) -> Any:
        y = b.mul(x, 2.0)
        seen = b.matmul(y, y)
        b.add(y, 1.0, out=y)
        return b.add(y, seen)

    Program(function, [drawn(16, 16)], machine.stream.device).check()


def test_views_of_one_memory_are_told_apart(machine: Machine) -> None:
    def function(x: Any) -> Any:
        b.add(x[:8], x[8:], out=x[:8])
        b.mul(x[4:12], 2.0, out=x[4:12])
        return b.add(x[:8], x[8:])

    Program(function, [drawn(16, 4)], machine.stream.device).check()


def test_a_refusal_says_why(machine: Machine) -> None:
    fusion = Program(CASES["costly broadcast"][0], CASES["costly broadcast"][1], machine.stream.device).fusion
    assert [(a, c, str(r)) for a, c, r in fusion.refusals] == [
        (0, 1, "what is broadcast would be computed again for each element")
    ]
    assert "0 exp: 1 read, 1 written, over 64" in str(fusion)


def test_a_kept_program_is_fused() -> None:
    x, w = drawn(8, 64), drawn(64)
    program = KeptProgram(layer_norm, fuse=True)
    for _ in range(3):
        assert np.array_equal(program(x, w, w), layer_norm(x, w, w))
    assert program.kept == 1
    assert program.fusion is not None
    assert len(program.fusion.steps) == 1


PRODUCTS: dict[str, tuple[Callable[..., Any], list[np.ndarray], int]] = {
    "bias, gelu": (lambda x, w, v: b.gelu(b.add(b.matmul(x, w), v)), [drawn(40, 70), drawn(70, 50), drawn(50)], 1),
    "bf16": (lambda x, w, v: gelu(b.add(b.matmul(x, w), v)), [drawn(*s, kind=BF16) for s in ((40, 70), (70, 50), (50,))], 1),
    "f16, then a residual": (
        lambda x, w, r: b.add(r, b.mul(b.matmul(x, w), 0.5)),
        [drawn(5, 30, kind=F16), drawn(30, 33, kind=F16), drawn(5, 33, kind=F16)],
        1,
    ),
    "batches": (lambda x, w: b.relu(b.matmul(x, w)), [drawn(3, 20, 30), drawn(3, 30, 10)], 1),
    "batches of rows": (lambda x, w, v: b.add(b.matmul(x, w), v), [drawn(3, 20, 30), drawn(30, 10), drawn(3, 1, 10)], 2),
    "its transpose": (lambda x, w: b.mul(b.matmul(x, w).T, 2.0), [drawn(20, 30), drawn(30, 10)], 1),
    "gated": (
        lambda x, w, v: b.mul(b.silu(b.matmul(x, w)), b.matmul(x, v)),
        [drawn(20, 30), *(drawn(30, 10, seed=i) for i in (1, 2))],
        2,
    ),
    "with a norm": (lambda x, w: softmax(b.mul(b.matmul(x, w), 0.1)), [drawn(20, 30), drawn(30, 10)], 2),
    "in place": (lambda x, w, y: b.add(y, b.matmul(x, w), out=y), [drawn(20, 30), drawn(30, 10), drawn(20, 10)], 1),
    "over a factor": (lambda x, w: b.add(x, b.matmul(x, w), out=x), [drawn(30, 30), drawn(30, 30)], 2),
    "integers": (lambda x, w: b.mul(b.matmul(x, w), 3), [np.ones((4, 9), np.int32), np.ones((9, 5), np.int32)], 1),
    "convolution": (lambda x, w, v: b.relu(b.add(b.conv2d(x, w), v)), [drawn(2, 3, 9, 9), drawn(4, 3, 3, 3), drawn(4, 1, 1)], 1),
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
def test_what_follows_a_product_is_done_to_its_sums(name: str, machine: Machine) -> None:
    function, arguments, launches = PRODUCTS[name]
    Program(function, arguments, machine.stream.device).check(launches)


def test_a_large_integer_product_leaves_much_to_a_pass_of_its_own(machine: Machine) -> None:
    x, w, r = (drawn(*shape, kind=BF16) for shape in ((1024, 16), (16, 600), (1024, 600)))
    Program(lambda x, w, r: b.relu(b.add(r, b.matmul(x, w))), [x, w, r], machine.stream.device).check(2)
    Program(lambda x, w: b.relu(b.matmul(x, w)), [x.astype(np.float32), w.astype(np.float32)], machine.stream.device).check(1)


def test_what_nobody_reads_is_not_computed(machine: Machine) -> None:
    Program(lambda x: (b.exp(b.exp(x)), b.mul(x, 2.0))[1], [drawn(16, 16)], machine.stream.device).check(1)


def test_memory_that_is_used_again_is_told_apart() -> None:
    def function(x: Any, w: Any) -> Any:
        for _ in range(6):  # each turn's memory is free in the next
            x = b.tanh(b.add(b.matmul(b.mul(x, 0.5), w), 1.0))
        return x

    x, w = drawn(16, 16), drawn(16, 16, seed=1)
    program = KeptProgram(function, fuse=True)
    for _ in range(3):
        assert np.array_equal(program(x, w), function(x, w))
    assert program.why is None


def test_nothing_is_written_where_an_index_is_out_of_range() -> None:
    held = drawn(4, 8, seed=1)

    def function(table: Any, index: Any) -> None:
        rows = b.mul(b.embedding(index, b.mul(table, 2.0)), 0.5)
        b.add(held, rows, out=held)

    program = KeptProgram(function, held=[held], writes=True, fuse=True)
    table, index = drawn(10, 8), np.array([1, 2, 3, 4])
    program(table, index)
    assert program.why is None
    before = held.copy()
    program(table, index)
    assert np.array_equal(held, before + table[index])
    before = held.copy()
    with pytest.raises(b.Error, match="index"):
        program(table, index * 100)
    assert np.array_equal(held, before)
