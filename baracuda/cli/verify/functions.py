"""Calls of public functions that are no declared op, forward and backward: compositions, products, indexed reads and writes.

What a call is given is data, so that it comes with the package beside the hash of what it gives.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from baracuda.cli.verify import values as data
from baracuda.cli.verify.bits import difference, digests
from baracuda.cli.verify.certificate import Check
from baracuda.cli.verify.machine import Host, Machine, threads
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.families import compositions, modules, ops

Array = np.ndarray[Any, Any]
_KINDS = {kind.label: kind for kind in ElementKind}


@dataclass(frozen=True)
class Tensor:
    """A tensor of a call: of a domain of `values.DOMAINS`, or listed. Without an element it has the call's.

    "sorted" is a domain too: "any" in rising order along the last axis.
    """

    shape: tuple[int, ...] = ()
    domain: str = "any"
    element: ElementKind | None = None
    listed: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        text = "x".join(map(str, self.shape)) or "scalar"
        if self.listed is not None:
            text = json_like(self.listed) if len(self.shape) == 1 else f"{text}{json_like(self.listed)}"
        elif self.domain != "any":
            text += f":{self.domain}"
        return f"{text}:{self.element}" if self.element else text

    def array(self, seed: str, own: ElementKind) -> Array:
        """Its values, the same on every machine."""
        kind = self.element or own
        if self.listed is not None:
            return np.asarray(self.listed, np.float64 if kind.is_float else None).astype(kind.numpy).reshape(self.shape)
        found = data.drawn(self.domain.replace("sorted", "any"), seed, self.shape, kind)
        found = found if self.element is None else found.astype(kind.numpy)
        return np.sort(found, -1) if self.domain == "sorted" else found


def json_like(value: Any) -> str:
    """A value as short text: lists and tuples in brackets without spaces."""
    if isinstance(value, (tuple, list)):
        return f"[{','.join(map(json_like, value))}]"
    return str(value)


@dataclass(frozen=True, eq=False)
class FunctionCase:
    """One call of a public function: positional arguments and keywords, with tensors as `Tensor`, and the element of those that
    have none of their own.

    Two with the same text, from which the values of tensors follow, are equal.
    """

    name: str
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    element: ElementKind

    @property
    def call(self) -> str:
        """The call without its element."""
        return " ".join([self.name, *map(json_like, self.arguments), *(f"{k}={json_like(v)}" for k, v in self.keywords)])

    def __str__(self) -> str:
        return f"{self.call} {self.element}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionCase) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def op(self) -> str:
        """The op of the catalogue."""
        return self.name.removesuffix("_backward").removesuffix("_double")

    @property
    def family(self) -> str:
        folder = modules().get(self.op, "functions").partition(".")[0]  # of those that the catalogue does not have
        return families().get(self.op, folder)

    def run(self, machine: Machine) -> dict[str, Array]:
        """What it gives on a machine, by the number of the result."""
        function, host = getattr(import_module("baracuda"), self.name), isinstance(machine, Host)
        device = machine.stream.device
        arguments = [self._given(a, f"{self.call}/{i}", machine) for i, a in enumerate(self.arguments)]
        keywords = {k: self._given(v, f"{self.call}/{k}", machine) for k, v in self.keywords}
        if not host and self.name in compositions() and compositions()[self.name].creates:
            keywords["device"] = device
        results = list(_flattened(function(*arguments, **keywords)))
        machine.synchronize()
        to_host = import_module("baracuda").to_host
        return {f"result {i}": np.asarray(to_host(r)) for i, r in enumerate(results)}

    def _given(self, value: Any, seed: str, machine: Machine) -> Any:
        if isinstance(value, Tensor):
            array = value.array(seed, self.element)
            return array if isinstance(machine, Host) else import_module("baracuda").to_device(array, machine.stream.device)
        if isinstance(value, (tuple, list)):
            return type(value)(self._given(v, f"{seed}/{i}", machine) for i, v in enumerate(value))
        return value


def _flattened(value: Any) -> Iterator[Any]:
    """Every tensor and number of a result."""
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for one in value:
            yield from _flattened(one)
    elif value is not None:
        yield value


def digest(results: Mapping[str, Array]) -> str:
    """The hash of a call's results, their elements and shapes."""
    about = " ".join(f"{r.dtype}{r.shape}" for r in results.values())
    return hashlib.sha256(f"{about} {digests(results)}".encode()).hexdigest()[:16]


@cache
def families() -> Mapping[str, str]:
    """The family of each op of the catalogue."""
    from baracuda.core.op_table import table

    return {row.op: row.family for row in table().values()}


def checks(machine: Machine, case: FunctionCase, expected: str) -> list[Check]:
    """The promises of a call: the reference bits, the same bits when it is made again, and with other numbers of threads."""
    found: list[Check] = []

    def check(promise: str, first: Mapping[str, Array], got: Mapping[str, Array], how: str = "") -> None:
        where = difference(got, first) if digest(got) != digest(first) else None
        error = "other elements or shapes" if where is None and digest(got) != digest(first) else ""
        found.append(Check(promise, case.family, case.name, str(case), _size(first), where, how, error))

    try:
        first = case.run(machine)
        found.append(Check("runs", case.family, case.name, str(case), _size(first)))
        if digest(first) == expected:
            check("hash", first, first)
        else:
            found.append(_other(machine, case, first, expected))
        check("repeat", first, case.run(machine), "called again")
        for count in (1, 3) if isinstance(machine, Host) else ():
            with threads(count):
                check("threads", first, case.run(machine), f"{count} threads")
    except Exception as error:  # whatever goes wrong in a function is a finding, and the others still count
        found.append(Check("runs", case.family, case.name, str(case), 0, error=f"{type(error).__name__}: {error}"))
    return found


def _size(results: Mapping[str, Array]) -> int:
    return sum(r.size for r in results.values())


def _other(machine: Machine, case: FunctionCase, got: Mapping[str, Array], expected: str) -> Check:
    """That the hash is another one; on a GPU with the element that differs from this machine's CPU, if its bits are right."""
    error = f"hashes {digest(got)}; expected {expected}"
    if not isinstance(machine, Host):
        host = case.run(Host())
        if digest(host) == expected and [r.shape for r in host.values()] == [r.shape for r in got.values()]:
            where = difference(got, host)
            if where is not None:
                return Check("hash", case.family, case.name, str(case), _size(got), where, "against the CPU")
    return Check("hash", case.family, case.name, str(case), _size(got), error=error)


# --- as text ----------------------------------------------------------------------------------------------------------


def encoded(value: Any) -> Any:
    """What a call is given as JSON has it: a tensor is an object of one entry, its domain with its element if it has one."""
    if isinstance(value, Tensor):
        domain = value.domain if value.listed is None else "listed"
        key = domain if value.element is None else f"{domain} {value.element}"
        return {key: list(value.shape) if value.listed is None else [list(value.shape), list(value.listed)]}
    if isinstance(value, ElementKind):
        return value.label
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if isinstance(value, tuple):
        return [encoded(v) for v in value]
    if isinstance(value, list):
        return {"list": [encoded(v) for v in value]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InvalidProblemError(f"{value!r}; expected tensors, numbers, text, tuples and lists of these")


def decoded(value: Any) -> Any:
    """What `encoded` was given."""
    if isinstance(value, list):
        return tuple(map(decoded, value))
    if not isinstance(value, dict):
        return value
    ((key, held),) = value.items()
    if key == "list":
        return list(map(decoded, held))
    if key in ("slice", "complex"):
        return (slice if key == "slice" else complex)(*held)
    domain, _, label = key.partition(" ")
    domain, label = (key, "") if key in data.DOMAINS else (domain, label)
    element = _KINDS[label] if label else None
    if domain == "listed":
        return Tensor(tuple(held[0]), element=element, listed=tuple(held[1]))
    return Tensor(tuple(held), domain, element)


def is_function_of_its_own(name: str) -> bool:
    """Whether a public function is none of a declared op, which has trials."""
    return name.removesuffix("_backward").removesuffix("_double") not in ops() or name in compositions()
