"""Many strided copies on the CPU: one step, a piece for each unit of work."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.codegen.llvm.copying import copy_run
from baracuda.codegen.llvm.ir import Value, i64
from baracuda.core.elements import ElementKind
from baracuda.lowering.movement.problem import Movement, table
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered

_KINDS = {1: ElementKind.U8, 2: ElementKind.U16, 4: ElementKind.U32, 8: ElementKind.U64}
#: Bytes that one thread copies in a nanosecond, in runs and an element at a time.
_RUNS, _SINGLE = 8.0, 1.5


def ways(movement: Movement, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a normalised problem."""
    yield lower(movement, target)


def lower(movement: Movement, target: CpuTarget | None = None) -> Lowered:
    """The program of a normalised problem."""
    target = target or host()
    integers, room, rank = Integers(movement.room + 1, 0), movement.room, movement.rank
    first = integers.first
    for value in table(movement, range(len(movement.pieces)), len(movement.pieces)):
        integers.add(value)
    code = StepBuilder(integers, target)
    b, each = code.b, 3 * rank + 1
    dense = movement.inner_is_dense
    to = code.operand(room)

    def word(type_: str, index: Value) -> Value:
        return b.load(type_, b.at(Value("ptr", "%words"), b.mul(index, 8)), 8)

    with b.loop(code.begin, code.end) as piece:
        row = b.add(b.mul(piece, each), first + room)
        numbers = [word("i64", b.add(row, k)) for k in range(each)]
        source, target_ = word("ptr", piece), b.at(to, numbers[3 * rank])

        def copied(axis: int, from_: Value, into: Value, numbers: list[Value] = numbers) -> None:
            if axis < rank - 1:
                with b.loop(i64(0), numbers[axis]) as i:
                    copied(
                        axis + 1,
                        b.at(from_, b.mul(i, numbers[rank + axis])),
                        b.at(into, b.mul(i, numbers[2 * rank + axis])),
                        numbers,
                    )
                return
            _run(code, movement, dense, numbers[axis], into, numbers[2 * rank + axis], from_, numbers[rank + axis])

        copied(0, source, target_)
    count = len(movement.pieces)
    mean = sum(p.size for p in movement.pieces) * movement.size / max(count, 1)
    step = code.step("copies", count, 20 + mean / (_RUNS if dense else _SINGLE))
    return Lowered((step,), tuple(integers.values), 0, f"{count} copies of {movement.size} bytes")


def _run(
    code: StepBuilder, movement: Movement, dense: bool, count: Value, to: Value, to_step: Value, from_: Value, step: Value
) -> None:
    """One row of a piece; steps are in bytes."""
    b, size = code.b, movement.size
    if dense:
        copy_run(b, ElementKind.U8, 64, b.mul(count, size), to, None, from_, None)
    elif size <= 8:
        copy_run(b, _KINDS[size], 1, count, to, to_step, from_, step)
    else:
        with b.loop(i64(0), count) as i:
            at, into = b.at(from_, b.mul(i, step)), b.at(to, b.mul(i, to_step))
            copy_run(b, ElementKind.U64, 2, i64(2), into, None, at, None)
