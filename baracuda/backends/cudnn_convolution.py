"""Convolutions by cuDNN, through its graphs: those that go forward, and those that are a gradient of another, for which it has
kernels of their own.

A convolution whose windows go backwards one by one (stride 1, dilation below 0) is the gradient by the input of one that goes
forwards, whose stride is its base. One with more taps than outputs is the gradient by the weight of one whose taps are its
outputs, whose stride is its dilation, and whose batch is its channels.

Plans are chosen by the library's heuristic among those that are deterministic. Bits depend on the device and on the extents.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from types import ModuleType
from typing import Any, TypeAlias

from baracuda.backends.cublaslt import context
from baracuda.backends.cudnn import GraphCall, data_type, frontend, handle_of
from baracuda.backends.products import UnsupportedLayout
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.implementation import Executable, Layout
from baracuda.core.sku import ArchSku, BackendKind, MathPrecision, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.lowering.generated import CachingImplementation, is_general

_MATH = {ElementKind.F16: MathPrecision.F16, ElementKind.BF16: MathPrecision.BF16, ElementKind.F32: MathPrecision.F32}
#: The methods of a graph that are activations.
_ACTIVATIONS = {
    "none": "",
    "relu": "relu",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "silu": "swish",
    "gelu": "gelu",
    "gelu_tanh": "gelu_approx_tanh",
}
#: The extents and strides of a tensor.
Shaped: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
FORWARD, BY_INPUT, BY_WEIGHT = "conv_fprop", "conv_dgrad", "conv_wgrad"


def operation(d: Any) -> str | None:
    """Which of cuDNN's operations a descriptor's convolution is; None: none of them."""
    gaps = [gap for gap, taps in zip(d.dilation, d.taps, strict=True) if taps > 1]  # one tap may be anywhere
    if any(gap < 0 for gap in gaps) or max(_base(d)) > 1:
        return BY_INPUT if all(gap < 0 for gap in gaps) and all(s == 1 for s in d.stride) else None
    if min(*d.stride, *gaps, 1) < 1:
        return None
    return BY_WEIGHT if prod(d.taps) > prod(d.outputs) else FORWARD


def _base(d: Any) -> tuple[int, ...]:
    return tuple(d.base) or (1,) * len(d.outputs)


def refusal(device: Device, d: Any) -> str | None:
    """Why cuDNN does not compute a descriptor's convolution on a device; None where it may."""
    if device.kind is DeviceKind.CPU:
        return f"the stream is on {device}"
    if frontend() is None:
        return "nvidia-cudnn-frontend is not installed: pip install 'baracuda[vendor]'"
    if d.element not in _MATH or not d.x_element is d.w_element is d.element:
        return f"cuDNN has no convolution of {d.x_element} and {d.w_element} to {d.element}; expected f16, bf16 or f32 throughout"
    if d.x_taps or d.w_places:
        return "inputs of each tap, or weights of each place"
    if not 1 <= len(d.outputs) <= 3 or 0 in (*d.x_shape, *d.w_shape, *d.y_shape):
        return f"{len(d.outputs)} spatial axes, x {d.x_shape}, w {d.w_shape}; expected 1 to 3, and no extent of 0"
    if d.activation not in _ACTIVATIONS:
        return f"activation {d.activation}; expected one of {', '.join(_ACTIVATIONS)}"
    found = operation(d)
    if found is None:
        return f"strides {d.stride} and dilations {d.dilation}; expected numbers above 0, or strides of 1 and dilations below 0"
    if found != FORWARD and (d.has_scale or d.has_bias or d.has_residual or d.activation != "none"):
        return "a gradient with an epilogue"
    try:
        _paddings(d, found)
    except UnsupportedError as error:
        return str(error)
    return None


class CudnnConvolution(CachingImplementation):
    """cuDNN's convolution with what follows; f32 in TF32 where `tf32` is set."""

    backend = BackendKind.CUDNN
    fixes_numbers = True

    def __init__(self, device: Device, specs: Sequence[TensorSpec], descriptor: Any, *, tf32: bool = False) -> None:
        from baracuda.runtime.cuda import architecture

        super().__init__(device)
        self.specs, self.descriptor, self.tf32 = specs, descriptor, tf32
        self.arch = ArchSku.cuda(*architecture(device.index)[:2])
        math = MathPrecision.TF32 if tf32 else _MATH[descriptor.element]
        self.guarantee = PrecisionGuarantee(math, ElementKind.F32, True, False, True, False)

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable:
        if is_general(layout):
            return UnsupportedLayout("cudnn takes no arbitrary strides; expected the layout that the plan was selected for")
        library = frontend()
        assert library is not None
        index = self.device.index
        with context(index):
            graph = library.pygraph(
                io_data_type=data_type(library, self.descriptor.element),
                intermediate_data_type=library.data_type.FLOAT,
                compute_data_type=library.data_type.FLOAT,
                handle=handle_of(index, 0),
            )
            notes = [library.numerical_note.NONDETERMINISTIC, library.numerical_note.REDUCED_PRECISION_REDUCTION]
            if self.descriptor.element is ElementKind.F32 and not self.tf32:
                notes += [library.numerical_note.TENSOR_CORE, library.numerical_note.DOWN_CONVERT_INPUTS]
            try:
                uids = self._describe(library, graph, layout)
                graph.validate()
                graph.build_operation_graph()
                graph.create_execution_plans([library.heur_mode.A, library.heur_mode.FALLBACK])
                graph.deselect_numeric_notes(notes)
                graph.check_support()
                graph.build_plans()
            except (library.cudnnGraphNotSupportedError, RuntimeError, ValueError) as error:
                raise UnsupportedError(f"cuDNN: {str(error).strip()[:300]}") from error
            return GraphCall(index, graph, uids)

    def _describe(self, library: ModuleType, graph: Any, layout: Layout) -> list[tuple[int, int]]:
        """Adds the convolution to a graph; the id of each tensor with its number among the plan's."""
        d = self.descriptor
        index = {s.name: i for i, s in enumerate(self.specs) if layout[i] is not None}
        strides = {s.name: own.strides for s, own in zip(self.specs, layout, strict=True) if own is not None}
        what, shapes = _found(d, strides)
        kind = data_type(library, d.element)
        inputs = {
            name: graph.tensor(name=name, dim=list(dim), stride=list(stride), data_type=kind)
            for name, (dim, stride) in shapes.items()
            if name != "y"
        }
        before, after, _ = _paddings(d, what)
        gaps = tuple(map(abs, d.dilation))
        stride, dilation = {BY_WEIGHT: (gaps, d.stride), BY_INPUT: (_base(d), gaps)}.get(what, (d.stride, gaps))
        options = {
            "pre_padding": _planar(before, 0),
            "post_padding": _planar(after, 0),
            "stride": _planar(stride, 1),
            "dilation": _planar(dilation, 1),
        }
        x, w = inputs["x"], inputs["w"]
        names = {FORWARD: ("image", "weight"), BY_INPUT: ("loss", "filter"), BY_WEIGHT: ("image", "loss")}[what]
        value = getattr(graph, what)(**dict(zip(names, (x, w), strict=True)), **options)
        dim, steps = shapes["y"]
        if what != FORWARD:
            value.set_dim(list(dim))
        if d.has_scale:
            value = graph.mul(a=value, b=inputs["scale"])
        if d.has_bias:
            value = graph.bias(input=value, bias=inputs["bias"])
        if d.has_residual:
            value = graph.add(a=value, b=inputs["residual"])
        if d.activation != "none":
            value = getattr(graph, _ACTIVATIONS[d.activation])(input=value)
        value.set_output(True).set_dim(list(dim)).set_stride(list(steps)).set_data_type(kind)
        return [(int(tensor.get_uid()), index[name]) for name, tensor in {**inputs, "y": value}.items()]


def _planar(numbers: Sequence[int], missing: int) -> list[int]:
    """Of one spatial axis, as of two: cuDNN has no fewer."""
    return [missing, *numbers] if len(numbers) == 1 else list(numbers)


def _found(d: Any, strides: dict[str, tuple[int, ...]]) -> tuple[str, dict[str, Shaped]]:
    """The operation, and its tensors; of a single tap in each window, which is its own gradient, the one whose weights fit."""
    first = operation(d)
    assert first is not None
    plain = first == FORWARD and d.activation == "none" and not (d.has_scale or d.has_bias or d.has_residual)
    alone = plain and all(n == 1 for n in (*d.taps, *d.stride)) and not any(d.low)
    for what in (first, BY_INPUT) if alone else (first,):
        shapes = _packed(_shapes(d, strides, what))
        if shapes is not None:
            return what, shapes
    given = "; ".join(f"{name} {step}" for name, step in strides.items())
    raise UnsupportedError(f"strides {given}; expected tensors without gaps, channels first or last in all of them")


def _packed(shapes: dict[str, Shaped]) -> dict[str, Shaped] | None:
    """The same with the strides that cuDNN expects along extents of 1; None where tensors have gaps or their orders differ."""
    for last in (True, False):
        found = {name: (dims, _steps(dims, last=last)) for name, (dims, _) in shapes.items()}
        if all(
            a == b or n == 1
            for name, (dims, steps) in shapes.items()
            for n, a, b in zip(dims, steps, found[name][1], strict=True)
        ):
            return found
    return None


def _steps(dims: tuple[int, ...], *, last: bool) -> tuple[int, ...]:
    """The strides of a tensor without gaps over (batch, channels, spatial axes), its channels last or first."""
    steps, size = [0] * len(dims), 1
    for axis in (1, *reversed(range(2, len(dims))), 0) if last else reversed(range(len(dims))):
        steps[axis] = size
        size *= dims[axis]
    return tuple(steps)


def _paddings(d: Any, what: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """What is put before and behind the image of cuDNN's operation, and how many of its elements are used, along each axis."""
    before, after, used = list[int](), list[int](), list[int]()
    for i, o, t, s, dil, low, base in zip(d.inputs, d.outputs, d.taps, d.stride, d.dilation, d.low, _base(d), strict=True):
        if what == BY_INPUT:
            image, outs, taps, step, gap, first = o, i, t, base, abs(dil), -low
        elif what == BY_WEIGHT:
            image, outs, taps, step, gap, first = i, t, o, abs(dil), s, low
        else:
            image, outs, taps, step, gap, first = i, o, t, s, abs(dil), low
        reach = (taps - 1) * gap + 1
        last = (outs - 1) * step + reach - image - first
        spare = max(last, 0)
        more = (image + first + spare - reach) // step + 1 != outs  # more windows would fit than are wanted
        if first < 0 or (what == BY_INPUT and more):
            raise UnsupportedError(f"windows that leave {max(-first, -last)} elements out; expected paddings of 0 or more")
        if more:
            image += last
        before.append(first)
        after.append(spare)
        used.append(image)
    return tuple(before), tuple(after), tuple(used)


def _shapes(d: Any, strides: dict[str, tuple[int, ...]], what: str) -> dict[str, Shaped]:
    """Extents and strides of each tensor in the order that cuDNN has: batch, channels, spatial axes."""
    rank = len(d.outputs)
    _, _, used = _paddings(d, what)
    x, w, y = (strides[name] for name in "xwy")
    inner = range(2, 2 + rank)

    def channels(name: str, of_groups: int, n: int, step: int) -> tuple[int, int]:
        """Groups and what is in each as one axis: its extent and stride."""
        if d.groups > 1 and n > 1 and of_groups != n * step:
            raise UnsupportedError(f"{name}: groups {of_groups} elements apart, of {n} channels {step} apart; expected one axis")
        return d.groups * n, of_groups if n == 1 and d.groups > 1 else step

    if what == BY_WEIGHT:  # x has c for its batch and b for channels, w is the gradient of outputs, y that of weights
        image, outs = channels("x", x[1], d.batch, x[0]), channels("w", w[0], d.columns, w[-1])
        kept = channels("y", y[1], d.columns, y[-1])
        return {
            "x": _flat((d.channels, image[0], *used), (x[-1], image[1], *(x[a] for a in inner))),
            "w": _flat((d.channels, outs[0], *d.taps), (w[-2], outs[1], *w[1 : 1 + rank])),
            "y": _flat((kept[0], d.batch, *d.outputs), (kept[1], y[0], *(y[a] for a in inner))),
        }

    def activations(name: str, n: int, spatial: Sequence[int]) -> Shaped:
        s = strides[name]
        count, step = channels(name, s[1], n, s[-1])
        return _flat((d.batch, count, *spatial), (s[0], step, *(s[a] for a in inner)))

    rows, others = (d.columns, w[-1]), (d.channels, w[-2])
    if what == BY_INPUT:
        rows, others = others, rows
    count, step = channels("w", w[0], *rows)
    found = {
        "x": activations("x", d.channels, d.inputs if what == BY_INPUT else used),
        "w": _flat((count, others[0], *d.taps), (step, others[1], *w[1 : 1 + rank])),
        "y": activations("y", d.columns, d.outputs),
    }
    if d.has_residual:
        found["residual"] = activations("residual", d.columns, d.outputs)
    for name in sorted({"scale", "bias"} & strides.keys()):
        count, step = channels(name, strides[name][0], d.columns, strides[name][1])
        ones = max(rank, 2)
        found[name] = (1, count, *(1,) * ones), (count * step, step, *(step,) * ones)
    return found


def _flat(dims: tuple[int, ...], steps: tuple[int, ...]) -> Shaped:
    """The same of two spatial axes at least."""
    if len(dims) > 3:
        return dims, steps
    return (*dims[:2], 1, dims[2]), (*steps[:2], dims[2] * steps[2], steps[2])
