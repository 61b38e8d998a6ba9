"""Pointwise ops over lists of tensors: which tensors go into one launch, and what the launch is.

Items whose tensors are dense, in one order of memory and of the same elements go together; every other item is a call of its
own, with the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baracuda.core import locks
from baracuda.core.device import Device
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import byte_range, contiguous_strides, may_share, same_view
from baracuda.core.tensor import TensorRef
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes
from baracuda.formula.gathers import gathers, separated
from baracuda.lowering.executables import GeneratedExecutable, given_parameters
from baracuda.lowering.lists.problem import EXTENT, ListProblem, most_items
from baracuda.lowering.nest.problem import Nest, Operand, Problem, normalise, reduces, scans
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.optimizers.programs import program_of
from baracuda.runtime.program import Parameter

#: Nests kept, of as many forms and alignments.
MOST_NESTS = 128
_nests: dict[Any, tuple[Nest, list[str]]] = {}
_lock = locks.lock()


@dataclass(frozen=True)
class Form:
    """What an op computes for items of one sort, of which each tensor has as many elements as another or one.

    `tensors` has for each name the element, whether an item has a single element of it, and whether all items share that one.
    """

    descriptor: OpDescriptor
    tensors: tuple[tuple[str, ElementKind, bool, bool], ...]

    @property
    def results(self) -> dict[str, ElementKind]:
        """The element of each result."""
        return {n: kind for n, (_, kind, _) in self.descriptor.results.items()}


def goes_together(op: Op) -> bool:
    """Whether an op is one formula over elements."""
    return not (op.rows or op.space or op.bounds or op.places or op.vectors or op.library)


def form_of(
    op: Op, tensors: Sequence[tuple[str, ElementKind, bool, bool]], numbers: Mapping[str, Any], options: Mapping[str, Any]
) -> Form | None:
    """The form of some items; None where no single formula over elements serves them."""
    described = {n: (() if scalar else (EXTENT,), kind) for n, kind, scalar, _ in tensors}
    names = op.signature.tensors
    element = options.get("dtype") if op.element_option else None
    rest = {n: v for n, v in options.items() if not (n == "dtype" and op.element_option)}
    descriptor = OpDescriptor(
        op,
        tuple(described[n][0] if n in described else None for n in names),
        tuple(described[n][1] if n in described else None for n in names),
        (),
        True,
        element,
        tuple(sorted(numbers.items())),
        tuple(sorted(rest.items())),
    )
    kinds = [kind for _, kind, _, _ in tensors] + [k for _, k, _ in descriptor.results.values()]
    graph = descriptor.graph
    plain = all(k.category is not Category.COMPLEX and k.bits >= 8 for k in kinds)
    whole = all(p.axes for p, _ in graph.outputs) and not gathers(graph) and not scans(graph)
    if not plain or not whole or reduces(graph, Axes.FULL) or any(n.op in ("coord", "position") for n in graph.nodes):
        return None
    return Form(descriptor, tuple(tensors))


def _nest(form: Form, alignments: Mapping[str, int]) -> Nest:
    """The formula as a nest of one axis."""
    graph = separated(expand(form.descriptor.graph))
    known = {n: (kind, scalar) for n, kind, scalar, _ in form.tensors} | {n: (k, False) for n, k in form.results.items()}
    operands = []
    for port in (*graph.inputs, *(p for p, _ in graph.outputs)):
        kind, scalar = known[port.name]
        operands.append(Operand(kind, (0 if scalar else 1,), alignments[port.name]))
    return normalise(Problem(graph, (EXTENT,), (False,), tuple(operands)))


def launches(
    device: Device, form: Form, sizes: Sequence[int], addresses: Mapping[str, Sequence[int]]
) -> Iterator[tuple[GeneratedExecutable, list[int]]]:
    """The launches for items of so many elements, each with its addresses; `addresses` has for each tensor and result those of
    all items, or the one that all share."""
    shared = {n for n, _, _, s in form.tensors if s}
    alignments = {n: 16 if all(a % 16 == 0 for a in found) else _itemsize(form, n) for n, found in addresses.items()}
    structure = (device, form.descriptor.structure, form.tensors, tuple(sorted(alignments.items())))
    with _lock:
        made = _nests.get(structure)
    if made is None:
        nest = _nest(form, alignments)
        names = [p.name for p in (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))]
        with _lock:
            if len(_nests) >= MOST_NESTS:
                _nests.clear()
            made = _nests[structure] = nest, names
    nest, names = made
    different: list[tuple[bool, Sequence[int]]] = []
    lists: list[int] = []
    for n in names:
        entry = (n in shared, addresses[n])
        lists.append(next((i for i, other in enumerate(different) if other == entry), len(different)))
        different += [entry] * (lists[-1] == len(different))
    of_all = tuple(single for single, _ in different)
    most = most_items(of_all)
    for first in range(0, len(sizes), most):
        problem = ListProblem(nest, tuple(lists), of_all, tuple(sizes[first : first + most]))
        program = _program(device, form, problem, structure)
        pointers: list[int] = []
        for single, found in different:
            part = list(found[:1] if single else found[first : first + most])
            pointers += part if single else part + part[:1] * (problem.room - len(part))
        yield program, pointers


def _itemsize(form: Form, name: str) -> int:
    kinds = {n: kind for n, kind, _, _ in form.tensors} | form.results
    return kinds[name].itemsize


def _program(device: Device, form: Form, problem: ListProblem, structure: Any) -> GeneratedExecutable:
    def made() -> tuple[ListProblem, list[Parameter], int]:
        params = given_parameters(problem.nest.graph.params, form.descriptor.parameters)
        return problem, params, problem.starts[-1]

    return program_of((structure, problem.lists, problem.shared, problem.sizes), device, made)


def is_flat(refs: Iterable[TensorRef]) -> bool:
    """Whether tensors of one shape are dense and lie in one order of memory, so that they are rows of elements."""
    strides: Any = None
    for ref in refs:
        if strides is not None and ref.strides != strides:
            return False
        strides = ref.strides
    shape = ref.shape
    if strides == contiguous_strides(shape):
        return True
    axes = sorted((s, n) for s, n in zip(strides, shape, strict=True) if n != 1)
    step = 1
    for s, n in axes:
        if s != step:
            return False
        step *= n
    return True


def check_apart(tensors: Sequence[tuple[TensorRef, str, int | None, bool, bool]]) -> None:
    """Raise where something that is written shares memory with another tensor. Each comes with its name, its item (None: of all),
    whether it has an element for each of the item's and whether it is written; a tensor may be written where it is read, as the
    very view, in the same item."""
    spans = sorted(((*byte_range(ref), i) for i, (ref, *_) in enumerate(tensors)), key=lambda s: s[:2])
    open_: list[tuple[int, int]] = []
    for low, high, i in spans:
        if low >= high:
            continue
        open_ = [(end, j) for end, j in open_ if end > low]
        for _, j in open_:
            _check_pair(tensors[i], tensors[j])
        open_.append((high, i))


def _check_pair(a: Any, b: Any) -> None:
    (ref, name, item, each, written), (other, other_name, other_item, other_each, other_written) = a, b
    if not (written or other_written) or not may_share(ref, other):
        return
    if written != other_written and item == other_item and item is not None and each and other_each and same_view(ref, other):
        return
    if not written:
        name, other_name = other_name, name
    raise InvalidProblemError(
        f"{name}: its memory overlaps that of {other_name}; expected none in common, or in place of it the very tensor"
    )
