"""The score of attention by tensor cores, over a thread's elements of a tile."""

from __future__ import annotations

from baracuda.lowering.attention.cuda.integers.score import FragmentScore


class TensorCoreScore(FragmentScore):
    """Writes formulas for one element at a time; exponentials are the device's."""

    def exponential(self, score: str) -> str:
        return f"probability({score}, lse)"
