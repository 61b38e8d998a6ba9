"""Ops as functions of tensors: what the caller's arguments mean, and the recipe that a repeated call follows.

The first call with tensors of some shapes, strides and elements works out the descriptor, the plan and the results; what
it found is kept under a key of those properties, so that the next such call only allocates and launches.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.arrays import current_stream
from baracuda.frontends.call import apply, describe, device_of, one_or_all, plan_for
from baracuda.frontends.recipes import NUMBERS, Recipe, recipe_key
from baracuda.ops.op import Op
from baracuda.ops.op_descriptor import OpDescriptor
from baracuda.ops.op_plan import plan_of

#: Recipes kept for one op.
MOST_RECIPES = 512


class Call:
    """One descriptor on given tensors."""

    def __init__(self, descriptor: OpDescriptor, tensors: Mapping[str, Any], like: Any) -> None:
        self.descriptor, self.tensors, self.like = descriptor, tensors, like

    def run(self, out: Sequence[Any] = ()) -> dict[str, Any]:
        """Compute; the results by name. `out` are tensors to write, None for one to allocate."""
        d, cls = self.descriptor, plan_of(self.descriptor)
        read = [s for s in cls.tensors if not s.written]
        written = [s for s in cls.tensors if s.written]
        wanted = [s.name for s in written if s.presence(d)]
        if len(out) > len(wanted):
            raise InvalidProblemError(f"out: {len(out)} tensors; expected at most {len(wanted)}: {', '.join(wanted)}")
        given = dict(zip(wanted, out, strict=False))
        results = apply(
            cls,
            cls.args,
            d,
            self.like,
            [self.tensors[s.name] if s.presence(d) else None for s in read],
            [d.described[s.name][:2] if s.presence(d) else None for s in written],
            [given.get(s.name) for s in written],
        )
        return {s.name: result for s, result in zip(written, results, strict=True) if s.name in wanted}


class Function:
    """An op as a function: `baracuda.gelu(x)`. Tensors are positional, everything else is by keyword."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self._recipes: dict[Any, Recipe] = {}
        self.__name__ = self.__qualname__ = op.name
        self.__doc__ = op.doc
        self.__module__ = "baracuda"
        self.__signature__ = self._signature()

    def _signature(self) -> inspect.Signature:
        found = inspect.signature(self.op.formula)
        known = {*self.op.signature.tensors, *self.op.signature.scalars, *self.op.signature.options}
        parameters = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name in known]
        keyword = inspect.Parameter.KEYWORD_ONLY
        extra: list[tuple[str, Any]] = []
        if self.op.rows:
            extra.append(("axis", None if callable(self.op.axis) else self.op.axis))
        if self.op.keepdims is not None:
            extra.append(("keepdims", self.op.keepdims))
        if self.op.extra:
            extra.append(("saved", False))
        if self.op.element_option:
            extra.append(("dtype", None))
        extra.append(("out", None))
        return inspect.Signature([*parameters, *(inspect.Parameter(n, keyword, default=v) for n, v in extra)])

    # --- from arguments to a descriptor -------------------------------------------------------------------------------

    def describe(self, *arguments: Any, wrt: Sequence[str] = (), given: Sequence[str] = (), **keywords: Any) -> OpDescriptor:
        """The descriptor of a call with these arguments."""
        return describe_call(self.op, arguments, keywords, tuple(wrt), tuple(given))[0]

    # --- calls --------------------------------------------------------------------------------------------------------

    def __call__(self, *arguments: Any, out: Any = None, **keywords: Any) -> Any:
        if len(arguments) < len(self.op.signature.tensors):
            arguments, keywords = bound(self.op, arguments, keywords)
        wanted = out if isinstance(out, tuple) else () if out is None else (out,)
        key = recipe_key((*arguments, *wanted), (len(arguments), *keywords.items()))
        recipe = self._recipes.get(key) if key is not None else None
        if recipe is not None:
            made = recipe.follow(arguments, wanted)
            return one_or_all(made)
        descriptor, tensors, like = describe_call(self.op, arguments, keywords)
        found = Call(descriptor, tensors, like).run(wanted)
        if key is not None:
            self._remember(key, descriptor, arguments, like, found)
        results = tuple(found.values())
        return one_or_all(results)

    def _remember(self, key: Any, d: OpDescriptor, arguments: Sequence[Any], like: Any, found: Mapping[str, Any]) -> None:
        cls, names = plan_of(d), self.op.signature.tensors
        written = [s.name for s in cls.tensors if s.written]
        read = tuple(names.index(s.name) if s.presence(d) else None for s in cls.tensors if not s.written)
        values = [arguments[i] if i is not None else None for i in read]
        results = tuple(d.described[n][:2] if n in found else None for n in written)
        plan = plan_for(cls, d, current_stream(like, device_of(like)), [*values, *(found.get(n) for n in written)])
        if len(self._recipes) >= MOST_RECIPES:
            self._recipes.clear()
        index = next(i for i, a in enumerate(arguments) if a is like)
        self._recipes[key] = Recipe(plan, cls.args, read, results, index, arguments)


def bound(op: Op, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """One argument for each of the op's tensors, None where none is given, and the keywords that are not tensors."""
    names, rest = op.signature.tensors, dict(keywords)
    if len(arguments) > len(names):
        raise InvalidProblemError(f"{op}: got {len(arguments)} tensors; expected {', '.join(names)}")
    return (*arguments, *(rest.pop(n, None) for n in names[len(arguments) :])), rest


def describe_call(
    op: Op, arguments: Sequence[Any], keywords: Mapping[str, Any], wrt: tuple[str, ...] = (), given: tuple[str, ...] = ()
) -> tuple[OpDescriptor, dict[str, Any], Any]:
    """The descriptor of a call, its tensors by name, and the one whose library and device are used."""
    signature = op.signature
    arguments, keywords = bound(op, arguments, keywords)
    named = dict(zip(signature.tensors, arguments, strict=True))
    tensors = {n: v for n, v in named.items() if v is not None and not isinstance(v, NUMBERS)}
    numbers = {n: v for n, v in named.items() if isinstance(v, NUMBERS)}
    if not tensors:
        raise InvalidProblemError(f"{op}: no tensor among {', '.join(signature.tensors)}; expected at least one")
    refs = {n: describe(v, n) for n, v in tensors.items()}
    axis = keywords.pop("axis", op.axis) if op.rows else ()
    keepdims = bool(keywords.pop("keepdims", op.keepdims)) if op.keepdims is not None else True
    element = element_of(keywords.pop("dtype", None)) if op.element_option else None
    wanted: tuple[str, ...] = ()
    if op.extra and not wrt and not keywords.pop("saved", False):
        wanted = tuple(n for n in op.results if n not in op.extra)
    scalars: dict[str, Any] = dict(numbers)
    options: dict[str, Any] = {}
    for name, value in keywords.items():
        if name in signature.options:
            options[name] = value
        elif name in signature.scalars:
            scalars[name] = _number(name, value)
        else:
            expected = [*signature.tensors, *signature.scalars, *signature.options]
            raise InvalidProblemError(f"{name}: {op} has no such parameter; expected some of {', '.join(expected)}")
    shapes = [refs[n].shape if n in refs else None for n in signature.tensors]
    rank = max((len(s) for s in shapes if s is not None), default=0)
    if callable(op.axis) and (axis is None or callable(axis)):
        axis = op.axis(rank)
    axes = tuple(range(rank)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    descriptor = OpDescriptor(
        op,
        tuple(shapes),
        tuple(refs[n].kind if n in refs else None for n in signature.tensors),
        axes,
        keepdims,
        element,
        tuple(sorted(scalars.items())),
        tuple(sorted(options.items())),
        wanted,
        wrt,
        given,
    )
    like = max(tensors.values(), key=lambda t: len(t.shape))
    return descriptor, tensors, like


def _number(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidProblemError(f"{name}: {value!r}; expected a number")
    return value


def element_of(dtype: Any) -> ElementKind | None:
    """An element kind from one, from a NumPy or torch dtype, or from a name."""
    if dtype is None or isinstance(dtype, ElementKind):
        return dtype
    name = str(dtype).removeprefix("torch.")
    for kind in ElementKind:
        if name in (kind.label, kind.numpy.name):
            return kind
    return ElementKind.from_numpy(dtype)
