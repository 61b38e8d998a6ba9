"""Suppression on the CPU: groups shared by threads, candidates one after another."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.codegen.llvm.ir import i64, vector
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.lowering.suppression.problem import CONFLICTS, KEPT, OPERANDS, Suppression
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered

#: Words that are taken at once; a row is a multiple of them.
_LANES = 8


def ways(problem: Suppression, target: CpuTarget) -> Iterator[Lowered]:
    """The one way."""
    yield lower(problem, target)


def lower(problem: Suppression, target: CpuTarget | None = None) -> Lowered:
    """One step over the groups."""
    integers = Integers(OPERANDS, 0)
    code = StepBuilder(integers, target or host())
    b = code.b
    count, words = code.integer(problem.count), code.integer(problem.words)
    conflicts, kept, removed = code.operand(CONFLICTS), code.operand(KEPT), code.scratch(0)
    row = b.mul(words, 8)
    several = vector("i64", _LANES)
    with b.loop(code.begin, code.end) as group:
        own, rows = b.at(removed, b.mul(group, row)), b.at(conflicts, b.mul(group, b.mul(row, count)))
        bytes_ = b.at(kept, b.mul(group, count))
        with b.loop(0, words) as w:
            b.store(i64(0), b.at(own, b.mul(w, 8)), 8)
        with b.loop(0, count) as i:
            word = b.load("i64", b.at(own, b.mul(b.shr(i, 6), 8)), 8)
            gone = b.and_(b.shr(word, b.and_(i, 63)), 1)
            stays = b.equal(gone, 0)
            b.store(b.convert("zext", stays, "i8"), b.at(bytes_, i), 1)
            with b.if_(stays):
                source = b.at(rows, b.mul(i, row))
                first = b.and_(b.shr(i, 6), -_LANES)
                with b.loop(first, words, _LANES) as w:
                    at = b.mul(w, 8)
                    both = b.op("or", b.load(several, b.at(own, at), 8), b.load(several, b.at(source, at), 8))
                    b.store(both, b.at(own, at), 8)
    cost = problem.count * (2.0 + problem.words / _LANES)
    return Lowered((code.step("suppression", problem.groups, cost),), tuple(integers.values), problem.nbytes, "suppression")
