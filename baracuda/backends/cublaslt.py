"""Matrix products by cuBLASLt, through its bindings in nvmath-python.

Algorithms are chosen by the library's heuristic when a plan is made for a layout, and pinned: the same call then gives the
same bits on the same device. They are not the same for other numbers of rows, nor on other devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from baracuda.backends.products import LibraryMatmul, LibraryMatmulProblem, Matrix, library_problem
from baracuda.core import locks
from baracuda.core.call_recorder import Launcher
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import BackendError, UnsupportedError
from baracuda.core.implementation import Executable, Scalars
from baracuda.core.sku import BackendKind, MathPrecision, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.lowering.matmul.implementation import LabelledMatmul
from baracuda.lowering.matmul.problem import PRODUCT, TENSOR_CORE_MATH, MatmulProblem
from baracuda.runtime.offline import is_offline

#: Bytes of workspace that an algorithm may ask for.
MOST_WORKSPACE = 32 << 20
#: Algorithms without split k that the heuristic is asked for, and the alignment of addresses that they are told of.
MOST_ALGORITHMS, WHOLE_ALIGNMENT = 8, 16

_K = ElementKind
#: cudaDataType_t by element.
_TYPES = {
    _K.F16: 2, _K.BF16: 14, _K.F32: 0, _K.F64: 1, _K.S8: 3, _K.S32: 10, _K.C64: 4, _K.C128: 5, _K.F8E4M3: 28, _K.F8E5M2: 29,
}  # fmt: skip
#: cublasComputeType_t by the accumulator.
_COMPUTE = {_K.F32: 68, _K.F64: 70, _K.S32: 72}
_COMPUTE_TF32 = 77
#: cublasLtMatmulMatrixScale_t of one scale for each row of a factor, and by what blocks are of; and what is said in place of an
#: address until there is one.
_SCALE_OF_ROWS, _SCALE_OF_BLOCKS, _NO_ADDRESS = 3, {"rows": 4, "squares": 5}, 256
#: Attributes of a product's descriptor that say which scales the factors have (CUDA 12.8).
_SCALE_MODES = (31, 32)
#: cublasLtEpilogue_t by activation, without and with a bias. Its gelu is the approximation by tanh.
_EPILOGUES = {("none", True): 4, ("relu", False): 2, ("relu", True): 6, ("gelu_tanh", False): 32, ("gelu_tanh", True): 36}


@cache
def bindings() -> ModuleType | None:
    """The bindings; None where they are not installed."""
    try:
        from nvmath.bindings import cublasLt
    except ImportError:
        return None
    return cublasLt  # type: ignore[no-any-return]


def refusal(device: Device, descriptor: Any) -> str | None:
    """Why this library does not compute a descriptor's product on a device; None where it may."""
    if device.kind is DeviceKind.CPU:
        return f"the stream is on {device}"
    if is_offline(device):
        return f"{device} is there for code alone"
    if bindings() is None:
        return "nvmath-python is not installed: pip install 'baracuda[vendor]'"
    for kind in (descriptor.a_element, descriptor.b_element):
        if kind not in _TYPES:
            return f"cuBLASLt has no products of {kind}"
    if descriptor.a_element is not descriptor.b_element and descriptor.a_element.bits != 8:
        return f"cuBLASLt has no products of {descriptor.a_element} and {descriptor.b_element}"
    if descriptor.conjugate_a or descriptor.conjugate_b:
        return "conjugated factors"
    if descriptor.of_blocks and (descriptor.a_element.bits != 8 or not descriptor.element.is_float):
        return f"cuBLASLt has no products of {descriptor.a_element} with scales of blocks"
    return None


def takes_tf32(descriptor: Any) -> bool:
    """Whether a descriptor's product may be computed in TF32."""
    return descriptor.a_element is _K.F32 and descriptor.b_element is _K.F32


@contextmanager
def context(index: int) -> Iterator[None]:
    """The device's primary context, current for a while."""
    from cuda.bindings import driver

    from baracuda.runtime.cuda import check, primary_context

    wanted = primary_context(index)
    if int(check(driver.cuCtxGetCurrent(), "cuCtxGetCurrent")) == wanted:
        yield
        return
    check(driver.cuCtxPushCurrent(wanted), "cuCtxPushCurrent")
    try:
        yield
    finally:
        check(driver.cuCtxPopCurrent(), "cuCtxPopCurrent")


@cache
def _handle(index: int) -> int:
    lt = _bindings()
    with context(index):
        return int(lt.create())


def _bindings() -> Any:
    library = bindings()
    assert library is not None
    return library


def _set(setter: Callable[..., None], target: int, attribute: int, value: Any) -> None:
    held = np.asarray(value)
    setter(target, attribute, held.ctypes.data, held.nbytes)


def _layout(m: Matrix, batch: int) -> int:
    lt = _bindings()
    layout = int(lt.matrix_layout_create(_TYPES[m.kind], m.rows, m.cols, m.leading))
    if batch > 1:
        attributes = lt.MatrixLayoutAttribute
        _set(lt.matrix_layout_set_attribute, layout, int(attributes.BATCH_COUNT), np.int32(batch))
        _set(lt.matrix_layout_set_attribute, layout, int(attributes.STRIDED_BATCH_OFFSET), np.int64(m.batch_stride))
    return layout


class Algorithm(NamedTuple):
    """An algorithm as the library knows it, and the bytes of workspace that it needs."""

    chosen: np.ndarray[Any, Any]
    workspace_bytes: int

    def splits_k(self) -> bool:
        """Whether a sum is taken in parts that are added afterwards."""
        attributes = _bindings().MatmulAlgoConfigAttribute
        parts = self._setting(int(attributes.SPLITK_NUM), np.int32)
        return parts not in (0, 1) or self._setting(int(attributes.REDUCTION_SCHEME), np.uint32) != 0

    def _setting(self, attribute: int, dtype: type[np.generic]) -> int:
        held, written = np.zeros(1, dtype), np.zeros(1, np.uint64)
        _bindings().matmul_algo_config_get_attribute(
            self.chosen.ctypes.data, attribute, held.ctypes.data, held.nbytes, written.ctypes.data
        )
        return int(held[0])


class LtCall(Launcher):
    """One product with its algorithm: the one given, else the heuristic's first. With `whole`, the heuristic is asked for those
    that do not split k, and `algorithms` are all that it names. Takes the addresses of a, b and y, then of those of c, bias,
    a_scale and b_scale that `extra` names. `scaled` says that alpha and beta are numbers of the call, `scale_modes` what scales
    each factor has, where it has more than one."""

    def __init__(
        self,
        index: int,
        problem: LibraryMatmulProblem,
        accumulator: ElementKind,
        *,
        tf32: bool = False,
        alpha: complex = 1.0,
        beta: complex = 0.0,
        added: Matrix | None = None,
        epilogue: int = 1,
        extra: Sequence[str] = (),
        scaled: bool = False,
        scale_modes: tuple[int, int] = (0, 0),
        whole: bool = False,
        algorithm: Algorithm | None = None,
    ) -> None:
        lt = _bindings()
        self.index, self.problem, self.extra, self._scaled = index, problem, tuple(extra), scaled
        kind = problem.left.kind
        scale = kind if kind in (_K.C64, _K.C128) else accumulator
        compute = _COMPUTE_TF32 if tf32 else _COMPUTE[accumulator]
        with context(index):
            self._desc = int(lt.matmul_desc_create(compute, _TYPES[scale]))
            attributes = lt.MatmulDescAttribute
            for attribute, m in ((attributes.TRANSA, problem.left), (attributes.TRANSB, problem.right)):
                _set(lt.matmul_desc_set_attribute, self._desc, int(attribute), np.int32(m.transposed))
            if epilogue != 1:
                _set(lt.matmul_desc_set_attribute, self._desc, int(attributes.EPILOGUE), np.uint32(epilogue))
            #: Attributes of the descriptor that are addresses, with their position among the addresses of a call.
            names = {
                "bias": attributes.BIAS_POINTER,
                "a_scale": attributes.A_SCALE_POINTER,
                "b_scale": attributes.B_SCALE_POINTER,
            }
            if problem.swapped:
                names |= {"a_scale": attributes.B_SCALE_POINTER, "b_scale": attributes.A_SCALE_POINTER}
            modes = _SCALE_MODES[::-1] if problem.swapped else _SCALE_MODES
            for name, attribute, mode in zip(("a_scale", "b_scale"), modes, scale_modes, strict=True):
                if mode:
                    _set(lt.matmul_desc_set_attribute, self._desc, attribute, np.int32(mode))
                    _set(lt.matmul_desc_set_attribute, self._desc, int(names[name]), np.int64(_NO_ADDRESS))
            self._set_per_call = [(int(names[n]), 3 + i) for i, n in enumerate(self.extra) if n in names]
            self._added_at = 3 + self.extra.index("c") if "c" in self.extra else 2
            self._layouts = [
                _layout(m, problem.batch) for m in (problem.left, problem.right, added or problem.result, problem.result)
            ]
            self._factors = np.array([alpha, beta]).astype(scale.numpy)
            self.algorithms = [algorithm] if algorithm is not None else self._heuristic(whole)
        self.schedule = f"cublaslt {compute}{' without split k' if whole else ''}"
        self._lock = locks.lock()
        self._ready()
        self.use(self.algorithms[0])

    def use(self, algorithm: Algorithm) -> None:
        """Have the product taken by this algorithm."""
        self._algorithm, self.workspace_bytes = algorithm
        self._chosen_at = self._algorithm.ctypes.data

    def _ready(self) -> None:
        """Everything of a launch that is the same each time."""
        from cuda.bindings import driver

        from baracuda.runtime.cuda import primary_context

        lt = _bindings()
        self._current, self._context, self._library = driver.cuCtxGetCurrent, primary_context(self.index), _handle(self.index)
        self._multiply, self._set_attribute, self._error = lt.matmul, lt.matmul_desc_set_attribute, lt.cuBLASLtError
        self._factors_at = (1, 0) if self.problem.swapped else (0, 1)
        first = self._factors.ctypes.data
        self._scalars = first, first + self._factors.itemsize
        #: The addresses that were put into the descriptor last.
        self._addresses = [np.zeros(1, np.int64) for _ in self._set_per_call]

    def _heuristic(self, whole: bool) -> list[Algorithm]:
        """The heuristic's first algorithm, or of its first ones those that do not split k."""
        lt = _bindings()
        preference, asked = lt.matmul_preference_create(), MOST_ALGORITHMS if whole else 1
        attributes = lt.MatmulPreferenceAttribute
        wanted: list[tuple[Any, Any]] = [(attributes.MAX_WORKSPACE_BYTES, np.uint64(MOST_WORKSPACE))]
        if whole:
            wanted.append((attributes.REDUCTION_SCHEME_MASK, np.uint32(0)))
            wanted += [(getattr(attributes, f"MIN_ALIGNMENT_{m}_BYTES"), np.uint32(WHOLE_ALIGNMENT)) for m in "ABCD"]
        try:
            for attribute, value in wanted:
                _set(lt.matmul_preference_set_attribute, preference, int(attribute), value)
            results, count = np.zeros(asked, lt.matmul_heuristic_result_dtype), np.zeros(1, np.int32)
            a, b, c, d = self._layouts
            try:
                lt.matmul_algo_get_heuristic(
                    _handle(self.index), self._desc, a, b, c, d, preference, asked, results.ctypes.data, count.ctypes.data
                )
            except lt.cuBLASLtError as error:
                raise UnsupportedError(f"cuBLASLt has no algorithm for {self.problem}: {error}") from error
        finally:
            lt.matmul_preference_destroy(preference)
        found = [Algorithm(results["algo"][i : i + 1].copy(), int(results["workspace_size"][i])) for i in range(count[0])]
        if whole:
            found = [algorithm for algorithm in found if not algorithm.splits_k()]
        if not found:
            raise UnsupportedError(f"cuBLASLt has no algorithm {'without split k ' if whole else ''}for {self.problem}")
        return found

    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        if int(self._current()[1]) == self._context:
            self._launch(pointers, workspace, stream, scalars)
        else:
            with context(self.index):
                self._launch(pointers, workspace, stream, scalars)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        pointers = tuple(pointers)
        return lambda: self.call(pointers, workspace, stream)

    def _launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        try:
            if not self._set_per_call:
                self._matmul(pointers, workspace, stream, scalars)
                return
            with self._lock:  # addresses of vectors are part of the descriptor: set and launch at once
                for held, (attribute, at) in zip(self._addresses, self._set_per_call, strict=True):
                    if held[0] != pointers[at]:
                        held[0] = pointers[at]
                        self._set_attribute(self._desc, attribute, held.ctypes.data, held.nbytes)
                self._matmul(pointers, workspace, stream, scalars)
        except self._error as error:
            raise BackendError("cublasLtMatmul", str(error)) from error

    def _matmul(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        left, right = self._factors_at
        a, b, c, d = self._layouts
        alpha, beta = self._scalars
        if self._scaled and scalars is not None:
            factors = np.array([scalars["alpha"], scalars["beta"] if "c" in self.extra else 0.0]).astype(self._factors.dtype)
            alpha, beta = factors.ctypes.data, factors.ctypes.data + factors.itemsize
        self._multiply(
            self._library, self._desc, alpha, pointers[left], a, pointers[right], b, beta, pointers[self._added_at], c,
            pointers[2], d, self._chosen_at, workspace, self.workspace_bytes, stream,
        )  # fmt: skip


class CublasLtMatmul(LibraryMatmul):
    """cuBLASLt's matrix product; f32 in TF32 where `tf32` is set."""

    backend = BackendKind.CUBLASLT

    def __init__(
        self, device: Device, problem: LabelledMatmul, specs: Sequence[TensorSpec], descriptor: Any, *, tf32: bool = False
    ) -> None:
        super().__init__(device, problem, specs, descriptor)
        self.tf32 = tf32
        kind = problem.accumulator
        plain = {_K.F32: MathPrecision.F32, _K.F64: MathPrecision.F64}.get(kind, MathPrecision.INTEGER)
        math = MathPrecision.TF32 if tf32 else TENSOR_CORE_MATH.get(descriptor.a_element, plain)
        exact = kind.is_integer  # whatever the order of the sums
        self.guarantee = PrecisionGuarantee(math, kind, True, exact, True, exact)

    def _stores(self, kind: ElementKind) -> bool:
        return kind in _TYPES and (kind is not _K.S8)

    def product(self, problem: LibraryMatmulProblem) -> Executable:
        return LtCall(self.device.index, problem, self.problem.accumulator, tf32=self.tf32)

    def fused(self, c: MatmulProblem, problem: LibraryMatmulProblem) -> tuple[Executable, tuple[str, ...]] | None:
        d = self.descriptor
        scales = [n for n in ("a_scale", "b_scale") if getattr(d, n) is not None]
        of_rows = not d.of_blocks and any(n != 1 for s in scales for n in getattr(d, s))
        modes = (_SCALE_OF_ROWS, _SCALE_OF_ROWS) if of_rows else (0, 0)
        if d.of_blocks:
            modes = _SCALE_OF_BLOCKS[d.a_blocks], _SCALE_OF_BLOCKS[d.b_blocks]
        if d.gradient or d.saves or len(c.a) > 1 or (of_rows and not self._scales_of_rows(c)):
            return None
        if (scales and d.a_element.bits != 8) or c.accumulator.is_integer:
            return None
        epilogue = 1
        if d.activation != "none" or d.has_bias:
            epilogue = _EPILOGUES.get((d.activation, d.has_bias), 0)
        # The bias runs along the rows of the result as the library sees it: along n of a row-major one.
        free_of = d.b_axes if problem.swapped else d.a_axes
        if not epilogue or (d.has_bias and (d.y_axes[d.bias_axis] not in free_of or c.batch)):
            return None
        added, extra = None, []
        inputs = [p.name for p in c.epilogue.inputs if p.name != PRODUCT]
        if "c" in inputs:
            try:
                other = library_problem(c, c.operands[inputs.index("c")])
            except UnsupportedError:
                return None
            if other.swapped is not problem.swapped or d.c_shape != d.y_shape:
                return None
            added, extra = other.result, ["c"]
        extra += [n for n in ("bias", *scales) if n in inputs or (d.of_blocks and n in scales)]
        beta = d.beta if added is not None else 0.0
        try:
            call = LtCall(
                self.device.index, problem, c.accumulator, tf32=self.tf32, alpha=d.alpha, beta=beta, added=added,
                epilogue=epilogue, extra=extra, scaled=True, scale_modes=modes,
            )  # fmt: skip
        except (UnsupportedError, _bindings().cuBLASLtError):
            if of_rows:  # an older library, or an architecture that has no products with such scales
                return None
            raise
        return call, ("a", "b", "y", *extra)

    def _composed(self, c: MatmulProblem, index: dict[str, int], compiled_only: bool) -> Executable | None:
        if self.descriptor.of_blocks:
            raise UnsupportedError("cuBLASLt: scales of blocks, with what it does not do itself behind the product")
        return super()._composed(c, index, compiled_only)

    def _scales_of_rows(self, c: MatmulProblem) -> bool:
        """Whether the factors have one scale for each row of a and for each column of b, which lie one behind the other."""
        names = [p.name for p in c.epilogue.inputs if p.name != PRODUCT]
        if c.batch or not {"a_scale", "b_scale"} <= {*names}:
            return False
        a, b = (c.operands[names.index(name)].strides for name in ("a_scale", "b_scale"))
        return (a[-2] == 1 or c.m == 1) and a[-1] == 0 and (b[-1] == 1 or c.n == 1) and b[-2] == 0
