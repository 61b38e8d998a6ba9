"""Which steps of a call have to follow which: told by the bytes that they read and write."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from baracuda.core.call_recorder import CallRecorder, DeviceCheck, PlanCall, RecordedLaunch
from baracuda.core.layout import byte_range, is_contiguous, may_share
from baracuda.core.tensor import TensorRef
from baracuda.lowering.nest.implementation import FormulaImplementation

Step = RecordedLaunch | DeviceCheck


@dataclass
class Node:
    """Launches that stay together: those of one run of a plan, or one that is of none, with what they read and write.

    Attributes
    ----------
    reads, writes
        Of a plan, its tensors, with their numbers in the call.
    blocks
        Of what is no plan, the blocks of memory that it may read and write.
    readers
        For each tensor that it writes, the nodes that read what it wrote.
    lasting
        The tensors that it writes and somebody reads after the call.
    """

    number: int
    steps: list[Step]
    call: PlanCall | None = None
    reads: list[tuple[int, TensorRef]] = field(default_factory=list)
    writes: list[tuple[int, TensorRef]] = field(default_factory=list)
    blocks: frozenset[int] = frozenset()
    before: set[int] = field(default_factory=set)
    after: set[int] = field(default_factory=set)
    readers: dict[int, set[int]] = field(default_factory=dict)
    lasting: set[int] = field(default_factory=set)
    is_check: bool = False


class _Blocks:
    """Memory in blocks that have no byte in common."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        merged: list[list[int]] = []
        for low, high in sorted(ranges):
            if merged and low < merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, max(high, low + 1)])
        self.starts, self.ends = [b[0] for b in merged], [b[1] for b in merged]

    def of(self, address: int) -> int:
        i = bisect_right(self.starts, address) - 1
        return i if i >= 0 and address < self.ends[i] else -1


@dataclass
class _Access:
    node: int
    tensor: TensorRef | None  # None: all of the block
    place: int  # which of what the node writes


def nodes_of(recorder: CallRecorder, lasting: Sequence[tuple[int, int]]) -> list[Node]:
    """The nodes of a call in order, with what comes before and after each; `lasting` are ranges of addresses of what is read after
    the call."""
    nodes = list(_nodes(recorder))
    blocks = _Blocks((low, high) for _, low, high in recorder.extents)
    kept = _Blocks(lasting)
    written: dict[int, list[_Access]] = {}
    read: dict[int, list[_Access]] = {}
    barrier = -1
    for n in nodes:
        if n.call is None:
            starts = [recorder.extents[p.source - 1][0] + p.offset for s in n.steps for p in _places(s) if p.source]
            n.blocks = frozenset(blocks.of(a) for a in starts) - {-1}
        if n.is_check:
            barrier = n.number
            n.before.update(range(n.number))
        elif barrier >= 0:
            n.before.add(barrier)
        touched = [(blocks.of(byte_range(t)[0]), t, True, i) for i, t in n.writes]
        touched += [(blocks.of(byte_range(t)[0]), t, False, -1) for _, t in n.reads]
        accesses = [(b, _Access(n.number, t, i), is_write) for b, t, is_write, i in touched]
        accesses += [(b, _Access(n.number, None, -1), is_write) for b in n.blocks for is_write in (False, True)]
        for b, access, is_write in accesses:
            for other in written.get(b, ()):
                if other.node != n.number and _meet(other.tensor, access.tensor):
                    n.before.add(other.node)
                    if not is_write and other.place >= 0:
                        nodes[other.node].readers.setdefault(other.place, set()).add(n.number)
            if is_write:
                n.before.update(o.node for o in read.get(b, ()) if o.node != n.number and _meet(o.tensor, access.tensor))
        for b, access, is_write in accesses:
            if is_write and access.tensor is not None and is_contiguous(access.tensor.shape, access.tensor.strides):
                written[b] = [o for o in written.get(b, ()) if not _inside(o.tensor, access.tensor)]
            (written if is_write else read).setdefault(b, []).append(access)
    for n in nodes:
        for i, t in n.writes:
            if kept.of(byte_range(t)[0]) >= 0 or blocks.of(byte_range(t)[0]) < 0:
                n.lasting.add(i)
        for m in n.before:
            nodes[m].after.add(n.number)
    return nodes


def _nodes(recorder: CallRecorder) -> Iterable[Node]:
    spans = {call.first: call for call in recorder.plans if call.last > call.first}
    at = number = 0
    while at < len(recorder.steps):
        call = spans.get(at)
        last = at + 1 if call is None else call.last
        steps = recorder.steps[at:last]
        node = Node(number, steps, call, is_check=any(isinstance(s, DeviceCheck) for s in steps))
        if call is not None:
            pure = isinstance(call.implementation, FormulaImplementation)
            for i, (spec, tensor) in enumerate(zip(call.specs, call.tensors, strict=True)):
                if tensor is not None and 0 not in tensor.shape:
                    if spec.written:
                        node.writes.append((i, tensor))
                    if not (spec.written and pure):
                        node.reads.append((i, tensor))
        yield node
        at, number = last, number + 1


def _places(step: Step) -> Sequence[tuple[int, int]]:
    return step.places if isinstance(step, RecordedLaunch) else (step.place,)


def _meet(a: TensorRef | None, b: TensorRef | None) -> bool:
    return a is None or b is None or may_share(a, b)


def _inside(inner: TensorRef | None, outer: TensorRef) -> bool:
    if inner is None:
        return False
    (low, high), (begin, end) = byte_range(inner), byte_range(outer)
    return begin <= low and high <= end
