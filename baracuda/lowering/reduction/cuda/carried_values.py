"""What stays with a thread from phase to phase, so that memory is read once."""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.expr import READS, Expr
from baracuda.lowering.nest.cuda.kernel import Frame
from baracuda.lowering.nest.phases import Phases


class CarriedValues:
    """Operands that are needed again, and, with `values`, values that cost much to compute again.

    `runs` has the C++ type and the bytes of a run of each operand that is walked; `width` is how many elements a run of values
    has.
    """

    def __init__(self, phases: Phases, frame: Frame, runs: Mapping[int, tuple[str, int]], width: int, *, values: bool) -> None:
        #: The values that are kept, and the phase that makes each.
        self.values = list(phases.carried) if values else []
        self.made = {n: phases.carried[n] for n in self.values}
        needed = [_needed(phases, p, set(self.values)) for p in range(phases.last + 1)]
        names = {p.name: i for i, p in enumerate(frame.ports[: frame.inputs])}
        #: The operands that each phase needs, and those that are needed again.
        self.reads = [sorted(names[n] for n in reads_of_phase if names[n] in runs) for reads_of_phase in needed]
        self.inputs = [i for i in runs if sum(i in phase_reads for phase_reads in self.reads) > 1]
        self.types = {f"in{i}": runs[i][0] for i in self.inputs}
        #: Where each kept run lies among the bytes of a run; a value may take the place of an operand that is not needed after.
        self.starts: dict[str, int] = {}
        self.run_bytes = 0
        free = {i: max(p for p, phase_reads in enumerate(self.reads) if i in phase_reads) for i in self.inputs}
        for i in self.inputs:
            self.starts[f"in{i}"] = self._take(runs[i][1])
        for j, n in enumerate(self.values):
            self.types[f"carried{j}"] = f"Vec<{COMPUTE_TYPE[n.kind]}, {width}>"
            size = n.kind.itemsize * width
            place = next((i for i, p in free.items() if p <= phases.carried[n] and runs[i][1] == size), None)
            if place is None:
                self.starts[f"carried{j}"] = self._take(size)
            else:
                self.starts[f"carried{j}"] = self.starts[f"in{place}"]
                del free[place]

    def _take(self, size: int) -> int:
        self.run_bytes += size
        return self.run_bytes - size


def _needed(phases: Phases, phase: int, carried: set[Expr]) -> set[str]:
    """The inputs that a phase needs where it has the values kept by phases before it."""
    inputs: set[str] = set()
    seen: set[Expr] = set()
    stack = list(phases.roots(phase))
    while stack:
        n = stack.pop()
        if n in seen or n.op == "reduce" or (n in carried and phases.carried[n] < phase):
            continue
        seen.add(n)
        stack += n.args
        if n.op in READS:
            inputs.add(n.attr[0])
    return inputs
