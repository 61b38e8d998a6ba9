"""Public functions as what a schema is made of: their parameters in order, and what each may be.

Declared ops, their gradients, products and functions that are written out say what they take each in its own way; here they all
look alike.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import baracuda
from baracuda.core.parameters import Domain, Either, Instance, Nothing, Several
from baracuda.frontends import families
from baracuda.frontends.backward import Backward
from baracuda.frontends.binding import PREFERENCE
from baracuda.frontends.double_backward import DoubleBackward
from baracuda.frontends.function import Function
from baracuda.frontends.product_function import MatmulBackward, MatmulFunction
from baracuda.ops.declaration.op import Op

NAMES = Either((Several(Instance(str, "a name")), Nothing()))
_EMPTY = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function.

    Attributes
    ----------
    name, default
        As in its signature; without a default `inspect.Parameter.empty`.
    keyword
        Whether it is given by name alone.
    several
        Whether it stands for all further positional arguments.
    tensor
        Whether it is a tensor, or with `listed` a list of them; else `domain` says what it may be.
    either
        Whether a list may stand in the place of the tensor.
    optional
        Whether None may stand for it, or for a member of the list.
    number
        Whether a number may stand in its place.
    """

    name: str
    default: Any
    keyword: bool
    domain: Domain | None = None
    several: bool = False
    tensor: bool = False
    listed: bool = False
    either: bool = False
    optional: bool = False
    number: bool = False


@cache
def function(name: str) -> Any:
    """A public function itself, without the cache of its calls; raises KeyError where there is none."""
    module = baracuda._MODULE.get(name)
    return families.attribute(name) if module is None else getattr(import_module(module), name)


def creates(name: str) -> bool:
    """Whether a function makes tensors of no other: its first parameter tells where."""
    known = getattr(function(name), "cacheable", None)
    return bool(known is not None and known.creates)


def may_give_what_it_took(name: str) -> bool:
    """Whether a result may share memory with an argument."""
    return not isinstance(function(name), (Function, Backward, DoubleBackward))


@cache
def parameters(name: str) -> tuple[Parameter, ...]:
    """The parameters of a public function."""
    public = function(name)
    if hasattr(public, "declaration"):
        return tuple(_of_declaration(public.declaration))[1 if creates(name) else 0 :]
    return tuple(_of_binding(public))


def _of_binding(public: Any) -> list[Parameter]:
    """Those of a declared op, one of its gradients, or a product."""
    binding, signature = public.binding, inspect.signature(public)
    found = []
    for p in signature.parameters.values():
        if p.name in binding.tensors:
            optional, number = _of_tensor(public, p.name, p.default)
            found.append(Parameter(p.name, p.default, False, tensor=True, optional=optional, number=number))
        elif p.name not in ("out", "wrt", "z"):
            domain = PREFERENCE if p.name == "preference" else binding.domains.get(p.name)
            found.append(Parameter(p.name, p.default, p.kind is p.KEYWORD_ONLY, domain))
    if isinstance(public, MatmulBackward):
        found.append(Parameter("z", None, True, tensor=True, optional=True))
    known = {p.name for p in found}
    if isinstance(public, DoubleBackward):
        found += [Parameter(n, None, True, d) for n, d in binding.domains.items() if n not in known]
    if isinstance(public, (Backward, DoubleBackward, MatmulBackward)):
        found.append(Parameter("wrt", None, True, NAMES))
    return found


def _of_tensor(public: Any, name: str, default: Any) -> tuple[bool, bool]:
    """Whether a tensor may be left out, and whether it may be a number."""
    if isinstance(public, MatmulFunction):
        return default is None, False
    if isinstance(public, MatmulBackward):
        return name != "dy" and name not in public.forward.required, False
    op: Op = public.op
    optional, tensors = name in op.signature.optional, op.signature.tensors
    if isinstance(public, Function):
        pointwise = not (op.rows or op.places or op.space)
        return optional, len(tensors) > 1 and (pointwise if optional else not op.needs_extents(name))
    if name in public.cotangents:
        return len(public.cotangents) > 1, False
    if name not in tensors:  # saved results, gradients of gradients
        return True, False
    return optional, not optional and len(tensors) > 1 and not op.needs_extents(name)


def _of_declaration(declaration: Any) -> list[Parameter]:
    """Those of a function that is written out, or composed."""
    found = []
    signature = declaration.signature.parameters.values()
    for p in signature:
        if p.name == "out" or p.kind is p.VAR_KEYWORD:
            continue
        several, keyword = p.kind is p.VAR_POSITIONAL, p.kind is p.KEYWORD_ONLY
        pattern = declaration.patterns.get(p.name)
        if pattern is None:
            found.append(Parameter(p.name, p.default, keyword, declaration.domains.get(p.name), several))
            continue
        listed = several or bool(pattern.each and not pattern.alternatives)
        found.append(
            Parameter(
                p.name,
                p.default,
                keyword,
                several=several,
                tensor=not pattern.nested,
                listed=listed,
                either=bool(pattern.each) and not listed,
                optional=pattern.none or (p.default is None and not several),
                number=pattern.number and not listed,
            )
        )
    for n in declaration.handed_on:
        if n in declaration.domains:
            found.append(Parameter(n, declaration.defaults.get(n, _EMPTY), True, declaration.domains[n]))
    return found
