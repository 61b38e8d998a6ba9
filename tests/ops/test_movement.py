"""Functions that move elements: every element, layouts, gradients, against NumPy, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from baracuda.core.elements import ElementKind
from tests.ops.movements import ELEMENTS, Movement as M, check, check_gradient

NONE: dict[str, Any] = {}
DROP = ...

MOVEMENTS = [
    M("reshape", [(2, 3, 4)], lambda x: x.reshape(4, 6), {"shape": (4, -1)}, {"shape": DROP}),
    M("reshape", [(2, 3, 4)], lambda x: x.reshape((4, 6), order="F"), {"shape": (4, 6), "order": "F"}, {"shape": DROP}),
    M("reshape", [(6,)], lambda x: x.reshape(3, 2), {"shape": (3, 2), "copy": True}, {"shape": DROP, "copy": DROP}),
    M("reshape", [(0, 3)], lambda x: x.reshape(3, 0, 2), {"shape": (3, 0, 2)}, {"shape": DROP}),
    M("ravel", [(2, 3)], np.ravel),
    M("ravel", [(2, 3)], lambda x: x.ravel(order="F"), {"order": "F"}),
    M("flatten", [(2, 3, 4, 5)], lambda x: x.reshape(2, 12, 5), {"start_axis": 1, "end_axis": 2}, {"start_axis": DROP, "end_axis": DROP}),
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
    M("movedim", [(2, 3, 4, 5)], lambda x: np.moveaxis(x, (0, 2), (-1, 0)), {"source": (0, 2), "destination": (-1, 0)}, like=False),
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
    *[M("rot90", [(2, 3, 4)], lambda x, k=k: np.rot90(x, k, (1, 2)), {"k": k, "axes": (1, 2)}, like=False) for k in (-1, 0, 2, 1)],
    M("roll", [(5,)], lambda x: np.roll(x, 2), {"shift": 2}, like=False),
    M("roll", [(3, 5)], lambda x: np.roll(x, -4), {"shift": -4}, like=False),
    M("roll", [(3, 5, 2)], lambda x: np.roll(x, (1, -7), (0, 1)), {"shift": (1, -7), "axis": (0, 1)}, like=False),
    M("tril", [(4, 5)], np.tril, like=False),
    M("tril", [(3, 4, 5)], lambda x: np.tril(x, -1), {"k": -1}, like=False),
    M("triu", [(3, 5, 4)], lambda x: np.triu(x, 1), {"k": 1}, like=False),
]  # fmt: skip


def _tried(movement: M, kind: ElementKind) -> bool:
    return movement.name != "adjoint" or kind.label[:7] != "complex"


@pytest.mark.parametrize("movement", MOVEMENTS, ids=str)
def test_bits_of_every_element(movement: M, device: str) -> None:
    for i, kind in enumerate(k for k in ELEMENTS if _tried(movement, k)):
        check(movement, kind, ("contiguous", "strided", "turned", "reversed")[i % 4] if device == "cpu" else "contiguous", device)


@pytest.mark.parametrize("movement", [m for m in MOVEMENTS if m.backward is not None], ids=str)
def test_gradients_are_the_transposed_movement(movement: M, device: str) -> None:
    check_gradient(movement, device)
