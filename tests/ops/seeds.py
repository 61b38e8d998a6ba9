"""What the tests of the first five plans share: tensors, and the checks that each of their originals makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

import baracuda as b
from baracuda import BufferTooSmallError, InvalidProblemError
from baracuda.cli.verify import values as data
from baracuda.core.elements import ElementKind as K
from baracuda.core.sku import OpCategory
from tests.machine import Machine, torch_dtype

torch = pytest.importorskip("torch")

#: Relative to the largest element of a result.
TOLERANCE = {K.F16: 2e-3, K.BF16: 1.6e-2, K.F32: 2e-6, K.F64: 1e-14}
#: Elements that no plan of these takes.
OTHERS = (K.S32, K.BOOL, K.C64, K.F8E4M3)
#: A shape of each rank.
RANKS = (
    (7,), (3, 7), (2, 3, 7), (2, 3, 2, 5), (2, 1, 3, 2, 5), (1, 2, 1, 3, 2, 5), (1, 2, 1, 3, 1, 2, 4), (2, 1, 2, 1, 3, 1, 2, 3),
)  # fmt: skip


def normal(machine: Machine, seed: str, shape: Sequence[int], element: K) -> Any:
    return torch.tensor(data.normal(seed, tuple(shape))).to(torch_dtype(element)).to(machine.name)


def poisoned(machine: Machine, shape: Sequence[int], element: K) -> Any:
    return torch.full(tuple(shape), float("nan"), dtype=torch_dtype(element), device=machine.name)


def names(cls: Any) -> list[str]:
    return [f.name for f in fields(cls)]


def required(cls: Any) -> list[str]:
    """The fields that take their place in a call, as those of the original do."""
    return [f.name for f in fields(cls) if not f.kw_only]


def is_a_value(descriptor: Any, name: str) -> None:
    """As with Copy and Clone: equal where its fields are, hashable, never changed."""
    assert replace(descriptor) == descriptor
    assert hash(replace(descriptor)) == hash(descriptor)
    with pytest.raises(FrozenInstanceError):
        setattr(descriptor, name, getattr(descriptor, name))


def run(machine: Machine, plan: Any, args: Any) -> None:
    plan.can_implement(args)
    plan.run(machine.stream, machine.workspace(plan.workspace_size()), args)
    machine.synchronize()


def refused(machine: Machine, plan: Any, args: Any, error: type[Exception], *quotes: str) -> None:
    """can_implement and run raise an error that quotes these, and no output is written."""
    outputs = [getattr(args, s.name) for s in plan.tensors if s.written and torch.is_tensor(getattr(args, s.name))]
    before = [t.clone() for t in outputs]
    workspace = machine.workspace(plan.workspace_size())
    for call in (plan.can_implement, lambda bad_args: plan.run(machine.stream, workspace, bad_args)):
        with pytest.raises(error) as caught:
            call(args)
        assert all(quote in str(caught.value) for quote in quotes), str(caught.value)
    assert all(torch.equal(t, was) or (t.isnan() & was.isnan()).all() for t, was in zip(outputs, before, strict=True))


def each_shape_is_checked(machine: Machine, plan: Any, args: Any, order: Sequence[str]) -> None:
    """A tensor of another shape is refused by its name."""
    for name in order:
        shape = tuple(getattr(args, name).shape)
        longer = poisoned(machine, (*shape[:-1], shape[-1] + 1), K.F32)
        refused(machine, plan, replace(args, **{name: longer}), InvalidProblemError, f"{name}: shape is", f"expected {shape}")


def each_buffer_is_checked(machine: Machine, plan: Any, args: Any, order: Sequence[str]) -> None:
    """A buffer that ends before its tensor does, of a tensor of torch's and of a bare TensorRef."""
    for name in order:
        tensor = getattr(args, name)
        needed = tensor.numel() * tensor.itemsize
        too_small = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
        too_small.untyped_storage().resize_(needed - tensor.itemsize)
        cls = b.TensorMut if any(s.name == name and s.written for s in plan.tensors) else b.TensorRef
        known = cls(
            tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), K.from_numpy(np.dtype(np.float32)), machine.stream.device,
            nbytes_available=needed - 4,
        )  # fmt: skip
        for wrong in (too_small, known):
            with pytest.raises(BufferTooSmallError) as caught:
                plan.can_implement(replace(args, **{name: wrong}))
            assert (caught.value.needed, caught.value.got) == (needed, needed - 4)


def each_element_is_checked(machine: Machine, plan: Any, args: Any, order: Sequence[str]) -> None:
    """ "descriptor element != T"."""
    for name in order:
        other = getattr(args, name).double()
        refused(machine, plan, replace(args, **{name: other}), InvalidProblemError, f"{name}: element is f64", "expected f32")


def identity(plan: Any, category: OpCategory, op: str, element: K, aux: K | None = None) -> None:
    """sku() and precision_guarantee(): f32 in products and sums, and f64 for f64, where the original says f32 throughout."""
    sku, guarantee = plan.sku(), plan.precision_guarantee()
    assert (sku.category, sku.op, sku.element, sku.aux_element) == (category, op, element, aux)
    assert (sku.layout, sku.epilogue) == ("contiguous", None)
    assert not sku.backend.is_library
    assert sku.guarantee == guarantee
    assert guarantee.accumulator is element.compute
    assert guarantee.math is (b.MathPrecision.F64 if element is K.F64 else b.MathPrecision.F32)
    assert guarantee.bit_stable_on_same_hardware
    assert guarantee.deterministic
    assert guarantee.batch_invariant  # this and the next are ours
    assert guarantee.bit_stable_across_hardware


def close(got: Any, wanted: Any, element: K) -> None:
    assert got.dtype == torch_dtype(element)
    wanted = wanted.to(torch.float64).to(got.device)
    error = (got.double() - wanted).abs().max().item() if wanted.numel() else 0.0
    assert error <= TOLERANCE[element] * max(wanted.abs().max().item() if wanted.numel() else 0.0, 1e-30), error


def same(got: Any, wanted: Any) -> bool:
    return bool(torch.equal(got, wanted))
