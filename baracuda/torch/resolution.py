"""From the overload of a call to what computes it: variants in place and with `out` follow from the schema, here alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from baracuda.torch.library.kernel import COMPUTES
from baracuda.torch.registry import PASSES, SERVED, TAKES_OUT, WRITES, Serve
from baracuda.torch.write import plain, write, write_out

aten = torch.ops.aten


def served(overload: Any) -> Serve | None:
    """What computes an overload by functions of ours, or passes it on; None where nothing is declared."""
    if overload.namespace == "baracuda":
        name = overload._overloadname
        return COMPUTES[overload._opname, "" if name == "default" else name]  # type: ignore[no-any-return]
    view = overload.is_view or torch.Tag.inplace_view in overload.tags
    if view or overload in PASSES or overload.namespace == "profiler" or not _has_tensors(overload):
        return overload  # type: ignore[no-any-return]
    if not any("Tensor" in str(v.type) for v in (*overload._schema.arguments, *overload._schema.returns)):
        return overload  # type: ignore[no-any-return]  # a question to a library
    written = [a for a in overload._schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    if overload in SERVED:
        function = SERVED[overload]
        return function if not written or overload in WRITES else _variant(overload, overload, written)
    if overload._schema.name.startswith("aten::_foreach_"):
        return of_each(overload)
    functional = _functional(overload, [a.name for a in written]) if written else None
    return None if functional is None else _variant(overload, functional, written)


def _has_tensors(overload: Any) -> bool:
    """Whether it takes or gives any: what does not, such as a question about a version, computes nothing."""
    schema = overload._schema
    return any("Tensor" in str(v.type) for v in (*schema.arguments, *schema.returns))


def _functional(overload: Any, written: list[str]) -> Any:
    """The declared overload that computes what this one writes."""
    name = overload._schema.name.removeprefix("aten::")
    in_place = name.endswith("_") and not name.endswith("__")
    packet = getattr(aten, name.removesuffix("_") if in_place else name, None)
    if packet is None:
        return None
    wanted = _signature(overload, () if in_place else written)
    found = [o for o in (getattr(packet, n) for n in packet.overloads()) if _signature(o, ()) == wanted and o in SERVED]
    return found[0] if found and found[0] is not overload else None


def _signature(overload: Any, without: Any) -> list[tuple[str, str]]:
    return [(a.name, str(a.type)) for a in overload._schema.arguments if a.name not in without]


def _variant(overload: Any, functional: Any, written: list[Any]) -> Serve:
    """Computes the functional overload, and puts what it gives into the arguments that are written."""
    compute = SERVED[functional]
    names = [a.name for a in written]
    if overload._schema.arguments[0].name != names[0]:
        return _into_out(compute, names)
    if functional in TAKES_OUT:
        return _in_place_at_once(compute)

    def in_place(target: Any, *args: Any, **keywords: Any) -> Any:
        write(target, compute(target, *args, **keywords))
        return target

    return in_place


def _in_place_at_once(compute: Serve) -> Serve:
    def in_place(target: Any, *args: Any, **keywords: Any) -> Any:
        element = target.dtype
        if all(a.dtype == element for a in args if isinstance(a, torch.Tensor)):
            own = plain(target)
            compute(own, *args, **keywords, out=own)
        else:
            write(target, compute(target, *args, **keywords))
        return target

    return in_place


def _into_out(compute: Serve, names: list[str]) -> Serve:
    def with_out(*args: Any, **keywords: Any) -> Any:
        targets = [keywords.pop(n) for n in names]
        results = compute(*args, **keywords)
        if len(targets) == 1:
            return write_out(targets[0], results)
        return tuple(write_out(t, r) for t, r in zip(targets, results, strict=True))

    return with_out


#: What functions of lists are called where they are of a tensor, if not the same.
OF_TENSORS = {"norm": "linalg_vector_norm", "maximum": "clamp_min", "minimum": "clamp_max"}
#: Of those with two factors and a number, that number has a name in the function of a tensor.
FACTORS = ("addcmul", "addcdiv")


def factor(args: Any, keywords: dict[str, Any]) -> Any:
    """That number, or one for each item; it is no keyword any more."""
    found = args[3] if len(args) > 3 else keywords.pop("scalars", keywords.pop("value", 1))
    return found.tolist() if isinstance(found, torch.Tensor) else found


def of_each(overload: Any) -> Serve | None:
    """A function of lists as the function of a tensor, for each item in turn."""
    name = overload._schema.name.removeprefix("aten::_foreach_")
    own = OF_TENSORS.get(name.removesuffix("_"), name.removesuffix("_"))
    functional = getattr(aten, own, None)
    packet = getattr(aten, f"{own}_", None) if name.endswith("_") else functional
    if packet is None and functional is None:
        return None
    has_factor = name.removesuffix("_") in FACTORS

    def of_one(x: Any, *rest: Any, **words: Any) -> Any:
        """Where there is no form in place of one tensor, its result is copied."""
        return packet(x, *rest, **words) if packet is not None else x.copy_(functional(x, *rest, **words))  # type: ignore[misc]

    def compute(*args: Any, **keywords: Any) -> Any:
        given = dict(keywords)
        if has_factor:
            given["value"], args = factor(args, given), args[:3]
        columns = [*args, *given.values()]
        many = [isinstance(v, (list, tuple)) for v in columns]
        results = []
        for i in range(next(len(v) for v, m in zip(columns, many, strict=True) if m)):
            own = [v[i] if m else v for v, m in zip(columns, many, strict=True)]
            results.append(of_one(*own[: len(args)], **dict(zip(given, own[len(args) :], strict=True))))
        return None if name.endswith("_") else results

    compute.composed = True  # type: ignore[attr-defined]
    return compute


@cache
def decompositions() -> dict[Any, Any]:
    """PyTorch's own, by which an overload becomes others."""
    from torch._decomp import core_aten_decompositions, decomposition_table

    return {**decomposition_table, **core_aten_decompositions()}


def composed(overload: Any) -> Serve | None:
    """An overload as others, each of which comes to the mode in turn; None where PyTorch knows no such form of it."""
    if overload._can_decompose():
        return overload.decompose  # type: ignore[no-any-return]
    return decompositions().get(overload)
