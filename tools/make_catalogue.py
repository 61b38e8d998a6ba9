"""Writes docs/ops.md from the catalogue, catalogue/ulp.tsv from docs/ulp.md, and catalogue/modules.tsv, which says what module
declares an op: `python -m tools.make_catalogue`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ULP = ROOT / "baracuda" / "catalogue" / "ulp.tsv"
OPS = ROOT / "docs" / "ops.md"
MODULES = ROOT / "baracuda" / "catalogue" / "modules.tsv"


def write_ulp() -> None:
    """The tables of docs/ulp.md and docs/ulp_special.md as data."""
    rows = ["function\tkind\tulp"]
    largest: dict[tuple[str, str], str] = {}
    for page in ("ulp.md", "ulp_special.md"):
        for line in (ROOT / "docs" / page).read_text().splitlines():
            cells = [c.strip() for c in line.strip("|").split("|")]
            if len(cells) == 6 and cells[1] in ("f32", "f64"):
                key = cells[0].partition(",")[0], cells[1]  # "lgamma, x > 0": the worse of its ranges
                largest[key] = max(largest.get(key, "0"), cells[2], key=float)
    rows += ["\t".join((*key, error)) for key, error in largest.items()]
    ULP.write_text("\n".join(rows) + "\n")


#: Prints the module whose import declares an op or a composition, for each, in a process that has loaded none; of an op and a
#: composition of one name that of the composition, which loads the op's.
_LOADED = """
from importlib import import_module
from baracuda.ops import FAMILIES
from baracuda.ops.declaration.composition import COMPOSED
from baracuda.ops.declaration.op import OPS
found, composed = {}, {}
for module in FAMILIES:
    import_module(f"baracuda.ops.{module}")
    for declared, named in ((OPS, found), (COMPOSED, composed)):
        for name in declared:
            named.setdefault(name, module)
for name, module in sorted((found | composed).items()):
    print(name, module, sep="\\t")
"""


def modules() -> str:
    """The module of each declared op and composition."""
    return subprocess.run([sys.executable, "-c", _LOADED], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def document() -> str:
    """The whole page."""
    import baracuda

    entries = baracuda.catalogue()
    present = [e for e in entries if e.present]
    families = dict.fromkeys(e.row.family for e in entries)
    lines = [
        "# Ops",
        "",
        "Written by `python -m tools.make_catalogue` from `baracuda.catalogue()`. An op is listed with its function only where",
        f"the test suite runs it: {len(present)} of {len(entries)}. Every plan here promises the same bits on every CPU and GPU,",
        "unless it says another thing.",
        "",
        "Tensors of several elements promote as in the array API (`baracuda/ops/declaration/promotion.py`): an element follows",
        "from elements, never from shapes, so that one without axes counts as any other. In PyTorch it counts only where it is",
        "of a higher category than those with axes: f16 of any shape times an f32 without axes is f16 there and f32 here.",
        "A Python number takes the element of the tensors where it is of their category.",
        "",
    ]
    for family in families:
        rows = [e for e in entries if e.row.family == family]
        if not any(e.present for e in rows):
            continue
        missing = [e.row.op for e in rows if not e.present]
        lines += [
            f"## {family}",
            "",
            "| op | function, backward | elements | what | ULP | also known as |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for e in (e for e in rows if e.present):
            functions = f"`{e.function}`" + (f", `{e.backward}`" if e.backward else "")
            what = e.doc.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            what += "" if e.guarantee.startswith("same bits on every") else f" ({e.guarantee})"
            ulp = ", ".join(f"{kind} {error:.2f}" for kind, error in e.ulp)
            lines.append(
                f"| {e.row.op} | {functions} | {' '.join(map(str, e.elements))} | {what} | {ulp} | {', '.join(e.names()[1:4])} |"
            )
        lines += ["", *([f"Not yet: {', '.join(missing)}.", ""] if missing else [])]
    return "\n".join(lines)


if __name__ == "__main__":
    write_ulp()
    MODULES.write_text(modules())
    OPS.write_text(document())
