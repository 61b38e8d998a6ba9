"""What a parameter is in a schema of PyTorch's, from what the library says that it may be, and what becomes of its values.

Most parameters have one type. One that may be a word or numbers ("same", or how much to pad) has several, an overload for each.
What a schema has no type for, a function or a slice, is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import Choice, Domain, Either, Flag, Instance, Nothing, Number, OneOf, Several, Whole
from baracuda.core.preferred import ARITHMETICS
from baracuda.core.sku import PlanPreference

#: From a value that PyTorch passes to one that the library takes.
Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class Type:
    """A type of a schema, such as "int[1]", and what makes of its values what the library takes; None where they are that."""

    name: str
    convert: Convert | None = None


def _one_or_all(values: Sequence[Any]) -> Any:
    """A list of one number is that number: what `int[1]` makes of a number."""
    return values[0] if len(values) == 1 else tuple(values)


def _pairs(values: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    """Pairs, which stand one after the other in a list."""
    return tuple(zip(values[::2], values[1::2], strict=True))


def _number_or_pairs(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else _pairs(values)


def _preference(word: str) -> PlanPreference:
    if word not in ARITHMETICS:
        raise InvalidProblemError(f"preference: {word!r}; expected one of {', '.join(ARITHMETICS)}")
    return ARITHMETICS[word]


def alternatives(domain: Domain) -> list[Type]:
    """The types of what a domain has besides None; none where there is no type for any."""
    leaves = [d for d in _leaves(domain) if not isinstance(d, Nothing)]
    words: list[Domain] = []
    numbers: list[Domain] = []
    lists: list[Several] = []
    found: list[Type] = []
    for leaf in leaves:
        if isinstance(leaf, Choice):
            (words if isinstance(leaf.choices[0], str) else numbers).append(leaf)
        elif isinstance(leaf, (Whole, Number, Flag)):
            numbers.append(leaf)
        elif isinstance(leaf, Several):
            lists.append(leaf)
        elif isinstance(leaf, OneOf) or (isinstance(leaf, Instance) and leaf.type_ is ElementKind):
            found.append(Type("ScalarType"))
        elif isinstance(leaf, Instance) and leaf.type_ is PlanPreference:
            found.append(Type("str", _preference))
        elif isinstance(leaf, Instance) and leaf.type_ is str and leaf.of is None:
            words.append(leaf)
    words_listed = any(_element(d) == "str" for d in lists)
    if words_listed:
        found.append(Type("str[]", tuple))
    number = _number(numbers) if numbers else ""
    of_numbers = [_element(d) for d in lists if _element(d) in ("SymInt", "float", "bool", "Scalar")]
    if of_numbers and (not number or number == of_numbers[0]):
        single = bool(number)
        of = of_numbers[0].replace("SymInt", "int") if single else of_numbers[0]  # PyTorch takes a number for no list of SymInt
        found.append(Type(f"{of}[1]" if single else f"{of}[]", _one_or_all if single else tuple))
    elif any(_element(d) == "pair" for d in lists):
        found.append(Type("int[1]", _number_or_pairs) if number else Type("SymInt[]", _pairs))
    elif number:
        found.append(Type(number))
    if words and not words_listed:
        found.append(Type("str"))
    return found


def _leaves(domain: Domain) -> Iterator[Domain]:
    if isinstance(domain, Either):
        for part in domain.domains:
            yield from _leaves(part)
    else:
        yield domain


def _number(domains: Sequence[Domain]) -> str:
    """The type of numbers of any of these domains."""
    if all(isinstance(d, Flag) for d in domains):
        return "bool"
    if all(isinstance(d, (Whole, Choice)) for d in domains):
        return "SymInt"
    plain = all(isinstance(d, Number) and not d.complex_too for d in domains)
    return "float" if plain else "Scalar"


def _element(domain: Several) -> str:
    """What is in a list: a type, "pair" for two whole numbers, or nothing that a schema has a type for."""
    each = [d for d in _leaves(domain.each) if not isinstance(d, Nothing)]
    if all(isinstance(d, (Instance, Choice)) for d in each):
        return "str" if all(isinstance(d, Choice) or d.type_ is str for d in each) else ""  # type: ignore[attr-defined]
    if all(isinstance(d, (Whole, Number, Flag)) for d in each):
        return _number(each)
    if len(each) == 1 and isinstance(each[0], Several) and each[0].count == 2:
        return "pair" if isinstance(each[0].each, Whole) else ""
    if len(each) == 2 and isinstance(each[0], Whole) and isinstance(each[1], Several):
        return "SymInt"  # or pairs, for which numbers stand that are the same on both sides
    return ""


def literal(value: Any, type_name: str) -> str | None:
    """A default as a schema says it; None where it has no way to."""
    if type_name.endswith("[1]") and isinstance(value, (tuple, list)):
        return None
    if isinstance(value, bool):
        return str(value) if type_name in ("bool", "Scalar") else None
    if isinstance(value, (int, float)):
        plain = value == value and abs(value) < 1e300
        return repr(value) if plain and type_name not in ("bool", "str", "ScalarType") else None
    if isinstance(value, str):
        return f'"{value}"' if type_name == "str" and value.isprintable() and '"' not in value else None
    if isinstance(value, (tuple, list)) and type_name in ("SymInt[]", "float[]"):
        whole = all(type(v) in (int, float) for v in value)
        return f"[{', '.join(map(repr, value))}]" if whole and value else None
    return None
