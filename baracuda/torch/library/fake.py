"""What an operator gives, without computing it: shapes, strides and elements of its results, from those of its tensors.

The library's own function finds out, on arrays that have no values (`baracuda.frontends.array.described`), so that what PyTorch's
compiler believes of a call and what the call does cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from baracuda.core.device import Device
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorRef, _torch_kinds
from baracuda.frontends.array.described import NoValuesError, described
from baracuda.frontends.arrays import torch_dtype
from baracuda.torch.library import functions
from baracuda.torch.library.dynamic import DYNAMIC
from baracuda.torch.library.schemas import Overload
from baracuda.torch.library.symbolic import at_hand, extents_of_results, is_known, is_symbolic, strides_of

_CPU = Device.cpu()


def described_like(tensor: Any, number: Callable[[Any], int] = int) -> Any:
    """A tensor of PyTorch's without its values; of a list each. `number` makes numbers of extents."""
    if isinstance(tensor, (list, tuple)):
        return [described_like(t, number) for t in tensor]
    if not isinstance(tensor, torch.Tensor):
        return tensor
    kind, _ = _torch_kinds(torch)[tensor.dtype]
    return described(tuple(map(number, tensor.shape)), kind, _CPU, strides=tuple(map(number, tensor.stride())))


def flat(results: Any) -> list[Any]:
    """The tensors among results, in order; of results that are no tensors nothing."""
    if isinstance(results, (list, tuple)):
        return [t for r in results for t in flat(r)]
    if isinstance(results, dict):
        return [t for r in results.values() for t in flat(r)]
    return [] if results is None else [results]


def device_of(values: Mapping[str, Any]) -> torch.device:
    """Where the results of a call are."""
    tensors = [v for v in flat(list(values.values())) if isinstance(v, torch.Tensor)]
    if not tensors:
        return torch.device(values.get("device") or "cpu")
    return max(tensors, key=lambda t: t.device.type != "cpu").device


def numbers(value: Any) -> Any:
    """Numbers as Python's: what shapes are made of depends on their values."""
    if isinstance(value, torch.SymInt):
        return int(value)
    if isinstance(value, torch.SymFloat):
        return float(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, (torch.SymInt, torch.SymFloat)) for v in value):
        return [numbers(v) for v in value]
    return value


def fake(overload: Overload) -> Any:
    """The function that PyTorch asks about an overload's results."""
    public, creating = functions.function(overload.function), functions.creates(overload.function)
    needed = {a.name for a in overload.arguments if a.default is None}

    def of_call(*arguments: Any, **keywords: Any) -> Any:
        values = overload.named(arguments, keywords)
        if is_symbolic(values):
            found = _of_any_size(values)
            if found is not None:
                return handed(overload, found)
        given = {n: described_like(numbers(v)) for n, v in values.items() if v is not None or n in needed}
        device = device_of(values)
        where = given.pop("device", None) if creating else None
        listed, taken = overload.call((), given)
        if creating:
            del where
            listed = [described((1,), _torch_kinds(torch)[torch.uint8][0], _CPU), *listed]
        try:
            results = public(*listed, **taken)
        except NoValuesError:
            rule = DYNAMIC.get(overload.function)
            if rule is None:
                raise
            return handed(overload, rule({**values, "of": overload.function}, torch.library.get_ctx().new_dynamic_size))
        inputs = {id(getattr(t, "owner", None)) for t in flat(list(given.values()))}
        return handed(overload, [_made(r, device, id(getattr(r, "owner", None)) in inputs) for r in flat(results)])

    def _of_any_size(values: Mapping[str, Any]) -> list[torch.Tensor] | None:
        """The results in terms of the arguments' extents, where these are known."""
        if not is_known(overload.function):
            return None
        given = {n: described_like(numbers(v), at_hand) for n, v in values.items() if v is not None or n in needed}
        listed, taken = overload.call((), given)
        try:
            results = flat(public(*listed, **taken))
        except NoValuesError:
            return None
        extents = extents_of_results(overload.function, taken, values, [tuple(r.shape) for r in results])
        if extents is None or len(extents) != len(results):
            return None
        made, inputs = [], {id(getattr(t, "owner", None)) for t in flat(list(given.values()))}
        for result, wanted in zip(results, extents, strict=True):
            if tuple(map(at_hand, wanted)) != tuple(result.shape):
                return None
            copied = id(result.owner) in inputs
            strides = strides_of(wanted, result.shape, contiguous_strides(result.shape) if copied else result.strides)
            if strides is None:
                return None
            dtype = torch_dtype(torch, result.kind)
            made.append(torch.empty_strided(wanted, strides, dtype=dtype, device=device_of(values)))
        return made

    return of_call


def _made(result: Any, device: torch.device, copied: bool) -> torch.Tensor:
    """A result as PyTorch's tensor; one that shares memory with an argument is a contiguous copy."""
    if not isinstance(result, TensorRef):
        array = torch.as_tensor(result)  # of NumPy: it depended on no tensor
        return torch.empty(array.shape, dtype=array.dtype, device=device)
    strides = contiguous_strides(result.shape) if copied else result.strides
    return torch.empty_strided(result.shape, strides, dtype=torch_dtype(torch, result.kind), device=device)


def handed(overload: Overload, results: list[Any]) -> Any:
    """Results as the schema has them."""
    if overload.results is None:
        return results
    if overload.results == 0:
        return None
    return results[0] if overload.results == 1 else tuple(results[: overload.results])
