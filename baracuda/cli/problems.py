"""The demo's problems: every plan of the five families, with inputs that are the same on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.plan import Args, Descriptor, Plan
from baracuda.core.spec import TensorSpec

#: The elements that every plan is run in.
ELEMENTS = (ElementKind.F32, ElementKind.BF16)
#: Rows and row length of all problems but attention's. No power of two, so that the last segment of a row is a short one.
MATRIX = (2000, 4104)
#: Batch, heads, queries and keys.
ATTENTION = (2, 8, 500, 1032)


@dataclass(frozen=True)
class Problem:
    """One plan, the class of its args, and a descriptor."""

    name: str
    plan: type[Plan[Any, Any]]
    args: type[Args]
    descriptor: Descriptor
    element: ElementKind

    def __str__(self) -> str:
        return f"{self.name} {self.element}"

    def tensors(self, *, written: bool) -> list[tuple[TensorSpec, tuple[int, ...], ElementKind]]:
        """The inputs or the outputs of a call, with their shapes and kinds."""
        specs = [s for s in self.plan.tensors if s.written is written and s.presence(self.descriptor) is not False]
        return [(s, s.expected_shape(self.descriptor), s.expected_kind(self.descriptor)) for s in specs]

    @property
    def nbytes(self) -> int:
        """The bytes of all tensors of a call."""
        return sum(prod(shape) * kind.itemsize for w in (False, True) for _, shape, kind in self.tensors(written=w))

    def inputs(self) -> dict[str, np.ndarray[Any, Any]]:
        """The values of the inputs. Problems that differ in their element alone have the same values, rounded."""
        return {s.name: values(f"{self.name}/{s.name}", s.name, shape, kind) for s, shape, kind in self.tensors(written=False)}

    def call(self, tensors: Mapping[str, Any]) -> Args:
        """The args of a call with these tensors."""
        return self.args(**{s.name: tensors.get(s.name) for s in self.plan.tensors})


def values(seed: str, name: str, shape: tuple[int, ...], kind: ElementKind) -> np.ndarray[Any, Any]:
    """Numbers from Philox, a generator that is integer arithmetic only: uniform in [-4, 4), and positive for scales and norms.

    They have 24 bits, so that f32 holds them exactly; bf16 holds them rounded once.
    """
    key = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:16], "little")
    count = prod(shape)
    raw = np.random.Philox(key=key).random_raw((count + 1) // 2).astype("<u8", copy=False).view("<u4")[:count].reshape(shape)
    if kind is ElementKind.S32:
        return (raw % 17).astype(np.int32) - 8
    if not kind.is_float:
        return raw.astype(np.uint8).view(kind.numpy)
    low, width = {"scale": (2.0**-7, 2.0**-4), "rms": (0.5, 1.0)}.get(name, (-4.0, 8.0))
    return (np.float32(low) + (raw >> 8).astype(np.float32) * np.float32(width * 2.0**-24)).astype(kind.numpy)


def problems() -> Iterator[Problem]:
    """All of them: each plan in each element."""
    for name, stem, describe in _plans():
        plan, args = getattr(baracuda, f"{stem}Plan"), getattr(baracuda, f"{stem}Args")
        for element in ELEMENTS:
            yield Problem(name, plan, args, describe(element), element)


def _softmax(kind: Any, element: ElementKind) -> Any:
    return baracuda.SoftmaxDescriptor(kind, MATRIX, -1, element)


def _rms_norm(element: ElementKind) -> Any:
    return baracuda.RMSNormDescriptor(MATRIX, 0b10, True, element)


def _rms_norm_backward(element: ElementKind) -> Any:
    return baracuda.RMSNormBackwardDescriptor(MATRIX, 0b10, True, element)


def _alibi(element: ElementKind) -> Any:
    return baracuda.AlibiDescriptor(*ATTENTION, element)


def _lerp(element: ElementKind) -> Any:
    return baracuda.BinaryParamDescriptor(baracuda.BinaryKind.LERP, MATRIX, element, 0.3)


def _tokens(descriptor: Any, element: ElementKind) -> Any:
    return descriptor(*MATRIX, element, ElementKind.S8)


def _plans() -> Iterator[tuple[str, str, Callable[[ElementKind], Any]]]:
    """Name, stem of the names of its plan and args, and descriptor of each."""
    for kind in baracuda.SoftmaxKind:
        yield kind.value, "Softmax", partial(_softmax, kind)
        yield f"{kind.value}_backward", "SoftmaxBackward", partial(_softmax, kind)
    yield "rms_norm", "RMSNorm", _rms_norm
    yield "rms_norm_backward", "RMSNormBackward", _rms_norm_backward
    yield "alibi", "Alibi", _alibi
    yield "alibi_backward", "AlibiBackward", _alibi
    yield "lerp", "BinaryParam", _lerp
    yield "lerp_backward", "BinaryParamBackward", _lerp
    for name in ("quantize_per_token", "quantize_per_token_backward", "dequantize_per_token", "dequantize_per_token_backward"):
        stem = name.title().replace("_", "")
        yield name, stem, partial(_tokens, getattr(baracuda, f"{stem}Descriptor"))
