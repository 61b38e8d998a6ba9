"""Other libraries, timed beside this one where they are installed and asked for, and imported only then."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from baracuda.cli.bench.place import Place
from baracuda.cli.bench.rivals.library import Library
from baracuda.core.errors import InvalidProblemError

#: Every rival, and the package that it needs.
RIVALS = {"torch": "torch", "torch.compile": "torch", "jax": "jax", "cupy": "cupy"}


def installed() -> tuple[str, ...]:
    """The rivals whose packages are there, without importing any."""
    return tuple(name for name, package in RIVALS.items() if find_spec(package) is not None)


def missing(names: Sequence[str], place: Place) -> dict[str, str]:
    """Those of some rivals that cannot be timed here, with the reason. Raises `InvalidProblemError` for a name of none."""
    reasons = {}
    for name in names:
        if name not in RIVALS:
            raise InvalidProblemError(f"rival {name!r}; expected some of {', '.join(RIVALS)}, or all")
        if name not in installed():
            reasons[name] = f"{RIVALS[name]} is not installed: pip install {RIVALS[name]}"
        elif name == "cupy" and place.on_cpu:
            reasons[name] = "CuPy computes on GPUs alone"
        elif RIVALS[name] == "torch" and not place.on_cpu:
            from baracuda.cli.bench.rivals.torch import has_cuda

            if not has_cuda():
                reasons[name] = "the installed PyTorch has no CUDA"
    return reasons


def library(name: str, place: Place) -> Library:
    """A rival that is not among the missing ones."""
    if name == "cupy":
        from baracuda.cli.bench.rivals.others import CuPy

        return CuPy(place)
    if name == "jax":
        from baracuda.cli.bench.rivals.others import Jax

        return Jax(place)
    from baracuda.cli.bench.rivals.torch import Torch

    return Torch(place, compiled=name == "torch.compile")
