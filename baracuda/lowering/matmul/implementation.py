"""The formula backends of matrix products: from labelled axes and a layout to a `MatmulProblem`, and its executable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from baracuda.core.device import Device
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.implementation import Executable, Layout, OperandLayout
from baracuda.core.layout import contiguous_strides, round_up
from baracuda.core.sku import MathPrecision, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.formula.expand import expand
from baracuda.formula.graph import Graph
from baracuda.formula.small_floats import stored_as_integers
from baracuda.lowering.executables import EmptyExecutable, GeneratedExecutable, Pick, executable, given_parameters, picker
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.matmul.problem import PRODUCT, PRODUCT_PARTS, TENSOR_CORE_MATH, MatmulProblem
from baracuda.lowering.nest.copies import copier
from baracuda.lowering.nest.problem import Operand
from baracuda.lowering.nest.sequence import Copy, LayoutCopyExecutable

Strides = dict[str, int]


def guarantee_of(math: MathPrecision, accumulator: ElementKind) -> PrecisionGuarantee:
    """What a product in some precision promises: everything, but of tensor cores, which add each generation in its own way."""
    everywhere = math not in TENSOR_CORE_MATH.values()
    return replace(PrecisionGuarantee.canonical(math, accumulator), bit_stable_across_hardware=everywhere)


@dataclass(frozen=True)
class LabelledMatmul:
    """A product of two tensors whose axes have labels.

    Attributes
    ----------
    extents
        By label.
    axes
        The labels of the factors `a` and `b`, and of the tensors that do not lie along the last axes of y.
    y_axes
        The labels of the results; every tensor that `axes` lacks is broadcast to them.
    summed
        The labels that are summed over, the last one fastest.
    accumulator
        The kind of the sums.
    exchanged
        The complex factors whose real and imaginary parts are taken for each other.
    epilogue
        From `product` and tensors to the results, in functions; every port varies along all of y.
    parameters
        The values of the epilogue's parameters.
    """

    extents: Mapping[str, int]
    axes: Mapping[str, str]
    y_axes: str
    summed: str
    accumulator: ElementKind
    exchanged: frozenset[str]
    epilogue: Graph
    parameters: Mapping[str, float]

    def strides(self, name: str, shape: Sequence[int], strides: Sequence[int]) -> Strides:
        """A tensor's strides by label, 0 where it does not vary."""
        labels = self.axes.get(name, self.y_axes[len(self.y_axes) - len(shape) :])
        by_label = dict.fromkeys(self.extents, 0)
        by_label |= {label: s for label, n, s in zip(labels, shape, strides, strict=True) if n != 1}
        return by_label

    def groups(self, labels: Sequence[str], tensors: Sequence[Strides], merge: bool) -> list[str]:
        """The labels in groups that every tensor walks as one axis; those of extent 1 belong to none."""
        groups: list[str] = []
        for label in labels:
            if self.extents[label] == 1:
                continue
            n, last = self.extents[label], groups[-1][-1] if groups else ""
            if last and merge and all(t[last] == t[label] * n for t in tensors):
                groups[-1] += label
            else:
                groups.append(label)
        return groups

    def extent(self, group: str) -> int:
        return prod(self.extents[label] for label in group)


@dataclass(frozen=True)
class _Tensor:
    """A tensor of a plan: its number, shape, element, and how it lies."""

    number: int
    shape: tuple[int, ...]
    kind: ElementKind
    layout: OperandLayout


class MatmulImplementation(GeneratedImplementation):
    """Generated kernels of a matrix product, for the CPU or for a CUDA device: of chains, or in another precision."""

    def __init__(
        self,
        device: Device,
        problem: LabelledMatmul,
        specs: Sequence[TensorSpec],
        descriptor: Any,
        math: MathPrecision | None = None,
    ) -> None:
        super().__init__(device, problem.accumulator)
        self.math = math
        if math is not None:
            self.guarantee = guarantee_of(math, problem.accumulator)
        self.problem, self.specs, self.descriptor = problem, specs, descriptor
        self._epilogue = stored_as_integers(expand(problem.epilogue))

    @property
    def _terms(self) -> int:
        """How many products each sum has. Where it is none, no axis of the factors is walked."""
        return prod(self.problem.extents[x] for x in self.problem.summed)

    # --- layouts ------------------------------------------------------------------------------------------------------

    def _tensors(self, layout: Layout) -> dict[str, _Tensor]:
        tensors = {}
        for i, (spec, tensor_layout) in enumerate(zip(self.specs, layout, strict=True)):
            if tensor_layout is not None:
                shape = spec.expected_shape(self.descriptor)
                tensor_layout = tensor_layout if all(shape) else replace(tensor_layout, strides=contiguous_strides(shape))
                tensors[spec.name] = _Tensor(i, shape, spec.expected_kind(self.descriptor), tensor_layout)
        return tensors

    def matmul_problem(self, layout: Layout) -> MatmulProblem:
        """The problem for a layout whose summed axes every factor walks as one; raises `UnsupportedError` for another."""
        return self.placed(layout)[0]

    def placed(self, layout: Layout) -> tuple[MatmulProblem, list[tuple[int, int]]]:
        """The same, and where its operands are: which of the plan's tensors, at which byte."""
        tensors = self._tensors(layout)
        if self._to_copy(tensors):
            raise UnsupportedError(f"the axes {self.problem.summed} that are summed do not lie one behind the other")
        return self._matmul_problem(tensors)

    def _to_copy(self, tensors: Mapping[str, _Tensor]) -> list[str]:
        """The factors whose summed axes are not walked as one."""
        p, general = self.problem, _general(tensors)
        if not self._terms:
            return []
        strides = {n: p.strides(n, tensors[n].shape, tensors[n].layout.strides) for n in "ab"}
        return [n for n in "ab" if len(p.groups(p.summed, [strides[n]], merge=not general)) > 1]

    def _matmul_problem(self, tensors: Mapping[str, _Tensor]) -> tuple[MatmulProblem, list[tuple[int, int]]]:
        """The problem, and where its operands are: which of the plan's tensors, at which byte."""
        p, general = self.problem, _general(tensors)
        epilogue = [p_ for p_ in (*self._epilogue.inputs, *(o for o, _ in self._epilogue.outputs)) if not _is_product(p_.name)]
        names = [n for n in tensors if n in "ab" or any(_tensor(e.name) == n for e in epilogue)]
        strides = {n: p.strides(n, tensors[n].shape, tensors[n].layout.strides) for n in names}
        in_a, in_b = set(p.axes["a"]), set(p.axes["b"])
        every, merge = list(strides.values()), not general
        batch = p.groups([x for x in p.y_axes if x in in_a and x in in_b], every, merge)
        free = [
            p.groups([x for x in p.y_axes if x in own_labels and x not in other], every, merge)
            for own_labels, other in ((in_a, in_b), (in_b, in_a))
        ]
        chosen = []
        for groups in free:
            if groups:
                largest = max(reversed(groups), key=p.extent)
                chosen.append(largest)
                batch += [g for g in groups if g is not largest]
            else:
                chosen.append("")
        batch.sort(key=lambda g: p.y_axes.index(g[0]))
        summed = p.groups(p.summed, [strides["a"], strides["b"]], merge=True) if self._terms else []

        def along(name: str, groups: Sequence[str], scale: int = 1) -> tuple[int, ...]:
            return tuple(scale * strides[name][g[-1]] if g else 0 for g in groups)

        order: list[tuple[int, int]] = []

        def operands(name: str, groups: Sequence[str]) -> tuple[Operand, ...]:
            t = tensors[name]
            if t.kind.category is not Category.COMPLEX:
                order.append((t.number, 0))
                return (Operand(t.kind, along(name, groups), t.layout.alignment, t.layout.general),)
            half = ElementKind.F32 if t.kind is ElementKind.C64 else ElementKind.F64
            one = Operand(half, along(name, groups, 2), min(t.layout.alignment, half.itemsize), t.layout.general)
            offsets = [0, half.itemsize]
            order.extend((t.number, offset) for offset in (offsets[::-1] if name in p.exchanged else offsets))
            return (one, one)

        k = summed[0] if summed else ""
        a = operands("a", [*batch, chosen[0], k])
        b = operands("b", [*batch, k, chosen[1]])
        others: list[Operand] = []
        for port in epilogue:
            t = tensors[_tensor(port.name)]
            half = "." in port.name
            alignment = min(t.layout.alignment, port.kind.itemsize) if half else t.layout.alignment
            tensor_layout = along(_tensor(port.name), [*batch, *chosen], 2 if half else 1)
            others.append(Operand(port.kind, tensor_layout, alignment, t.layout.general))
            order.append((t.number, port.kind.itemsize if port.name.endswith(".im") else 0))
        problem = MatmulProblem(
            batch=tuple(map(p.extent, batch)),
            m=p.extent(chosen[0]),
            n=p.extent(chosen[1]),
            k=p.extent(k) if summed else self._terms,
            a=a,
            b=b,
            accumulator=p.accumulator,
            epilogue=self._epilogue,
            operands=tuple(others),
            math=self.math,
        )
        return problem, order

    # --- executables --------------------------------------------------------------------------------------------------

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        tensors = self._tensors(layout)
        if not all(tensors["y"].shape):
            return EmptyExecutable()
        copies: list[Copy] = []
        nbytes, to_copy = 0, self._to_copy(tensors)
        for name in to_copy:
            t = tensors[name]
            labels = self.problem.axes[name]
            last = [labels.index(x) for x in self.problem.summed]
            axes = [*(i for i in range(len(labels)) if i not in last), *last]
            packed = contiguous_strides([t.shape[i] for i in axes])
            target = tuple(packed[axes.index(i)] for i in range(len(axes)))
            copy = copier(self.device, t.kind, t.shape, t.layout, target, compiled_only=compiled_only)
            if copy is None:
                return None
            copies.append(Copy(t.number, nbytes, copy))
            nbytes += round_up(prod(t.shape) * t.kind.itemsize, 64)
            tensors = tensors | {name: replace(t, layout=OperandLayout(target, 64))}
        matmul_problem, order = self._matmul_problem(tensors)
        pick = None if order == [(i, 0) for i in range(len(self.specs))] else picker(order)
        main = self._built(matmul_problem, compiled_only, autotune, pick)
        return LayoutCopyExecutable(copies, main, nbytes) if copies and main is not None else main

    def _built(self, c: MatmulProblem, compiled_only: bool, autotune: bool, pick: Pick) -> GeneratedExecutable | None:
        params = given_parameters(c.epilogue.params, self.problem.parameters)
        shapes = [(*c.batch, c.m, c.k)] * len(c.a) + [(*c.batch, c.k, c.n)] * len(c.b) + [(*c.batch, c.m, c.n)] * len(c.operands)
        return executable(
            self.device,
            c,
            params,
            len(c.tensors),
            way=self.way,
            autotune=autotune,
            pick=pick,
            compiled_only=compiled_only,
            extents=lambda: list(zip(shapes, c.tensors, strict=True)),
        )


def _general(tensors: Mapping[str, _Tensor]) -> bool:
    return any(t.layout.general for t in tensors.values())


def _tensor(port: str) -> str:
    """The tensor that a port of the epilogue belongs to."""
    return port.partition(".")[0]


def _is_product(port: str) -> bool:
    return port in (PRODUCT, *PRODUCT_PARTS)
