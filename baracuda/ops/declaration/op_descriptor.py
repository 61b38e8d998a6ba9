"""The descriptor of an op's problem, forward or backward, and the graph it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from baracuda.core.axes import Axes
from baracuda.core.descriptor import variable
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.lazy import cached_property
from baracuda.core.spec import check_axes, check_shape, counted
from baracuda.formula.expr import Expr
from baracuda.formula.graph import Graph
from baracuda.lowering.nest.sequence import directions
from baracuda.ops.declaration.formula_plan import FormulaDescriptor
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule, common, result_element, whole
from baracuda.ops.declaration.traced import IndexBound, Shape, Space, exact_class, space_of, varying
from baracuda.ops.declaration.tracing import graph_of, reads, scalar_kind


@dataclass(frozen=True)
class OpDescriptor(FormulaDescriptor):
    """A problem of one op.

    Attributes
    ----------
    op
        The op.
    shapes, elements
        Those of each tensor of the op's signature; None for one that is left out or is a Python number (then it is among
        `scalars`).
    axes
        The axes that rows run along, numbered from 0 or from the end; for the backward of a pointwise op, those that
        the gradients are summed over.
    keepdims
        Whether results without an element for each point of a row keep the rows' axes with extent 1.
    element
        What the result is stored in, where the op lets the caller choose; None: by promotion.
    scalars, options
        What the caller gave besides tensors, by name.
    wrt
        Empty for the forward; for the backward, the tensors whose gradients are computed.
    wanted
        For the forward: the results that are computed; empty: all.
    given
        For the backward: the results that have a gradient; empty: every one of a float element.
    """

    op: Op
    shapes: tuple[Shape | None, ...]
    elements: tuple[ElementKind | None, ...]
    axes: tuple[int, ...] = ()
    keepdims: bool = True
    element: ElementKind | None = None
    scalars: tuple[tuple[str, float], ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    wanted: tuple[str, ...] = ()
    wrt: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    def validate(self) -> None:
        op, names = self.op, self.op.signature.tensors
        if not len(self.shapes) == len(self.elements) == len(names):
            raise InvalidProblemError(f"{op}: {len(self.shapes)} shapes and {len(self.elements)} elements; expected {names}")
        numbers = dict(self.scalars)
        for name, shape in zip(names, self.shapes, strict=True):
            if shape is not None:
                check_shape(name, shape)
            elif name not in op.signature.optional and name not in numbers:
                raise InvalidProblemError(f"{name}: got None; expected a tensor")
            elif name not in op.signature.optional and op.needs_extents(name):
                raise InvalidProblemError(f"{name}: {numbers[name]!r}; expected a tensor")
        if not self.tensors:
            raise InvalidProblemError(f"{op}: no tensor among {', '.join(names)}; expected at least one")
        check_shape("the broadcast shape", self.space)
        if op.axis_option:
            check_axes("axis", self.axes, len(self.space))
        if op.check is not None:
            all_options = {**op.signature.options, **dict(self.options), **self.numbers_given}
            op.check(self.tensors, tuple(sorted(self.inner_set)), all_options)
        known = {**op.signature.scalars, **dict.fromkeys(names)}
        for what, entries, expected in (("scalar", self.scalars, known), ("option", self.options, op.signature.options)):
            for name, _ in entries:
                if name not in expected:
                    raise InvalidProblemError(
                        f"{name}: {op} has no such {what}; expected some of {', '.join(expected) or 'none'}"
                    )
        for name, kind in self.whole_numbers:
            check_whole(name, self.numbers_given[name], kind)
        for name, value in self.options:
            op.signature.domains[name].check(name, value)
        for name, bound in self.limits:
            if not bound.classes and self.tensors[name][1] not in (ElementKind.S32, ElementKind.S64):
                raise InvalidProblemError(f"{name}: element is {self.tensors[name][1]}; expected indices in s32 or s64")
        kind = self.promoted
        for name, (_, own) in self.tensors.items():
            if own.category is Category.COMPLEX and own.category not in op.takes:
                raise UnsupportedError(f"{name}: element is {own}; {op} takes no complex numbers")
        if not op.accepts(kind):
            raise UnsupportedError(f"{op}: {kind}; expected one of {', '.join(str(k) for k in ElementKind if op.accepts(k))}")
        for name in names:
            if isinstance(numbers.get(name), complex) and Category.COMPLEX not in op.takes:
                raise UnsupportedError(f"{name}: {numbers[name]!r}; {op} takes no complex numbers")

    # --- what follows from the fields ---------------------------------------------------------------------------------

    @cached_property
    def tensors(self) -> dict[str, tuple[Shape, ElementKind]]:
        """The tensors that are given: shape, as the formula sees it, and element by name."""
        rows = zip(self.op.signature.tensors, self.shapes, self.elements, strict=True)
        described = {name: (shape, kind) for name, shape, kind in rows if shape is not None and kind is not None}
        if self.op.vectors and len(self.axes) > 1:
            whole = next((shape for n, (shape, _) in described.items() if n not in self.op.vectors), ())
            row = tuple(n for a, n in enumerate(whole) if a in counted(self.axes, len(whole)))
            flat = {n: (row, k) for n, (s, k) in described.items() if n in self.op.vectors and s == (prod(row),)}
            described |= flat
        return described

    @cached_property
    def given_shapes(self) -> dict[str, Shape]:
        """The shapes of the tensors as they are given."""
        return {n: s for n, s in zip(self.op.signature.tensors, self.shapes, strict=True) if s is not None}

    @cached_property
    def space(self) -> Shape:
        shapes = {n: s for n, (s, _) in self.tensors.items()}
        if self.own_space is not None:
            return space_of(shapes, self.own_space.axes, self.own_space)
        rank = max([len(s) for n, s in shapes.items() if n not in self.op.places], default=0)
        placements = {n: place for n, place in self.op.places.items() if n in shapes and len(shapes[n]) != rank}
        return space_of(shapes, {n: place(rank, counted(self.axes, rank)) for n, place in placements.items()})

    @cached_property
    def own_space(self) -> Space | None:
        """Where the tensors' axes lie in the iteration space, for an op that says so."""
        if self.op.space is None:
            return None
        shapes = {n: s for n, (s, _) in self.tensors.items()}
        return self.op.space(shapes, {**self.op.signature.options, **dict(self.options)})

    @cached_property
    def limits(self) -> Sequence[tuple[str, IndexBound]]:
        """The tensors of indices that read others, and what they must be in."""
        if self.op.bounds is None:
            return ()
        shapes = {n: s for n, (s, _) in self.tensors.items()}
        rows = {"axis": counted(self.axes, len(self.space))} if self.op.rows else {}
        options = {**self.op.signature.options, **dict(self.options)}
        bounds = self.op.bounds(shapes, {**options, **self.numbers_given, **rows})
        return [(n, bound) for n, bound in bounds if not bound.classes or self.tensors[n][1].is_integer]

    @cached_property
    def inner_set(self) -> frozenset[int]:
        return frozenset(counted(self.axes, len(self.space)))

    @cached_property
    def inner(self) -> tuple[bool, ...]:
        return tuple(a in self.inner_set for a in range(len(self.space)))

    @property
    def iteration_shape(self) -> Shape:
        return self.space

    @property
    def inner_axes(self) -> tuple[bool, ...]:
        return self.inner

    @cached_property
    def numbers_given(self) -> dict[str, Any]:
        """Every number of the call, by name: those that stand for tensors, and the scalars; None for one that is left out."""
        return {**self.op.signature.scalars, **dict(self.scalars)}

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        return parts_of(self.numbers_given)

    @cached_property
    def structure(self) -> OpDescriptor:
        if not self.numbers_given:
            return self
        literals = self.op.literals
        scalars = ((n, variable(v, literals.get(n, ()))) for n, v in self.numbers_given.items())
        return self._with(scalars=tuple(sorted(scalars)))  # type: ignore[no-any-return]

    @cached_property
    def whole_numbers(self) -> list[tuple[str, ElementKind]]:
        """The numbers of the call that an integer kind must hold, with that kind."""
        tensors, numbers = self.op.signature.tensors, self.numbers_given
        kind = self.promoted.compute
        rows = ((n, kind if n in tensors else scalar_kind(self, n)) for n, v in numbers.items() if v is not None)
        return [(n, k) for n, k in rows if k.is_integer]

    @cached_property
    def promoted(self) -> ElementKind:
        """The element that the op computes with and stores."""
        own = self.op.signature.own
        kinds = [k for n, (_, k) in self.tensors.items() if n not in own] or [k for _, k in self.tensors.values()]
        if self.op.rule is Rule.EACH:
            return next((k for k in kinds if k.is_float), kinds[0])
        numbers = [v for n, v in self.scalars if n in self.op.signature.tensors]
        promoted = result_element(self.op.rule, common(kinds, numbers))
        return self.element or promoted

    def placement(self, name: str) -> tuple[int | None, ...]:
        """The axes of the iteration space that a tensor's axes lie along; None for one that is read at an index."""
        if self.own_space is not None:
            return tuple(self.own_space.axes[name])
        shape, rank = self.tensors[name][0], len(self.space)
        if name in self.op.places and len(shape) != rank:
            return self.op.places[name](rank, counted(self.axes, rank))
        return tuple(range(rank - len(shape), rank))

    def varying(self, name: str) -> tuple[bool, ...]:
        return varying(self.tensors[name][0], self.space, self.placement(name))

    def exact(self, name: str) -> Axes | None:
        """The class of a tensor whose gradient one kernel gives; None where a sum must follow."""
        return exact_class(self.varying(name), self.inner)

    def slope_kind(self, name: str) -> ElementKind:
        """The element of the gradient of a tensor or result."""
        kind = self.tensors[name][1] if name in self.tensors else self.forward.results[name][1]
        if name not in self.op.straight or kind.is_float:
            return kind
        kinds = (self.promoted, *(k for _, k, _ in self.forward.results.values()))
        return next(k for k in kinds if k.is_float)

    @cached_property
    def graph(self) -> Graph:
        return graph_of(self)

    @cached_property
    def forward(self) -> OpDescriptor:
        return replace(self, wanted=(), wrt=(), given=())

    def __getattr__(self, name: str) -> Any:
        """shape_x, kind_x, axes_x, has_x and lies_x, the shape in the formula, of a tensor x, for the specs."""
        what, _, tensor = name.partition("_")
        if what == "has" and tensor:
            return tensor in self.described
        if what == "lies":
            return self.tensors[tensor if tensor in self.tensors else tensor[1:]][0]
        if what in ("shape", "kind", "axes") and tensor in self.described:
            return self.described[tensor][("shape", "kind", "axes").index(what)]
        raise AttributeError(name)

    @cached_property
    def described(self) -> dict[str, tuple[Shape, ElementKind, tuple[int | None, ...]]]:
        """Shape, element and axes of every tensor of the plan, by name: those that the graph reads, and those it writes."""
        described: dict[str, tuple[Shape, ElementKind, tuple[int | None, ...]]] = {}
        for port in self.graph.inputs:
            name = port.name.partition(".")[0]
            if name in self.tensors:
                described[name] = (self.given_shapes[name], self.tensors[name][1], self.placement(name))
            elif name not in described:
                described[name] = self._cotangent_or_saved(name)
        for port, expr in self.graph.outputs:
            name, _, half = port.name.partition(".")
            kind = whole(port.kind) if half else port.kind
            if self.wrt and self.exact(name[1:]) is not None:
                described[name] = (self.given_shapes[name[1:]], kind, self.placement(name[1:]))
            elif self.wrt:
                axes = tuple(range(len(self.space)))
                described[name] = (self._result_shape(port.axes, axes), kind, axes)
            else:
                axes = self._result_axes(port.axes, expr)
                described[name] = (self._result_shape(port.axes, axes), kind, axes)
        return described

    @cached_property
    def results(self) -> dict[str, tuple[Shape, ElementKind, tuple[int | None, ...]]]:
        """Shape, element and axes of each result of a forward descriptor."""
        result_names = {p.name.partition(".")[0] for p, _ in self.graph.outputs}
        return {name: row for name, row in self.described.items() if name in result_names}

    def _cotangent_or_saved(self, name: str) -> tuple[Shape, ElementKind, tuple[int | None, ...]]:
        results = self.forward.results
        if name in results:
            return results[name]
        shape, _, axes = results[name[1:]]
        return shape, self.slope_kind(name[1:]), axes

    def _result_axes(self, axes: Axes, value: Expr) -> tuple[int, ...]:
        if self.keepdims or axes is Axes.FULL:
            return tuple(range(len(self.space)))
        if axes is Axes.INNER:  # reduced over the rows
            return tuple(a for a, i in enumerate(self.inner) if i)
        if axes is Axes.NONE and (directions(value) & Axes.OUTER or not reads(value)):  # one number for all rows
            return ()
        return tuple(a for a, i in enumerate(self.inner) if not i)

    def _result_shape(self, axes: Axes, axes_of_result: tuple[int, ...]) -> Shape:
        keep = {True: bool(axes & Axes.INNER), False: bool(axes & Axes.OUTER)}
        return tuple(self.space[a] if keep[self.inner[a]] else 1 for a in axes_of_result)


def check_whole(name: str, value: Any, kind: ElementKind) -> None:
    """Raise unless a number that an integer kind is to hold is whole and in its range."""
    limits = np.iinfo(kind.numpy)
    if isinstance(value, complex) or not limits.min <= value <= limits.max or value != int(value):
        raise InvalidProblemError(f"{name}: {value!r}; expected a whole number in the range of {kind}")


def parts_of(numbers: Mapping[str, Any]) -> dict[str, float]:
    """Numbers as parameters: the parts of a complex one apart, without those that are None."""
    parameters: dict[str, float] = {}
    for name, value in numbers.items():
        if isinstance(value, complex):
            parameters[f"{name}.re"], parameters[f"{name}.im"] = value.real, value.imag
        elif value is not None:
            parameters[name] = value
    return parameters
