"""Which chunk may be sent on its way while another is multiplied, compared with rounds that are written out."""

from __future__ import annotations

from itertools import product

import pytest

from baracuda.lowering.attention.cuda.streams import ahead

pytestmark = pytest.mark.cpu_only

#: Least and greatest numbers of chunks of a round's phases.
ROUNDS = (
    ((1, 1), (1, 1)),
    ((2, 2), (1, 2)),
    ((1, 1), (3, 3), (2, 4)),
    ((2, 2), (2, 2), (1, 2), (1, 2)),
    ((1, 1),),
)


@pytest.mark.parametrize("distance", [1, 2, 3])
@pytest.mark.parametrize("bounds", ROUNDS, ids=str)
def test_phases_ahead_are_those_that_come(bounds: tuple[tuple[int, int], ...], distance: int) -> None:
    """Seen from each chunk of two rounds of all sizes, the chunk ahead has code, and a round that may be missing is looked for;
    of phases that always come too late or too early there is none."""
    sizes = list(product(*(range(low, high + 1) for low, high in bounds)))
    seen: dict[tuple[int, tuple[int, int]], set[int]] = {}
    for rounds in product(sizes, repeat=4):
        chunks = [(r, p, rest) for r, sizes_ in enumerate(rounds) for p, n in enumerate(sizes_) for rest in reversed(range(n))]
        for here, (r, p, rest) in enumerate(chunks):
            if r:
                break
            later, phase, _ = chunks[here + distance]
            for limits in ((rest, rest), (0, bounds[p][1] - 1)):
                among, wraps = ahead(bounds, p, limits, distance)
                assert phase in among
                assert wraps or later == r
                seen.setdefault((p, limits), set()).add(phase)
    for (p, limits), phases in seen.items():
        assert ahead(bounds, p, limits, distance)[0] == phases


def test_what_begins_a_round() -> None:
    """The first chunks are of the first phases."""
    assert ahead(((2, 2), (1, 2)), -1, (0, 0), 1) == ({0}, False)
    assert ahead(((2, 2), (1, 2)), -1, (0, 0), 3) == ({1}, False)
    assert ahead(((1, 1), (1, 2)), -1, (0, 0), 2) == ({1}, False)
