"""The taps of windows on CUDA: which there are along an axis, and the loops over them."""

from __future__ import annotations

from math import prod

from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Words
from baracuda.lowering.window.problem import Placed, Shared, Strided, Window

#: Taps along an axis that are written out, taps of a window in all, and taps from which on nothing is gained by it.
_SHORT, _WRITTEN_OUT, COUNTED = 5, 27, 400


def few(rule: Strided) -> int:
    """How many taps of a window may be there."""
    return -(-rule.size // rule.tap_step)


class TapRules:
    """The rules of a problem's axes. Of axis a, o{a} is the output's coordinate and n{a} the input's extent."""

    def __init__(self, problem: Window, words: Words) -> None:
        self.problem, self.words = problem, words
        counts = {a: few(r) for a in problem.windowed if isinstance(r := problem.axes[a].rule, Strided)}
        short = [a for a, n in counts.items() if n <= _SHORT]
        #: The axes whose taps are written out.
        self.short = short if prod(counts[a] for a in short) <= _WRITTEN_OUT else []
        self._strides: dict[tuple[int, int], str] = {}

    # --- offsets --------------------------------------------------------------------------------------------------------

    def stride(self, i: int, axis: int) -> str | None:
        """The C++ expression of an operand's stride; None where it does not vary."""
        operand = self.problem.operands[i]
        if operand.steps(axis) == 0:
            return None
        if (i, axis) not in self._strides:
            self._strides[i, axis] = self.words.signed(operand.strides[axis])
        return self._strides[i, axis]

    def scaled(self, i: int, axis: int, coordinate: str) -> str | None:
        """A coordinate times an operand's stride."""
        if self.problem.operands[i].steps(axis) == 1:
            return coordinate
        stride = self.stride(i, axis)
        narrow = coordinate.startswith("(int)")
        return None if stride is None else f"{coordinate} * {'(int)' if narrow else ''}{stride}"

    def offset_type(self, i: int) -> str:
        """The type that reaches every element of a window from the first element of its input."""
        operand, axes = self.problem.operands[i], self.problem.axes
        reach = sum(abs(operand.strides[a]) * axes[a].source for a in self.problem.windowed)
        return "i64" if operand.general or reach >= INDEX_LIMIT // 2 else "int"

    # --- taps -----------------------------------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        """What is known before the loops."""
        lines = []
        for a in self.problem.windowed:
            axis, words = self.problem.axes[a], self.words
            rule = axis.rule
            lines.append(f"const int n{a} = (int){words.unsigned(axis.source)};")
            if isinstance(rule, Strided):
                lines += self._strided(a, rule)
            elif isinstance(rule, Shared):
                lines += self._shared(a, axis.extent, axis.source)
            else:
                assert isinstance(rule, Placed)
                i = self.problem.number(rule.starts)
                lines += [
                    f"const int count{a} = (int){words.unsigned(rule.size)};",
                    f"const i64 wanted{a} = (i64)p{i}[at{i}];",
                    f"const int start{a} = wanted{a} < 0 ? 0 : wanted{a} > n{a} - count{a} ? n{a} - count{a} : (int)wanted{a};",
                ]
        return lines

    def _shared(self, a: int, extent: int, source: int) -> list[str]:
        words = self.words
        if source * (extent + 1) + extent < INDEX_LIMIT:
            number, divisor = words.unsigned(extent), words.divisor(extent)
            start = f"(int)divide((unsigned)(o{a} * n{a}), {divisor})"
            end = f"(int)divide((unsigned)((o{a} + 1) * n{a}) + {number} - 1u, {divisor})"
        else:
            number = words.signed(extent)
            start, end = f"(int)((i64)o{a} * n{a} / {number})", f"(int)(((i64)(o{a} + 1) * n{a} + {number} - 1) / {number})"
        return [f"const int start{a} = {start};", f"const int count{a} = {end} - start{a};"]

    def _strided(self, a: int, rule: Strided) -> list[str]:
        words = self.words
        pad, stride = words.signed(rule.pad), words.unsigned(rule.stride)
        lines = [f"const int back{a} = (int){pad} - (int)o{a} * (int){stride};"]
        if a in self.short and (rule.base == 1 or rule.dilation == 1):
            if rule.base > 1:  # the first tap that meets an element, and that element
                lines += [
                    f"const int rest{a} = back{a} % {rule.base};",
                    f"const int tap{a} = rest{a} < 0 ? rest{a} + {rule.base} : rest{a};",
                    f"const int first{a} = (tap{a} - back{a}) / {rule.base};",
                ]
            return lines
        if rule.base > 1:
            lines.append(f"const int base{a} = (int){words.unsigned(rule.base)};")
        dilated = rule.dilation > 1
        dilation = f"dilation{a}" if dilated else "1"
        if dilated:
            lines.append(f"const int dilation{a} = (int){words.unsigned(rule.dilation)};")
        size = f"(int){words.unsigned(rule.size)}"
        rounded = f"(max(back{a}, 0) + {dilation} - 1) / {dilation}" if dilated else f"max(back{a}, 0)"
        extent = f"n{a}" if rule.base == 1 else f"((n{a} - 1) * base{a} + 1)"
        room = f"max({extent} + back{a}, 0)"
        end = f"({room} + {dilation} - 1) / {dilation}" if dilated else room
        if rule.base == 1:
            return [
                *lines,
                f"const int first{a} = {rounded};",
                f"const int count{a} = max(min({end}, {size}) - first{a}, 0), start{a} = first{a} * {dilation} - back{a};",
            ]
        step = f"(int){words.unsigned(rule.tap_step)}"
        return [
            *lines,
            f"int first{a} = {rounded};",
            f"const int turned{a} = base{a} * (max(back{a}, 0) / base{a} + 1) - back{a}, tries{a} = {step};",
            f"int tried{a} = 0;",
            f"while (tried{a} < tries{a} && (unsigned)(first{a} * {dilation} + turned{a}) % (unsigned)base{a} != 0u) "
            f"{{ ++first{a}; ++tried{a}; }}",
            f"const int count{a} = tried{a} < tries{a} ? (max(min({end}, {size}) - first{a}, 0) + tries{a} - 1) / tries{a} : 0;",
            f"const int start{a} = (first{a} * {dilation} - back{a}) / base{a};",
        ]

    def loop(self, a: int, body: list[str]) -> list[str]:
        """A loop over the taps along an axis, with i{a} in its body."""
        rule = self.problem.axes[a].rule
        if a in self.short and isinstance(rule, Strided) and (rule.base == 1 or rule.dilation == 1):
            if rule.base == 1:
                found = [f"const int i{a} = j{a} * {rule.dilation} - back{a};"]
                there = f"(unsigned)i{a} < (unsigned)n{a}"
            else:
                found = [f"const int i{a} = first{a} + j{a};"]
                there = f"tap{a} + j{a} * {rule.base} < {rule.size} && (unsigned)i{a} < (unsigned)n{a}"
            head = ["#pragma unroll", f"for (int j{a} = 0; j{a} < {few(rule)}; ++j{a}) {{"]
            return [*head, *(f"  {line}" for line in (*found, f"if ({there}) {{", *(f"  {line}" for line in body), "}")), "}"]
        step = ""
        if isinstance(rule, Strided) and rule.step > 1:
            step = f" * (int){self.words.unsigned(rule.step)}"
        inside = (f"const int i{a} = start{a} + j{a}{step};", *body)
        return [f"for (int j{a} = 0; j{a} < count{a}; ++j{a}) {{", *(f"  {line}" for line in inside), "}"]
