"""The norm of many tensors as one vector, and gradients limited by it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, prod
from typing import Any

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, as_expr, cast, select
from baracuda.formula.host import HostNumber
from baracuda.lowering.executables import GeneratedExecutable
from baracuda.lowering.list_sums.problem import ListSums
from baracuda.lowering.lists.problem import EXTENT, most_items, room_of
from baracuda.lowering.nest.problem import Nest, Operand, Problem, normalise
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Host, NonNegative, Own
from baracuda.ops.optimizers.programs import program_of
from baracuda.runtime.program import Parameter

#: Orders whose sums over many tensors are a program of their own.
_TOGETHER = (0, 1, 2, inf, -inf)
_LITERALS = {"p": _TOGETHER}


def _powers(x: Expr, *, p: Host = 2) -> Expr:
    """The sum of |x|**p; the largest or smallest |x| for inf and -inf, how many are not 0 for 0."""
    size = abs(x)
    if isinstance(p, HostNumber):
        return f.sum_(f.pow_(size, p))
    if p in (inf, -inf):
        return f.max_(size) if p > 0 else f.min_(size)
    if p == 0:
        return f.sum_(cast(f.not_equal(size, 0.0), size.kind))
    return f.sum_(x * x if p == 2 else size)


def _norm(sums: Expr, *, p: Host = 2) -> Expr:
    """The norm of all, given that of each before its root."""
    if isinstance(p, HostNumber):
        total = f.sum_(sums)
        nothing = f.equal(total, 0.0) & (as_expr(p, sums.kind) > 0.0)
        return select(nothing, 0.0, f.pow_(total, 1.0 / p))
    if p in (inf, -inf):
        return f.max_(sums) if p > 0 else f.min_(sums)
    return f.root(f.sum_(sums)) if p == 2 else f.sum_(sums)


def _clipped(grad: Expr, norm: Own, *, max_norm: NonNegative = 1.0) -> Expr:
    """grad * min(max_norm / (norm + 1e-6), 1)."""
    return grad * f.minimum(max_norm / (cast(norm, grad.kind) + 1e-6), 1.0)


_OPTIMIZER: dict[str, Any] = {"family": "optimizer", "takes": "float", "differentiable": False}
_ALL: dict[str, Any] = {**_OPTIMIZER, "rows": True, "axis": None, "keepdims": False, "literals": _LITERALS}
powers = Op(_powers, Rule.COMMON, name="powers_of_all", wide=("y",), **_ALL)
norm_of_sums = Op(_norm, Rule.COMMON, name="norm_of_sums", wide=("y",), **_ALL)
clipped = Op(_clipped, Rule.COMMON, name="clipped_by_norm", **_OPTIMIZER)


def _nest(kind: ElementKind, p: float, alignment: int) -> Nest:
    """The sum over one tensor as a nest of one row."""
    descriptor = OpDescriptor(powers, ((EXTENT,),), (kind,), (0,), False, None, (("p", p),))
    operands = Operand(kind, (1,), alignment), Operand(kind.compute, (0,), 64)
    return normalise(Problem(expand(descriptor.graph), (EXTENT,), (True,), operands))


def _program(
    device: Device, kind: ElementKind, p: float, alignment: int, sizes: tuple[int, ...], slots: tuple[int, ...]
) -> GeneratedExecutable:
    """What computes the sums of tensors of these sizes, each into its slot."""

    def made() -> tuple[ListSums, list[Parameter], int]:
        problem = ListSums(_nest(kind, p, alignment), sizes, slots, inf if p == -inf else 0.0)
        return problem, [], problem.room + 1

    return program_of(("sums", device, kind, p, alignment, sizes, slots), device, made)


def _sums(do: Steps, tensors: Sequence[TensorRef], p: float) -> Any:
    """The sum of each tensor, in the kind that all compute in."""
    kinds = {t.kind.compute for t in tensors}
    wide = ElementKind.F64 if ElementKind.F64 in kinds else ElementKind.F32
    sums = do.rows((len(tensors),), wide)
    parts = {k: sums if k is wide else do.rows((len(tensors),), k) for k in kinds}
    groups: dict[Any, list[int]] = {}
    for i, t in enumerate(tensors):
        if p in _TOGETHER and t.strides == contiguous_strides(t.shape):
            groups.setdefault((t.kind, 16 if t.pointer % 16 == 0 else t.kind.itemsize), []).append(i)
        elif 0 in t.shape:
            groups.setdefault((t.kind, 16), []).append(i)
        else:
            do.run(powers, {"x": t}, _element(parts[t.kind.compute], i), p=p)
    most = most_items((False,))
    for (kind, alignment), items in groups.items():
        for first in range(0, len(items), most):
            own = items[first : first + most]
            sizes, into = tuple(prod(tensors[i].shape) for i in own), parts[kind.compute]
            order = p if p in _TOGETHER else 2.0  # of another none but those without elements
            program = _program(tensors[0].device, kind, order, alignment, sizes, tuple(own))
            addresses, room = [tensors[i].pointer for i in own], room_of(len(own), (False,))
            do.launch(program, [*addresses, *[addresses[0]] * (room - len(own)), into.pointer], [into])
    for k, part in parts.items():
        for i, t in enumerate(tensors) if k is not wide else ():
            if t.kind.compute is k:
                do.copy(_element(part, i), _element(sums, i))
    return sums


def _element(vector: TensorRef, i: int) -> Any:
    return view(vector, i, (), ())


@composed(grads="list ... : float", numbers={"p": tuple(float(p) for p in _TOGETHER)})
def grad_norm(do: Steps, grads: Sequence[TensorRef], *, p: float = 2.0, error_if_nonfinite: bool = False) -> TensorRef:
    """The norm of all elements of a list of tensors as one vector: (sum |x|**p)**(1/p), the largest or smallest |x| for inf and
    -inf, how many are not 0 for 0.

    The result has no axes and the element that the tensors compute in (f32 for 16-bit floats, f64 where one is f64). The sum of
    each tensor is taken in the canonical order over its elements, then that of these sums in the canonical order over the list:
    the same bits on every device, and however the tensors lie. A tensor without elements counts as 0 (of p = -inf: not at all).
    Contiguous tensors of one element are read by one launch, up to about 4,000 of them. error_if_nonfinite=True raises
    `InvalidProblemError` where the norm is infinite or NaN, for which the host waits. An empty list is an `InvalidProblemError`,
    too.

    Source: torch.nn.utils.get_total_norm.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.grad_norm([np.float32([3, 0]), np.float32([[4]])]))
    5.0
    """
    if not grads:
        raise InvalidProblemError("grads: []; expected one tensor or more")
    order = float(p)
    if order != order:
        raise InvalidProblemError("p: nan; expected a number")
    devices = {t.device for t in grads}
    if len(devices) > 1:
        raise InvalidProblemError(f"grads: tensors on {', '.join(sorted(map(str, devices)))}; expected one device")
    norm: TensorRef = do.run(norm_of_sums, {"sums": _sums(do, grads, order)}, p=order)
    if error_if_nonfinite and not isfinite(value := float(do.on_host(norm))):
        raise InvalidProblemError(f"grads: their norm of order {order:g} is {value}; expected a finite one")
    return norm
