"""The operators of arrays: each is a function of the library, called at once where its operands are arrays and plain numbers."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from baracuda.core.device import DeviceKind
from baracuda.core.tensor import TensorRef, tensor_ref
from baracuda.native import load
from baracuda.ops.declaration.promotion import promote

_native = load()
_NUMBERS = (bool, int, float, complex)


@cache
def public(name: str) -> Any:
    """A public function by its name."""
    return getattr(import_module("baracuda"), name)


def _product(a: Any, b: Any) -> Any:
    """`baracuda.matmul`, of arrays of two elements in the common one."""
    if isinstance(a, TensorRef) and isinstance(b, TensorRef) and a.kind is not b.kind:
        kind = promote(a.kind, b.kind)
        a, b = (x if x.kind is kind else public("cast")(x, dtype=kind) for x in (a, b))
    return public("matmul")(a, b)


#: Operators that are no function of the library.
_OWN: dict[str, Any] = {"product": _product}


def _operand(value: Any, array: Any) -> Any:
    """A second operand as functions take it; None where it is none. NumPy's arrays are operands on the CPU."""
    if isinstance(value, (*_NUMBERS, TensorRef)):
        return value
    if isinstance(value, np.ndarray):
        if array.device.kind is not DeviceKind.CPU:
            raise TypeError(f"an array on {array.device} and one of NumPy's; expected both on one device")
        return array.of(tensor_ref(value))
    return value.item() if isinstance(value, np.generic) and isinstance(value.item(), _NUMBERS) else None


def _is_wider(operand: Any, array: Any) -> bool:
    """Whether the common element of an array with another is none of its own, but one of its category, which in-place operators
    round to its own as NumPy's do."""
    if not isinstance(operand, TensorRef) or operand.kind is array.kind or operand.kind.category is not array.kind.category:
        return False
    return promote(array.kind, operand.kind) is not array.kind


def operator(name: str, reflected: bool = False, in_place: bool = False) -> Any:
    """The method that calls a function with the array and the other operand, with them exchanged, or writing to the array."""

    def method(self: Any, *others: Any) -> Any:
        function = _OWN.get(name) or public(name)
        if quick is not None:
            quick.function = function  # from now on it is called without this detour
        operands = [_operand(other, self) for other in others]
        if any(operand is None for operand in operands):
            return NotImplemented
        if in_place:
            if _is_wider(operands[0], self):
                wide = function(self, *operands)
                if wide.kind.category is self.kind.category:
                    self[...] = wide
                    return self
            return function(self, *operands, out=self)
        return function(*operands, self) if reflected else function(self, *operands)

    method.__name__ = method.__qualname__ = name
    quick = None if _native is None else _native.Operator(method, reflected=reflected, in_place=in_place)
    return method if quick is None else quick


def _operators(name: str) -> tuple[Any, Any, Any]:
    """The method, that with operands exchanged, and that in place."""
    return operator(name), operator(name, reflected=True), operator(name, in_place=True)


class Operators:
    """The operators: x + y is `baracuda.add(x, y)`. A Python number takes the array's element where it is of its kind."""

    __slots__ = ()

    #: NumPy's arrays leave operators to ours.
    __array_ufunc__ = None

    __add__, __radd__, __iadd__ = _operators("add")
    __sub__, __rsub__, __isub__ = _operators("sub")
    __mul__, __rmul__, __imul__ = _operators("mul")
    __truediv__, __rtruediv__, __itruediv__ = _operators("div")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _operators("floor_divide")
    __mod__, __rmod__, __imod__ = _operators("remainder")
    __pow__, __rpow__, __ipow__ = _operators("pow")
    __and__, __rand__, __iand__ = _operators("bitwise_and")
    __or__, __ror__, __ior__ = _operators("bitwise_or")
    __xor__, __rxor__, __ixor__ = _operators("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = _operators("bitwise_left_shift")
    __rshift__, __rrshift__, __irshift__ = _operators("bitwise_right_shift")
    __matmul__, __rmatmul__ = operator("product"), operator("product", reflected=True)
    __lt__, __le__, __gt__, __ge__ = operator("lt"), operator("le"), operator("gt"), operator("ge")
    __eq__, __ne__ = operator("eq"), operator("ne")
    __neg__, __pos__, __abs__ = operator("neg"), operator("positive"), operator("abs")
    __invert__ = operator("bitwise_not")
    __hash__ = None  # type: ignore[assignment]  # as == compares elements, an array is no key

    def __imatmul__(self, other: Any) -> Any:  # type: ignore[misc]
        product = operator("product")(self, other)
        if product is not NotImplemented:
            self[...] = product  # type: ignore[index]
            return self
        return NotImplemented

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self
