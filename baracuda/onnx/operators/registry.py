"""The one table of what serves an ONNX operator, and how a node's attributes become arguments."""

from __future__ import annotations

import inspect
import types
import typing
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, NewType

import numpy as np

import baracuda
from baracuda.core.device import Device
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.onnx.node import Node, Subgraph

Ints = tuple[int, ...]
Floats = tuple[float, ...]
Strings = tuple[str, ...]
#: How many outputs the node asks for: the position of the last one that has a name, plus one.
Wanted = NewType("Wanted", int)
#: The version of the node's operator set.
Version = NewType("Version", int)
#: The key of a random operator: each has its own, from the seed that the model is loaded with.
Key = NewType("Key", object)
#: The subgraph's runner: a function of its inputs.
Body = Callable[..., tuple[Any, ...]]


#: Keyword-only parameters that are no attributes.
_FILLED = (Wanted, Version, Key)


class Draws:
    """The keys of a model's random operators, in the order in which they are loaded."""

    def __init__(self, seed: int, device: Device | None) -> None:
        if not isinstance(seed, int) or not 0 <= seed < 1 << 64:
            raise InvalidProblemError(f"seed: {seed!r}; expected an integer of 64 bits")
        self._seed = seed
        self._device = device
        self._count = count()

    def key(self, seed: float | None) -> Any:
        """The key that a node's attribute `seed` makes; without one, another for each node."""
        own = next(self._count)
        if seed is None:
            return baracuda.rng_fold_in(baracuda.rng_key(self._seed, device=self._device), own)
        number = int(np.float32(seed).view(np.uint32)) if isinstance(seed, float) else seed % (1 << 64)
        return baracuda.rng_key(number, device=self._device)


@dataclass(frozen=True)
class Operator:
    """What computes an operator from one version of its domain on.

    Attributes
    ----------
    name, domain, since
        The operator, and the first version of its domain that this entry serves.
    function
        Takes the node's inputs by position, None for one that is left out, and attributes by keyword.
    fewest, most
        How many inputs there may be; None for any number.
    attributes
        The annotated kind of each attribute, by name.
    """

    name: str
    domain: str
    since: int
    function: Callable[..., Any]
    fewest: int
    most: int | None
    attributes: Mapping[str, Any]
    required: frozenset[str]
    hosted: frozenset[int] = frozenset()

    def bind(self, node: Node, draws: Draws) -> Callable[..., Any]:
        """The function with the node's attributes, which are checked here and nowhere else."""
        if len(node.inputs) < self.fewest or (self.most is not None and len(node.inputs) > self.most):
            expected = f"{self.fewest} or more" if self.most is None else f"{self.fewest} to {self.most}"
            raise InvalidProblemError(f"{node}: {len(node.inputs)} inputs; expected {expected}")
        if "" in node.inputs[: self.fewest]:
            raise InvalidProblemError(f"{node}: input {node.inputs.index('')} is left out; expected {self.fewest} inputs")
        words: dict[str, Any] = {}
        for name, value in node.attributes.items():
            if name == "consumed_inputs" and not node.domain and node.version < 6:
                continue  # a hint about memory
            kind = self.attributes.get(name)
            if kind in (None, *_FILLED):
                expected = ", ".join(n for n, k in self.attributes.items() if k not in _FILLED) or "none"
                raise InvalidProblemError(f"{node}: attribute {name}; expected one of: {expected}")
            if not _is(value, kind):
                raise InvalidProblemError(f"{node}: attribute {name} is {value!r}; expected {_words(kind)}")
            words[name] = bool(value) if kind is bool else value
        if missing := sorted(self.required - words.keys()):
            raise InvalidProblemError(f"{node}: attribute {missing[0]} is missing")
        for name, kind in self.attributes.items():
            if kind is Wanted:
                words[name] = max((i + 1 for i, n in enumerate(node.outputs) if n), default=0)
            elif kind is Version:
                words[name] = node.version
            elif kind is Key:
                words[name] = draws.key(words.pop("seed", None))
        return partial(self.function, **words) if words else self.function


_TABLE: dict[tuple[str, str], list[Operator]] = {}


def operator(*names: str, since: int = 1, domain: str = "", **fixed: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function serve an operator from a version on: positional parameters are inputs, keyword-only ones attributes."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            add(
                name,
                partial(function, **fixed) if fixed else function,
                since=since,
                domain=domain,
                signature=function,
                fixed=fixed,
            )
        return function

    return register


def add(
    name: str,
    function: Callable[..., Any],
    *,
    since: int = 1,
    domain: str = "",
    signature: Callable[..., Any] | None = None,
    fixed: Mapping[str, Any] | None = None,
    inputs: int | None = None,
) -> None:
    """Enter a function; with `inputs` it takes that many tensors and no attributes, whatever its own signature."""
    entries = _TABLE.setdefault((domain, name), [])
    if any(e.since == since for e in entries):
        raise ValueError(f"{name} has an entry since version {since} already")
    if inputs is not None:
        entry = Operator(name, domain, since, function, inputs, inputs, {}, frozenset())
    else:
        signature = signature or function
        parameters = inspect.signature(signature).parameters.values()
        hints = typing.get_type_hints(signature)
        any_number = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        marked = typing.get_type_hints(signature, include_extras=True)
        tensors = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        words = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in (fixed or {})]
        kinds = {p.name: hints[p.name] for p in words}
        entry = Operator(
            name,
            domain,
            since,
            function,
            sum(p.default is p.empty for p in tensors) or int(any_number and not tensors),
            None if any_number else len(tensors),
            kinds,
            hosted=frozenset(i for i, p in enumerate(tensors) if "__metadata__" in dir(marked[p.name])),
            required=frozenset(p.name for p in words if p.default is p.empty and kinds[p.name] not in _FILLED),
        )
    entries.append(entry)
    entries.sort(key=lambda e: e.since)


def find(domain: str, name: str, version: int) -> Operator | None:
    """The entry that serves an operator in a version of its domain; None where there is none."""
    entries = _TABLE.get((domain, name), ())
    at = bisect_right([e.since for e in entries], version)
    return entries[at - 1] if at else None


def unsupported(domain: str, name: str, version: int, why: str = "") -> UnsupportedError:
    """The error for an operator that nothing serves."""
    return UnsupportedError(f"operator {name} of domain {domain or 'ai.onnx'!r} in version {version} is not served" + why)


def entries() -> list[Operator]:
    """All entries, by domain, name and version."""
    return [e for _, of_name in sorted(_TABLE.items()) for e in of_name]


def _options(kind: Any) -> tuple[Any, ...]:
    return tuple(o for k in typing.get_args(kind) for o in _options(k)) if isinstance(kind, types.UnionType) else (kind,)


def _is(value: Any, kind: Any) -> bool:
    return any(_is_one(value, k) for k in _options(kind) if k is not type(None))


def _is_one(value: Any, kind: Any) -> bool:
    if typing.get_origin(kind) is Callable:
        return isinstance(value, Subgraph)
    if typing.get_origin(kind) is typing.Literal:
        return value in typing.get_args(kind)
    if typing.get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(isinstance(v, typing.get_args(kind)[0]) for v in value)
    if kind is bool:
        return isinstance(value, int) and value in (0, 1)
    return kind is Any or isinstance(value, kind)


def _words(kind: Any) -> str:
    names = {int: "an integer", float: "a float", str: "a string", bool: "0 or 1", Ints: "integers", Floats: "floats",
             Strings: "strings", np.ndarray: "a tensor", Body: "a graph"}  # fmt: skip
    return " or ".join(
        ", ".join(map(repr, typing.get_args(k))) if typing.get_origin(k) is typing.Literal else names.get(k, str(k))
        for k in _options(kind)
        if k is not type(None)
    )
