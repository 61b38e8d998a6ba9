"""Functions that move elements: every element, layouts, gradients, against NumPy, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from tests.cases.trial import to_device, to_host
from tests.ops.movements import ELEMENTS, check, check_gradient, drawn, same
from tests.ops.movements import Movement as M

DROP = ...

MOVEMENTS = [
    M("reshape", [(2, 3, 4)], lambda x: x.reshape(4, 6), {"shape": (4, -1)}, {"shape": DROP}),
    M("reshape", [(2, 3, 4)], lambda x: x.reshape((4, 6), order="F"), {"shape": (4, 6), "order": "F"}, {"shape": DROP}),
    M("reshape", [(6,)], lambda x: x.reshape(3, 2), {"shape": (3, 2), "copy": True}, {"shape": DROP, "copy": DROP}),
    M("reshape", [(0, 3)], lambda x: x.reshape(3, 0, 2), {"shape": (3, 0, 2)}, {"shape": DROP}),
    M("ravel", [(2, 3)], np.ravel),
    M("ravel", [(2, 3)], lambda x: x.ravel(order="F"), {"order": "F"}),
    M("flatten", [(2, 3, 4, 5)], lambda x: x.reshape(2, 12, 5), {"start_axis": 1, "end_axis": 2},
      {"start_axis": DROP, "end_axis": DROP}),
    M("flatten", [()], lambda x: x.reshape(1)),
    M("unflatten", [(2, 12)], lambda x: x.reshape(2, 3, 4), {"axis": 1, "sizes": (3, -1)}, {"axis": DROP, "sizes": DROP}),
    M("squeeze", [(1, 3, 1)], np.squeeze),
    M("squeeze", [(1, 3, 1)], lambda x: x.squeeze(-1), {"axis": -1}, {"axis": DROP}),
    M("unsqueeze", [(2, 3)], lambda x: x[None, :, :, None], {"axis": (0, -1)}, {"axis": DROP}),
    M("atleast_1d", [()], np.atleast_1d),
    M("atleast_2d", [(3,)], np.atleast_2d),
    M("atleast_3d", [(3,)], np.atleast_3d),
    M("atleast_3d", [(3, 2)], np.atleast_3d),
    M("resize", [(3,)], lambda x: np.resize(x, (2, 5)), {"shape": (2, 5)}, None),
    M("resize", [(4, 3)], lambda x: np.resize(x, (2, 2)), {"shape": (2, 2)}, None),
    M("permute", [(2, 3, 4)], lambda x: x.transpose(2, 0, 1), {"axes": (2, 0, -2)}, like=False),
    M("permute", [(2, 3, 4)], np.transpose, like=False),
    M("transpose", [(2, 3, 4)], lambda x: x.swapaxes(0, -1), {"axis0": 0, "axis1": -1}, like=False),
    M("t", [(2, 3)], np.transpose, like=False),
    M("matrix_transpose", [(5, 2, 3)], lambda x: x.swapaxes(-1, -2), like=False),
    M("adjoint", [(5, 2, 3)], lambda x: x.swapaxes(-1, -2), like=False),
    M("movedim", [(2, 3, 4, 5)], lambda x: np.moveaxis(x, (0, 2), (-1, 0)),
      {"source": (0, 2), "destination": (-1, 0)}, like=False),
    M("rollaxis", [(2, 3, 4, 5)], lambda x: np.rollaxis(x, 3, 1), {"axis": 3, "start": 1}, like=False),
    M("rollaxis", [(2, 3, 4, 5)], lambda x: np.rollaxis(x, 0, 4), {"axis": 0, "start": 4}, like=False),
    M("concat", [(2, 3), (2, 5), (2, 0)], lambda *a: np.concatenate(a, 1), {"axis": 1}, listed=True),
    M("concat", [(2, 3), (4,)], lambda *a: np.concatenate(a, None), {"axis": None}, listed=True),
    M("concat", [(3, 2, 70), (1, 2, 70)], lambda *a: np.concatenate(a), listed=True),
    M("append", [(2, 3), (1, 3)], lambda a, b: np.append(a, b, 0), {"axis": 0}),
    M("append", [(2, 3), (4,)], np.append),
    M("stack", [(2, 3)] * 3, lambda *a: np.stack(a, -1), {"axis": -1}, listed=True),
    M("stack", [()] * 3, lambda *a: np.stack(a), listed=True),
    M("hstack", [(3,), (2,)], lambda *a: np.hstack(a), listed=True),
    M("hstack", [(2, 3), (2, 2)], lambda *a: np.hstack(a), listed=True),
    M("vstack", [(3,), (3,)], lambda *a: np.vstack(a), listed=True),
    M("dstack", [(3,), (3,)], lambda *a: np.dstack(a), listed=True),
    M("column_stack", [(3,), (3, 2)], lambda *a: np.column_stack(a), listed=True),
    M("block_diag", [(2, 3), (3,), ()], lambda a, b, c: np.block([
        [a, np.zeros((2, 4), a.dtype)], [np.zeros((1, 3), a.dtype), b[None], np.zeros((1, 1), a.dtype)],
        [np.zeros((1, 6), a.dtype), c.reshape(1, 1)]])),
    M("split", [(7, 3)], lambda x: np.split(x, [3, 6]), {"split_size": 3}, {"split_size": DROP}),
    M("split", [(3, 7)], lambda x: np.split(x, [2, 2], 1), {"split_size": (2, 0, 5), "axis": 1}, {"split_size": DROP}),
    M("tensor_split", [(7, 3)], lambda x: np.array_split(x, 3), {"sections": 3}, {"sections": DROP}),
    M("tensor_split", [(7, 3)], lambda x: np.split(x, [1, -2]), {"sections": (1, -2)}, {"sections": DROP}),
    M("chunk", [(7, 3)], lambda x: np.split(x, [2, 4, 6]), {"chunks": 4}, {"chunks": DROP}),
    M("hsplit", [(2, 4)], lambda x: np.hsplit(x, 2), {"sections": 2}, {"sections": DROP}),
    M("vsplit", [(4, 2)], lambda x: np.vsplit(x, 2), {"sections": 2}, {"sections": DROP}),
    M("dsplit", [(2, 3, 4)], lambda x: np.dsplit(x, (1,)), {"sections": (1,)}, {"sections": DROP}),
    M("unbind", [(2, 3, 4)], lambda x: tuple(np.moveaxis(x, 1, 0)), {"axis": 1}),
    M("tile", [(2, 3)], lambda x: np.tile(x, (2, 1, 3)), {"reps": (2, 1, 3)}),
    M("tile", [(2, 1, 3)], lambda x: np.tile(x, 4), {"reps": 4}),
    M("tile", [(2, 3, 2, 3, 2)], lambda x: np.tile(x, (2,) * 5), {"reps": (2,) * 5}),
    M("repeat_interleave", [(2, 3)], lambda x: np.repeat(x, 3, 1), {"repeats": 3, "axis": 1}),
    M("repeat_interleave", [(2, 3)], lambda x: np.repeat(x, 2), {"repeats": 2}),
    M("flip", [(2, 3, 4)], np.flip, like=False),
    M("flip", [(2, 3, 4)], lambda x: np.flip(x, (0, 2)), {"axis": (0, -1)}, like=False),
    M("flipud", [(2, 3)], np.flipud, like=False),
    M("fliplr", [(2, 3)], np.fliplr, like=False),
    *[M("rot90", [(2, 3, 4)], lambda x, k=k: np.rot90(x, k, (1, 2)), {"k": k, "axes": (1, 2)}, like=False)
      for k in (-1, 0, 2, 1)],
    M("roll", [(5,)], lambda x: np.roll(x, 2), {"shift": 2}, like=False),
    M("roll", [(3, 5)], lambda x: np.roll(x, -4), {"shift": -4}, like=False),
    M("roll", [(3, 5, 2)], lambda x: np.roll(x, (1, -7), (0, 1)), {"shift": (1, -7), "axis": (0, 1)}, like=False),
    M("tril", [(4, 5)], np.tril, like=False),
    M("tril", [(3, 4, 5)], lambda x: np.tril(x, -1), {"k": -1}, like=False),
    M("triu", [(3, 5, 4)], lambda x: np.triu(x, 1), {"k": 1}, like=False),
    M("broadcast_to", [(3, 1)], lambda x: np.broadcast_to(x, (2, 3, 4)), {"shape": (2, -1, 4)}, {"shape": DROP}),
    M("broadcast_arrays", [(3, 1), (4,), ()], lambda *a: np.broadcast_arrays(*a)),
    M("contiguous_copy", [(3, 4, 5)], np.copy, like=False),
    M("diagonal", [(3, 4, 5)], lambda x: np.diagonal(x, 1, 2, 0), {"offset": 1, "axis1": 2, "axis2": 0}),
    M("diagonal", [(3, 4)], lambda x: np.diagonal(x, -5), {"offset": -5}),
    M("diag", [(4,)], lambda x: np.diag(x, -2), {"k": -2}),
    M("diag", [(3, 5)], lambda x: np.diag(x, 1), {"k": 1}),
    M("diagflat", [(2, 2)], lambda x: np.diagflat(x, 1), {"k": 1}),
    M("diag_embed", [(2, 3)], lambda x: np.stack([np.diag(r, 1) for r in x]), {"offset": 1}, like=False),
    M("diag_embed", [(2, 3)], lambda x: np.stack([np.diag(r) for r in x], 1), {"axis1": 2, "axis2": 0}, like=False),
    M("slice", [(10,)], lambda x: x[1:-2:3], {"starts": 1, "stops": -2, "steps": 3}),
    M("slice", [(4, 5, 6)], lambda x: x[:, 4:0:-2, 1:], {"starts": (4, 1), "stops": (0, None), "axes": (1, 2), "steps": (-2, 1)}),
    M("slice", [(4,)], lambda x: x[3:1], {"starts": 3, "stops": 1}),
    M("select", [(2, 3, 4)], lambda x: x[:, -1], {"axis": 1, "index": -1}),
    M("unfold_dim", [(2, 7)], lambda x: x[:, np.arange(3) + 2 * np.arange(3)[:, None]], {"axis": 1, "size": 3, "step": 2}),
    M("unfold_dim", [(7, 2)], lambda x: np.moveaxis(x[np.arange(2) + 3 * np.arange(2)[:, None]], 1, -1),
      {"axis": 0, "size": 2, "step": 3}),
    *[M("pad", [(3, 4)], lambda x, m=m: np.pad(x, ((1, 2), (3, 0)), m), {"pad_width": ((1, 2), (3, 0)), "mode": m})
      for m in ("constant", "edge", "reflect", "symmetric", "wrap")],
    *[M("pad", [(2, 3)], lambda x, m=m: np.pad(x, ((5, 4), (0, 7)), m), {"pad_width": ((5, 4), (0, 7)), "mode": m})
      for m in ("reflect", "symmetric", "wrap")],
    M("pad", [(3, 4, 5)], lambda x: np.pad(x, ((0, 0), (3, 1), (0, 2)))[:, :, 1:], {"pad": (-1, 2, 3, 1)}),
    M("center_crop_pad", [(3, 6, 2)], lambda x: np.pad(x[:, 1:4], ((1, 1), (0, 0), (0, 0))), {"shape": (5, 3), "axes": (0, 1)}),
]  # fmt: skip

#: Rows of lengths 2, 0, 3, one after another.
OFFSETS = np.array([0, 2, 2, 5])
WITH_OPTIONS = [
    M("delete", [(5, 3)], lambda x: np.delete(x, [0, -2], 0), {"index": [0, -2], "axis": 0}),
    M("delete", [(2, 3)], lambda x: np.delete(x, 4), {"index": 4}),
    M("delete", [(7, 2)], lambda x: np.delete(x, slice(1, 6, 2), 0), {"index": None, "span": slice(1, 6, 2), "axis": 0}),
    M("insert", [(3, 4), (4,)], lambda x, v: np.insert(x, 1, v, 0), {"index": 1, "axis": 0}, named=("values",)),
    M("insert", [(3, 4), (3, 2)], lambda x, v: np.insert(x, [0, 4], v, 1), {"index": [0, 4], "axis": 1}, named=("values",)),
    M("insert", [(3, 4), (2, 3)], lambda x, v: np.insert(x, 2, v, 1), {"index": 2, "axis": 1}, named=("values",)),
    M("insert", [(5,), (3,)], lambda x, v: np.insert(x, [4, 1, 1], v), {"index": [4, 1, 1]}, named=("values",)),
    M("insert", [(5,), (3,)], lambda x, v: np.insert(x, [1], v), {"index": [1]}, named=("values",)),
    M("rearrange", [(2, 6, 3)], lambda x: x.reshape(2, 3, 2, 3).transpose(0, 3, 2, 1).reshape(2, 6, 3),
      {"pattern": "b (h p) w -> b (w p) h", "p": 2}),
    M("rearrange", [(2, 3, 4)], lambda x: x.transpose(2, 0, 1).reshape(1, 4, 6), {"pattern": "... c -> 1 c (...)"}),
    M("rearrange", [(2, 3), (2, 3)], lambda a, b: np.stack([a, b]).transpose(1, 0, 2).reshape(2, 6),
      {"pattern": "n h w -> h (n w)"}, None, listed=True),
]  # fmt: skip


def _tried(movement: M, kind: ElementKind) -> bool:
    return movement.name != "adjoint" or kind.label[:7] != "complex"


@pytest.mark.parametrize(("number", "movement"), list(enumerate([*MOVEMENTS, *WITH_OPTIONS])), ids=str)
def test_bits_of_every_element(number: int, movement: M, device: str, full: bool) -> None:
    """Of every element with --full; without, each movement of every fourth, in turn."""
    kinds = [(i, k) for i, k in enumerate(k for k in ELEMENTS if _tried(movement, k))]
    for i, kind in kinds if full else kinds[number % 4 :: 4]:
        layout = ("contiguous", "strided", "turned", "reversed")[(i + i // 4) % 4]
        check(movement, kind, layout if device == "cpu" else "contiguous", device)


@pytest.mark.parametrize("movement", [m for m in (*MOVEMENTS, *WITH_OPTIONS) if m.backward is not None], ids=str)
def test_gradients_are_the_transposed_movement(movement: M, device: str) -> None:
    check_gradient(movement, device)


def test_repeats_in_a_tensor(device: str) -> None:
    x, repeats = drawn((4, 3), ElementKind.F64, 0), np.array([2, 0, 3, 1])
    want = np.repeat(x, repeats, 0)
    for words in ({}, {"output_size": 6}):
        same(baracuda.repeat_interleave(to_device(x, device), to_device(repeats, device), 0, **words), want)
    same(baracuda.repeat_interleave(to_device(x, device), to_device(np.array([2]), device)), np.repeat(x, 2))
    dy = np.arange(18.0).reshape(6, 3)
    dx = baracuda.repeat_interleave_backward(*(to_device(v, device) for v in (dy, x, repeats)), axis=0)
    same(dx, np.stack([dy[:2].sum(0), 0 * dy[0], dy[2:5].sum(0), dy[5]]))


@pytest.mark.parametrize("kind", ELEMENTS, ids=str)
def test_rows_of_different_lengths(kind: ElementKind, device: str) -> None:
    x, offsets = drawn((5, 2), kind, 1), to_device(OFFSETS, device)
    want = np.zeros((3, 3, 2), x.dtype)
    want[0, :2], want[2] = x[:2], x[2:]
    tensor = to_device(x, device)
    padded = baracuda.nested_to_padded(tensor, offsets)
    same(padded, want)
    same(baracuda.nested_to_padded(tensor, offsets, max_length=2), want[:, :2])
    same(baracuda.padded_to_nested(padded, offsets), x)
    same(baracuda.padded_to_nested(padded, offsets, total=5), x)
    same(baracuda.nested_to_padded_backward(padded, tensor, offsets), x)
    same(baracuda.padded_to_nested_backward(tensor, padded, offsets), want)


@pytest.mark.parametrize("kind", ELEMENTS, ids=str)
def test_sequences_in_reverse(kind: ElementKind, device: str) -> None:
    x, lengths = drawn((3, 4, 2), kind, 1), np.array([2, 9, 0])
    want = x.copy()
    want[0, :2], want[1] = x[0, 1::-1], x[1, ::-1]
    for function in (baracuda.reverse_sequence, baracuda.reverse_sequence_backward):
        same(function(to_device(x, device), to_device(lengths, device), batch_axis=0, time_axis=1), want)


@pytest.mark.parametrize("kind", [k for k in ELEMENTS if k is ElementKind.BOOL or k.is_integer], ids=str)
def test_bits_packed_and_apart(kind: ElementKind, device: str) -> None:
    x = drawn((3, 13), kind, 2) & np.asarray(5, kind.numpy) if kind is not ElementKind.BOOL else drawn((3, 13), kind, 2)
    for order in ("big", "little"):
        for axis in (None, 0, 1):
            y = baracuda.packbits(to_device(x, device), axis, bitorder=order)
            same(y, np.packbits(x, axis, bitorder=order))
            for count in (None, 5, 30, -3):
                want = np.unpackbits(np.packbits(x, axis, bitorder=order), axis, count, order)
                same(baracuda.unpackbits(y, axis, count=count, bitorder=order), want)


@pytest.mark.parametrize("mode", ["linear_ramp", "maximum", "mean", "median", "minimum"])
@pytest.mark.parametrize("dtype", [np.int16, np.float64, np.float32])
def test_pads_that_are_computed(mode: Any, dtype: Any, device: str) -> None:
    x = np.random.default_rng(3).integers(-50, 50, (3, 5)).astype(dtype)
    for width, words in (((1, 2), {}), (((0, 3), (4, 1)), {"stat_length": 2})):
        words = {} if mode == "linear_ramp" else words
        want = np.pad(x, width, mode, **words)
        got = to_host(baracuda.pad(to_device(x, device), width, mode, **words))
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=0 if dtype is np.int16 else 1e-6, atol=0 if dtype is np.int16 else 1e-5)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_odd_reflections(mode: Any, device: str) -> None:
    x = np.arange(12.0).reshape(3, 4) ** 2
    same(baracuda.pad(to_device(x, device), 2, mode, reflect_type="odd"), np.pad(x, 2, mode, reflect_type="odd"))


def test_zeros_cut_off(device: str) -> None:
    x = np.zeros((5, 6))
    x[1:3, 2:5] = [[0, 1, 0], [2, 0, 0]]
    same(baracuda.trim_zeros(to_device(x, device)), x[1:3, 2:4])
    same(baracuda.trim_zeros(to_device(x, device), "f"), x[1:, 2:])
    same(baracuda.trim_zeros(to_device(x, device), axis=1), x[:, 2:4])
    same(baracuda.trim_zeros(to_device(np.zeros(3), device)), np.zeros(0))
    dy = np.ones((2, 2))
    want = np.zeros_like(x)
    want[1:3, 2:4] = 1
    same(baracuda.trim_zeros_backward(to_device(dy, device), to_device(x, device)), want)


def test_blocks_of_nested_lists(device: str) -> None:
    a, b, c = (np.arange(n, dtype=np.float32).reshape(s) for n, s in ((4, (2, 2)), (2, (2, 1)), (3, (3,))))
    nested = [[a, b], [c]]
    on_device = [[to_device(a, device), to_device(b, device)], [to_device(c, device)]]
    y = baracuda.block(on_device)
    same(y, np.block(nested))
    for got, want in zip(baracuda.block_backward(y, on_device), (a, b, c), strict=True):
        same(got, want)


@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals_filled(wrap: bool, device: str) -> None:
    for shape in ((7, 3), (3, 5), (4, 4)):
        for value in (7.0, np.array([1.0, 2.0]), np.array(3.0)):
            x = np.ones(shape)
            np.fill_diagonal(x, value, wrap)
            ones = to_device(np.ones(shape), device)
            same(baracuda.fill_diagonal(ones, to_device(value, device), wrap), x)
            np.fill_diagonal(x, 0.0, wrap)
            same(baracuda.fill_diagonal_backward(ones, wrap), x)
    cube = np.ones((3, 3, 3))
    np.fill_diagonal(cube, 2.0)
    inside = to_device(np.ones((3, 3, 3)), device)
    assert baracuda.fill_diagonal(inside, 2.0, out=inside) is inside
    same(inside, cube)


def test_strides_of_ones_own(device: str) -> None:
    x = np.arange(12.0).reshape(3, 4)
    got = baracuda.as_strided(to_device(x, device), (3, 3), (3, 2), 1)
    want = np.lib.stride_tricks.as_strided(x.reshape(-1)[1:], (3, 3), (24, 16))
    same(got, want)
    same(baracuda.as_strided_scatter(to_device(x, device), to_device(np.zeros((2, 2)), device), (2, 2), (4, 1), 1),
         np.where((np.arange(12).reshape(3, 4) // 4 < 2) & np.isin(np.arange(4), (1, 2)), 0.0, x))  # fmt: skip
    turned = to_device(np.ascontiguousarray(x.T), device).T
    count = baracuda.as_strided_backward(to_device(np.ones((3, 3)), device), turned, (3, 3), (3, 2), 1)
    memory = np.zeros(12)
    np.add.at(memory, 1 + np.arange(3)[:, None] * 3 + np.arange(3) * 2, 1)
    same(count, memory.reshape(4, 3).T)
    dx, dsource = baracuda.as_strided_scatter_backward(to_device(x, device), (2,), (5,), 2)
    same(dsource, x.reshape(-1)[2:8:5])
    same(dx, np.where(np.isin(np.arange(12).reshape(3, 4), (2, 7)), 0, x))


def test_views_share_memory_and_copies_do_not() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    for got in (baracuda.permute(x), baracuda.flip(x), baracuda.reshape(x, (6, 4)), *baracuda.split(x, 1), baracuda.slice(x, 1)):
        assert np.shares_memory(got, x)
        assert got.flags.writeable
    assert not baracuda.broadcast_to(x, (2, 2, 3, 4)).flags.writeable
    t = torch.from_numpy(x)
    view = baracuda.permute(t, (1, 0, 2))
    view[0, 0, 0] = 5.0
    assert x[0, 0, 0] == 5.0
    assert baracuda.flip(t).data_ptr() != t.data_ptr()  # PyTorch has no negative strides
    assert torch.equal(baracuda.flip(t), t.flip(0, 1, 2))
    assert not np.shares_memory(baracuda.reshape(x, (24,), copy=True), x)
    with pytest.raises(InvalidProblemError, match="no view of shape"):
        baracuda.reshape(x.transpose(), (24,), copy=False)


def test_gradients_of_views_of_pytorch_flow() -> None:
    x = torch.arange(6.0, requires_grad=True)
    baracuda.reshape(x, (2, 3))[1].sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("pattern", "words", "message"),
    [
        ("a b", {}, "'a b'; expected two sides"),
        ("a b -> b c", {}, "has a, c on one side only"),
        ("(a b -> a b", {}, "bracket that is not closed"),
        ("a a -> a", {}, "names a twice"),
        ("a (b c) -> a b c", {"b": 5}, r"x: shape is \(2, 6\); expected a multiple of 5 along axis 1, which is \(b c\)"),
        ("a (b c) -> a b c", {}, "b, c: both unknown"),
        ("a b c -> a b c", {}, "expected 3 axes"),
        ("a b -> b a", {"d": 2}, "d: no axis of"),
    ],
)
def test_patterns_that_are_none_are_quoted(pattern: str, words: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidProblemError, match=message):
        baracuda.rearrange(np.zeros((2, 6)), pattern, **words)


def test_what_a_tensor_is(device: str) -> None:
    x = to_device(np.ones((2, 3, 4)), device)
    assert baracuda.shape(x) == (2, 3, 4)
    assert baracuda.shape(x, -2) == (3, 4)
    assert (baracuda.numel(x), baracuda.numel(x, (0, 2))) == (24, 8)
    assert baracuda.item(to_device(np.array([2.5]), device)) == 2.5


def test_results_are_written_where_they_are_wanted(device: str) -> None:
    x = to_device(np.arange(6.0), device)
    y = to_device(np.zeros((2, 6)), device)
    for _ in range(2):
        assert baracuda.stack([x, x], out=y) is y
        same(y, np.stack([np.arange(6.0)] * 2))
    square = to_device(np.arange(9.0).reshape(3, 3), device)
    assert baracuda.tril(square, out=square) is square
    same(square, np.tril(np.arange(9.0).reshape(3, 3)))
    for call in (lambda: baracuda.roll(x, 3, out=x), lambda: baracuda.concat([x[:3], x[3:]], out=x)):
        with pytest.raises(InvalidProblemError, match="out: its memory is that of a tensor that is read"):
            call()
    with pytest.raises(InvalidProblemError, match=r"out: f64 of shape \(2, 6\); expected f64 of \(12,\)"):
        baracuda.concat([x, x], out=y)
    same(x, np.arange(6.0))
