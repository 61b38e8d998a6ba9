"""Rows whose numbers lie side by side, turned in registers: a square of as many numbers of as many rows as a vector has lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Value, vector
from baracuda.codegen.llvm.transpose import transposed
from baracuda.lowering.fft.access import Number
from baracuda.lowering.fft.cpu.machine import CpuMachine
from baracuda.lowering.sort.cpu.code import StepBuilder


@dataclass(frozen=True)
class Runs:
    """Where the first row is, and how many bytes further on the next one."""

    base: Value
    step: Value


def _rows(code: StepBuilder, m: CpuMachine, runs: Runs) -> list[Value]:
    """The address of each lane's row; rows that are not there are the last one."""
    b, found = code.b, []
    for lane in range(m.lanes):
        number = b.min(lane, b.sub(m.remaining, 1)) if m.remaining is not None else lane
        found.append(b.at(runs.base, b.mul(runs.step, number)))
    return found


def read_runs(
    code: StepBuilder, m: CpuMachine, own: Value, runs: Runs, n: int, swap: bool, read: Callable[[Value], Number]
) -> None:
    """n numbers of each row to a thread's own memory; those that fill no square one at a time."""
    b, lanes, size = code.b, m.lanes, m.size
    width, rows = size * lanes, _rows(code, m, runs)
    whole = n - n % lanes
    with b.loop(0, whole, lanes) as j:
        both = [b.load(vector(m.element, 2 * lanes), b.at(row, b.mul(j, 2 * size)), size) for row in rows]
        parts = [transposed(b, [b.shuffle(v, None, range(part, 2 * lanes, 2)) for v in both]) for part in (0, 1)]
        at = b.at(own, b.mul(j, 2 * width))
        for i, z in enumerate(zip(*(parts[::-1] if swap else parts), strict=True)):
            for part, value in enumerate(z):
                b.store(value, b.at(at, (2 * i + part) * width), min(width, 64))
    with b.loop(whole, n) as j:
        at = b.at(own, b.mul(j, 2 * width))
        for part, value in enumerate(read(j)):
            b.store(value, b.at(at, part * width), min(width, 64))


def write_runs(code: StepBuilder, m: CpuMachine, runs: Runs, whole: int, finish: Callable[[Value], None]) -> None:
    """Results to rows, a square at a time; `finish` stores one, which is collected here."""
    b, lanes, size = code.b, m.lanes, m.size
    rows = _rows(code, m, runs)
    order = [k // 2 + (lanes if k % 2 else 0) for k in range(2 * lanes)]
    with b.loop(0, whole, lanes) as k:
        m.collected = []
        for i in range(lanes):
            finish(b.add(k, i))
        found, m.collected = m.collected, None
        parts = [transposed(b, [z[part] for z in found]) for part in (0, 1)]
        for lane, (re, im) in enumerate(zip(*parts, strict=True)):
            both, at = b.shuffle(re, im, order), b.at(rows[lane], b.mul(k, 2 * size))
            if m.remaining is None or lane == 0:
                b.store(both, at, size)
            else:
                with b.if_(b.less(lane, m.remaining)):
                    b.store(both, at, size)
