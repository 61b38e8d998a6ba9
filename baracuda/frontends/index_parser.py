"""What stands between the brackets of x[...], read: what NumPy means by it as tokens and tensors of indices."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, OutOfRangeError
from baracuda.core.parameters import quoted
from baracuda.core.tensor import TensorRef
from baracuda.frontends.arrays import adopted, library_of
from baracuda.frontends.call import describe
from baracuda.frontends.families import function
from baracuda.frontends.selections import nonzero
from baracuda.ops.indexing.expressions import INDEX, INTEGER, NEW, NEW_INDEX, SLICE, Token, Tokens


class _Dtypes:
    """The dtypes of some elements in NumPy, PyTorch and our arrays; PyTorch's are known once it is there."""

    def __init__(self, *names: str) -> None:
        self._names, self._known = names, set[Any]()
        for dtype in map(np.dtype, names):
            self._known |= {dtype, ElementKind.from_numpy(dtype)}
        self._of_torch = False

    def __contains__(self, dtype: Any) -> bool:
        if dtype in self._known:
            return True
        torch = sys.modules.get("torch")
        if torch is None or self._of_torch:
            return False
        self._known |= {getattr(torch, n) for n in self._names}
        self._of_torch = True
        return dtype in self._known


#: Of indices that are taken as they are, and of masks.
_INDEX_DTYPES, _MASK_DTYPES = _Dtypes("int32", "int64"), _Dtypes("bool")


@dataclass(frozen=True)
class Expression:
    """What stands between the brackets, for a tensor of one shape: the tokens, and the tensors of their indices.

    `mask` is the mask where that is all there is; it is then not turned into indices."""

    tokens: Tokens
    indices: tuple[Any, ...]
    place: int
    mask: Any = None


#: What expressions without masks mean, by the shape of x, and by numbers, slices and the ranks of indices: the latest ones.
_known: dict[Any, tuple[Tokens, int]] = {}
_MOST = 4096


def parse(x: Any, key: Any, *, none_is_whole: bool = False, lone_mask: bool = False) -> Expression:
    """Read an expression; raises `OutOfRangeError` for an integer that is none of an axis, or too many of them.

    With `none_is_whole`, None is a whole axis. With `lone_mask`, a mask that is all there is stays one.
    """
    if lone_mask and type(key) is type(x) and key.dtype in _MASK_DTYPES:
        rank = len(key.shape)
        if rank and tuple(key.shape) == tuple(x.shape[:rank]):
            return Expression((), (), 0, key)
    found = _signature(x, key if type(key) is tuple else (key,))
    if found is None:
        return _parsed(x, key, none_is_whole, lone_mask)
    signature, indices = (*found[0], none_is_whole), tuple(found[1])
    known = _known.get(signature)
    if known is None:
        expression = _parsed(x, key, none_is_whole, lone_mask)
        if len(_known) >= _MOST:
            _known.clear()
        _known[signature] = known = expression.tokens, expression.place
    return Expression(known[0], indices, known[1])


def _signature(x: Any, items: tuple[Any, ...]) -> tuple[list[Any], list[Any]] | None:
    """What the tokens of an expression follow from, and the tensors of its indices; None where that takes a closer look."""
    own = type(x)
    signature: list[Any] = [tuple(x.shape)]
    indices: list[Any] = []
    for item in items:
        kind = type(item)
        if kind is int or item is None or item is Ellipsis:
            signature.append(item)
        elif kind is slice:
            bounds = item.start, item.stop, item.step
            if not all(b is None or type(b) is int for b in bounds):
                return None
            signature.append(bounds)
        elif kind is own and len(item.shape) and item.dtype in _INDEX_DTYPES:
            signature.append(("index", len(item.shape)))
            indices.append(item)
        else:
            return None
    return signature, indices


def _parsed(x: Any, key: Any, none_is_whole: bool, lone_mask: bool) -> Expression:
    items = list(key) if isinstance(key, tuple) else [key]
    ref = describe(x, "x")
    items = [_item(i, x) for i in items]
    if none_is_whole:
        items = [slice(None) if i is None else i for i in items]
    if lone_mask and len(items) == 1 and _is_mask(items[0]) and describe(items[0], "index").shape:
        _check_mask(items[0], ref.shape, 0)
        return Expression((), (), 0, items[0])
    used = sum(_axes(i) for i in items)
    if used > len(ref.shape) or sum(i is Ellipsis for i in items) > 1:
        raise OutOfRangeError(
            f"index: {quoted(key)}; expected at most {len(ref.shape)} integers, slices and indices for x of shape {ref.shape}, "
            "and one ..."
        )
    if not any(i is Ellipsis for i in items):
        items.append(Ellipsis)
    tokens, indices, advanced, separated = _tokens(items, ref, len(ref.shape) - used)
    place = 0
    if indices and not separated:
        first = min(advanced)
        place = sum(t[0] in (SLICE, NEW) for t in tokens[:first])
    return Expression(tuple(tokens), tuple(indices), place)


def _tokens(items: Sequence[Any], ref: TensorRef, whole: int) -> tuple[list[Token], list[Any], list[int], bool]:
    """Tokens, indices, the tokens that are indices or integers beside some, and whether others stand between these."""
    tokens: list[Token] = []
    indices: list[Any] = []
    advanced: list[int] = []
    between, separated, axis = False, False, 0
    numbers = any(_is_tensor(i) for i in items)  # beside indices an integer counts as one

    def is_advanced() -> None:
        nonlocal separated
        separated |= bool(advanced) and between
        advanced.append(len(tokens))

    for item in items:
        if item is Ellipsis:
            for _ in range(whole):
                tokens.append((SLICE, 0, ref.shape[axis], 1))
                axis += 1
            between = bool(advanced)
        elif item is None:
            tokens.append((NEW,))
            between = bool(advanced)
        elif isinstance(item, slice):
            first, stop, step = _slice(item, ref.shape[axis])
            tokens.append((SLICE, first, len(range(first, stop, step)), step))
            between = bool(advanced)
            axis += 1
        elif isinstance(item, int):
            extent = ref.shape[axis]
            if not -extent <= item < extent:
                raise OutOfRangeError(f"index: {item} of axis {axis}; expected a slice, or {-extent} to {extent - 1}")
            if numbers:
                is_advanced()
            tokens.append((INTEGER, item % extent))
            axis += 1
        elif _is_mask(item):
            rank = len(describe(item, "index").shape)
            is_advanced()
            if not rank:
                tokens.append((NEW_INDEX, len(indices)))
                indices.append(beside(np.zeros(int(bool(item)), np.int64), item))
                continue
            _check_mask(item, ref.shape, axis)
            for found in nonzero(item):
                tokens.append((INDEX, len(indices)))
                indices.append(found)
                axis += 1
        else:
            is_advanced()
            tokens.append((INDEX, len(indices)))
            indices.append(item)
            axis += 1
    return tokens, indices, advanced, separated


def _slice(item: slice, extent: int) -> tuple[int, int, int]:
    try:
        return item.indices(extent)
    except (TypeError, ValueError) as error:
        raise InvalidProblemError(f"index: {item!r}; expected whole numbers, and a step that is not 0") from error


def _item(item: Any, x: Any) -> Any:
    """One item as what it stands for: `...`, None, a slice, an integer, or a tensor of bool, s32 or s64 where x is."""
    if item is Ellipsis or item is None or isinstance(item, slice):
        return item
    if isinstance(item, (bool, np.bool_)):
        return beside(np.asarray(item), x)
    if isinstance(item, (int, np.integer)):
        return int(item)
    if isinstance(item, (list, tuple)):
        made = np.asarray(item)
        item = made.astype(np.int64) if not made.size else made
    if isinstance(item, np.ndarray):
        item = beside(item, x)
    item = adopted(item, "index")
    kind = describe(item, "index").kind
    if kind.is_integer:
        if kind in (ElementKind.S32, ElementKind.S64):
            return item
        return function("cast")(item, dtype=ElementKind.S64)
    if kind is not ElementKind.BOOL:
        raise InvalidProblemError(f"index: element is {kind}; expected integers or bool")
    return item


def beside(values: np.ndarray[Any, Any], x: Any) -> Any:
    """A NumPy array as a tensor of the library and on the device of another."""
    if describe(x, "x").device.kind is DeviceKind.CPU:
        return values
    library = library_of(x)
    if library == "torch":
        return sys.modules["torch"].as_tensor(values, device=x.device)
    if library in ("cupy", "jax"):
        package = sys.modules["cupy" if library == "cupy" else "jax.numpy"]
        return package.asarray(values)
    from baracuda.frontends.array import to_device

    return to_device(values, describe(x, "x").device)


def _is_tensor(item: Any) -> bool:
    return not (item is Ellipsis or item is None or isinstance(item, (slice, int)))


def _is_mask(item: Any) -> bool:
    return _is_tensor(item) and describe(item, "index").kind is ElementKind.BOOL


def _axes(item: Any) -> int:
    """The axes of a tensor that an item is for."""
    if item is Ellipsis or item is None:
        return 0
    return len(describe(item, "index").shape) if _is_mask(item) else 1


def _check_mask(mask: Any, shape: tuple[int, ...], axis: int) -> None:
    extents = describe(mask, "index").shape
    along = shape[axis : axis + len(extents)]
    if len(along) != len(extents) or any(m not in (n, 0) for m, n in zip(extents, along, strict=True)):  # of 0 as in NumPy
        raise OutOfRangeError(f"index: a mask of shape {extents}; expected {shape[axis : axis + len(extents)]}, of axes of x")
