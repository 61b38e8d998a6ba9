"""Calls of `torch.ops.baracuda`: the valid calls of `tests.robustness.samples`, as PyTorch's operators take them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch

import baracuda
from baracuda.core.errors import Error, InvalidProblemError
from baracuda.core.parameters import element_of
from baracuda.core.sku import PlanPreference
from baracuda.frontends.arrays import torch_dtype
from baracuda.frontends.families import ops
from baracuda.torch.library import functions, gradients, schemas
from baracuda.torch.library.schemas import Argument, Overload
from tests.robustness.samples import Call, Sample, _backward, _nth, samples, trials_of_op


class NotExpressedError(Exception):
    """A call that no overload takes."""


class OperatorCall(NamedTuple):
    """One call of an operator."""

    overload: Overload
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]

    def tensors(self) -> list[torch.Tensor]:
        """Every tensor of the call."""
        listed = [v for a in (*self.arguments, *self.keywords.values()) for v in (a if isinstance(a, list) else [a])]
        return [v for v in listed if isinstance(v, torch.Tensor)]

    @property
    def operator(self) -> Any:
        return getattr(getattr(torch.ops.baracuda, self.overload.function), self.overload.name or "default")


#: Operators whose samples no overload takes, with reasons.
NO_CALL: dict[str, str] = {}


#: Checks that say nothing of an operator, with reasons.
NOT_CHECKED = {(n, "test_aot_dispatch_dynamic"): "its contents mean nothing" for n in ("empty", "empty_like")} | {
    ("gemm_epilogue", "test_aot_dispatch_dynamic"): "its example is a derivative, which has none itself"
}


def sample_names() -> dict[str, list[Any]]:
    """The samples of each operator."""
    found: dict[str, list[Any]] = {}
    for sample in samples():
        name = sample.name.partition("#")[0]
        if " " not in name and name not in schemas.LEFT_OUT:
            found.setdefault(name, []).append(sample)
    for name, (arguments, keywords) in _MORE.items():
        made = partial(Call, name, getattr(baracuda, name), list(arguments), keywords)
        found.setdefault(name, []).append(Sample(f"{name}#operator", made))
    for name, op in ops().items():  # of second derivatives the samples have one each, whose element may have none
        again = f"{name}_double_backward"
        if again in found:
            trials = cache(partial(trials_of_op, op))
            found[again] += [Sample(f"{again}#{i}", partial(_nth, trials, partial(_backward, order=2), i)) for i in range(1, 5)]
    return found


_F32 = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
#: Calls of functions whose examples are of another kind.
_MORE: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "master_weight_cast": (([_F32, _F32[0]],), {"dtype": "bf16"}),
    "quantize_per_token_backward": ((_F32, _F32, _F32[:, 1] + 1), {}),
    "rearrange": ((_F32, "a b -> b a"), {}),
    "rearrange_backward": ((_F32, _F32.T.copy(), "a b -> b a"), {}),
}


def is_valid(call: Call) -> bool:
    """Whether the function itself takes a call: the second derivatives of some have no sample."""
    try:
        call.copied().function(*call.arguments, **call.keywords)
    except Error:
        return False
    return True


def operator_call(call: Call, *, device: str = "cpu", gradients_too: bool = True) -> OperatorCall:
    """A call of a function as a call of its operator."""
    values = _named(call)
    reasons = []
    ways = [(overload, values) for overload in schemas.overloads(call.name)]
    first = {a.name: a.is_tensor and "[]" not in a.type for a in ways[0][0].arguments}
    as_tensors = {n: _as_array(v) if first.get(n) else v for n, v in values.items() if n not in ("out", "in_place")}
    for overload, given in (*ways, (ways[0][0], as_tensors)):
        try:
            taken = _as_taken(overload, given, device)
        except NotExpressedError as reason:
            reasons.append(str(reason))
            continue
        if gradients_too and gradients.gradient(call.name) is not None:
            for value in taken.values():
                for t in value if isinstance(value, list) else [value]:
                    if isinstance(t, torch.Tensor) and (t.is_floating_point() or t.is_complex()) and t.itemsize > 1:
                        t.requires_grad_()
        if functions.creates(call.name):
            taken["device"] = torch.device(device)
        made = _arranged(overload, taken)
        if given is as_tensors and not _is_taken(made):
            continue
        return made
    raise NotExpressedError("; ".join(reasons))


def _is_taken(call: OperatorCall) -> bool:
    """Whether an operator takes tensors where its function took numbers."""
    try:
        with torch.no_grad():
            call.operator(*call.arguments, **call.keywords)
    except Error:
        return False
    return True


def _as_array(value: Any) -> Any:
    """A number or a list of them that stands for a tensor as one, for operators that take nothing else."""
    if isinstance(value, float) or (isinstance(value, list) and value and isinstance(value[0], float)):
        return np.array(value, np.float32)
    whole = type(value) is int or (isinstance(value, list) and value and type(value[0]) in (int, list))
    return np.array(value) if whole else value


def _named(call: Call) -> dict[str, Any]:
    """The arguments of a call by the names of the function's parameters."""
    public = functions.function(call.name)
    parameters = functions.parameters(call.name)
    aliases = (public.declaration if hasattr(public, "declaration") else public.binding).aliases
    several = next((p for p in parameters if p.several), None)
    names = [p.name for p in parameters if not p.keyword and not p.several]
    values = dict(zip(names, call.arguments, strict=False))
    if several is not None:
        values[several.name] = list(call.arguments[len(names) :])
    elif len(call.arguments) > len(names):
        binding = getattr(public, "binding", None)
        more = binding.by_position[: len(call.arguments) - len(names)] if binding is not None else ()
        values |= dict(zip(more, call.arguments[len(names) :], strict=True))
    return values | {n if any(p.name == n for p in parameters) else aliases.get(n, n): v for n, v in call.keywords.items()}


def _as_taken(overload: Overload, values: Mapping[str, Any], device: str) -> dict[str, Any]:
    known = {a.name: a for a in overload.arguments}
    taken = {}
    for name, value in values.items():
        if name in ("device", "like") and name not in known:
            continue
        if name not in known:
            if value is None or value is False:
                continue
            raise NotExpressedError(f"{name} is no argument of {overload.full_name}")
        taken[name] = None if value is None else _value(known[name], value, device)
        if value is None and known[name].default is not None:
            del taken[name]
    for name, expected in overload.given:
        if values.get(name) is not expected:
            raise NotExpressedError(f"{overload.full_name} is for {name}={expected}")
    for a in overload.arguments:
        if a.name not in taken and a.default is None:
            if not a.type.endswith("?"):
                raise NotExpressedError(f"{a.name} is left out")
            taken[a.name] = None
    return taken


def _value(a: Argument, value: Any, device: str) -> Any:
    kind = a.type.removesuffix("?")
    if kind.startswith("Tensor"):
        if kind.endswith("[]"):
            if not isinstance(value, (list, tuple)):
                raise NotExpressedError(f"{a.name} is no list")
            return [tensor(v, device) for v in value]
        return tensor(value, device)
    value = value.item() if isinstance(value, np.generic) else value
    if kind == "Scalar":
        if not isinstance(value, (bool, int, float, complex)):
            raise NotExpressedError(f"{a.name} is no number")
        return value
    if kind == "ScalarType":
        try:
            element = element_of(value)
            dtype = torch_dtype(torch, element)
        except (InvalidProblemError, TypeError, AttributeError, KeyError, ValueError):
            raise NotExpressedError(f"{a.name}: {value!r} is no dtype of PyTorch's") from None
        if not isinstance(dtype, torch.dtype):
            raise NotExpressedError(f"{a.name}: {value!r} is no dtype of PyTorch's")
        return dtype
    if kind == "Device":
        return torch.device(device)
    if isinstance(value, PlanPreference):
        raise NotExpressedError(f"{a.name} is a preference")
    if "[" in kind:
        flat = [value] if isinstance(value, (int, float, str)) else list(value)
        flat = [v for pair in flat for v in (pair if isinstance(pair, (list, tuple)) else [pair])]
        if any(type(v) not in _TYPES[kind.partition("[")[0]] for v in flat):
            raise NotExpressedError(f"{a.name}: {value!r} is no {kind}")
        back = flat if a.convert is None else a.convert(flat)
        if _plain(back) != _plain(value) and _plain([back]) != _plain(value):
            raise NotExpressedError(f"{a.name}: {value!r} is no {kind}")
        return flat
    if type(value) not in _TYPES[kind]:
        raise NotExpressedError(f"{a.name}: {value!r} is no {kind}")
    return value


_TYPES: dict[str, tuple[type, ...]] = {
    "SymInt": (int,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "Scalar": (bool, int, float, complex),
}


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def tensor(value: Any, device: str = "cpu") -> Any:
    """A NumPy array as PyTorch's tensor, a copy."""
    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        raise NotExpressedError(f"{type(value).__name__} in the place of a tensor")
    kind = str(value.dtype)
    if kind in ("int4", "uint4", "float4_e2m1fn"):
        raise NotExpressedError(f"{kind} is no element of PyTorch's")
    if value.dtype.kind == "V":
        bits = {1: np.uint8, 2: np.int16}[value.dtype.itemsize]
        return torch.from_numpy(value.view(bits).copy()).view(getattr(torch, kind)).to(device)
    return torch.from_numpy(value.copy()).to(device)


def _arranged(overload: Overload, taken: Mapping[str, Any]) -> OperatorCall:
    arguments = []
    for name in overload.by_position:
        if name not in taken:
            break
        arguments.append(taken[name])
    rest = {n: v for n, v in taken.items() if n not in overload.by_position[: len(arguments)]}
    return OperatorCall(overload, tuple(arguments), rest)
