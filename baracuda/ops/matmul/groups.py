"""Groups of rows, each with a matrix of its own: what offsets say of them, and where their tensors lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_at, slab
from baracuda.ops.declaration.composition import Steps


def checked_ends(name: str, ends: Sequence[int], groups: int | None, rows: int) -> list[int]:
    """Where groups of rows end; raises unless these are numbers that rise, as many as there are groups."""
    found = [int(e) for e in ends]
    rising = all(low <= high for low, high in pairwise([0, *found]))
    if (groups is not None and len(found) != groups) or not rising or (found[-1] if found else 0) > rows:
        expected = f"{'some' if groups is None else groups} numbers that rise, at most to {rows}"
        raise InvalidProblemError(f"{name}: offs {found}; expected {expected}")
    return found


@dataclass(frozen=True)
class Groups:
    """How a grouped product is cut into products, by `grouped_mm`'s three forms.

    Attributes
    ----------
    rowwise
        Whether groups are of rows of a (rows, k), each with a matrix of b (groups, k, n); else they are of what is summed over,
        the columns of a (m, rows) and the rows of b (rows, n).
    ends
        Where each group ends; None: all of a batch at once.
    """

    rowwise: bool
    ends: list[int] | None

    @staticmethod
    def of(do: Steps, name: str, a: TensorRef, b: TensorRef, offs: Any) -> Groups:
        """Those of two factors and their offsets, which are read on the host."""
        ranks = len(a.shape), len(b.shape)
        if offs is None and ranks == (3, 3) and a.shape[0] == b.shape[0] and a.shape[2] == b.shape[1]:
            return Groups(False, None)
        rowwise = ranks == (2, 3)
        fits = (rowwise and a.shape[1] == b.shape[1]) or (ranks == (2, 2) and a.shape[1] == b.shape[0])
        if offs is None or not fits:
            given = "with" if offs is not None else "without"
            raise InvalidProblemError(
                f"{name}: shapes {a.shape} and {b.shape} {given} offs; expected (rows, k) and (groups, k, n), or "
                "(m, rows) and (rows, n), with offs, or (b, m, k) and (b, k, n) without"
            )
        ends = do.on_host(offs).tolist() if isinstance(offs, TensorRef) else offs
        return Groups(rowwise, checked_ends(name, ends, b.shape[0] if rowwise else None, a.shape[0 if rowwise else 1]))

    @property
    def labels(self) -> tuple[str, str, str]:
        """Of the factors and the result of each product."""
        return ("Bmk", "Bkn", "Bmn") if self.ends is None else ("mk", "kn", "mn")

    def shapes(self, a: TensorRef, b: TensorRef) -> dict[str, tuple[int, ...]]:
        """The shapes of the result, of a scale for each row of a, and of a scale and a bias for each column of b."""
        n = b.shape[-1]
        if self.rowwise:
            rows, columns = a.shape[:1], (b.shape[0], n)
        else:
            count = a.shape[0] if self.ends is None else len(self.ends)
            rows, columns = (count, a.shape[-2]), (count, n)
        return {"y": (*rows, n), "scale_a": rows, "scale_b": columns, "bias": columns}

    def __call__(self, tensors: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The part of each tensor that belongs to a product: factors a and b, and tensors of `shapes`."""
        if self.ends is None:
            yield dict(tensors)
            return
        for g, (low, high) in enumerate(pairwise([0, *self.ends])):
            yield {name: None if t is None else self._part(name, t, g, low, high) for name, t in tensors.items()}

    def _part(self, name: str, t: TensorRef, g: int, low: int, high: int) -> Any:
        if self.rowwise:
            return slab(t, 0, low, high) if name in ("a", "y", "scale_a") else axis_at(t, 0, g)
        return slab(t, 1 if name == "a" else 0, low, high) if name in ("a", "b") else axis_at(t, 0, g)

    def beyond(self, name: str, t: TensorRef) -> Any | None:
        """The part of a tensor that belongs to no group, if any may."""
        if self.ends is None or name not in (("a", "y", "scale_a") if self.rowwise else ("a", "b")):
            return None
        axis = 1 if name == "a" and not self.rowwise else 0
        return slab(t, axis, self.ends[-1] if self.ends else 0, t.shape[axis])
