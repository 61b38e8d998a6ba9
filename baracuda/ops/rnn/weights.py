"""The tensors of a recurrent network's layers, and views of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.core.views import view

#: Where ONNX has PyTorch's gates: those of an LSTM as i, o, f, c, those of a GRU as z, r, h.
ONNX_ORDER = {"lstm": (0, 2, 3, 1), "gru": (1, 0, 2), "rnn": (0,), "slstm": (0, 1, 2, 3)}
#: The states that a call gives and gets, by the cell's kind.
STATES: dict[str, tuple[str, ...]] = {"lstm": ("h", "c"), "gru": ("h",), "rnn": ("h",), "slstm": ("h", "c", "n", "m")}
STATE_GRADIENTS = frozenset(f"d{n}0" for names in STATES.values() for n in names)


def split(tensor: TensorRef, axis: int, count: int) -> Any:
    """An axis as `count` runs of neighbours, which are the axis behind."""
    shape, strides = list(tensor.shape), list(tensor.strides)
    n, s = shape[axis] // count, strides[axis]
    shape[axis : axis + 1], strides[axis : axis + 1] = [count, n], [n * s, s]
    return view(tensor, 0, shape, strides)


@dataclass
class Weights:
    """The tensors of one direction of one layer."""

    w_ih: Any
    w_hh: Any
    b_ih: Any = None
    b_hh: Any = None
    w_hr: Any = None
    peepholes: Any = None

    NAMES = ("w_ih", "w_hh", "b_ih", "b_hh", "w_hr")

    def listed(self) -> list[Any]:
        """In PyTorch's order."""
        return [t for t in (getattr(self, n) for n in self.NAMES) if t is not None]
