"""A rival library: its tensors over ours, its functions by the catalogue's names, and whether its values are ours.

A function of the right name may still be another function (other defaults, another order of its tensors). So what a name
leads to is called once, and is timed only if its values agree with ours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from baracuda.cli.bench.benchmark import Benchmark, Invocation, Prepared
from baracuda.cli.bench.checks import disagreement
from baracuda.cli.bench.place import Place, Tensor, spans
from baracuda.cli.bench.results import FRESH, OURS

#: A call of a rival; its results in the order of the invocation's.
Results = Callable[[], Sequence[Any]]
Function = Callable[..., Any]

#: How much more a rival may be off than we: it rounds between its steps, and approximates functions.
SLACK = 200.0


class NoRivalError(Exception):
    """There is nothing to time; the message says why."""


class NothingComputedError(NoRivalError):
    """What the library has for it gives back what it was given."""


@dataclass
class Contender:
    """Calls that do the same on different sets of tensors, and which of ours stands for us."""

    calls: Sequence[Results]
    against: str = OURS


#: More calls of rivals than names lead to: a function of a library, a problem and the library's tensors by name, that gives a
#: call for each contender's label, or nothing.
Table = Callable[["Library", Benchmark, Mapping[str, Any]], Mapping[str, Results]]


@dataclass(frozen=True)
class Tables:
    """What is asked before the catalogue's names, and where these lead to nothing: what is written in several calls is no rival
    where the library has one that does it."""

    before: Sequence[Table] = ()
    after: Sequence[Table] = ()


@dataclass
class Library(ABC):
    """One rival on a device.

    Attributes
    ----------
    place
        Where.
    tables
        What is asked besides the catalogue's names.
    """

    place: Place
    tables: Tables = field(default_factory=Tables)

    #: What its contenders are called.
    label = ""

    # --- what a library provides --------------------------------------------------------------------------------------

    @abstractmethod
    def tensor(self, ours: Tensor) -> Any:
        """The library's tensor of the same values, over the same memory where that can be."""

    @abstractmethod
    def host(self, result: Any, span: tuple[slice, ...]) -> np.ndarray[Any, Any]:
        """A part of a result as a NumPy array."""

    @abstractmethod
    def functions(self, op: str) -> Iterator[Function]:
        """What may be the op, the likeliest first, taking our keywords."""

    @abstractmethod
    def call(self, function: Function, invocation: Invocation, tensors: Mapping[str, Any]) -> Results:
        """The call of a function, or of its backward."""

    def into(self, function: Function, invocation: Invocation, tensors: Mapping[str, Any]) -> Results | None:
        """The call into given results; None where the library has no such thing."""
        return None

    def given_back(self, result: Any, ours: Prepared) -> bool:
        """Whether a result is an argument of the call, or a view of one: then nothing was computed."""
        return False

    # --- contenders ---------------------------------------------------------------------------------------------------

    def contenders(self, problem: Benchmark, sets: Sequence[Prepared]) -> dict[str, Contender]:
        """What is timed, by its label. Raises `NoRivalError`."""
        held = [{name: self.tensor(t) for name, t in s.tensors.items()} for s in sets]
        timed = self._written(self.tables.before, problem, sets, held)
        if timed:
            return timed
        try:
            return self._named(problem, sets, held)
        except NothingComputedError:
            raise
        except NoRivalError:
            timed = self._written(self.tables.after, problem, sets, held)
            if not timed:
                raise
            return timed

    def _written(
        self, tables: Sequence[Table], problem: Benchmark, sets: Sequence[Prepared], held: Sequence[Mapping[str, Any]]
    ) -> dict[str, Contender]:
        """What the first table that has something has. Raises `NoRivalError` where its values are not ours."""
        for table in tables:
            calls = [dict(table(self, problem, tensors)) for tensors in held]
            if calls[0]:
                for label, call in calls[0].items():
                    refusal = self.refused(problem, sets[0], call)
                    if refusal:
                        raise NoRivalError(f"{label}: {refusal}")
                return {label: self._contender(label, [f[label] for f in calls], sets[0]) for label in calls[0]}
        return {}

    def _named(self, problem: Benchmark, sets: Sequence[Prepared], held: Sequence[Mapping[str, Any]]) -> dict[str, Contender]:
        """What the catalogue's names lead to. Raises `NoRivalError`."""
        invocation = problem.invocation
        if invocation is None:
            raise NoRivalError("no function of a name of the catalogue's does it")
        refusals: list[NoRivalError] = []
        ways = [(f, i) for f in self.functions(invocation.op) for i in _spelled(invocation)]
        for function, invocation in ways:
            try:
                calls = [self.call(function, invocation, tensors) for tensors in held]
                refusal = self.refused(problem, sets[0], calls[0])
            except Exception as error:  # whatever it does not take
                refusal = NoRivalError(f"{type(error).__name__}: {str(error)[:200]}")
            if refusal is None:
                found_calls = {self.label: calls}
                into_call = self._into(function, invocation, held, problem, sets[0])
                if into_call is not None:
                    found_calls[f"{self.label} out="] = into_call
                return {label: self._contender(label, c, sets[0]) for label, c in found_calls.items()}
            refusals.append(refusal)
        raise refusals[0] if refusals else NoRivalError(f"it has no {invocation.op}")

    def _into(
        self, function: Function, invocation: Invocation, held: Sequence[Mapping[str, Any]], problem: Benchmark, ours: Prepared
    ) -> list[Results] | None:
        """Calls into given results, on the CPU, where memory is slow to come by; None where there are none."""
        if not self.place.on_cpu or invocation.wrt:
            return None
        try:
            calls = [c for c in (self.into(function, invocation, tensors) for tensors in held) if c is not None]
            return calls if calls and not self.refused(problem, ours, calls[0]) else None
        except Exception:  # most functions have no such thing
            return None

    def _contender(self, label: str, calls: Sequence[Results], ours: Prepared) -> Contender:
        """Results that are made in each call stand against our function, which makes them too, where it is timed."""
        return Contender(calls, FRESH if ours.fresh is not None and not label.endswith("out=") else OURS)

    def refused(self, problem: Benchmark, ours: Prepared, call: Results) -> NoRivalError | None:
        """Why a call is not the problem's: its values are others. None where they are ours."""
        if not ours.outputs:  # the launch suite's functions: nothing is kept to compare with
            call()
            return None
        ours.launch()
        self.place.clock.synchronise()
        compared = 0
        for name, result in zip(ours.outputs, call(), strict=False):
            if result is None:
                continue
            if not hasattr(result, "shape"):
                return NoRivalError(f"{name} is {type(result).__name__}, no tensor")
            if self.given_back(result, ours):
                return NothingComputedError(f"{name} is a view of an argument: nothing is computed")
            wanted = ours.tensors[name]
            shape = tuple(wanted.shape)
            got = tuple(result.shape)
            if got != shape and [n for n in got if n != 1] != [n for n in shape if n != 1]:
                return NoRivalError(f"{name} has shape {got}; ours {shape}")
            expected = self.place.look(wanted)
            parts = [self.host(result if got == shape else result.reshape(shape), span) for span in spans(shape)]
            values = parts[0] if len(parts) == 1 else np.concatenate([p.reshape(-1) for p in parts])
            error = disagreement(np.asarray(values).astype(expected.dtype), expected, SLACK)
            if not error <= 1.0:
                return NoRivalError(f"{name} has other values: {error:.3g} times what rounding explains")
            compared += 1
        return None if compared else NoRivalError("it gives no result of ours")


def _spelled(invocation: Invocation) -> list[Invocation]:
    """The invocation with our defaults, and as it is; as it is first where the default is every axis, as others' mostly is."""
    more = {k: v for k, v in invocation.defaults.items() if k not in invocation.keywords}
    if not more:
        return [invocation]
    ways = [replace(invocation, keywords={**invocation.keywords, **more}), invocation]
    return ways[::-1] if isinstance(more.get("axis"), tuple) else ways


def named(module: Any, names: str) -> Iterator[Function]:
    """The functions of a module by the catalogue's names of an op, separated by commas."""
    for name in (n.strip() for n in names.split(",") if n):
        try:
            yield reduce(getattr, name.split("."), module)
        except AttributeError:
            continue


def arguments(invocation: Invocation, tensors: Mapping[str, Any]) -> list[Any]:
    """The tensors of the forward call, without those that are left out at its end."""
    operands = [None if n is None else tensors.get(n) for n in invocation.tensors]
    while operands and operands[-1] is None:
        operands.pop()
    return operands


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)
