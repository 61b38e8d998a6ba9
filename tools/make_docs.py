"""Write docs/plans.md from the plans' own data: `python tools/make_docs.py`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import baracuda
from baracuda.core.plan import Plan
from baracuda.core.spec import TensorSpec

TARGET = Path(__file__).resolve().parent.parent / "docs" / "plans.md"
_INTRODUCTION = """\
# Plans

Made by `tools/make_docs.py` from the plans themselves.

Every plan is used in the same way: `Plan.select(stream, descriptor, preference)`, then `run(stream, workspace, args)` or
`bind(stream, workspace, args)`. In the tables, *shape* and *element* name attributes of the descriptor, and an element
called `compute` is f64 for f64 and f32 for every other floating-point kind.
"""


def plans() -> dict[str, list[type[Plan[Any, Any]]]]:
    """The public plans, by the module that describes their family, in the order in which the module defines them."""
    found: dict[str, list[type[Plan[Any, Any]]]] = {}
    for name in baracuda.__all__:
        if name.endswith("Plan") and name != "Plan":
            plan = getattr(baracuda, name)
            found.setdefault(plan.__module__, []).append(plan)
    for family in found.values():
        family.sort(key=lambda plan: inspect.getsourcelines(plan)[1])
    return found


def _text(obj: Any) -> str:
    """A docstring as Markdown: its examples become a code block."""
    text, _, example = (inspect.getdoc(obj) or "").partition("Examples\n--------\n")
    return text.rstrip().replace("*", r"\*") + (f"\n\n```python\n{example.rstrip()}\n```" if example else "")


def _signature(cls: Any) -> str:
    """The fields of a dataclass, as they are passed."""
    parameters = inspect.signature(cls).parameters.values()
    return f"{cls.__name__}({', '.join(p.name if p.default is p.empty else f'{p.name}={p.default!r}' for p in parameters)})"


def _row(spec: TensorSpec) -> str:
    notes = [f"only where `{spec.when}`"] if spec.when else []
    notes += ["may be None"] if spec.optional else []
    what = "; ".join([spec.doc, *notes])
    return f"| `{spec.name}` | {'output' if spec.written else 'input'} | `{spec.shape}` | `{spec.element}` | {what} |"


def _plan(plan: Any) -> Iterator[str]:
    descriptor, args = get_args(plan.__orig_bases__[0])
    yield f"### {plan.__name__}\n"
    yield f"{_text(plan)}\n"
    yield f"`{_signature(descriptor)}`: {_text(descriptor)}\n"
    yield f"Tensors of `{args.__name__}`:\n"
    yield "| name | | shape | element | what it is |\n| --- | --- | --- | --- | --- |"
    yield from map(_row, plan.tensors)
    yield ""


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
