"""Nests that reduce both ways and fit no one schedule: their parts, one after another."""

from __future__ import annotations

from baracuda.lowering.nest.cuda.choose import lower_outer_only
from baracuda.lowering.nest.cuda.kernel import Frame, Target, Words
from baracuda.lowering.nest.fission import OperandAddress, split
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.program import Lowered


def lower_parts(nest: Nest, target: Target) -> Lowered:
    """Lower the parts of a nest, which share its words. Each reads its operands from memory again."""
    pieces, saved = split(nest)
    words = Words(len(nest.operands), nest.graph.params)

    def address(place: OperandAddress) -> str:
        offset = f" + {words.signed(place.offset)}" if place.word == words.operands else ""
        return f"W.w[{place.word}]{offset}"

    programs = [
        lower_outer_only(Frame(part.nest, target.tuning, words, [address(p) for p in part.places], saved), target)
        for part in pieces
    ]
    launches = tuple(launch for program in programs for launch in program.launches)
    workspace = saved + max(program.workspace_bytes for program in programs)
    return Lowered(launches, tuple(words.values), workspace, " + ".join(program.schedule for program in programs))
