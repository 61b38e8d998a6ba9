"""The promises of one case on one machine, tried one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from zlib import crc32

from baracuda.cli.verify import canonical_reference, value
from baracuda.cli.verify.bits import Difference, difference, digests
from baracuda.cli.verify.case import Array, Case
from baracuda.cli.verify.certificate import Check
from baracuda.cli.verify.machine import Host, Machine
from baracuda.cli.verify.session import Session
from baracuda.core.errors import UnsupportedError

#: Layouts that the values of a case are tried in besides its own, and how many of them each case takes in turn: each
#: costs two kernels.
OTHER_LAYOUTS = ("transposed", "sliced", "negative", "permuted", "padded", "misaligned", "mixed", "in_place")
LAYOUTS_EACH = 1


class Checker:
    """The checks of one case; `expected` are its reference hashes, where there are some."""

    def __init__(self, machine: Machine, case: Case, expected: str | None) -> None:
        self.machine, self.case, self.expected = machine, case, expected
        self.elements = 0

    def all(self, *, thorough: bool) -> list[Check]:
        """Every check; without `thorough` only those that take one kernel. An error ends them and is one of them."""
        checks: list[Check] = []
        try:
            checks += self._checks(thorough)
        except Exception as error:  # whatever goes wrong in a plan is a finding, and the other cases still count
            checks.append(self._check("runs", error=f"{type(error).__name__}: {error}"))
        return checks

    def _check(self, promise: str, where: Difference | None = None, how: str = "", error: str = "", skipped: str = "") -> Check:
        case = self.case
        return Check(promise, case.family, case.plan.op, str(case), self.elements, where, how, error, skipped)

    def _checks(self, thorough: bool) -> Iterator[Check]:
        session = Session(self.machine, self.case)
        first = session.run()
        self.elements = sum(a.size for a in first.values())
        promised = session.plan.precision_guarantee()
        yield self._check("runs")
        if self.case.ordinary:
            yield self._value(session.placed.inputs, first)
        if self.expected is not None and promised.bit_stable_across_hardware:
            yield self._hash(session.placed.inputs, first)
        if promised.deterministic:
            yield self._same("repeat", first, session.run(poison=0xA5, bound=True), "bound")
        if not thorough:
            return
        if promised.bit_stable_on_same_hardware:
            for name, around in self.machine.variations():
                promise = next(p for p in ("threads", "stream", "graph") if p in name)
                yield self._same(promise, first, session.run(around=around), name)
            for name, outputs in session.tuned():
                yield self._same("tuning", first, outputs, name)
            if self.case.layout == "contiguous":
                yield from self._layouts(first)
        if promised.batch_invariant and self.case.layout == "contiguous":
            for batch in self.case.batches():
                outputs = Session(self.machine, batch.case, values=batch.values).run()
                rows = {n: part for n, a in outputs.items() if (part := batch.within(n, a)) is not None}
                yield self._same("batch", {n: first[n] for n in rows}, rows, batch.label)

    def _layouts(self, first: Mapping[str, Array]) -> Iterator[Check]:
        turn = crc32(str(self.case).encode())
        for i in range(LAYOUTS_EACH):
            layout = OTHER_LAYOUTS[(turn + 3 * i) % len(OTHER_LAYOUTS)]
            variant = self.case.laid(layout)
            outputs = Session(self.machine, variant, general=True).run()
            yield self._same("layout", first, outputs, f"{layout}, kernel for any strides")
            yield self._same("layout", first, Session(self.machine, variant).run(bound=True), f"{layout}, kernel of its own")

    def _same(self, promise: str, expected: Mapping[str, Array], actual: Mapping[str, Array], how: str) -> Check:
        return self._check(promise, difference(actual, expected), how)

    def _value(self, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> Check:
        try:
            return self._check("value", value.compare(self.case, inputs, outputs))
        except UnsupportedError as error:
            return self._check("value", skipped=str(error))

    def _hash(self, inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> Check:
        got = digests(outputs)
        if got == self.expected:
            return self._check("hash")
        for name, judge in self._judges(inputs):
            try:
                expected = judge()
            except UnsupportedError:
                continue
            if digests(expected) == self.expected:
                return self._check("hash", difference(outputs, expected), f"against {name}")
        return self._check("hash", error=f"hashes {got}; expected {self.expected}; nothing here computes what they stand for")

    def _judges(self, inputs: Mapping[str, Array]) -> Iterator[tuple[str, Callable[[], Mapping[str, Array]]]]:
        """Who can say what the bits behind the reference hashes are: this machine's CPU, or the arithmetic in NumPy."""
        if not isinstance(self.machine, Host):
            yield "the CPU", lambda: Session(Host(), self.case).run()
        yield "the canonical arithmetic in NumPy", lambda: canonical_reference.canonical_outputs(self.case, inputs)
