"""What is computed, and on what: the bases of descriptors and of args."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from baracuda.core.identity import identity
from baracuda.core.lazy import cached_property


def variable(value: Any, special: Sequence[complex] = ()) -> Any:
    """What stands in a structure for a number that the kernel is given at run time: the number itself where the formula has
    a form of its own for it (those of `special`, and None), else one that means any other of its type."""
    if value is None or isinstance(value, bool) or value in special:
        return value
    return type(value)(next(n for n in range(len(special) + 1) if n not in special))


@dataclass(frozen=True)
class Descriptor:
    """Base of every descriptor: what is computed, without handles or pointers. Frozen and hashable; checked when made.

    Two descriptors are equal where their fields have equal types and bits: 1, 1.0 and True are different, and so are 0.0 and
    -0.0. `numbers` names the fields that kernels are given at run time, with the values that have code of their own.
    """

    numbers: ClassVar[tuple[tuple[str, tuple[complex, ...]], ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.__eq__ = Descriptor.__eq__  # type: ignore[method-assign]
        cls.__hash__ = Descriptor.__hash__  # type: ignore[method-assign]

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._identity == other._identity)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _identity(self) -> tuple[Hashable, ...]:
        return tuple(identity(getattr(self, f.name)) for f in fields(self))

    @cached_property
    def _hash(self) -> int:
        return hash((type(self), self._identity))

    @property
    def parameters(self) -> Mapping[str, float]:
        """The numbers that kernels are given at run time, by name."""
        return {}

    @cached_property
    def structure(self) -> Any:
        """This descriptor with numbers that only say "some number": what code and plans depend on. Descriptors that differ in
        `parameters` alone have the same one."""
        changed = {name: variable(getattr(self, name), special) for name, special in self.numbers}
        return self._with(**changed) if changed else self

    def _with(self, **numbers: Any) -> Any:
        """This descriptor with other numbers: what was checked of its fields holds for them too."""
        copy = object.__new__(type(self))
        for f in fields(self):
            object.__setattr__(copy, f.name, numbers.get(f.name, getattr(self, f.name)))
        return copy

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, list):
                object.__setattr__(self, f.name, tuple(value))
        self.validate()

    def validate(self) -> None:
        """Raise the named error of the first field that is wrong."""


@dataclass
class Args:
    """Base of every args class: the tensors of one call, any DLPack producer each, None for one that is left out."""
