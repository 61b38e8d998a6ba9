"""Convolutions of one tap as the matrix products that they are: the same terms in the same order, in every arithmetic."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from baracuda.lowering.convolution.problem import ConvolutionProblem, runs
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.problem import Operand


def as_product(p: ConvolutionProblem) -> MatmulProblem | None:
    """The product of pixels by channels with channels by columns; None where the problem is more than that."""
    one = all(n == 1 for n in p.taps) and all(s == 1 for s in p.stride) and not any(p.low)
    if not one or not p.is_plain or p.segment or p.general or p.outputs != p.inputs or not p.channels:
        return None
    extents, place = p.extents(), {name: i for i, name in enumerate(p.extents())}
    x, w = p.x_strides(), p.w_strides()
    own = {"b": x["b"], "g": x["g"], **{f"o{a}": x[f"i{a}"] for a in p.spatial}, "n": 0}
    as_outputs = replace(p.x, strides=tuple(own[name] for name in extents))
    # pixels that x walks as one, too
    pixels = max(
        runs(replace(p, operands=(*p.operands, as_outputs)), ("b", *(f"o{a}" for a in p.spatial))),
        key=lambda run: prod(extents[name] for name in run),
        default=(),
    )
    batch = [name for name in extents if name not in (*pixels, "n") and extents[name] > 1]
    last = pixels[-1:]

    def along(o: Operand, names: list[str]) -> tuple[int, ...]:
        return tuple(o.strides[place[name]] for name in names)

    by_group = {"g": w["g"]}
    return MatmulProblem(
        batch=tuple(extents[name] for name in batch),
        m=prod(extents[name] for name in pixels),
        n=p.columns,
        k=p.channels,
        a=(replace(p.x, strides=(*(own[name] for name in batch), *(own[name] for name in last or ("n",)), x["c"])),),
        b=(replace(p.w, strides=(*(by_group.get(name, 0) for name in batch), w["c"], w["n"])),),
        accumulator=p.accumulator,
        epilogue=p.epilogue,
        operands=tuple(
            replace(o, strides=(*along(o, batch), o.strides[place[last[0]]] if last else 0, o.strides[place["n"]]))
            for o in p.operands
        ),
        math=p.math,
    )
