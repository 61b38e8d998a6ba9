"""The error of each arithmetic of products against float64: `python -m benchmarks.product_accuracy`.

For factors of several kinds: the relative error of the whole result (Frobenius norm), and the largest error of an element
relative to |a| @ |b|. Results are f32, so that the rounding of a 16-bit result hides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import baracuda as bc
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulArgs, MatmulPlan

Array = np.ndarray[Any, Any]
ROWS, DEPTH = 384, 4096
MATHS = (bc.MathPrecision.F32, bc.MathPrecision.INT23, bc.MathPrecision.INT15)


def _gaussian(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return rng.standard_normal(shape)


def _channels(every: int, factor: float) -> Callable[[np.random.Generator, tuple[int, int]], Array]:
    def drawn(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        x = rng.standard_normal(shape)
        x[:, ::every] *= factor
        return x

    return drawn


#: What a and b are drawn from, b over (columns, k).
DATA: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], Array], ...]] = {
    "Gaussian": (_gaussian, _gaussian),
    "positive": (lambda rng, shape: np.abs(_gaussian(rng, shape)),) * 2,
    "1% of channels x 200": (_channels(100, 200), _gaussian),
    "one channel x 3000": (_channels(DEPTH, 3000), _gaussian),
    "heavy tails": (lambda rng, shape: rng.standard_t(2, shape), _gaussian),
    "log-normal, sigma 4": (lambda rng, shape: np.exp(4 * rng.standard_normal(shape)) * rng.choice([-1, 1], shape), _gaussian),
}


def product(a: Array, b: Array, math: bc.MathPrecision) -> Array:
    """a @ b in f32, on the CPU: where an arithmetic is the same on every device, this is the error of all."""
    kind = bc.ElementKind.from_numpy(a.dtype)
    d = MatmulDescriptor.matmul(a.shape, b.shape, bc.ElementKind.F32, a_element=kind, b_element=kind)
    plan = MatmulPlan.select(None, d, bc.PlanPreference(math=math))
    y = np.empty((a.shape[0], b.shape[1]), np.float32)
    plan.run(None, bc.Workspace.allocate(plan.workspace_size()), MatmulArgs(a=a, b=b, y=y))
    return y


def main() -> None:
    """Print a line for each kind of data and element."""
    print(f"| {'factors':<22} | of | " + " | ".join(f"{m} norm | {m} element" for m in MATHS) + " |")
    print("| --- | --- |" + " --- | --- |" * len(MATHS))
    for element in (ml_dtypes.bfloat16, np.float32):
        for name, (left, right) in DATA.items():
            rng = np.random.default_rng(3)
            a = left(rng, (ROWS, DEPTH)).astype(element)
            b = right(rng, (ROWS, DEPTH)).astype(element).T
            exact, size = a.astype(np.float64) @ b.astype(np.float64), np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
            cells = []
            for math in MATHS:
                y = product(a, b, math).astype(np.float64)
                cells += [f"{np.linalg.norm(y - exact) / np.linalg.norm(exact):.1e}", f"{(np.abs(y - exact) / size).max():.1e}"]
            print(f"| {name:<22} | {bc.ElementKind.from_numpy(np.dtype(element))} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
