"""Write docs/torch_coverage.md, which of PyTorch's core functions the mode serves: `python tools/make_torch_coverage.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

import baracuda.torch.aten
from baracuda.torch.resolution import composed, served

TARGET = Path(__file__).resolve().parent.parent / "docs" / "torch_coverage.md"
INTRODUCTION = """\
# Which of PyTorch's functions are served

Made by `tools/make_torch_coverage.py`. These are the overloads that PyTorch {version} names as its core (`torch.Tag.core`), and
what `baracuda.torch.reproducible` does with each: *ours*, computed by functions of this library; *pieces*, taken apart by PyTorch
into others, each of which is looked up in turn; *PyTorch's*, views, memory, and questions about tensors; *missing*, an error by
name. Variants that work in place or take `out` are served with the function that they are variants of. Beyond the core list,
{beyond} overloads more are served, the gradients among them.

"""


def core() -> list[Any]:
    """The overloads that PyTorch names as its core."""
    packets = [getattr(torch.ops.aten, name) for name in dir(torch.ops.aten)]
    overloads = [getattr(p, o) for p in packets if hasattr(p, "overloads") for o in p.overloads()]
    return [o for o in overloads if torch.Tag.core in o.tags]


def status(overload: Any) -> str:
    """What the mode does with an overload."""
    found = served(overload)
    if found is None:
        return "missing" if composed(overload) is None else "pieces"
    return "PyTorch's" if found is overload else "ours"


def page() -> str:
    """The document."""
    rows = [(str(o), status(o)) for o in core()]
    names = {name for name, _ in rows}
    beyond = sum(str(o) not in names for o in baracuda.torch.registry.SERVED)
    counts = ", ".join(f"{sum(s == kind for _, s in rows)} {kind}" for kind in ("ours", "pieces", "PyTorch's", "missing"))
    lines = [f"Of {len(rows)}: {counts}.", "", "| overload | |", "| --- | --- |", *(f"| `{n}` | {s} |" for n, s in rows)]
    return INTRODUCTION.format(version=torch.__version__.partition("+")[0], beyond=beyond) + "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(page())
