"""What a call costs the host: tensors are tiny, and on a GPU nothing waits for the device. On the CPU the kernel's own time,
which is below a microsecond, is part of the number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from baracuda.cli.bench.benchmark import Prepared
from baracuda.cli.bench.place import Place
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.bench.suites.seeds import Seed

#: Elements of each tensor.
ELEMENTS = 1024
#: Ways to launch: the bound launch, the plan's `run`, the function, the function with a given result.
WAYS = ("bind", "run", "function", "function, out=")


@dataclass(frozen=True)
class Launch(Seed):
    """One way to launch one op."""

    suite: str = "launch"

    @property
    def nbytes(self) -> int:
        return 0

    @property
    def operations(self) -> float:
        return 0.0

    def prepare(self, place: Place, seed: int) -> Prepared:
        prepared = super().prepare(place, seed)
        if self.variant == "bind":
            return prepared
        if self.variant == "run":
            args = self.args(prepared.tensors)
            plan = self.plan.select(place.stream, self.descriptor, like=args)
            return replace(prepared, launch=lambda: plan.run(place.stream, None, args), fresh=None)
        call = self.fresh(prepared.tensors)
        if self.variant == "function":
            return replace(prepared, launch=call, outputs=(), fresh=None)
        out = prepared.tensors[prepared.outputs[0]]
        return replace(prepared, launch=self.fresh(prepared.tensors, out=out), fresh=None)


def problems(request: Request) -> Iterator[Launch]:
    """Two tensors and three, each way."""
    for element in request.elements(("f32",)):
        for op, shape in (("softmax", (1, ELEMENTS)), ("lerp", (ELEMENTS,))):
            for way in WAYS:
                yield Launch(op, element, "tiny", shape, variant=way)
