"""One trial of an op: its tensors, what baracuda computes of them on a device, and what the reference says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch

import baracuda
from baracuda.cli.verify import reference
from baracuda.cli.verify import values as data
from baracuda.cli.verify.trials import Trial
from baracuda.core.elements import ElementKind
from baracuda.frontends.families import ops
from baracuda.ops.declaration.op import Op
from tests.cases.case import POINTWISE, ROWS, Array, OpCases, Shapes, torch_of

FLOATS = (ElementKind.F16, ElementKind.BF16, ElementKind.F32, ElementKind.F64)
#: Elements that ops are tried with.
ELEMENTS = (
    *FLOATS, ElementKind.S8, ElementKind.U8, ElementKind.S16, ElementKind.U16, ElementKind.S32, ElementKind.U32, ElementKind.S64,
    ElementKind.U64, ElementKind.BOOL, ElementKind.C64, ElementKind.C128,
)  # fmt: skip
#: The error of one rounding.
ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-23, "f64": 2.0**-52, "complex64": 2.0**-23, "complex128": 2.0**-52}


@cache
def cases() -> dict[str, OpCases]:
    """How every op is tried."""
    all_cases: dict[str, OpCases] = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem not in ("__init__", "case", "trial"):
            all_cases |= import_module(f"tests.cases.{path.stem}").CASES
    return all_cases


def trial(name: str, element: ElementKind, shapes: Shapes, words: tuple[tuple[str, Any], ...], special: bool = False) -> Trial:
    """The trial of an op."""
    case = cases()[name]
    tensor_shapes = tuple(None if s is None else tuple(s) for s in shapes)
    return Trial(name, element, tensor_shapes, words, tuple(case.domains), special, case.has_gradient(dict(words)))


def elements_of(op: Op, case: OpCases) -> list[ElementKind]:
    """The elements an op is tried with."""
    if case.elements is not None:
        return [k for k in ELEMENTS if k.label in case.elements]
    return [k for k in ELEMENTS if op.accepts(k)]


def shapes_of(op: Op, case: OpCases) -> Sequence[Shapes]:
    """The shapes an op is tried with."""
    if case.shapes:
        return case.shapes
    required = len(op.signature.tensors) - len(op.signature.optional)
    return ROWS if op.rows and required == 1 else POINTWISE[required]


def trials_of(name: str, *, full: bool = False) -> Iterator[Trial]:
    """The trials of an op: each shape and each set of keywords with every float element, and together in `full`; fewer shapes
    with the other elements."""
    op, case = ops()[name], cases()[name]
    words = [tuple(sorted(k.items())) for k in case.keywords]
    shapes = list(shapes_of(op, case))
    for element in elements_of(op, case):
        count = max(len(words), len(shapes)) if element in FLOATS else max(len(words), 2)
        pairs = [(shapes[i % len(shapes)], words[i % len(words)]) for i in range(count)]
        if full:
            pairs = [(s, w) for s in shapes for w in words]
        yield from dict.fromkeys(trial(name, element, s, w) for s, w in pairs)
        if case.specials and element.is_float:
            yield trial(name, element, shapes[0], words[0], special=True)


def trials(*, full: bool = False) -> Iterator[Trial]:
    """The trials of every op that has a case."""
    for name in ops():
        if name in cases():
            yield from trials_of(name, full=full)


@cache
def sample() -> frozenset[str]:
    """The names of the trials that run without --full: of each op so many that every set of its keywords is among them, special
    values, f32, another float, one element of each other category, and gradients.

    Values, gradients and hashes are of the same trials, so that each kernel is compiled once; those that have a hash come first.
    """
    hashed = {str(trial) for trial in reference.of_ops()}
    chosen: set[str] = set()
    for name in cases():
        trials = sorted(trials_of(name), key=lambda x: (str(x) not in hashed, crc32(str(x).encode())))
        missing = set().union(*map(_tried, trials))
        while missing:
            most = max(trials, key=lambda x: len(_tried(x) & missing))
            chosen.add(str(most))
            missing -= _tried(most)
    return frozenset(chosen)


def _tried(trial: Trial) -> set[tuple[str, Any]]:
    """What a trial tries of its op."""
    element = trial.element.category, trial.element is ElementKind.F32
    return {("element", element), ("keywords", trial.keywords), ("special", trial.special), ("gradient", trial.backward_too)}


# --- computing --------------------------------------------------------------------------------------------------------


def torch_dtype(kind: ElementKind) -> torch.dtype:
    """The torch dtype of an element."""
    names = {"f16": "float16", "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
    dtype: torch.dtype = getattr(torch, names.get(kind.label, kind.numpy.name))
    return dtype


def to_device(array: Array | complex | None, device: str) -> Any:
    """What is given to baracuda: a NumPy array on the CPU, a torch tensor or an own array on a GPU; numbers as they are."""
    if not isinstance(array, np.ndarray | np.generic) or device == "cpu":
        return array
    if device == "own":
        return baracuda.to_device(array, baracuda.Device.cuda(0))
    names = {"bfloat16": (np.int16, torch.bfloat16), "float8_e4m3fn": (np.uint8, torch.float8_e4m3fn)}
    names |= {"float8_e5m2": (np.uint8, torch.float8_e5m2)}
    if array.dtype.name in names:
        raw, dtype = names[array.dtype.name]
        return torch.from_numpy(np.array(array.view(raw))).view(dtype).to(device)
    return torch.from_numpy(np.array(array)).to(device)


def to_host(tensor: Any) -> Array:
    """Back to NumPy, bit for bit."""
    if isinstance(tensor, baracuda.Array):
        return np.asarray(baracuda.to_host(tensor))
    if not isinstance(tensor, torch.Tensor):
        return np.asarray(tensor)
    kinds = {torch.bfloat16: (torch.int16, "bf16"), torch.float8_e4m3fn: (torch.uint8, "f8e4m3")}
    kinds |= {torch.float8_e5m2: (torch.uint8, "f8e5m2")}
    if tensor.dtype in kinds:
        raw, label = kinds[tensor.dtype]
        dtype = next(k for k in ElementKind if k.label == label).numpy
        return np.asarray(tensor.cpu().view(raw).numpy()).view(dtype)
    return np.asarray(tensor.resolve_conj().cpu().numpy())


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def forward(trial: Trial, device: str) -> list[Array]:
    """What baracuda computes."""
    function = getattr(baracuda, trial.name)
    operands = [to_device(t, device) for t in trial.tensors]
    return [to_host(t) for t in as_tuple(function(*operands, **dict(trial.keywords)))]


def expected(trial: Trial) -> list[Array]:
    """What the reference says, in float64."""
    leaves = [None if t is None else torch_of(t) for t in trial.tensors]
    return [v.detach().resolve_conj().numpy() for v in as_tuple(cases()[trial.name].reference(*leaves, **dict(trial.keywords)))]


def differentiated(op: Op, tensors: Sequence[Array | None]) -> list[str]:
    """The tensors whose gradients are compared."""
    names = []
    for name, t in zip(op.signature.tensors, tensors, strict=False):
        if t is not None and name not in op.constants and (t.dtype.kind in "fc" or "float" in t.dtype.name):
            names.append(name)
    return names


def cotangents(trial: Trial, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any]) -> list[Array]:
    """Gradients of the results."""
    dys = []
    for i, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
        drawn = data.normal(f"{trial}/d{i}", shape)
        drawn = drawn + 1j * data.normal(f"{trial}/d{i}/imaginary", shape) if np.dtype(dtype).kind == "c" else drawn
        dys.append(np.asarray(drawn).astype(dtype))
    return dys


def backward(trial: Trial, device: str) -> dict[str, Array]:
    """Gradients by baracuda."""
    op, tensors = trial.op, trial.tensors
    operands = [to_device(t, device) for t in tensors]
    keywords: Mapping[str, Any] = dict(trial.keywords)
    saved = {"saved": True} if op.extra else {}
    results = as_tuple(getattr(baracuda, trial.name)(*operands, **keywords, **saved))
    names = list(op.results or ("y",))
    by_name = dict(zip(names, results, strict=False))  # some keywords leave the last results out
    hosts = {n: to_host(r) for n, r in by_name.items() if n not in op.extra}
    floating = {n: h for n, h in hosts.items() if h.dtype.kind in "fc" or "float" in h.dtype.name}
    dys = cotangents(trial, [h.shape for h in floating.values()], [h.dtype for h in floating.values()])
    words = {f"d{n}": to_device(d, device) for n, d in zip(floating, dys, strict=True)}
    words |= {n: t for n, t in zip(op.signature.tensors, operands, strict=False) if t is not None and n not in op.unread}
    words |= {n: by_name[n] for n in op.saves if n in by_name}
    wrt = differentiated(op, tensors)
    gradients = getattr(baracuda, f"{trial.name}_backward")(**words, wrt=wrt, **keywords)
    return {n: to_host(g) for n, g in zip(wrt, as_tuple(gradients), strict=True)}


def expected_backward(trial: Trial, result_dtypes: Sequence[Any] | None = None) -> dict[str, Array]:
    """Gradients by autograd of the reference, in float64."""
    op, tensors = trial.op, trial.tensors
    wrt = differentiated(op, tensors)
    leaves_of_all = [None if t is None else torch_of(t) for t in tensors]
    leaves = {
        n: t.requires_grad_() for n, t in zip(op.signature.tensors, leaves_of_all, strict=False) if t is not None and n in wrt
    }
    computed = as_tuple(cases()[trial.name].reference(*leaves_of_all, **dict(trial.keywords)))
    results = [r for r in computed if r.is_floating_point() or r.is_complex()]
    floating = (t.dtype for t in tensors if t is not None and (t.dtype.kind in "fc" or "float" in t.dtype.name))
    dtype = next(floating, np.dtype(np.float64))
    dtypes = result_dtypes or [(_complex if r.is_complex() else _real)(dtype) for r in results]
    dys = [torch_of(d) for d in cotangents(trial, [tuple(r.shape) for r in results], dtypes)]
    pairs = [(r, d) for r, d in zip(results, dys, strict=True) if r.requires_grad]
    grads = torch.autograd.grad([r for r, _ in pairs], list(leaves.values()), [d for _, d in pairs], allow_unused=True)
    return {
        n: (torch.zeros_like(leaf) if g is None else g).resolve_conj().numpy()
        for (n, leaf), g in zip(leaves.items(), grads, strict=True)
    }


def _real(dtype: Any) -> Any:
    return {"complex64": np.float32, "complex128": np.float64}.get(np.dtype(dtype).name, dtype)


def _complex(dtype: Any) -> Any:
    return {"float64": np.complex128, "complex128": np.complex128}.get(np.dtype(dtype).name, np.complex64)
