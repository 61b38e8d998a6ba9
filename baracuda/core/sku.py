"""What a plan chose, what that promises, and what a caller may insist on."""

from __future__ import annotations

import enum
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.version import ARITHMETIC_VERSION


class OpCategory(enum.Enum):
    """The families of the catalogue."""

    UNARY = "unary"
    BINARY = "binary"
    TERNARY = "ternary"
    COMPARE = "compare"
    LOGICAL = "logical"
    CAST = "cast"
    COMPLEX = "complex"
    SPECIAL = "special"
    GATED_ACTIVATION = "gated_activation"
    REDUCTION = "reduction"
    ARG_REDUCTION = "arg_reduction"
    SCAN = "scan"
    SOFTMAX = "softmax"
    NORMALIZATION = "normalization"
    LOSS = "loss"
    QUANTIZATION = "quantization"
    OPTIMIZER = "optimizer"
    ATTENTION = "attention"
    SSM = "ssm"
    RNN = "rnn"
    MOE = "moe"
    GEMM = "gemm"
    LINALG = "linalg"
    CONVOLUTION = "convolution"
    POOLING = "pooling"
    IMAGE = "image"
    EMBEDDING = "embedding"
    INDEXING = "indexing"
    SEGMENT = "segment"
    SORTING = "sorting"
    SET_OPS = "set_ops"
    SPARSE = "sparse"
    FFT = "fft"
    SIGNAL = "signal"
    STATISTICS = "statistics"
    RANDOM = "random"
    CREATION = "creation"
    SHAPE_LAYOUT = "shape_layout"
    COLLECTIVE = "collective"
    FUSED = "fused"  # formulas of the user's own: no family of the table

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is several times slower


class BackendKind(enum.Enum):
    """What computes: kernels generated from a formula, or a vendor's library."""

    FORMULA_CPU = "formula-cpu"
    FORMULA_CUDA = "formula-cuda"
    CUBLASLT = "cublaslt"
    CUDNN = "cudnn"
    CUFFT = "cufft"
    CUSOLVER = "cusolver"
    CUSPARSE = "cusparse"
    NCCL = "nccl"
    BLAS = "blas"
    LAPACK = "lapack"
    SCIPY = "scipy"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is several times slower

    def __str__(self) -> str:
        return self.value

    @property
    def is_library(self) -> bool:
        """Whether it is somebody else's library, and not a generated kernel."""
        return self not in (BackendKind.FORMULA_CPU, BackendKind.FORMULA_CUDA)


@cache
def _host_architecture() -> str:
    """The machine, with the x86-64 microarchitecture level where it is one."""
    machine = platform.machine().lower()
    if machine not in ("x86_64", "amd64"):
        return machine
    umath = import_module("numpy._core._multiarray_umath")  # NumPy keeps here what its own dispatch found out
    features: dict[str, bool] = getattr(umath, "__cpu_features__", {})
    levels = {
        "x86-64-v4": ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL"),
        "x86-64-v3": ("AVX2", "FMA3", "F16C"),
        "x86-64-v2": ("SSE42", "POPCNT"),
    }
    for level, needed in levels.items():
        if features.get(level.upper().replace("-64-", "_"), all(features.get(f, False) for f in needed)):
            return level
    return "x86-64"


@dataclass(frozen=True, slots=True)
class ArchSku:
    """The instruction set a kernel was made for: `x86-64-v4`, `aarch64`, `sm_90`."""

    kind: DeviceKind
    name: str

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def host() -> ArchSku:
        """This machine's CPU."""
        return ArchSku(DeviceKind.CPU, _host_architecture())

    @staticmethod
    def cuda(major: int, minor: int) -> ArchSku:
        """A GPU of the given compute capability."""
        return ArchSku(DeviceKind.CUDA, f"sm_{major}{minor}")


class MathPrecision(enum.Enum):
    """The precision that products and sums are computed in.

    INT23 and INT15 are products of integers of so many bits, with a scale for each 128 of a row and of a column
    (`baracuda/formula/integer_products.py`); INTEGER is that of integer elements.
    """

    INT15 = "int15"
    INT23 = "int23"
    F16 = "f16"
    BF16 = "bf16"
    TF32 = "tf32"
    F32 = "f32"
    F64 = "f64"
    INTEGER = "integer"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is several times slower

    def __str__(self) -> str:
        return self.value


#: The four promises a path can make, by the names of their fields, each with its letter in a sku.
PROMISES = {
    "deterministic": "d",
    "batch_invariant": "b",
    "bit_stable_on_same_hardware": "s",
    "bit_stable_across_hardware": "x",
}


@dataclass(frozen=True, slots=True)
class PrecisionGuarantee:
    """What one plan promises about its bits; it describes the path taken, not the op.

    Attributes
    ----------
    math : MathPrecision
        The precision of products.
    accumulator : ElementKind
        The kind that sums are kept in.
    deterministic : bool
        The same call gives the same bits from run to run.
    batch_invariant : bool
        A row's bits do not depend on its neighbours or their number.
    bit_stable_on_same_hardware : bool
        The bits are the same on every stream, in a graph, and with every tuning.
    bit_stable_across_hardware : bool
        The bits are the same on the CPU and on every GPU.
    """

    math: MathPrecision
    accumulator: ElementKind
    deterministic: bool
    batch_invariant: bool
    bit_stable_on_same_hardware: bool
    bit_stable_across_hardware: bool

    @staticmethod
    def canonical(math: MathPrecision, accumulator: ElementKind) -> PrecisionGuarantee:
        """The guarantee of the canonical arithmetic: everything."""
        return PrecisionGuarantee(math, accumulator, True, True, True, True)

    def missing(self, required: Iterable[str]) -> tuple[str, ...]:
        """Those of the required promises that are not made."""
        return tuple(sorted(name for name in required if not getattr(self, name)))

    def __str__(self) -> str:
        letters = "".join(letter for name, letter in PROMISES.items() if getattr(self, name))
        return f"{self.math}+{self.accumulator}/{letters or 'none'}"


@dataclass(frozen=True, slots=True)
class PlanPreference:
    """What the caller insists on. Plans that do not comply are refused, never silently replaced.

    Attributes
    ----------
    backend : BackendKind | None
        The only backend to consider; None considers all.
    require : frozenset[str]
        Promises of `PrecisionGuarantee` that must be made, by name; any iterable of names is accepted.
    allow_tf32 : bool
        Whether f32 products may be computed in TF32.
    max_workspace : int | None
        The largest workspace in bytes.
    autotune : bool
        Whether to measure the candidates' schedules; never changes the bits of a formula kernel.
    fastest : bool
        Whether a library's plan is taken before a formula's where both comply. Without it the formula's is, and with it the
        bits that are the same everywhere.
    math : MathPrecision | None
        The only precision of products to consider; None considers all, the default of the elements first.

    Raises
    ------
    InvalidProblemError
        A field is not what it may be: `require` names something that is not a promise, or `max_workspace` is negative.
    """

    backend: BackendKind | None = None
    require: frozenset[str] = frozenset()
    allow_tf32: bool = False
    max_workspace: int | None = None
    autotune: bool = False
    fastest: bool = False
    math: MathPrecision | None = None

    def __post_init__(self) -> None:
        names = [self.require] if isinstance(self.require, str) else self.require
        listed = list(names) if isinstance(names, Iterable) else [names]
        unknown = [n for n in listed if not isinstance(n, str) or n not in PROMISES]
        if unknown:
            raise InvalidProblemError(f"require: {', '.join(map(repr, unknown))}; expected some of {', '.join(PROMISES)}")
        object.__setattr__(self, "require", frozenset(listed))
        if not isinstance(self.backend, BackendKind | None):
            raise InvalidProblemError(f"backend: {self.backend!r}; expected a BackendKind or None")
        if not isinstance(self.math, MathPrecision | None):
            raise InvalidProblemError(f"math: {self.math!r}; expected a MathPrecision or None")
        for name in ("allow_tf32", "autotune", "fastest"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidProblemError(f"{name}: {getattr(self, name)!r}; expected True or False")
        most: object = self.max_workspace
        if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 0):
            raise InvalidProblemError(f"max_workspace: {most!r} bytes; expected a whole number, 0 or above, or None")

    def objection(self, backend: BackendKind, guarantee: PrecisionGuarantee, workspace: int) -> str | None:
        """Why a plan of this kind would not do, or None if it would."""
        if self.backend is not None and backend is not self.backend:
            return f"the preference asks for {self.backend}"
        if self.math not in (None, guarantee.math):
            return f"it computes in {guarantee.math}, and the preference asks for {self.math}"
        if guarantee.math is MathPrecision.TF32 and not self.allow_tf32:
            return "it computes in TF32, and allow_tf32 is not set"
        missing = guarantee.missing(self.require)
        if missing:
            return f"it is not {', '.join(missing)}"
        if self.max_workspace is not None and workspace > self.max_workspace:
            return f"it needs {workspace} bytes of workspace, and max_workspace is {self.max_workspace}"
        return None


@dataclass(frozen=True, slots=True)
class KernelSku:
    """The identity of a chosen kernel. Equal skus of formula kernels mean equal bits for equal problems."""

    category: OpCategory
    op: str
    element: ElementKind
    layout: str
    arch: ArchSku
    backend: BackendKind
    guarantee: PrecisionGuarantee
    aux_element: ElementKind | None = None
    epilogue: str | None = None
    arithmetic_version: int = ARITHMETIC_VERSION

    def __str__(self) -> str:
        element = str(self.element) if self.aux_element is None else f"{self.element}+{self.aux_element}"
        parts = (
            f"{self.category.value}.{self.op}",
            element,
            self.layout,
            self.epilogue or "none",
            str(self.arch),
            str(self.backend),
            str(self.guarantee),
            f"v{self.arithmetic_version}",
        )
        return ":".join(parts)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way of carrying out a problem that a selection considered; `reason_refused` is None for one that would do."""

    backend: BackendKind
    guarantee: PrecisionGuarantee | None = None
    workspace: int = 0
    reason_refused: str | None = None

    def __str__(self) -> str:
        promise = "" if self.guarantee is None else f" ({self.guarantee})"
        return f"{self.backend}{promise}: {self.reason_refused or 'accepted'}"
