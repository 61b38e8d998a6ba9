"""Scaled dot product attention by cuDNN, through its graphs in nvidia-cudnn-frontend.

Plans are chosen by the library's heuristic for a layout and kept. The backward is asked for deterministically. Bits depend on
the device and on the extents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from baracuda.backends.cublaslt import context
from baracuda.backends.products import UnsupportedLayout
from baracuda.backends.recorded import recorded, recorder
from baracuda.core import locks
from baracuda.core.call_recorder import Launcher
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import BackendError, UnsupportedError
from baracuda.core.implementation import Executable, Layout, Scalars
from baracuda.core.sku import ArchSku, BackendKind, MathPrecision, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.lowering.generated import CachingImplementation, is_general

_MATH = {ElementKind.F16: MathPrecision.F16, ElementKind.BF16: MathPrecision.BF16}
#: Most elements of a head, forward and backward.
_DEEPEST = 128


@cache
def frontend() -> ModuleType | None:
    """The frontend; None where it or the library is not installed."""
    try:
        import cudnn
    except (ImportError, OSError):
        return None
    return cudnn  # type: ignore[no-any-return]


def refusal(device: Device, d: Any) -> str | None:
    """Why cuDNN does not compute a descriptor's attention on a device; None where it may."""
    if device.kind is DeviceKind.CPU:
        return f"the stream is on {device}"
    if frontend() is None:
        return "nvidia-cudnn-frontend is not installed: pip install 'baracuda[vendor]'"
    if d.element not in _MATH:
        return f"cuDNN has no attention of {d.element}; expected f16 or bf16"
    if d.formula is not None or d.softcap or d.has_mask or d.has_slopes or d.window is not None:
        return "a score of the caller's own, a soft cap, a mask, slopes or a window"
    if d.has_bias and d.bias_element is not d.element:
        return f"a bias of {d.bias_element} beside {d.element}"
    if d.causal and d.offset not in (0, d.keys - d.queries):
        return f"causal with offset {d.offset}; expected 0, or {d.keys - d.queries} for the last keys"
    if d.query_lengths is not d.key_lengths:
        return "the lengths of queries or keys alone; expected both or neither"
    if max(d.depth, d.value_depth) > _DEEPEST or d.depth % 8 or d.value_depth % 8:
        return f"depths {d.depth} and {d.value_depth}; expected multiples of 8 up to {_DEEPEST}"
    if getattr(d, "wants_dbias", False):
        return "the gradient of a tensor of the score"
    return None


_handles: dict[tuple[int, int], Any] = {}
_lock = locks.reentrant_lock()


def handle_of(index: int, stream: int) -> Any:
    """The handle of a stream, made once."""
    handle = _handles.get((index, stream))
    if handle is None:
        library = frontend()
        assert library is not None
        with _lock, context(index):
            handle = _handles[index, stream] = library.create_handle()
            library.set_stream(handle=handle, stream=stream)
    return handle


class GraphCall(Launcher):
    """A built graph. Takes addresses in the order of the plan's tensors."""

    schedule = "cudnn"

    def __init__(self, index: int, graph: Any, uids: Sequence[tuple[int, int]]) -> None:
        self.index, self.graph, self.uids = index, graph, tuple(uids)
        self.workspace_bytes = int(graph.get_workspace_size())

    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        try:
            with context(self.index):
                pack = {uid: pointers[at] for uid, at in self.uids}
                self.graph.execute(pack, workspace, handle=handle_of(self.index, stream))
        except RuntimeError as error:
            raise BackendError("cudnnBackendExecute", str(error)) from error

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        for queue in (stream, recorder(self.index).stream.handle):
            handle_of(self.index, queue)  # made now, because while a stream is recorded it cannot be
        pointers = tuple(pointers)
        return recorded(self.index, lambda on: self.call(pointers, workspace, on), stream)


class CudnnAttention(CachingImplementation):
    """cuDNN's attention, forward or backward."""

    backend = BackendKind.CUDNN
    fixes_numbers = True

    def __init__(self, device: Device, specs: Sequence[TensorSpec], descriptor: Any) -> None:
        from baracuda.runtime.cuda import architecture

        super().__init__(device)
        self.specs, self.descriptor = specs, descriptor
        self.arch = ArchSku.cuda(*architecture(device.index)[:2])
        self.guarantee = PrecisionGuarantee(_MATH[descriptor.element], ElementKind.F32, True, False, True, False)

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
            try:
                uids = self._describe(library, graph, layout)
                graph.validate()
                graph.build_operation_graph()
                graph.create_execution_plans([library.heur_mode.A, library.heur_mode.FALLBACK])
                graph.check_support()
                graph.build_plans()
            except (library.cudnnGraphNotSupportedError, RuntimeError, ValueError) as error:
                raise UnsupportedError(f"cuDNN: {str(error).strip()[:300]}") from error
            return GraphCall(index, graph, uids)

    def _describe(self, library: ModuleType, graph: Any, layout: Layout) -> list[tuple[int, int]]:
        """Adds the attention to a graph; the id of each tensor with its number among the plan's."""
        d = self.descriptor
        index = {s.name: i for i, s in enumerate(self.specs) if layout[i] is not None}
        shapes = {n: self._extents(n, layout[i]) for n, i in index.items()}

        def graph_tensor(name: str) -> Any:
            dim, stride = shapes[name]
            kind = self.specs[index[name]].expected_kind(d)
            return graph.tensor(name=name, dim=dim, stride=stride, data_type=data_type(library, kind))

        inputs = {n: graph_tensor(n) for n in index if not self.specs[index[n]].written}
        options: dict[str, Any] = {"attn_scale": d.factor}
        if d.has_bias:
            options["bias"] = inputs["bias"]
        if d.causal:
            options["use_causal_mask" if d.offset == 0 else "use_causal_mask_bottom_right"] = True
        if d.key_lengths:
            options |= {"use_padding_mask": True, "seq_len_q": inputs["query_lengths"], "seq_len_kv": inputs["key_lengths"]}
        if "dy" in index:
            results = graph.sdpa_backward(
                q=inputs["q"], k=inputs["k"], v=inputs["v"], o=inputs["y"], dO=inputs["dy"], stats=inputs["lse"],
                use_deterministic_algorithm=True, **options,
            )  # fmt: skip
            outputs = dict(zip(("dq", "dk", "dv"), results, strict=False))
        else:
            results = graph.sdpa(q=inputs["q"], k=inputs["k"], v=inputs["v"], generate_stats=d.lse, **options)
            outputs = dict(zip(("y", "lse"), results, strict=False))
        for name, tensor in outputs.items():
            if name not in index:
                if tensor is not None and name != "lse":
                    raise UnsupportedError(f"{name} is left out; cuDNN computes all three gradients")
                continue
            dim, stride = shapes[name]
            kind = self.specs[index[name]].expected_kind(d)
            tensor.set_output(True).set_dim(dim).set_stride(stride).set_data_type(data_type(library, kind))
        every = {**inputs, **{n: t for n, t in outputs.items() if n in index}}
        return [(int(tensor.get_uid()), index[name]) for name, tensor in every.items()]

    def _extents(self, name: str, layout: Any) -> tuple[list[int], list[int]]:
        """A tensor's extents and strides over four axes."""
        shape = self.specs[[s.name for s in self.specs].index(name)].expected_shape(self.descriptor)
        missing = 4 - len(shape)
        return [*shape, *[1] * missing], [*layout.strides, *[1] * missing]


def data_type(library: ModuleType, kind: ElementKind) -> Any:
    names = {
        ElementKind.F16: "HALF",
        ElementKind.BF16: "BFLOAT16",
        ElementKind.F32: "FLOAT",
        ElementKind.S32: "INT32",
    }
    return getattr(library.data_type, names[kind])
