"""Random draws in a graph: a key, and what is drawn from it.

A graph has a node for each key in the order in which an eager program draws them, and an op that takes the key in place of a
generator. The second is a function of its arguments: it may be computed again in the backward, or in a checkpoint. Keys are drawn
on the host before the graph runs, and given to it as inputs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import Any

import torch

from baracuda.torch.aten.random import given_key
from baracuda.torch.registry import SERVED

NAMESPACE = "baracuda_keys"
_library = torch.library.Library(NAMESPACE, "DEF")
_library.define("key(int number, Device device) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))
_numbers = itertools.count()
#: What computes each op that takes a key.
KEYED: dict[Any, Callable[..., Any]] = {}


def _key_example(number: int, device: torch.device) -> Any:
    return torch.empty(2, dtype=torch.uint32, device=device)


torch.library.register_fake(f"{NAMESPACE}::key", _key_example, lib=_library)
KEY = torch.ops.baracuda_keys.key.default


def drawing(overloads: Iterable[Any]) -> dict[Any, Callable[..., Any]]:
    """What each of these overloads is in a graph."""
    return {o: _split(o) for o in overloads}


def _split(overload: Any) -> Callable[..., Any]:
    keyed = _keyed(overload)
    arguments = overload._schema.arguments

    def split(*args: Any, **keywords: Any) -> Any:
        given = {a.name: a.default_value for a in arguments}
        given |= dict(zip(given, args, strict=False)) | keywords
        if given.pop("generator", None) is not None or not _draws(given):
            return NotImplemented
        like = next((a for a in args if isinstance(a, torch.Tensor)), None)
        device = like.device if like is not None else torch.device(given.get("device") or torch.get_default_device())
        return keyed(KEY(next(_numbers), device), *given.values())

    return split


def _draws(given: dict[str, Any]) -> bool:
    """Whether a call draws at all."""
    return given.get("train") is not False and bool(given.get("p" if "train" in given else "dropout_p", 1))


def _keyed(overload: Any) -> Any:
    """The op that takes a key in place of a generator, with all arguments by position."""
    schema = overload._schema
    name = schema.name.split("::")[1] + "_" + (schema.overload_name or "default")
    text = re.search(r"\((.*)\) -> (.*)$", str(schema))
    assert text is not None
    arguments = [a.strip() for a in re.split(r",(?![^\[(]*[\])])", text[1])]
    kept = [a.split("=")[0] for a in arguments if a != "*" and not a.startswith("Generator")]
    _library.define(f"{name}({', '.join(['Tensor key', *kept])}) -> {text[2]}")
    names = [a.name for a in schema.arguments if a.name != "generator"]
    by_position = sum(not a.kwarg_only for a in schema.arguments if a.name != "generator")

    def called(function: Any, args: tuple[Any, ...]) -> Any:
        return function(*args[:by_position], **dict(zip(names[by_position:], args[by_position:], strict=True)))

    def example(key: Any, *args: Any) -> Any:
        return called(overload, args)

    def compute(key: Any, *args: Any) -> Any:
        with given_key(key):
            return called(SERVED[overload], args)

    torch.library.register_fake(f"{NAMESPACE}::{name}", example, lib=_library)
    keyed = getattr(torch.ops.baracuda_keys, name).default
    KEYED[keyed] = compute
    return keyed
