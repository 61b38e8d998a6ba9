"""What every CUDA schedule shares: the words of a kernel, how operands are addressed, and the kernel's frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, PRELUDE, STORAGE_TYPE, magic
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr
from baracuda.lowering.nest.problem import Nest, Operand

#: Largest count that the 32-bit index arithmetic of a kernel may reach.
INDEX_LIMIT = 1 << 31
#: Kilobytes of shared memory that a block may have, by compute capability; others have the least of these.
_SHARED = {"80": 163, "87": 163, "90": 227, "100": 227, "103": 227, "110": 227}
_LEAST_SHARED = 99


@dataclass(frozen=True)
class Tuning:
    """What schedules may choose without changing a bit.

    The defaults are the best of sweeps on an H200 (2026-11-21; 8192x8192 and rows of 64, bf16 and f32).

    Attributes
    ----------
    run_threads, run_bytes : int
        Pointwise: threads of a block, and bytes of input that each has in flight.
    row_threads, short_row_threads : int
        Resident rows: threads that a block should have, where a row takes more than a warp and where it takes less.
    walkers : int
        Looped and split rows: threads of a block.
    column_bytes, column_threads : int
        Side-by-side rows: bytes along the unit stride that a block takes, and its threads at most.
    resident_threads : int
        Rows with column sums: threads that a multiprocessor should hold.
    """

    run_threads: int = 128
    run_bytes: int = 48
    row_threads: int = 128
    short_row_threads: int = 256
    walkers: int = 512
    column_bytes: int = 128
    column_threads: int = 512
    resident_threads: int = 512


#: What autotuning tries, the default first.
TUNINGS = (
    Tuning(),
    Tuning(128, 96, 64, 128, 256, 64, 512, 256),
    Tuning(256, 64, 256, 512, 128, 128, 1024, 768),
    Tuning(512, 48, 512, 256, 256, 128, 256, 512),
    Tuning(256, 192, 128, 64, 512, 256, 512, 1024),
)


@dataclass(frozen=True)
class Target:
    """The device compiled for: its architecture ("sm_90"), how many multiprocessors it has, and the tuning to use."""

    arch: str
    multiprocessors: int = 132
    tuning: Tuning = Tuning()

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a block may have."""
        return _SHARED.get(self.arch.removeprefix("sm_").rstrip("af"), _LEAST_SHARED) * 1024


class Words:
    """The words of one program: collects its run-time integers and gives the C++ text that reads each.

    The launches of a program share them: each adds its integers behind those of the one before and reads a prefix.
    """

    def __init__(self, operands: int, params: tuple[Expr, ...]) -> None:
        self.operands = operands
        self.params = params
        self.values: list[int] = []

    @property
    def count(self) -> int:
        return self.operands + 1 + len(self.params) + len(self.values)

    def word(self, value: int) -> str:
        self.values.append(value)
        return f"W.w[{self.count - 1}]"

    def signed(self, value: int) -> str:
        return f"((i64){self.word(value)})"

    def unsigned(self, value: int) -> str:
        return f"((unsigned){self.word(value)})"

    def divisor(self, value: int) -> str:
        return self.word(magic(max(value, 1)))  # by an extent of 0 nothing is ever divided

    def param(self, n: Expr) -> str:
        """The C++ expression of a parameter."""
        word = f"W.w[{self.operands + 1 + self.params.index(n)}]"
        if n.kind is ElementKind.F32:
            return f"__uint_as_float((unsigned){word})"
        if n.kind is ElementKind.F64:
            return f"__longlong_as_double((i64){word})"
        return f"({COMPUTE_TYPE[n.kind]}){word}"


class Frame:
    """The addressing of a nest's operands and the text around a kernel's body.

    `addresses` gives each operand's address where that is not its own word (an intermediate in the workspace), and
    `workspace` the byte at which the nest's share of the workspace starts.
    """

    def __init__(
        self,
        nest: Nest,
        tuning: Tuning,
        words: Words | None = None,
        addresses: Sequence[str] = (),
        workspace: int = 0,
    ) -> None:
        self.nest = nest
        self.tuning = tuning
        graph = nest.graph
        self.ports = (*graph.inputs, *(p for p, _ in graph.outputs))
        self.inputs = len(graph.inputs)
        self.operands = nest.operands
        self.words = words or Words(len(self.ports), graph.params)
        self.addresses = addresses or [f"W.w[{i}]" for i in range(len(self.ports))]
        self.workspace_start = workspace
        self.input_index = {p.name: i for i, p in enumerate(graph.inputs)}

    def trial(self) -> Frame:
        """The same nest with words of its own, to see what a layout would take."""
        words = Words(self.words.operands, self.words.params)
        return Frame(self.nest, self.tuning, words, self.addresses, self.workspace_start)

    def storage(self, i: int) -> str:
        return STORAGE_TYPE[self.operands[i].kind]

    def pointers(self) -> list[str]:
        """Declares p0, p1, ...: the operands' first elements."""
        lines = []
        for i in range(len(self.ports)):
            const = "const " if i < self.inputs else ""
            lines.append(f"{const}{self.storage(i)}* const p{i} = ({const}{self.storage(i)}*)({self.addresses[i]});")
        return lines

    def workspace(self, at: int = 0) -> str:
        """The address of a byte of this nest's workspace."""
        return f"(W.w[{self.words.operands}] + {self.words.signed(self.workspace_start + at)})"

    def strides(self, i: int, axes: Sequence[int]) -> list[str | None]:
        """The C++ expressions of an operand's strides along some axes; None where it does not vary."""
        operand = self.operands[i]
        return [None if operand.steps(a) == 0 else self.words.signed(operand.strides[a]) for a in axes]

    def kernel(
        self, body: Sequence[str], threads: int, tables: str = "", *, name: str = "kernel", blocks: int = 0, cluster: int = 1
    ) -> str:
        """A whole translation unit around the body of one kernel."""
        return translation_unit(self.words, body, threads, tables, name=name, blocks=blocks, cluster=cluster)


def translation_unit(
    words: Words,
    body: Sequence[str],
    threads: int,
    tables: str = "",
    *,
    name: str = "kernel",
    blocks: int = 0,
    cluster: int = 1,
) -> str:
    """The source of one kernel, given all words that it reads; `blocks` is how many a multiprocessor should hold, `cluster` how
    many make a cluster."""
    bounds = f"__launch_bounds__({threads}, {blocks})" if blocks else f"__launch_bounds__({threads})"
    if cluster > 1:
        bounds = f"__cluster_dims__({cluster}, 1, 1) {bounds}"
    lines = "\n".join("  " + line for line in body)
    rest = (
        f"struct Words {{ u64 w[{words.count}]; }};\n{tables}\n"
        f'extern "C" __global__ void {bounds} {name}(const __grid_constant__ Words W) {{\n{lines}\n}}\n'
    )
    return PRELUDE.used_by(rest) + rest


def fitting_width(width: int, extent: int, itemsize: int) -> int:
    """Elements to a run: half of `width` where only such runs fill rows of `extent`, if half still has 8 bytes: a row's last run
    needs tests, and rows that begin anywhere are loaded in pieces anyway."""
    half = width // 2
    return half if extent % width and half * itemsize >= 8 and extent % half == 0 else width


def piece(operand: Operand, width: int, unit_axis: int, extents: Sequence[int]) -> int:
    """How many elements of a unit-stride run of `width` one load may move: at most 16 bytes, aligned on every run."""
    if operand.general:
        return 1
    size = operand.kind.itemsize
    p = min(width, max(1, 16 // size))
    steps = [s for a, s in enumerate(operand.strides) if a != unit_axis and extents[a] > 1]
    steps += [s for s, extent in operand.gathered if extent > 1]
    while p > 1 and (operand.alignment % (p * size) or any(s % p for s in steps)):
        p //= 2
    return p


def unravel(index: str, extents: Sequence[int], words: Words, prefix: str, *, wide: bool) -> list[str]:
    """Statements that split a linear index into coordinates prefix0, prefix1, ... (the last axis fastest)."""
    kind = "i64" if wide else "unsigned"
    lines, rest = [], index
    for a in range(len(extents) - 1, 0, -1):
        extent = words.signed(extents[a]) if wide else words.unsigned(extents[a])
        quotient = f"{prefix}q{a}"
        divided = f"{rest} / {extent}" if wide else f"divide({rest}, {words.divisor(extents[a])})"
        lines.append(f"const {kind} {quotient} = {divided}, {prefix}{a} = {rest} - {quotient} * {extent};")
        rest = quotient
    lines.append(f"const {kind} {prefix}0 = {rest};")
    return lines


def offset(strides: Sequence[str | None], prefix: str) -> str:
    """The C++ offset of the coordinates prefix0, prefix1, ..."""
    return " + ".join(f"(i64){prefix}{a} * {s}" for a, s in enumerate(strides) if s) or "(i64)0"
