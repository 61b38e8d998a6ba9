"""Write the sources of some kernels to tests/golden, one of each schedule: so reviews show what a change of the generator does.

    python -m tools.make_golden            # write them anew
    python -m tools.make_golden --check    # say what is different, and fail where anything is

The GPU's are for sm_90 with 132 multiprocessors, the CPU's for x86-64-v3; neither need be there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

from baracuda.cli.inspection import inspected, tensor_of
from baracuda.cli.listing import element_of
from baracuda.core.device import Device
from baracuda.core.sku import BackendKind, MathPrecision, PlanPreference
from baracuda.runtime.cpu_toolchain import OfflineCpuToolchain
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.toolchain import use

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
TARGETS = {"cu": "sm_90", "ll": "cpu"}
_PINNED = PlanPreference(backend=BackendKind.FORMULA_CUDA, math=MathPrecision.BF16)
_PROCESSOR = CpuTarget("x86_64-unknown-linux-gnu", "x86-64-v3", "", 256)
#: Lines of a difference that are shown of each file.
_SHOWN = 40


@dataclass(frozen=True)
class GoldenCall:
    """A call of a function, the schedule that it takes, and which of the plans that it runs is meant (the last)."""

    name: str
    schedule: str
    function: str
    shapes: str
    element: str = "f32"
    options: Mapping[str, Any] = field(default_factory=dict)


CUDA = (
    GoldenCall("pointwise", "pointwise v4", "relu", "4096x4096"),
    GoldenCall("pointwise_broadcast", "pointwise", "add", "64x1000 1000"),
    GoldenCall("pointwise_transposed", "pointwise tile", "add", "2000x3000 2000x3000.T"),
    GoldenCall("pointwise_rare", "pointwise", "exp", "4096x4096", "f64"),
    GoldenCall("looked_up", "pointwise v8 looked up", "tanh", "4096x2048", "bf16"),
    GoldenCall("tables", "pointwise v8 tables 1", "i0_backward", "4096x2048 4096x2048", "bf16"),
    GoldenCall("rows_resident", "rows resident", "softmax", "8192x1024", "bf16"),
    GoldenCall("rows_short", "rows resident", "sum", "3000x8", options={"axis": -1}),
    GoldenCall("rows_looped", "rows looped", "softmax", "64x30001"),
    GoldenCall("rows_split", "rows split", "softmax", "3x3000000"),
    GoldenCall("rows_kept", "rows kept over", "normalize", "64x100000"),
    GoldenCall("rows_and_columns", "rows+columns", "rms_norm_backward", "512x1024 512x1024 1024 512x1", "bf16"),
    GoldenCall("columns", "columns", "sum", "64x30", options={"axis": 0}),
    GoldenCall("columns_split", "columns split", "sum", "8192x1024", options={"axis": 0}),
    GoldenCall("columns_kept", "columns kept", "logsumexp", "300000x40", "f64", {"axis": 0}),
    GoldenCall("scan_rows", "scan rows t", "cumsum", "64x1000"),
    GoldenCall("scan_rows_chained", "scan rows chained", "cumsum", "7x100000"),
    GoldenCall("scan_columns", "scan columns x", "cumsum", "5000x800", options={"axis": 0}),
    GoldenCall("scan_columns_split", "scan columns x16 split", "cummax", "100001x16", options={"axis": 0}),
    GoldenCall("scan_columns_staged", "scan columns staged", "cummax", "5000x4096", options={"axis": 0}),
    GoldenCall("product_tile", "product", "matmul", "512x256 256x512"),
    GoldenCall("product_thin", "product 4x", "matmul", "4x256 256x512"),
    GoldenCall("integer_product", "integers 23 warpgroups", "matmul", "512x256 256x512", "bf16"),
    GoldenCall("integer_product_thin", "integers 23 thin", "matmul", "40x256 256x512.T", "bf16"),
    GoldenCall("integer_product_thin_f64", "integers 23 f64 thin", "matmul", "4x256 256x512.T", "bf16"),
    GoldenCall("product_tensor_cores", "product 16x", "matmul", "4x256 256x512", "bf16", {"preference": _PINNED}),
    GoldenCall("product_warpgroups", "bf16.bf16 warpgroups", "matmul", "64x256 256x8192.T", "bf16", {"preference": _PINNED}),
    GoldenCall("small_integer_product", "s8.s8 warpgroups", "int_mm", "1024x512 512x1024", "s8"),
    GoldenCall("small_integer_product_warps", "s8.s8 warps", "int_mm", "512x256 256x512.T", "s8"),
    GoldenCall("small_integer_product_thin", "s8.s8 thin", "int_mm", "4x256 256x512.T", "s8"),
    GoldenCall("attention", "attention", "scaled_dot_product_attention", "2x8x512x64 2x8x512x64 2x8x512x64", "bf16"),
    GoldenCall(
        "attention_backward", "attention", "scaled_dot_product_attention_backward",
        "2x8x512x64 2x8x512x64 2x8x512x64 2x8x512x64 2x8x512x64 2x8x512:f32", "bf16",
    ),
    GoldenCall("scatter", "order", "segment_sum", "3000x16 3000:s64", options={"num_segments": 50}),
    GoldenCall("indexed_read", "pointwise", "embedding", "300:s64 1000x64"),
    GoldenCall("recurrence", "recurrence", "ctc_loss", "50x4x20 4x10:s64 4:s64 4:s64"),
)  # fmt: skip
CPU = (
    GoldenCall("pointwise", "pointwise", "relu", "512x512"),
    GoldenCall("pointwise_transposed", "tiles", "add", "200x300 200x300.T"),
    GoldenCall("pointwise_half", "pointwise", "add", "64x1000 64x1000", "bf16"),
    GoldenCall("rows", "rows", "sum", "64x5000", options={"axis": -1}),
    GoldenCall("rows_short", "short rows", "sum", "3000x8", options={"axis": -1}),
    GoldenCall("rows_kept", "rows+kept", "softmax", "64x1000"),
    GoldenCall("rows_split", "split", "sum", "3x3000000", options={"axis": -1}),
    GoldenCall("columns", "columns", "normalize", "500x40", options={"axis": 0}),
    GoldenCall("column_tiles", "sheets", "sum", "64x30", options={"axis": 0}),
    GoldenCall("scan_rows", "scan rows", "cumsum", "64x1000"),
    GoldenCall("scan_columns", "scan columns", "cumsum", "500x800", options={"axis": 0}),
    GoldenCall("product_strips", "strips", "matmul", "4x256 256x512"),
    GoldenCall("scatter", "order", "bincount", "3000:s64", "f32", {"minlength": 50}),
    GoldenCall("indexed_read", "pointwise", "embedding", "300:s64 1000x64"),
)


def sources() -> Iterator[tuple[str, str]]:
    """The name of each file, and what it holds."""
    for end, cases in (("cu", CUDA), ("ll", CPU)):
        for case in cases:
            tensors = [tensor_of(shape, element_of(case.element)) for shape in case.shapes.split()]
            *_, plan = inspected(case.function, tensors, TARGETS[end], options=case.options)
            schedule = plan.kernels[0].schedule
            if case.schedule not in schedule:
                sys.exit(f"{case.name}.{end}: schedule {schedule}; expected {case.schedule}")
            for i, kernel in enumerate(plan.kernels, 1):
                yield f"{case.name}{f'_{i}' if len(plan.kernels) > 1 else ''}.{end}", kernel.source


def different(wanted: Mapping[str, str]) -> list[str]:
    """What is not as it should be, in lines."""
    there = {path.name: path.read_text(encoding="utf-8") for path in sorted(GOLDEN.iterdir()) if path.suffix in (".cu", ".ll")}
    differences = [f"{name}: no longer made" for name in there if name not in wanted]
    for name, text in wanted.items():
        if name not in there:
            differences.append(f"{name}: new")
        elif there[name] != text:
            lines = list(unified_diff(there[name].splitlines(), text.splitlines(), name, name, lineterm="", n=1))
            differences += lines[:_SHOWN]
    return differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; the exit status is 1 where anything is different")
    check = parser.parse_args().check
    use(OfflineCpuToolchain(_PROCESSOR), Device.cpu())
    wanted = dict(sources())
    if check:
        lines = different(wanted)
        print("\n".join([*lines, "python -m tools.make_golden writes them anew"] if lines else [f"{len(wanted)} as they were"]))
        return bool(lines)
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.iterdir():
        if path.suffix in (".cu", ".ll") and path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (GOLDEN / name).write_text(text, encoding="utf-8")
    print(f"{len(wanted)} files in {GOLDEN}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
