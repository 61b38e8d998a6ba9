"""Sorting networks over the lanes of some vectors."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.llvm.ir import Builder, Value, intrinsic


def network(b: Builder, vectors: Sequence[Value]) -> list[Value]:
    """The unsigned words of vectors in order, one vector's lanes after another's: Batcher's bitonic sort. There are a
    power of two of vectors and of lanes."""
    ordered, lanes = list(vectors), vectors[0].lanes
    total = lanes * len(ordered)

    def extremes(x: Value, y: Value) -> tuple[Value, Value]:
        low, high = (b.call(x.type, intrinsic(name, x.type), x, y) for name in ("umin", "umax"))
        return low, high

    size = 2
    while size <= total:
        distance = size // 2
        while distance:
            if distance >= lanes:
                for v in range(len(ordered)):
                    w = v ^ (distance // lanes)
                    if w > v:
                        low, high = extremes(ordered[v], ordered[w])
                        rising = not (v * lanes) & size
                        ordered[v], ordered[w] = (low, high) if rising else (high, low)
            else:
                for v, own in enumerate(ordered):
                    low, high = extremes(own, b.shuffle(own, None, [lane ^ distance for lane in range(lanes)]))
                    # the lower one of a pair takes the smaller word where words rise
                    lower = [bool(lane & distance) == bool((v * lanes + lane) & size) for lane in range(lanes)]
                    ordered[v] = b.shuffle(low, high, [lane if first else lanes + lane for lane, first in enumerate(lower)])
            distance //= 2
        size *= 2
    return ordered
