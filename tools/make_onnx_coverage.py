"""Write the table of ONNX's operators in docs/onnx.md: python -m tools.make_onnx_coverage"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from onnx import defs

import baracuda.onnx
from baracuda.onnx.operators import registry

PAGE = Path(__file__).resolve().parents[1] / "docs" / "onnx.md"
_BEGIN, _END = "<!-- operators: written by tools/make_onnx_coverage.py -->\n", "<!-- end -->"


def table() -> str:
    """The rows: operators with entries of their own, then those that run by ONNX's body, then those that are not served."""
    assert baracuda.onnx.load  # which fills the table
    rows = ["| domain | operator | from version |", "| --- | --- | --- |"]
    for (domain, name), entries in groupby(registry.entries(), lambda e: (e.domain, e.name)):
        rows.append(f"| {domain or 'ai.onnx'} | {name} | {', '.join(str(e.since) for e in entries)} |")
    known = {(e.domain, e.name) for e in registry.entries()}
    by_body, missing = set(), set()
    for s in defs.get_all_schemas():
        if (s.domain, s.name) not in known and s.domain != "ai.onnx.ml":
            (by_body if s.has_function or s.has_context_dependent_function else missing).add(s.name)
    rows += ["", f"By ONNX's own body: {', '.join(sorted(by_body))}.", "", f"Not served: {', '.join(sorted(missing))}.", ""]
    return "\n".join(rows)


def page() -> str:
    """The page with its table as it should be."""
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    return f"{before}{_BEGIN}{table()}{_END}{rest.partition(_END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page())
