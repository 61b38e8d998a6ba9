"""Views of tensors: none leaves the tensor that it is cut from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef, tensor_ref
from baracuda.core.views import expanded_dims, slab, view, windows

X = np.arange(24.0).reshape(4, 6)
TURNED = X[::-1, ::2]  # strides -6 and 2: elements -18 to 4 from the first


def _values(ref: TensorRef) -> Any:
    """What a view of X reads."""
    first = (ref.pointer - X.ctypes.data) // 8
    lifted = np.lib.stride_tricks.as_strided(X.reshape(-1)[first:], ref.shape, [8 * s for s in ref.strides])
    return lifted.tolist()


def test_views_read_what_they_name() -> None:
    ref, turned = tensor_ref(X), tensor_ref(TURNED)
    assert _values(slab(ref, 1, 2, 4)) == X[:, 2:4].tolist()
    assert _values(slab(turned, 0, 1, 3)) == TURNED[1:3].tolist()
    assert _values(view(ref, 5, (4,), (6,))) == X[:, 5].tolist()
    assert _values(view(ref, 23, (24,), (-1,))) == X.reshape(-1)[::-1].tolist()
    assert _values(view(turned, -18, (3,), (2,))) == TURNED[3].tolist()
    assert _values(view(ref, 7, (2, 3), (0, 0))) == [[7.0] * 3] * 2
    assert _values(expanded_dims(ref, (2, 0), 3)) == X.T[:, None].tolist()
    assert _values(windows(ref, 1, 1, 3, 3)) == np.lib.stride_tricks.sliding_window_view(X[:, 1:], 3, 1).tolist()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 5)])
def test_views_without_elements_stay_where_the_tensor_is(shape: tuple[int, ...]) -> None:
    for x in (X, TURNED, np.zeros((0, 3))):
        ref = tensor_ref(x)
        cut = view(ref, 1000, shape, (7,) * len(shape))
        assert (cut.pointer, cut.nbytes_available, cut.shape) == (ref.pointer, ref.nbytes_available, shape)
    empty = slab(tensor_ref(X), 1, 6, 6)
    assert (empty.pointer, empty.shape) == (tensor_ref(X).pointer, (4, 0))


@pytest.mark.parametrize(
    "cut",
    [
        lambda x, t, e: view(x, -1, (1,), (1,)),
        lambda x, t, e: view(x, 24, (), ()),
        lambda x, t, e: view(x, 20, (5,), (1,)),
        lambda x, t, e: view(x, 0, (2,), (-1,)),
        lambda x, t, e: view(x, 0, (4, 7), (6, 1)),
        lambda x, t, e: view(t, 5, (), ()),
        lambda x, t, e: view(t, -19, (1,), (1,)),
        lambda x, t, e: view(e, 0, (1,), (1,)),
        lambda x, t, e: view(x, 0, (2, 2), (1,)),
        lambda x, t, e: view(x, 0, (-1,), (1,)),
        lambda x, t, e: slab(x, 1, -1, 2),
        lambda x, t, e: slab(x, 1, 0, 7),
        lambda x, t, e: slab(x, 1, 3, 2),
        lambda x, t, e: slab(x, 2, 0, 1),
        lambda x, t, e: slab(x, -1, 0, 1),
        lambda x, t, e: slab(e, 0, 0, 1),
        lambda x, t, e: expanded_dims(x, (0, 2), 2),
        lambda x, t, e: expanded_dims(x, (-1, 0), 2),
        lambda x, t, e: expanded_dims(x, (1, 1), 2),
        lambda x, t, e: expanded_dims(x, (0,), 2),
        lambda x, t, e: expanded_dims(x, (None, 0), 2),
        lambda x, t, e: windows(x, 1, 2, 3, 3),
        lambda x, t, e: windows(x, 0, -1, 1, 2),
    ],
)
def test_no_view_leaves_its_tensor(cut: Callable[..., Any]) -> None:
    with pytest.raises(InvalidProblemError, match="expected"):
        cut(tensor_ref(X), tensor_ref(TURNED), tensor_ref(np.zeros((0, 3))))
