"""A function's launches, recorded once and made again: as they were seen, and fused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import baracuda
from baracuda.core.call_recorder import DeviceCheck, recording
from baracuda.core.device import Device
from baracuda.core.program_recorder import ProgramRecorder
from baracuda.core.tensor import tensor_ref
from baracuda.frontends.arrays import current_stream, extent_of
from baracuda.frontends.call_cache import unkept
from baracuda.frontends.fusing import Fusion, fused


class Program:
    """What a function of arrays launches. Results are arrays, or views of arrays, that it made or was given."""

    def __init__(self, function: Callable[..., Any], arguments: Sequence[np.ndarray], device: Device) -> None:
        self.device = device
        self.given = [np.array(a) for a in arguments]
        self.arguments = [baracuda.to_device(np.array(a), device) for a in arguments]
        refs = [tensor_ref(a) for a in self.arguments]
        self.recorder = ProgramRecorder([extent_of(r) for r in refs], plans=True)
        with unkept(), recording(self.recorder):
            result = function(*self.arguments)
        assert self.recorder.refused is None, self.recorder.refused
        self.results = [tensor_ref(r) for r in (result if isinstance(result, tuple) else (result,))]
        self.steps = list(self.recorder.steps)
        places = [self.recorder.place(r.pointer) for r in self.results]
        self.places = [p for p in places if p is not None]
        self.fusion: Fusion = fused(self.recorder, frozenset(p.source for p in self.places))

    def run(self, steps: Sequence[Any]) -> list[np.ndarray]:
        """The bits of the results, and of the arguments afterwards, of launches made in memory of their own."""
        given = [baracuda.to_device(np.array(a), self.device) for a in self.given]
        blocks = [baracuda.to_device(np.full(max(a.nbytes, 1), 0xFF, np.uint8), self.device) for a in self.recorder.allocated]
        addresses = [0, *(tensor_ref(t).pointer for t in (*given, *blocks))]
        stream = current_stream(self.arguments[0], self.device).handle
        for step in steps:
            if isinstance(step, DeviceCheck):
                continue
            words = [addresses[p.source] + p.offset for p in step.places]
            step.launcher.launch(words[:-1], words[-1], stream, step.scalars)
        baracuda.synchronize()
        memory = [*given, *blocks]
        found = [_seen(memory[p.source - 1].numpy(), p.offset, r) for p, r in zip(self.places, self.results, strict=True)]
        return [*found, *(np.array(g.numpy()) for g in given)]

    def check(self, launches: int | None = None) -> Program:
        """Raise unless the fused launches have the bits of the others, and are so many."""
        for a, b in zip(self.run(self.steps), self.run(self.fusion.steps), strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(_bits(a), _bits(b)), self.fusion
        if launches is not None:
            assert len(self.fusion.steps) == launches, self.fusion
        return self


def _seen(block: np.ndarray, offset: int, ref: Any) -> np.ndarray:
    """The elements of a tensor in a copy of its memory."""
    strides = tuple(s * ref.kind.itemsize for s in ref.strides)
    return np.ndarray(ref.shape, ref.kind.numpy, block.tobytes(), offset, strides).copy()


def _bits(x: np.ndarray) -> np.ndarray:
    """The bits of an array, every NaN the same."""
    x = np.ascontiguousarray(x)
    if x.dtype.kind == "c":
        x = x.view(f"f{x.dtype.itemsize // 2}")
    bits = x.view(f"u{x.dtype.itemsize}").copy()
    if x.dtype.kind == "f" or x.dtype.name == "bfloat16":
        bits[np.isnan(x.astype(np.float64) if x.dtype.itemsize == 8 else x.astype(np.float32))] = 0
    return bits
