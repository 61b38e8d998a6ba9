"""Attention in integers on a CUDA device: the digits, then the kernels."""

from __future__ import annotations

from functools import lru_cache

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.attention.cuda.integers.digits import digits_launch, row_factors
from baracuda.lowering.attention.cuda.integers.forward import Forward
from baracuda.lowering.attention.cuda.place import LONGEST
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.cuda import GRID_LIMIT
from baracuda.runtime.program import Lowered


@lru_cache(maxsize=4096)
def lower_integers(a: Attention, target: Target) -> Lowered:
    """The kernels of an attention in integers. Needs no GPU.

    Raises
    ------
    UnsupportedError
        There are more than 2**29 queries or keys, or more blocks than a launch may have.
    """
    if max(a.queries, a.keys) > LONGEST:
        raise UnsupportedError(f"{a.queries} queries and {a.keys} keys; expected at most {LONGEST} of each")
    words, launches = Words(len(a.operands), a.params), []
    factors = row_factors(a, {"q": (True, False), "k": (True, False), "v": (False, True)}, 0)
    if a.batch * a.heads * a.queries:
        launches.append(digits_launch(a, tuple(factors.values()), words))
        launches.append(Forward(a, words, factors, target.shared_bytes).lower())
    if any(launch.grid[0] > GRID_LIMIT[0] for launch in launches):
        raise UnsupportedError(f"{a.batch} x {a.heads} heads of {a.queries} queries and {a.keys} keys; expected fewer blocks")
    return Lowered(tuple(launches), tuple(words.values), factors["v"].end, f"attention integers {a.bits}")
