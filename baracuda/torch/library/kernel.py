"""What computes an operator: the library's function on PyTorch's tensors, below autograd."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.library import functions
from baracuda.torch.library.fake import flat, handed
from baracuda.torch.library.schemas import Overload

#: What computes each operator that is registered, by its name and that of its overload.
COMPUTES: dict[tuple[str, str], Any] = {}


def kernel(overload: Overload) -> Any:
    """The function that computes an overload on CPU and CUDA."""
    public, creating = getattr(baracuda, overload.function), functions.creates(overload.function)
    shares = functions.may_give_what_it_took(overload.function) and overload.results != 0
    alone, plain = overload.results == 1, overload.is_plain and not shares

    def compute(*arguments: Any, **keywords: Any) -> Any:
        if plain:
            results = public(*arguments, **keywords)
            return results if alone else handed(overload, flat(results))
        listed, taken = overload.call(arguments, keywords)
        if creating:
            where = taken.pop("device", None) or "cpu"
            taken["like"] = torch.empty(1, dtype=torch.uint8, device=where)
        results = public(*listed, **taken)
        if shares:
            results = _apart(results, [*listed, *taken.values()])
        elif alone:
            return results
        return handed(overload, flat(results))

    COMPUTES[overload.function, overload.name] = compute
    return compute


def _apart(results: Any, arguments: list[Any]) -> list[torch.Tensor]:
    """The results, copied where they share memory with an argument or with one another."""
    taken = {t.untyped_storage().data_ptr() for t in flat(arguments) if isinstance(t, torch.Tensor) and t.numel()}
    made = []
    for result in flat(results):
        tensor = result if isinstance(result, torch.Tensor) else torch.as_tensor(result)
        if tensor.numel():
            memory = tensor.untyped_storage().data_ptr()
            if memory in taken:
                tensor = tensor.clone(memory_format=torch.contiguous_format)
            taken.add(memory)
        made.append(tensor)
    return made
