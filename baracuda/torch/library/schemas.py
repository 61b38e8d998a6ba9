"""Schemas of PyTorch's for public functions, from what their parameters may be: an overload for each kind of call.

    gelu(Tensor x, *, str approximate="none") -> Tensor

A parameter is called as it is in the library, and stands where it does. Beside `default`, which takes tensors and the first type
of everything else, a function has an overload

- for each tensor that a number may stand for, called as this, and one where all but the first are numbers;
- for each further type of a parameter, called as this: `padding="same"`; for a list of tensors in the place of one with `_list`;
- for an option that changes how many results there are, called as this: `saved=True`.

The gradients of `NAME_backward` are a list: those that `wrt` names, in its order. So are results whose number depends on other
arguments (`results.tsv`).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from baracuda.core.errors import UnsupportedError
from baracuda.core.lazy import cached_property
from baracuda.core.parameters import is_optional
from baracuda.torch.library import functions
from baracuda.torch.library.exceptions import LEFT_OUT, NO_SAVED, WRITES
from baracuda.torch.library.functions import Parameter
from baracuda.torch.library.types import Convert, alternatives, literal

_EMPTY = inspect.Parameter.empty
#: What PyTorch calls no overload.
_NO_NAMES = frozenset(["default", "out"])


@dataclass(frozen=True)
class Argument:
    """One argument of a schema: what it is called, its type and default as text, and what becomes of a value.

    `skipped` says that None stands for leaving it out.
    """

    name: str
    type: str
    default: str | None
    keyword: bool
    convert: Convert | None = None
    skipped: bool = False
    several: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor, or a list of them."""
        return self.type.startswith("Tensor")

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + ("" if self.default is None else f"={self.default}")


@dataclass(frozen=True)
class Overload:
    """One overload: its arguments, and how many tensors it gives, None for a list. `given` are options that say which it is."""

    function: str
    name: str
    arguments: tuple[Argument, ...]
    results: int | None = 1
    given: tuple[tuple[str, Any], ...] = ()

    @property
    def full_name(self) -> str:
        """As PyTorch's registry has it."""
        return f"{self.function}.{self.name}" if self.name else self.function

    def __str__(self) -> str:
        parts = [str(a) for a in self.arguments if not a.keyword]
        named = [str(a) for a in self.arguments if a.keyword]
        results = "Tensor[]" if self.results is None else ", ".join(["Tensor"] * self.results)
        answer = results if self.results in (None, 1) else f"({results})"
        return f"{self.full_name}({', '.join([*parts, *(['*', *named] if named else [])])}) -> {answer}"

    @cached_property
    def by_position(self) -> tuple[str, ...]:
        """Its arguments by position."""
        return tuple(a.name for a in self.arguments if not a.keyword)

    def named(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, as PyTorch has them; those that are left out are None."""
        values = dict(zip((a.name for a in self.arguments if not a.keyword), arguments, strict=False))
        return {**dict.fromkeys((a.name for a in self.arguments), None), **values, **keywords}

    @cached_property
    def is_plain(self) -> bool:
        """Whether a call of it is a call of the library's function, argument by argument."""
        own = functions.parameters(self.function)
        same = tuple(p.name for p in own if not p.keyword)[: len(self.by_position)] == self.by_position
        means_nothing = {p.name for p in own if p.default is None}
        special = any(a.convert or a.several or (a.skipped and a.name not in means_nothing) for a in self.arguments)
        return same and not special and not self.given and not functions.creates(self.function)

    def call(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of the library's function."""
        values = dict(zip((a.name for a in self.arguments if not a.keyword), arguments, strict=False)) | dict(keywords)
        listed: list[Any] = []
        several = any(a.several for a in self.arguments)
        taken: dict[str, Any] = {}
        for a in self.arguments:
            if a.name not in values or (values[a.name] is None and a.skipped):
                continue
            value = values[a.name]
            if value is not None and a.convert is not None:
                value = a.convert(value)
            if a.several:
                listed += value
            elif several and not a.keyword:
                listed.append(value)
            else:
                taken[a.name] = value
        for name, expected in self.given:
            if values.get(name, expected) != expected:
                raise UnsupportedError(f"{name}: {values[name]!r}; expected {expected!r}, which this overload is for")
            taken[name] = expected
        return listed, taken


@cache
def overloads(name: str) -> tuple[Overload, ...]:
    """The overloads of a function; raises `UnsupportedError` where there is no schema for what it needs."""
    if name in LEFT_OUT:
        raise UnsupportedError(f"torch.ops.baracuda.{name}: {LEFT_OUT[name]}")
    parameters = functions.parameters(name)
    counts = results(name)
    choices: dict[str, list[Argument]] = {}
    for p in parameters:
        if p.name in counts or p.name == "in_place":
            continue
        found = arguments_of(name, p)
        if found:
            choices[p.name] = found
        elif p.default is _EMPTY:
            raise UnsupportedError(
                f"{name}: PyTorch's schemas have no type for {p.name}, {p.domain or 'lists of lists of tensors'}"
            )
    if functions.creates(name):
        choices["device"] = [Argument("device", "Device?", "None", True)]
    plain = {n: found[0] for n, found in choices.items()}
    every = [Overload(name, "", _ordered(plain.values()), counts[""])]
    for option, count in counts.items():
        if option:
            flag = Argument(option, "bool", "True", True)
            every.append(Overload(name, option, _ordered([*plain.values(), flag]), count, ((option, True),)))
    for n, found in choices.items():
        for other in found[1:2]:
            named = f"{n}_list" if other.is_tensor else n
            every.append(Overload(name, named, _ordered((plain | {n: other}).values()), counts[""]))
    numbers = {n: replace(found[0], type="Scalar", convert=None) for n, found in choices.items() if _takes_number(parameters, n)}
    tensors = [n for n, a in plain.items() if a.is_tensor]
    creates = functions.creates(name)
    for n in numbers:
        if creates or (len(tensors) > 1 and not (n == tensors[0] and len(numbers) < len(tensors))):
            every.append(Overload(name, n, _ordered((plain | {n: numbers[n]}).values()), counts[""]))
    rest = {n: a for n, a in numbers.items() if creates or n != tensors[0]}
    if len(rest) > 1:
        every.append(Overload(name, "_".join(rest), _ordered((plain | rest).values()), counts[""]))
    if name in WRITES:
        every = [_writing(o, WRITES[name]) for o in every]
    every = [replace(o, name=f"{o.name}_") if o.name in _NO_NAMES else o for o in every]
    return tuple({o.name: o for o in reversed(every)}.values())[::-1]


def _writing(overload: Overload, name: str) -> Overload:
    """The overload of a function that writes to this argument."""
    arguments = tuple(replace(a, type="Tensor(a!)") if a.name == name else a for a in overload.arguments)
    return replace(overload, arguments=arguments, results=0)


def _takes_number(parameters: tuple[Parameter, ...], name: str) -> bool:
    return any(p.number for p in parameters if p.name == name)


def _ordered(arguments: Any) -> tuple[Argument, ...]:
    """Arguments in an order that a schema allows: by position first those without a default, as far as they are not behind one.
    All tensors are given by position, those that are keywords of the function behind the others: autograd asks for it."""
    made = list(arguments)
    positional: list[Argument] = []
    named: list[Argument] = []
    for a in made:
        behind = bool(positional) and positional[-1].default is not None and a.default is None
        (named if a.keyword or behind else positional).append(a)
    tensors = [replace(a, keyword=False) for a in named if a.is_tensor]
    assert all(a.default is not None for a in tensors) or not positional or positional[-1].default is None, made
    tensors.sort(key=lambda a: a.default is not None)
    return (*positional, *tensors, *(a for a in named if not a.is_tensor))


def arguments_of(name: str, p: Parameter) -> list[Argument]:
    """What a parameter is in schemas: one argument for each of its types; none where there is no type."""
    required = p.default is _EMPTY and not p.several
    if p.tensor:
        found = []
        for kind in ("Tensor[]",) if p.listed else ("Tensor", "Tensor[]") if p.either else ("Tensor",):
            optional = p.optional or not (required or p.several)
            default = "None" if optional and not required else None
            found.append(Argument(p.name, f"{kind}?" if optional else kind, default, p.keyword, None, not required, p.several))
        return found
    if p.domain is None or p.several:
        return []
    found = []
    for t in alternatives(p.domain):
        default = None if required else "None" if p.default is None else literal(p.default, t.name)
        skipped = not required and (default is None or p.default is None)
        listed = t.name.endswith("[1]") and default not in (None, "None")  # of which PyTorch has no default where None is one
        kind = f"{t.name}?" if skipped or (is_optional(p.domain) and not listed) else t.name
        found.append(Argument(p.name, kind, "None" if skipped else default, p.keyword, t.convert, skipped))
    return found


@cache
def _table() -> dict[str, dict[str, int | None]]:
    rows: dict[str, dict[str, int | None]] = {}
    for line in (Path(__file__).parent / "results.tsv").read_text().splitlines():
        name, count, option = (*line.split("\t"), "")[:3]
        rows.setdefault(name, {})[option] = None if count == "*" else int(count)
    return rows


def results(name: str) -> dict[str, int | None]:
    """How many tensors a function gives, None for a list of as many as there are: by the option that changes it, "" for none."""
    own = _table().get(name, {})
    if name.endswith("_backward"):
        return {"": None}
    op = getattr(functions.function(name), "op", None)
    if op is not None and "" not in own:
        plain = len(op.results or ("y",)) - len(op.extra)
        return {"": plain, **({"saved": len(op.results)} if op.extra else {}), **own}
    known = {p.name for p in functions.parameters(name)}
    found = {"": own.get("", 1), **{o: n for o, n in own.items() if o}}
    if "saved" in known and name not in NO_SAVED and "saved" not in found and found[""] is not None:
        found["saved"] = None
    return found
