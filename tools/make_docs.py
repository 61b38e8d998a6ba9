"""Write docs/plans.md from the plans' own data: `python tools/make_docs.py`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import baracuda
from baracuda.core.axes import Axes
from baracuda.core.plan import Plan
from baracuda.core.spec import TensorSpec
from baracuda.ops.declaration.formula_plan import FormulaPlan

TARGET = Path(__file__).resolve().parent.parent / "docs" / "plans.md"
_INTRODUCTION = """\
# Plans

Made by `tools/make_docs.py` from the plans themselves.

Every plan is used in the same way: `Plan.select(stream, descriptor, preference)`, then `run(stream, workspace, args)` or
`bind(stream, workspace, args)`. In the tables, *shape* and *element* name attributes of the descriptor, and an element
called `compute` is f64 for f64 and f32 for every other floating-point kind.

The backward plans of softmax, RMS norm, ALiBi, lerp and per-token dequantization have the names, fields, checks and limits of
those in the Rust crate baracuda-kernels 0.0.1-alpha.68, their originals. Beyond these every plan takes extents of 64 bits and
tensors of any strides, negative ones among them, and 0 in inputs, which are broadcast; a generated kernel works in place where
its plan says so, computes and sums f64 in f64, and promises the same bits in every batch and on every device. What else goes
beyond an original, its plan says.
"""


def plans() -> dict[str, list[type[Plan[Any, Any]]]]:
    """The public plans, by the module that describes their family, in the order in which the module defines them."""
    by_module: dict[str, list[type[Plan[Any, Any]]]] = {}
    for name in baracuda.__all__:
        if name.endswith("Plan") and name != "Plan":
            plan = getattr(baracuda, name)
            by_module.setdefault(plan.__module__, []).append(plan)
    for family in by_module.values():
        family.sort(key=lambda plan: inspect.getsourcelines(plan)[1])
    return by_module


def _text(obj: Any) -> str:
    """A docstring as Markdown: its examples become a code block."""
    text, _, example = (inspect.getdoc(obj) or "").partition("Examples\n--------\n")
    return text.rstrip().replace("*", r"\*") + (f"\n\n```python\n{example.rstrip()}\n```" if example else "")


def _signature(cls: Any) -> str:
    """The fields of a dataclass, as they are passed."""
    words: list[str] = []
    for p in inspect.signature(cls).parameters.values():
        if p.kind is p.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        words.append(p.name if p.default is p.empty else f"{p.name}={p.default!r}")
    return f"{cls.__name__}({', '.join(words)})"


def _in_place(specs: Sequence[TensorSpec]) -> str:
    """Which outputs may be the memory of which inputs."""
    pairs = []
    for out in (s for s in specs if s.written and s.varies is Axes.FULL):
        like = [f"`{s.name}`" for s in specs if not s.written and _factor_layout(s) == _factor_layout(out)]
        if like:
            pairs.append(f"`{out.name}` over {' or '.join(like)}")
    return f"In place: {', '.join(pairs)}.\n" if pairs else ""


def _factor_layout(spec: TensorSpec) -> tuple[object, ...]:
    return spec.shape, spec.element, spec.axes, spec.varies


def _row(spec: TensorSpec, descriptor: Any) -> str:
    notes = [f"only where `{spec.when}`"] if spec.when else []
    notes += ["may be None"] if spec.optional else []
    what = "; ".join([spec.doc, *notes])
    shape = f"{spec.shape}()" if callable(getattr(descriptor, spec.shape, None)) else spec.shape
    return f"| `{spec.name}` | {'output' if spec.written else 'input'} | `{shape}` | `{spec.element}` | {what} |"


def _plan(plan: Any) -> Iterator[str]:
    descriptor, args = get_args(plan.__orig_bases__[0])
    yield f"### {plan.__name__}\n"
    yield f"{_text(plan)}\n"
    yield f"`{_signature(descriptor)}`: {_text(descriptor)}\n"
    yield f"Tensors of `{args.__name__}`:\n"
    yield "| name | | shape | element | what it is |\n| --- | --- | --- | --- | --- |"
    order = [f.name for f in fields(args)]
    yield from (_row(spec, descriptor) for spec in sorted(plan.tensors, key=lambda spec: order.index(spec.name)))
    yield ""
    if issubclass(plan, FormulaPlan):
        yield _in_place(plan.tensors)


def text() -> str:
    """What the file should hold."""
    lines = [_INTRODUCTION]
    for module, family in plans().items():
        lines.append(f"## {(inspect.getdoc(import_module(module)) or module).rstrip('.')}\n")
        for plan in family:
            lines += _plan(plan)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())
