"""Which steps of a call have to follow which: told by the bytes that they read and write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from baracuda.core.call_recorder import CallRecorder, DeviceCheck, PlanCall
from baracuda.core.layout import byte_range, is_contiguous, may_share
from baracuda.core.tensor import TensorRef
from baracuda.frontends.fusing.addresses import Addresses
from baracuda.frontends.kept import Step, places_of
from baracuda.lowering.convolution.implementation import ConvolutionImplementation
from baracuda.lowering.matmul.implementation import MatmulImplementation
from baracuda.lowering.nest.implementation import FormulaImplementation

_PURE = FormulaImplementation, MatmulImplementation, ConvolutionImplementation


@dataclass
class Node:
    """Launches that stay together: those of one run of a plan, or one that is of none, with what they read and write.

    Attributes
    ----------
    call
        The run of a plan that it is, of tensors at the addresses of `Addresses`.
    reads, writes
        Its tensors, with their numbers among those of the plan.
    blocks
        Of what is no plan, the blocks of memory that it may read and write.
    before, after
        The nodes that have to run before and after it.
    readers
        For each tensor that it writes, the nodes that read what it wrote.
    lasting
        The tensors that it writes and somebody may read after the program.
    writes_others
        Whether it may write to memory that is not the program's own.
    is_unused
        Whether nobody reads what it writes, so that it need not run.
    """

    number: int
    steps: Sequence[Step]
    call: PlanCall | None = None
    reads: list[tuple[int, TensorRef]] = field(default_factory=list)
    writes: list[tuple[int, TensorRef]] = field(default_factory=list)
    blocks: frozenset[int] = frozenset()
    before: set[int] = field(default_factory=set)
    after: set[int] = field(default_factory=set)
    readers: dict[int, set[int]] = field(default_factory=dict)
    lasting: set[int] = field(default_factory=set)
    writes_others: bool = False
    is_unused: bool = False

    @property
    def is_pure(self) -> bool:
        """Whether it does nothing but write what it says, without reading that."""
        return self.call is not None and isinstance(self.call.implementation, _PURE)

    @property
    def is_check(self) -> bool:
        return any(isinstance(s, DeviceCheck) for s in self.steps)

    @property
    def name(self) -> str:
        """What it is, for people."""
        if self.call is not None:
            return self.call.op
        return "a check of values" if self.is_check else "a launch"


@dataclass
class _Access:
    node: int
    tensor: TensorRef | None  # None: all of the block
    number: int  # which of the plan's tensors it is, of what is written


def nodes_of(recorder: CallRecorder, addresses: Addresses) -> list[Node]:
    """The nodes of a call in order, with what comes before and after each."""
    nodes = list(_nodes(recorder, addresses))
    written: dict[int, list[_Access]] = {}
    read: dict[int, list[_Access]] = {}
    check, foreign = list[int](), list[int]()
    for (
        n
    ) in nodes:  # where a check fails, the program is run anew: what it has written to others' memory until then stays as it is
        if n.is_check:
            n.before.update(foreign)
            check.append(n.number)
        if n.writes_others:
            n.before.update(check)
            foreign.append(n.number)
        accesses = [(_block(addresses, t), _Access(n.number, t, i), True) for i, t in n.writes]
        accesses += [(_block(addresses, t), _Access(n.number, t, i), False) for i, t in n.reads]
        accesses += [(b, _Access(n.number, None, -1), is_write) for b in n.blocks for is_write in (False, not n.is_check)]
        for b, access, is_write in accesses:
            for other in written.get(b, ()):
                if other.node != n.number and _meet(other, access):
                    n.before.add(other.node)
                    if not is_write and other.number >= 0:
                        nodes[other.node].readers.setdefault(other.number, set()).add(n.number)
            if is_write:
                n.before.update(o.node for o in read.get(b, ()) if o.node != n.number and _meet(o, access))
        for b, access, is_write in accesses:
            if is_write:
                written[b] = [o for o in written.get(b, ()) if not _covers(access, o)]
            (written if is_write else read).setdefault(b, []).append(access)
        n.lasting = {i for i, t in n.writes if addresses.lasts(byte_range(t)[0])}
    for n in reversed(nodes):
        if n.is_pure and not n.lasting and all(nodes[m].is_unused for readers in n.readers.values() for m in readers):
            n.is_unused = True
    for n in nodes:
        for m in n.before:
            nodes[m].after.add(n.number)
        n.readers = {i: {m for m in readers if not nodes[m].is_unused} for i, readers in n.readers.items()}
    return nodes


def _nodes(recorder: CallRecorder, addresses: Addresses) -> Iterable[Node]:
    calls = {call.first: call for call in recorder.plans if call.last > call.first}
    at = number = 0
    while at < len(recorder.steps):
        call = calls.get(at)
        last = at + 1 if call is None else call.last
        node = Node(number, recorder.steps[at:last])
        if call is None:
            starts = [addresses.of(p) for s in node.steps for p in places_of(s)]
            node.blocks = frozenset(addresses.block(a) for a in starts if a)
            node.writes_others = not node.is_check and any(addresses.is_foreign(b) for b in node.blocks)
        else:
            _fill(node, call, addresses)
            node.writes_others = any(addresses.is_foreign(_block(addresses, t)) for _, t in node.writes)
        yield node
        at, number = last, number + 1


def _fill(node: Node, call: PlanCall, addresses: Addresses) -> None:
    """Say what a run of a plan reads and writes. Whether one that is not pure reads what it writes is not known."""
    tensors = [
        t if t is None or p is None else replace(t, pointer=addresses.of(p))
        for t, p in zip(call.tensors, call.places, strict=True)
    ]
    node.call = replace(call, tensors=tensors)
    for i, (spec, tensor) in enumerate(zip(call.specs, tensors, strict=True)):
        if tensor is None or 0 in tensor.shape:
            continue
        if spec.written:
            node.writes.append((i, tensor))
        if not (spec.written and node.is_pure):
            node.reads.append((i, tensor))


def _block(addresses: Addresses, tensor: TensorRef) -> int:
    return addresses.block(byte_range(tensor)[0])


def _meet(a: _Access, b: _Access) -> bool:
    return a.tensor is None or b.tensor is None or may_share(a.tensor, b.tensor)


def _covers(outer: _Access, inner: _Access) -> bool:
    """Whether all that one access wrote is written again by another."""
    if inner.tensor is None or outer.tensor is None or not is_contiguous(outer.tensor.shape, outer.tensor.strides):
        return False
    (low, high), (begin, end) = byte_range(inner.tensor), byte_range(outer.tensor)
    return begin <= low and high <= end
