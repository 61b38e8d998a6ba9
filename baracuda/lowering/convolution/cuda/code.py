"""What the CUDA kernels of convolutions share: factors by the names of axes, coordinates, and the walk over taps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from baracuda.codegen.cuda.prelude import STORAGE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Words, unravel


@dataclass(frozen=True)
class Factor:
    """A factor in memory: its name in the code, its element, and C++ of its address and its strides by the name of an axis."""

    name: str
    kind: ElementKind
    address: str
    strides: Mapping[str, str]

    @staticmethod
    def of(
        words: Words, name: str, kind: ElementKind, address: str, strides: Mapping[str, int], *, general: bool = False
    ) -> Factor:
        return Factor(name, kind, address, {axis: words.signed(s) for axis, s in strides.items() if s or general})

    @property
    def declaration(self) -> str:
        return f"const {STORAGE_TYPE[self.kind]}* const {self.name} = (const {STORAGE_TYPE[self.kind]}*)({self.address});"

    def offset(self, coordinates: Mapping[str, str]) -> str:
        """The C++ offset of some steps along axes."""
        terms = [f"(i64)({at}) * {self.strides[axis]}" for axis, at in coordinates.items() if axis in self.strides]
        return " + ".join(terms) or "0"


def coordinates(
    p: ConvolutionProblem, run: Sequence[str], index: str, words: Words, prefix: str
) -> tuple[list[str], dict[str, str]]:
    """Statements that split the number of an element of a run of axes, and each axis's C++."""
    extents = p.extents()
    if not run:
        return [], {}
    lines = unravel(f"(unsigned)({index})", [extents[name] for name in run], words, prefix, wide=False)
    return lines, {name: f"{prefix}{i}" for i, name in enumerate(run)}


def index_type(p: ConvolutionProblem) -> str:
    """The C++ type in which an element's place along an axis is counted."""
    reach = [
        abs(low) + o * abs(s) + t * abs(d) + i
        for low, o, s, t, d, i in zip(p.low, p.outputs, p.stride, p.taps, p.dilation, p.inputs, strict=True)
    ]
    return "int" if max(reach, default=0) < INDEX_LIMIT else "i64"


class Taps:
    """The loops over taps. Names in the code: T0, T1, .. how many there are, I0, .. the inputs, t0, .. the tap, i0, .. where it
    meets x, and NAME_0, NAME_1, .. a factor's address at each depth."""

    def __init__(self, p: ConvolutionProblem, words: Words, segment: str = "") -> None:
        self.p, self.type, self.segment = p, index_type(p), segment
        self.length = words.signed(p.segment) if segment else ""
        self.numbers = {
            f"{name}{a}": words.signed(v)
            for name, values in (("T", p.taps), ("I", p.inputs), ("S", p.stride), ("D", p.dilation), ("L", p.low))
            for a, v in enumerate(values)
        }

    def declare(self) -> list[str]:
        return [f"const {self.type} {name} = ({self.type}){word};" for name, word in self.numbers.items()]

    def loops(self, factors: Sequence[Factor], at: Mapping[str, str], body: Callable[[list[str]], list[str]]) -> list[str]:
        """The loops, whose body is given the factors' addresses in the code."""
        rank = self.p.rank
        lines, depth = [], 0
        names = [f"{f.name}_0" for f in factors]
        for f, name in zip(factors, names, strict=True):
            lines.append(f"const {STORAGE_TYPE[f.kind]}* const {name} = {f.name} + ({f.offset(at)});")
        if self.segment:
            total = " * ".join(f"(i64)T{a}" for a in range(rank))
            lines += [
                f"const i64 begin = {self.segment} * {self.length}, all = {total};",
                f"const i64 end = begin + {self.length} < all ? begin + {self.length} : all;",
                "for (i64 tap = begin; tap < end; ++tap) {",
                "i64 rest = tap;",
                *[
                    f"const {self.type} t{a} = ({self.type})({'rest' if a == 0 else f'rest % T{a}'});"
                    + ("" if a == 0 else f" rest /= T{a};")
                    for a in reversed(range(rank))
                ],
            ]
        for a in range(rank):
            o = at.get(f"o{a}", "0")
            if not self.segment:
                lines.append(f"for ({self.type} t{a} = 0; t{a} < T{a}; ++t{a}) {{")
            lines += [
                f"const {self.type} i{a} = ({self.type}){o} * S{a} + t{a} * D{a} - L{a};",
                f"if (i{a} < 0 || i{a} >= I{a}) continue;",
            ]
            step = {f"i{a}": f"i{a}", f"t{a}": f"t{a}"}
            for f in factors:
                type_ = STORAGE_TYPE[f.kind]
                lines.append(f"const {type_}* const {f.name}_{a + 1} = {f.name}_{a} + ({f.offset(step)});")
            depth = a + 1
        number = "0"
        for a in range(rank):
            number = f"({number} * T{a} + t{a})"
        segmented = [f"const i64 tap = {number};"] if self.p.segment and not self.segment else []
        ends = "}" if self.segment else "}" * rank
        return [*lines, *segmented, *body([f"{f.name}_{depth}" for f in factors]), ends]
