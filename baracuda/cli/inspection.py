"""What a call of a function would run, found out without running it: for this machine's CPU, or for any GPU without one."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import baracuda
from baracuda.cli.listing import element_of
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.kernel_info import KernelInfo
from baracuda.core.plan import Plan
from baracuda.core.run_hooks import run_hook
from baracuda.frontends import array
from baracuda.frontends.backward import Backward
from baracuda.frontends.declared import DECLARED
from baracuda.frontends.double_backward import DoubleBackward
from baracuda.frontends.function import Function
from baracuda.frontends.product_function import MatmulFunction
from baracuda.runtime.offline import offline_device

#: Ranks and extents that a shape may have.
_MOST_AXES, _MOST = 8, 1 << 40


@dataclass(frozen=True)
class PlanInfo:
    """A plan that a call runs.

    Attributes
    ----------
    plan
        What it is: its class, descriptor, sku and schedule.
    backend
        Who computes.
    workspace_bytes
        What it needs.
    kernels
        Its generated kernels; a library's own are not known.
    """

    plan: str
    backend: str
    workspace_bytes: int
    kernels: tuple[KernelInfo, ...]

    def record(self) -> dict[str, Any]:
        """As JSON has it; what takes a compiler is left out."""
        kernels = [{n: v for n, v in vars(k).items() if n != "tools"} | {"geometry": k.geometry} for k in self.kernels]
        return asdict(self) | {"kernels": kernels}


@dataclass(frozen=True)
class Tensor:
    """A tensor to call a function with; None for `shape` where it is left out. `transposed` says that the last two axes are
    exchanged in memory."""

    shape: tuple[int, ...] | None
    kind: ElementKind
    transposed: bool = False


def tensor_of(text: str, kind: ElementKind) -> Tensor:
    """A tensor as the command line has it: "8192x8192", "8192:s64" for one of another element, "64x1000.T" for one whose last two
    axes are exchanged in memory, "scalar" for one of no axes, "-" for one that is left out.

    Raises `InvalidProblemError` for anything else.
    """
    extents, _, element = text.partition(":")
    if element:
        kind = element_of(element)
    if extents == "-":
        return Tensor(None, kind)
    if extents == "scalar":
        return Tensor((), kind)
    plain = extents.removesuffix(".T")
    numbers, transposed = plain.split("x"), plain != extents
    if len(numbers) < 2 * transposed or len(numbers) > _MOST_AXES or not all(p.isdecimal() and int(p) < _MOST for p in numbers):
        raise InvalidProblemError(f"shape: {text!r}; expected extents such as 8192x8192, and an element behind a colon: 8192:s64")
    return Tensor(tuple(map(int, numbers)), kind, transposed)


def device_of(target: str) -> Device:
    """The device of a target: "cpu", or "sm_90". Errors as for `offline_device`."""
    return Device.cpu() if target == "cpu" else offline_device(target)


def function_of(name: str, *, backward: bool = False) -> Any:
    """The function of an op; raises `InvalidProblemError` where there is none."""
    wanted = f"{name}_backward" if backward and not name.endswith("_backward") else name
    function = getattr(baracuda, wanted, None)
    if not callable(function) or isinstance(function, type) or wanted.startswith("_"):
        from baracuda.cli.listing import near

        similar = near(name)
        hint = f"; near it: {', '.join(similar)}" if similar else ""
        raise InvalidProblemError(f"{wanted!r} is no function of baracuda{hint}")
    return function


def _tensors_of(function: Any) -> dict[str, bool]:
    """The tensors that a function takes, in order, and whether each must be given."""
    plain = inspect.unwrap(function)
    parameters = inspect.signature(plain).parameters
    if plain.__name__ in DECLARED:
        known = DECLARED[plain.__name__].patterns
        names = [n for n in parameters if n in known]
    elif isinstance(plain, Backward | DoubleBackward):
        names = list(plain.names)
    elif isinstance(plain, MatmulFunction):
        names = list(plain.tensors)
    elif isinstance(plain, Function):
        names = list(plain.op.signature.tensors)
    else:
        names = [n for n, p in parameters.items() if p.default is p.empty]
    return {n: parameters[n].default is inspect.Parameter.empty for n in names}


def arguments_of(function: Any, tensors: Sequence[Tensor], device: Device, options: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors for a function's parameters, by name: in their order, or of one shape all that must be given; those that `options`
    have are numbers.

    Raises `InvalidProblemError` where there are more than it takes, or too few.
    """
    names = {n: needed for n, needed in _tensors_of(function).items() if n not in options}
    required = [n for n, needed in names.items() if needed]
    if len(tensors) == 1 and len(required) > 1:
        tensors = [tensors[0]] * len(required)
        chosen = required
    else:
        chosen = list(names)[: len(tensors)]
    missing = [n for n in required if n not in chosen]
    if len(tensors) > len(names) or missing:
        expected = f"one for all of its tensors, or one for each of {', '.join(names)}"
        raise InvalidProblemError(f"{function.__name__}: {len(tensors)} shapes; expected {expected}")
    return {n: None if t.shape is None else _operand(t, device) for n, t in zip(chosen, tensors, strict=True)}


def _operand(tensor: Tensor, device: Device) -> Any:
    assert tensor.shape is not None
    shape = (*tensor.shape[:-2], tensor.shape[-1], tensor.shape[-2]) if tensor.transposed else tensor.shape
    on_cpu = device.kind is DeviceKind.CPU
    operand: Any = (
        np.zeros(shape, tensor.kind.numpy) if on_cpu else array.empty(shape, tensor.kind, device)
    )  # zeros touch no memory
    return operand.swapaxes(-1, -2) if tensor.transposed else operand


def option_of(text: str) -> tuple[str, Any]:
    """An option as the command line has it, "axis=-1" or "reduction=sum": its name and its value, a literal of Python's or a
    word. Raises `InvalidProblemError` where there is no "=" ."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InvalidProblemError(f"option: {text!r}; expected NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def inspected(
    name: str,
    tensors: Sequence[Tensor],
    target: str = "cpu",
    *,
    backward: bool = False,
    options: Mapping[str, Any] | None = None,
) -> list[PlanInfo]:
    """The plans that a call of a function runs, in order.

    Parameters
    ----------
    name
        The function.
    tensors
        What it is called with; one stands for all that must be given.
    target
        "cpu", or a GPU's architecture: "sm_90".
    backward
        Of its backward.
    options
        Its other arguments by name.

    Raises
    ------
    Error
        There is no such function or target, or the function does not take these arguments.
    """
    device = device_of(target)
    function = function_of(name, backward=backward)
    arguments = arguments_of(function, tensors, device, options or {})
    plans: list[Plan[Any, Any]] = []
    with run_hook(lambda plan, stream, run: plans.append(plan)):
        function(**arguments, **(options or {}))
    return [PlanInfo(repr(plan), str(plan.sku().backend), plan.workspace_size(), plan.kernels()) for plan in plans]


def text_of(kernel: KernelInfo, what: str) -> str:
    """The source, the PTX, the SASS or the assembly of a kernel. Raises `UnsupportedError` where it has none."""
    text: str | None = getattr(kernel, {"asm": "assembly"}.get(what, what))
    if text is not None:
        return text
    if what == "sass" and kernel.grid is not None:
        raise UnsupportedError("sass: neither nvdisasm nor cuobjdump is there; pip install nvidia-cuda-nvdisasm")
    raise UnsupportedError(
        f"{what}: {kernel.target} has none; expected source, {'asm' if kernel.grid is None else 'ptx or sass'}"
    )
