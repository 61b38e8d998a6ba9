"""einops, through the array API, on our arrays."""

from __future__ import annotations

import sys

from compare import ROWS, Call, compare
from einops import array_api as einops

CALLS: dict[str, Call] = {
    "rearrange": lambda array: einops.rearrange(array(ROWS), "(a b) c -> b (a c)", a=4),
    "rearrange to more axes": lambda array: einops.rearrange(array(ROWS), "(a b) c -> c 1 b a", a=4),
    "reduce by mean": lambda array: einops.reduce(array(ROWS), "(a b) c -> b c", "mean", a=4),
    "reduce by max": lambda array: einops.reduce(array(ROWS), "a c -> c", "max"),
    "repeat": lambda array: einops.repeat(array(ROWS), "a b -> a (b c)", c=3),
    "pack": lambda array: einops.pack([array(ROWS), array(ROWS[:, 0])], "a *")[0],
    "unpack": lambda array: einops.unpack(array(ROWS), [(2,), (3,)], "a *"),
}

if __name__ == "__main__":
    sys.exit(compare(CALLS) > 0)
