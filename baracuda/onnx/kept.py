"""A program's steps as kept calls: what follows from layouts alone is computed once for each, and every run of steps between two
that read values on the host is one call (`baracuda.frontends.program`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.core.call_recorder import hold, unseen
from baracuda.frontends import program as kept_calls
from baracuda.frontends.array.array import Array
from baracuda.onnx.layouts import WANTED, concatenated, dense
from baracuda.onnx.operators import registry
from baracuda.onnx.program import Program, Step, drop, take

#: Operators that say of values only what their layouts say.
_OF_LAYOUTS = {"Shape", "Size"}
#: Operators whose results have as many elements as values say, or that compute on the host.
_BY_VALUES = {"NonZero", "Unique", "Compress", "NonMaxSuppression", "StringNormalizer", "RandomUniform", "RandomNormal",
              "RandomUniformLike", "RandomNormalLike", "Bernoulli", "Multinomial"}  # fmt: skip
#: Steps that are worth a kept call.
_FEWEST = 2
#: What values that follow from layouts are of.
_ELEMENTS = [np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")]


@dataclass(frozen=True, eq=False)
class Part:
    """Some neighbouring steps as one function, of the values in `reads` to those in `makes`."""

    steps: tuple[Step, ...]
    fixed: frozenset[str]
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    call: kept_calls.Program


class Kept:
    """A program whose steps are kept where they can be; gives what the program gives, with the same bits."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.fixed = frozenset(_fixed(program, frozenset(program.constants)))
        self.pieces: tuple[Step | Part, ...] = tuple(self._pieces())

    def __call__(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs, of inputs in the graph's order."""
        program = self.program
        if not any(isinstance(p, Part) for p in self.pieces) or not all(map(_is_tensor, values)):
            return program(values)
        known = {**program.constants, **dict(zip(program.graph.inputs, values, strict=True))}
        for piece in self.pieces:
            if isinstance(piece, Step):
                take(piece, known)
            else:
                found = piece.call(*(_argument(known[n], n in self.fixed) for n in piece.reads))
                known.update(zip(piece.makes, map(_value, found), strict=True))
                for n in {n for step in piece.steps for n in step.last}:
                    known.pop(n, None)
        return program.outputs(known)

    def _pieces(self) -> Iterator[Step | Part]:
        run: list[Step] = []
        for step in (*self.program.steps, None):
            if step is not None and _is_kept(step, self.fixed):
                run.append(step)
                continue
            if sum(n.inputs != () for n in run) >= _FEWEST:
                yield self._part(tuple(run))
            else:
                yield from run
            run = []
            if step is not None:
                yield step

    def _part(self, steps: tuple[Step, ...]) -> Part:
        made = {n for s in steps for n in s.outputs if n}
        read = {n for s in steps for n in s.inputs if n}
        gone = {n for s in steps for n in s.last}
        reads = tuple(sorted(read - made - self.program.constants.keys()))
        makes = tuple(sorted(made - gone))

        def run(*given: Any) -> tuple[Any, ...]:
            known = {**self.program.constants, **{n: _value(g) for n, g in zip(reads, given, strict=True)}}
            for n in reads:
                if n in self.fixed:
                    _hold(known[n])
            for step in steps:
                if all(n in self.fixed for n in step.outputs if n):
                    with unseen():
                        take(step, known)
                    for n in step.outputs:
                        _hold(known.get(n))
                else:
                    if change := WANTED.get((step.node.domain, step.node.operator)):
                        known[step.inputs[0]] = change(known[step.inputs[0]])
                    if concatenated(step, known):
                        drop(step, known)
                    else:
                        take(step, known)
            return tuple(_argument(dense(known[n]), n in self.fixed) for n in makes)

        constants = [known for n in sorted(read) if (known := self.program.constants.get(n)) is not None]
        held = [c for c in constants if isinstance(c, (np.ndarray, Array)) and c.size]
        name = self.program.graph.name or "graph"
        call = kept_calls.Program(run, held=_readable(held), name=name, constant=True, fuse=True)
        return Part(steps, self.fixed, reads, makes, call)


def _fixed(program: Program, fixed: frozenset[str]) -> set[str]:
    """The values that follow from layouts and constants alone."""
    known = set(fixed)
    for step in program.steps:
        of_layouts = step.node.operator in _OF_LAYOUTS and not step.node.domain
        given = all(n in known for n in step.inputs if n) and step.node.operator not in _BY_VALUES
        if not step.captures and (of_layouts or given):
            known |= {n for n in step.outputs if n}
    return known


def _is_kept(step: Step, fixed: frozenset[str]) -> bool:
    """Whether a step's launches follow from layouts alone."""
    if step.captures:
        return False
    if all(n in fixed for n in step.outputs if n):
        return True
    if step.body is not None:
        inner = step.body
        names = (*step.inputs, *("",) * len(inner.graph.inputs))
        given = {p for p, n in zip(inner.graph.inputs, names, strict=False) if n in fixed or not n}
        within = frozenset(_fixed(inner, frozenset({*inner.constants, *given})))
        return all(_is_kept(s, within) for s in inner.steps)
    entry = registry.find(step.node.domain, step.node.operator, step.node.version)
    if entry is None or step.node.operator in _BY_VALUES:
        return False
    return all(not n or n in fixed for i, n in enumerate(step.inputs) if i in entry.hosted)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (np.ndarray, Array))


def _readable(values: Sequence[Any]) -> list[Any]:
    """Those that kernels read: not strings and what else lies on the host alone."""
    return [v for v in values if not isinstance(v, np.ndarray) or v.dtype.kind in "biufcV"]


def _argument(value: Any, fixed: bool) -> Any:
    """What follows from layouts goes by value: the element, the shape and the numbers."""
    if fixed and isinstance(value, np.ndarray) and value.dtype in _ELEMENTS:
        return _ELEMENTS.index(value.dtype), tuple(value.shape), tuple(value.reshape(-1).tolist())
    return value


def _value(given: Any) -> Any:
    if not isinstance(given, tuple):
        return given
    element, shape, values = given
    return np.array(values, _ELEMENTS[element]).reshape(shape)


def _hold(value: Any) -> None:
    for v in value if isinstance(value, list) else [value]:
        if _is_tensor(v):
            hold(v)
