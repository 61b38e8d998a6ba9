"""Calls of functions that are no declared op, whose hashes come with the package: the samples of `tests/robustness`, and some
that are larger or have other options. Tensors of numbers are drawn anew, those that were written out keep their values."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np

import baracuda
from baracuda.cli.verify.functions import FunctionCase, Tensor, encoded, is_function_of_its_own
from baracuda.core.elements import Category
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.robustness.samples import MOVES, Call, samples

#: Functions without a result that is the same everywhere: memory as it is, and a formula of the caller's.
NEVER = frozenset(["empty", "empty_like", "flex_attention", "flex_attention_backward", "asarray", *MOVES])
#: Functions whose samples have lengths as numbers, which a GPU's tensors do not stand beside.
WITH_LENGTHS = frozenset(["ctc_loss", "ctc_loss_backward", "rnnt_loss", "rnnt_loss_backward"])
#: Listed values have at most so many elements, small ones that every float kind has.
_FEW = 16
#: Elements that calls are tried with.
_KINDS = tuple(k for k in K if k.bits >= 8)


def _t(*shape: int, domain: str = "any", element: K | None = None) -> Tensor:
    return Tensor(shape, domain, element)


def _index(limit: int, *shape: int) -> Tensor:
    return Tensor(shape, f"index:{limit}", K.S64)


def of(value: Any, own: K | None) -> Any:
    """What a sample was given as data; tensors of the element `own` as those of the call."""
    if isinstance(value, (np.ndarray, np.generic, baracuda.Array)):
        return _tensor(np.asarray(value.numpy() if isinstance(value, baracuda.Array) else value), own)
    if type(value) in (tuple, list):
        return type(value)(of(v, own) for v in value)
    if isinstance(value, np.dtype | type):
        return K.from_numpy(np.dtype(value)).label
    encoded(value)  # raises where it is none
    return value


def _tensor(array: Any, own: K | None) -> Tensor:
    kind = K.from_numpy(array.dtype)
    element = None if kind is own else kind
    whole = kind.is_integer or kind is K.BOOL
    few = array.size <= _FEW and kind.category is not Category.COMPLEX
    wide = array.astype(np.float64) if few and not whole else array
    if whole or (few and bool(np.all((np.abs(wide) <= 64) & (wide * 8 == np.rint(wide * 8))))):
        if array.size > 256:
            raise InvalidProblemError(f"{array.size} integers; expected few enough to list")
        return Tensor(array.shape, element=element, listed=tuple(wide.reshape(-1).tolist()))
    if kind.category is Category.COMPLEX:
        return Tensor(array.shape, element=element)
    if array.ndim and array.shape[-1] > 2 and bool((np.diff(array.astype(np.float64)) >= 0).all()):
        return Tensor(array.shape, "sorted", element)
    return Tensor(array.shape, "positive" if bool((array >= 0).all()) else "any", element)


def _kinds_in(value: Any) -> Iterator[K]:
    if isinstance(value, (np.ndarray, np.generic, baracuda.Array)):
        yield K.from_numpy(np.asarray(value.numpy() if isinstance(value, baracuda.Array) else value).dtype)
    elif isinstance(value, (tuple, list)):
        for v in value:
            yield from _kinds_in(v)


def _of_sample(call: Call) -> tuple[FunctionCase, bool]:
    """The case of a sample, and whether other elements may be tried."""
    kinds = [*_kinds_in(call.arguments), *_kinds_in(tuple(call.keywords.values()))]
    own = next((k for k in kinds if k.is_float or k.category is Category.COMPLEX), kinds[0] if kinds else None)
    arguments, keywords = of(tuple(call.arguments), own), tuple((k, of(v, own)) for k, v in call.keywords.items())
    return FunctionCase(call.name, arguments, keywords, own or K.F32), own is not None


def _takes_its_element(value: Any) -> bool:
    """Whether a tensor among arguments has the element of the call."""
    if isinstance(value, (tuple, list)):
        return any(map(_takes_its_element, value))
    return isinstance(value, Tensor) and value.element is None


@cache
def calls() -> dict[str, tuple[FunctionCase, bool]]:
    """Every call by its text, in an element of its own, and whether it has a tensor that may be of another."""
    found: dict[str, tuple[FunctionCase, bool]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples():
            name = sample.name.partition("#")[0]
            if not hasattr(baracuda, name) or name in NEVER | WITH_LENGTHS or not is_function_of_its_own(name):
                continue
            try:
                case, free = _of_sample(sample.make())
            except (InvalidProblemError, UnsupportedError):
                continue  # a function, a device, or too many integers among its arguments
            found.setdefault(case.call, (case, free))
    for case in LARGER:
        found.setdefault(case.call, (case, _takes_its_element(case.arguments)))
    return found


@cache
def hashed() -> dict[str, list[FunctionCase]]:
    """Every call by its text, in the elements that it may be hashed with: its own and bf16, and two of the others in turn, which
    the function may refuse."""
    found = {}
    for text, (case, free) in calls().items():
        others = [k for k in _KINDS if k not in (case.element, K.BF16)]
        turn = crc32(text.encode())
        kinds = dict.fromkeys((case.element, K.BF16, others[turn % len(others)], others[(turn // 16 + 5) % len(others)]))
        found[text] = [replace(case, element=kind) for kind in (kinds if free else (case.element,))]
    return found


def _call(name: str, *arguments: Any, **keywords: Any) -> FunctionCase:
    return FunctionCase(name, arguments, tuple(keywords.items()), K.F32)


_X, _ROWS, _LONG, _GRID = _t(7, 33, 5), _t(5, 67), _t(9000), _t(4000, domain="grid")
_INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint", "median_unbiased", "hazen")
_PADS = ("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "mean", "median", "minimum")
_SUMS = ("sum", "mean", "max", "min", "prod")
#: Targets of three sequences, how many frames they have, and labels.
_CTC = (
    Tensor((3, 5), element=K.S64, listed=(1, 2, 2, 3, 4, 4, 1, 1, 0, 0, 3, 0, 0, 0, 0)),
    Tensor((3,), element=K.S64, listed=(12, 9, 3)), Tensor((3,), element=K.S64, listed=(5, 3, 1)),
)  # fmt: skip

_KEY = Tensor((2,), element=K.U32, listed=(0, 7))
#: Samplers with what filters, and other filters.
_SAMPLING = (
    ("sample_top_k", 50, {"temperature": 0.5, "p": 0.75}), ("sample_top_p", 0.5, {"k": 200, "min_p": 0.001, "joint": True}),
    ("sample_typical", 0.5, {}), ("sample_top_nsigma", 1.5, {}), ("sample_min_p", 0.25, {}),
)  # fmt: skip
_OF_ROWS = ("dropout", "dropout1d", "alpha_dropout", "feature_alpha_dropout")
#: Distributions, with numbers that are not the default ones.
_DRAWS: dict[str, dict[str, float]] = {
    "rand": {"low": -1.0, "high": 3.0}, "randn": {}, "normal": {"mean": 2.0, "std": 3.0}, "log_normal": {"std": 0.5},
    "exponential": {"rate": 2.0}, "cauchy": {"loc": 1.0, "scale": 2.0}, "gumbel_sample": {"loc": 1.0},
    "laplace_sample": {"loc": 1.0}, "logistic_sample": {"scale": 2.0}, "maxwell_sample": {"scale": 2.0},
    "pareto_sample": {"alpha": 3.0}, "rayleigh_sample": {"scale": 2.0}, "weibull_sample": {"concentration": 1.5},
    "wald_sample": {"scale": 2.0}, "triangular_sample": {"mode": 0.5}, "truncated_normal": {"a": 0.5, "b": 9.0},
    "bernoulli": {"p": 0.3},
}  # fmt: skip

#: Distributions drawn by rejection, with shapes, rates and numbers on either side of what their methods change at.
_SHAPES = Tensor((7,), element=K.F32, listed=(0.02, 0.7, 1.0, 2.5, 9.0, 300.0, 4e6))
_REJECTED: dict[str, tuple[Any, ...]] = {
    "gamma_sample": (_SHAPES,), "chisquare_sample": (_SHAPES,), "student_t_sample": (_SHAPES,), "beta_sample": (_SHAPES, 0.8),
    "f_sample": (_SHAPES, 5.0), "generalized_normal_sample": (_SHAPES,), "poisson": (_SHAPES,),
    "binomial": (
        Tensor((7,), element=K.F32, listed=(5, 30, 40, 100, 1000, 30000, 4e6)),
        Tensor((7,), element=K.F32, listed=(0.5, 0.02, 0.97, 0.5, 0.3, 0.0001, 0.8)),
    ),
    "dirichlet_sample": (_SHAPES,),
}  # fmt: skip


def _codes(*shape: int) -> Tensor:
    return Tensor(shape, "index:256", K.U8)


#: GGML's types with the bytes of a block, and those that are written.
_GGML = {
    "Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "Q8_0": 34, "Q8_1": 36, "Q2_K": 84, "Q3_K": 110, "Q4_K": 144, "Q5_K": 176,
    "Q6_K": 210, "Q8_K": 292, "IQ4_NL": 18, "IQ4_XS": 136, "TQ1_0": 54, "TQ2_0": 66, "MXFP4": 17,
}  # fmt: skip
_GGML_WRITTEN = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "TQ1_0", "TQ2_0", "MXFP4")

#: Packed codes of weights.
_CODES, _BYTES = _t(70, 150, element=K.U8), _t(70, 300, element=K.S8)
_STEPS = Tensor((9,), element=K.S64, listed=(11, 4, 0, 7, 11, 1, 10, 3, 8))


def _weights(gates: int, inputs: int, units: int, cells: int = 1) -> list[Tensor]:
    """Those of recurrent layers with biases."""
    rows = gates * units
    return [t for _ in range(cells) for t in (_t(rows, inputs), _t(rows, units), _t(rows), _t(rows))]


def _bytes(*shape: int, element: K = K.S8) -> Tensor:
    return _t(*shape, domain="index:256", element=element)


def _scale(*shape: int) -> Tensor:
    return _t(*shape, domain="positive", element=K.F32)


def _exponents(rows: int, blocks: int) -> Tensor:
    return Tensor((rows, blocks), element=K.U8, listed=tuple(122 + i * 5 % 11 for i in range(rows * blocks)))


_SHRUNK = ([2, 0, -1, 1], [0, 20, 33, 34, 39])
_E4M3, _E5M2 = ({"element": kind} for kind in (K.F8E4M3, K.F8E5M2))
#: Products of scaled, packed and structured factors.
_SCALED_PRODUCTS = (
    _call("w8a8_gemm", _bytes(40, 300), _bytes(70, 300), _scale(40), _scale(70), None, _t(40, domain="shift", element=K.S32)),
    _call("w8a8_gemm", _bytes(3, 300, element=K.U8), _bytes(70, 300), _scale(3), _scale(), _t(70, element=K.F16), dtype="f16"),
    _call(
        "qlinear_matmul", _bytes(2, 40, 300, element=K.U8), _scale(), _bytes(element=K.U8), _bytes(300, 70), _scale(70),
        _bytes(70), Tensor((), element=K.F32, listed=(9e4,)), _bytes(),
    ),
    _call("fp8_gemm_rowwise", _t(40, 300, **_E4M3), _t(140, 300, **_E5M2), _scale(40), _scale(140), _t(140, element=K.BF16)),
    _call("fp8_gemm_rowwise", _t(40, 300, **_E4M3), _t(140, 300, **_E4M3), _scale(40, 3), _scale(2, 3), dtype="f32"),
    _call("scaled_grouped_mm", _t(40, 300, **_E4M3), _t(3, 300, 70, **_E4M3), _scale(40), _scale(3, 70), [10, 10, 33]),
    _call("scaled_grouped_mm", _bytes(70, 40), _bytes(40, 33), _scale(3, 70), _scale(3, 33), [10, 10, 33], dtype="f32"),
    _call("scaled_grouped_mm_backward", _t(40, 70), _bytes(40, 99), _bytes(3, 99, 70), _scale(40), _scale(3, 70), [10, 10, 33]),
    _call("mxfp8_gemm", _t(5, 100, **_E4M3), _t(6, 100, **_E5M2), _exponents(5, 4), _exponents(6, 4), dtype="f32"),
    _call("mxfp4_gemm", *(_bytes(n, 50, element=K.U8) for n in (5, 6)), _exponents(5, 4), _exponents(6, 4), dtype="f32"),
    _call(
        "nvfp4_gemm", _bytes(40, 150, element=K.U8), _bytes(70, 150, element=K.U8), _t(40, 19, **_E4M3), _t(70, 19, **_E4M3),
        _scale(), _scale(1),
    ),
    _call("semi_structured_24_gemm", _t(40, 136), _t(70, 68), _bytes(70, 17, element=K.U8), _t(70)),
    _call("semi_structured_24_gemm_backward", _t(40, 70), _t(40, 136), _t(70, 68), _bytes(70, 17, element=K.U8), _t(70)),
    _call("lora_sgmv", _t(40, 70), _t(40, 136), _t(3, 136, 16), _t(3, 16, 70), *_SHRUNK, scale=0.7),
    _call("lora_sgmv_backward", _t(40, 70), _t(40, 70), _t(40, 136), _t(3, 136, 16), _t(3, 16, 70), *_SHRUNK, scale=0.7),
    *(
        _call("batched_small_gemm", _t(50, m, k), _t(50, k, n), _t(50, m, n), alpha=2.0, beta=0.5)
        for m, n, k in ((4, 4, 4), (16, 16, 16), (32, 32, 32), (7, 30, 13))
    ),
    _call("batched_small_gemm_backward", _t(50, 7, 30), _t(50, 7, 13), _t(50, 13, 30)),
)  # fmt: skip
#: Calls with more rows, longer ones, and with options that no sample has.
LARGER: tuple[FunctionCase, ...] = (
    # transforms: every radix, a large prime, two passes, several axes; spectra and filters
    *(_call("fft", _t(3, n)) for n in (16, 120, 143, 315, 97, 1000, 8192, 10007, 1 << 16)), _call("ifft", _t(40, 49), axis=0),
    *(_call(name, _t(5, n)) for name in ("rfft", "ihfft") for n in (96, 315, 97, 16384)), _call("rfftn", _t(6, 35, 22)),
    *(_call(name, _t(5, 49), n=n, norm="ortho") for name in ("irfft", "hfft") for n in (96, 97)), _call("irfftn", _t(6, 35, 12)),
    *(_call("dct", _t(3, 50), t, norm="ortho") for t in (1, 2, 3, 4)), _call("fft_conv", _t(2, 3, 500), _t(3, 500), _t(3)),
    _call("stft", _t(2, 1000), 64, 16, window=_t(64)), _call("convolve", _t(500), _t(300)),
    _call("correlate", _t(30, 40), _t(5, 4)),
    _call("resample", _t(2, 500), 44100, 16000), _call("lfilter", _t(7, 300), _t(7, 4), _t(3)),
    _call("log_mel_spectrogram", _t(2, 2000)), _call("kaiser_window", 100), _call("mel_filterbank", 65, 20, 8000.0),
    # order: several blocks of a row, many rows, equal elements
    *(_call("sort", x, **w) for x in (_LONG, _X) for w in ({"descending": True, "return_indices": True}, {"axis": 0})),
    *(_call("argsort", x, descending=d) for x in (_LONG, _GRID) for d in (False, True)),
    *(_call("topk", x, k, largest=largest) for x, k in ((_LONG, 100), (_ROWS, 7)) for largest in (True, False)),
    _call("approx_topk", _ROWS, 7), _call("kthvalue", _LONG, 4000), _call("kthvalue", _X, 9, 1, keepdims=True),
    _call("partition", _ROWS, (3, 40)), _call("argpartition", _ROWS, 20), _call("lexsort", [_GRID, _GRID]), _call("msort", _ROWS),
    _call("searchsorted", _t(300, domain="sorted"), _LONG), _call("searchsorted", _t(5, 30, domain="sorted"), _ROWS, "right"),
    _call("bucketize", _X, _t(11, domain="sorted"), right=True),
    *(_call("mode", x) for x in (_GRID, _t(40, 30, domain="grid"))),
    # recurrent networks and chains of tags
    _call("lstm", _t(11, 9, 20), None, _weights(4, 20, 67, 2), bidirectional=True, lengths=_STEPS),
    _call("lstm_backward", _t(11, 9, 67), _t(11, 9, 20), None, _weights(4, 20, 67), direction="reverse", lengths=_STEPS),
    _call("gru", _t(9, 11, 20), None, _weights(3, 20, 67), batch_first=True, linear_before_reset=False, clip=0.5),
    _call("gru_backward", _t(11, 9, 67), _t(11, 9, 20), _t(1, 9, 67), _weights(3, 20, 67), lengths=_STEPS),
    _call("rnn", _t(11, 9, 20), _t(1, 9, 67), _weights(1, 20, 67), nonlinearity="relu"),
    _call("lstm", _t(2, 64, 8), None, _weights(4, 8, 530)),  # tiles of 64 rows on a GPU
    _call("lstm_backward", _t(2, 33, 530), _t(2, 33, 8), None, _weights(4, 8, 530)),
    _call("slstm", _t(11, 9, 20), None, _weights(4, 20, 67), lengths=_STEPS),
    _call("slstm_backward", _t(11, 9, 67), _t(11, 9, 20), None, _weights(4, 20, 67)),
    _call("crf_forward", _t(11, 9, 37), _t(37, 37), _t(37), _t(37), lengths=_STEPS),
    _call("crf_forward_backward", _t(9), _t(11, 9, 37), _t(37, 37), _t(37), _t(37), lengths=_STEPS),
    _call("viterbi_decode", _t(11, 9, 37), _t(37, 37), _t(37), _t(37), lengths=_STEPS),
    # sets
    _call("unique", _GRID, return_index=True, return_inverse=True, return_counts=True), _call("unique", _LONG),
    _call("unique", _t(300, 3, domain="grid"), axis=0, return_inverse=True), _call("unique", _GRID, size=9, fill_value=7.0),
    _call("unique_consecutive", _GRID, return_inverse=True, return_counts=True),
    _call("isin", _LONG, _GRID), _call("isin", _GRID, _t(3, domain="grid"), invert=True),
    _call("intersect1d", _t(50, domain="grid"), _GRID, return_indices=True), _call("setxor1d", _t(3, domain="grid"), _GRID),
    _call("setdiff1d", _GRID, _t(2, domain="grid")), _call("union1d", _t(50), _t(70)),
    # statistics
    *(_call("quantile", _X, Tensor((3,), element=None, listed=(0.0, 0.375, 1.0)), 1, interpolation=i) for i in _INTERPOLATIONS),
    _call("nanquantile", _LONG, 0.3), _call("percentile", _ROWS, 37.5, -1, keepdims=True), _call("nanpercentile", _ROWS, 90.0),
    *(_call("median", x, a, interpolation=i) for x, a in ((_X, 1), (_LONG, None)) for i in ("midpoint", "lower")),
    _call("nanmedian", _X, (0, 2)), _call("histc", _LONG, 13), _call("histogram", _LONG, 17, (-2.0, 2.0)),
    _call("histogram", _t(900), 7, density=True), _call("histogram", _t(900), _t(8, domain="sorted"), None, _t(900)),
    _call("histogram2d", _t(900), _t(900), 5), _call("cov", _t(6, 500)), _call("corrcoef", _t(6, 500)),
    *(_call("cdist", _t(2, 17, 9), _t(2, 11, 9), p) for p in (0.0, 1.0, 2.0, 3.0, float("inf"))), _call("pdist", _t(20, 9), 1.5),
    _call("gradient", _X, 0.5, axis=1, edge_order=2), _call("diff", _X, 2, 1), _call("cumulative_trapezoid", _ROWS, dx=0.5),
    # movement
    *(_call("pad", _t(4, 6, 5), ((2, 1), (0, 3), (1, 1)), m) for m in _PADS),
    _call("pad", _ROWS, ((0, 0), (-2, 5)), "constant", 3),
    _call("roll", _X, (3, -2), (1, 2)), _call("rot90", _X, 3, (0, 2)), _call("repeat_interleave", _ROWS, 3, 1),
    _call("repeat_interleave", _ROWS, _t(5, domain="shift", element=K.S64), 0), _call("tile", _X, (2, 1, 3)),
    _call("concat", [_X, _t(2, 33, 5), _X]), _call("concat", [_t(n, 3) for n in range(1, 60)]), _call("stack", [_ROWS, _ROWS], 1),
    _call("unfold_dim", _X, 1, 8, 3), _call("unfold_dim_backward", _t(7, 9, 5, 8), _X, 1, 8, 3), _call("delete", _ROWS, 5, 1),
    _call("insert", _ROWS, 9, 2.0, 1), _call("block_diag", _ROWS, _t(3, 4), _t(1, 70)), _call("diag_embed", _ROWS, 2),
    _call("tril", _t(3, 60, 70), -3), _call("triu", _t(60, 70), 5), _call("resize", _ROWS, (20, 33)), _call("flip", _X, (0, 1)),
    _call("rearrange", _t(8, 6, 5), "(a b) c d -> b (c a) d", a=2), _call("sum_to_size", _X, (33, 1)),
    _call("nested_to_padded", _t(40, 3), Tensor((5,), element=K.S64, listed=(0, 7, 7, 30, 40))),
    # indexed writes and reads, selections
    _call("put_flat", _X, _index(1155, 600), _t(600)), _call("put_flat", _X, _index(1155, 600), _t(600), accumulate=True),
    *(_call("scatter", _ROWS, _index(67, 5, 300), _t(5, 300), reduce=r) for r in (None, "sum", "prod", "amax", "amin")),
    _call("scatter_backward", _ROWS, _ROWS, _index(67, 5, 300), _t(5, 300)),
    _call("index_copy", _X, _index(33, 50), _t(7, 50, 5), axis=1),
    _call("index_copy_backward", _X, _X, _index(33, 50), _t(7, 50, 5), axis=1),
    *(_call("scatter_nd_reduce", _ROWS, _index(5, 90, 2), _t(90), reduce=r) for r in ("sum", "amax")),
    _call("scatter_nd", _ROWS, _index(5, 90, 2), _t(90)), _call("scatter_add", _ROWS, _index(67, 5, 300), _t(5, 300)),
    _call("index_add", _X, _index(33, 90), _t(7, 90, 5), axis=1), _call("masked_scatter", _LONG, _t(9000, domain="mask"), _LONG),
    _call("masked_select", _LONG, _t(9000, domain="mask")), _call("masked_select", _X, _t(7, 33, 5, domain="mask"), size=99),
    _call("nonzero", _GRID), _call("nonzero", _t(40, 30, domain="grid"), as_tuple=False),
    _call("argwhere", _t(9, 9, domain="grid")),
    _call("compress", _t(33, domain="mask"), _X, 1), _call("index_get", _X, _index(7, 40), _index(33, 40)),
    _call("index_put", _X, (_index(7, 90), _index(33, 90)), _t(90, 5)),
    _call("index_put", _X, (_index(7, 90), _index(33, 90)), _t(90, 5), accumulate=True),
    _call("index_put", _ROWS, _t(5, 67, domain="mask"), 3.0),
    *(_call(f"segment_{r}", _t(500, 3), _index(9, 500), 9) for r in _SUMS),
    _call("segment_softmax", _t(500, 3), _index(9, 500), 9),
    *(_call("segment_reduce", _t(40, 3), r, None, Tensor((5,), element=K.S64, listed=(0, 7, 7, 30, 40))) for r in _SUMS),
    *(_call("embedding_bag", _index(33, 12, 9), _t(33, 20), mode=m) for m in ("sum", "mean", "max")),
    # layers and losses
    _call("group_norm", _t(3, 12, 40), _t(12), _t(12), num_groups=4), _call("local_response_norm", _t(2, 30, 9), 5),
    _call("group_norm_backward", _t(3, 12, 40), _t(3, 12, 40), _t(12), _t(12), num_groups=4),
    _call("linear_cross_entropy", _t(40, 30), _t(70, 30), _index(70, 40)),
    _call("chunked_logprobs", _t(40, 30), _t(70, 30), _index(70, 40)),
    _call("linear_cross_entropy_backward", _t(), _t(40, 30), _t(70, 30), _index(70, 40)),
    _call("rope", _t(2, 3, 40, 16), _t(40, 8), _t(40, 8)),
    _call("rope", _t(2, 3, 40, 16), _t(40, 8), _t(40, 8), interleaved=True),
    *(
        _call(name, _KEY, shape=1001, dtype=kind, bits=bits, **numbers)
        for name, numbers in _DRAWS.items() for kind in ("f16", "bf16", "f32", "f64") for bits in ("philox", "threefry")
    ),
    *(
        _call(name, _KEY, *given, shape=(143,) if name == "dirichlet_sample" else (143, 7), dtype=kind, bits=bits)
        for name, given in _REJECTED.items()
        for kind, bits in (("f16", "philox"), ("bf16", "threefry"), ("f32", "philox"), ("f32", "threefry"), ("f64", "philox"))
    ),
    *(_call(name, _KEY, *_REJECTED[name], shape=(143, 7), dtype=k) for name in ("poisson", "binomial") for k in ("s64", "u8")),
    _call("gamma_sample", _KEY, _SHAPES, shape=(143, 7), log=True), _call("gamma_sample_backward", _t(143, 7), _KEY, _SHAPES),
    _call("beta_sample_backward", _t(143, 7), _KEY, _SHAPES, _SHAPES), _call("ball_sample", _KEY, 5, 1.5, (77,)),
    _call("dirichlet_sample_backward", _t(143, 7), _KEY, _SHAPES), _call("orthogonal_sample", _KEY, 9, (3,), m=6),
    _call("orthogonal_sample", _KEY, 70, dtype="f64"),
    _call("multivariate_normal_sample", _KEY, _t(3), scale_tril=_t(3, 3), shape=(77,)),
    *(_call("rng_bits", _KEY, 1001, kind, bits=b) for kind in ("u8", "u16", "u32", "u64") for b in ("philox", "threefry")),
    *(_call(name, _X, _KEY, 0.3) for name in _OF_ROWS), *(_call(f"{name}_backward", _X, _KEY, 0.3) for name in _OF_ROWS),
    *(_call(f"dropout{n}d{b}", _t(2, 3, *(4,) * n), _KEY, 0.3) for n in (2, 3) for b in ("", "_backward")),
    *(_call("randint", _KEY, -5, 1000, 1001, bits=b) for b in ("philox", "threefry")), _call("geometric", _KEY, 0.3, shape=1001),
    _call("randperm", _KEY, 3000), *(_call("multinomial", _KEY, _t(9, 70, domain="positive"), 20, r) for r in (False, True)),
    *(_call(name, _KEY, _t(5, 3001), value, **options) for name, value, options in _SAMPLING),
    *(_call(name, _KEY, _t(5, 3001), value, **{**options, "return_logprobs": True, "return_mask": True, "bits": "threefry"})
      for name, value, options in _SAMPLING[:2]),
    *(_call("sample_gumbel_max", _KEY, _t(5, 3001), temperature=0.7, bits=b) for b in ("philox", "threefry")),
    _call("logits_temperature", _t(5, 301), _t(5, domain="positive")),
    _call("logits_penalties", _t(5, 301), tokens=_index(301, 5, 90), repetition=1.25, presence=0.5, frequency=0.125),
    _call("logits_bitmask", _t(5, 301), Tensor((5, 10), f"index:{1 << 30}", K.S32)),
    _call("ctc_loss", _t(12, 3, 6), *_CTC), _call("ctc_loss_backward", _t(3), _t(12, 3, 6), *_CTC, reduction="none"),
    _call("rnnt_loss", _t(3, 12, 6, 6), *_CTC), _call("rnnt_loss_backward", _t(3), _t(3, 12, 6, 6), *_CTC, reduction="none"),
    *(_call("quantize_fp8", _t(150, 300), scaling=how) for how in ("tensor", "row", "column", "1x128", "128x128")),
    _call("quantize_fp8", _t(150, 300), _t(150, 3), dtype="f8e5m2"), _call("quantize_fp8", _t(150, 300), 0.3, amax=True),
    _call("dequantize_fp8", _t(9, 300, element=K.F8E4M3), _t(9, 3)),
    *(_call("quantize_mxfp8", _t(9, 300), dtype=k, rounding=r) for k, r in (("f8e4m3", "floor"), ("f8e5m2", "rceil"))),
    *(_call("quantize_mxfp4", _t(9, 300), rounding=r) for r in ("ceil", "even")), _call("quantize_nvfp4", _t(9, 300)),
    _call("dequantize_mxfp8", _t(9, 300, element=K.F8E5M2), _codes(9, 10), dtype="bf16"), _call("quantize_nf4", _t(9, 300)),
    *(_call("dequantize_mxfp4", _codes(9, 150), _codes(9, 10), dtype=kind) for kind in ("f32", "f16", "bf16")),
    _call("dequantize_nvfp4", _codes(9, 150), _t(9, 19, element=K.F8E4M3), 0.37, dtype="f16"),
    _call("quantize_nf4", _t(9, 640), block_size=128, double=True),
    _call("dequantize_nf4", _codes(9, 160), _codes(9, 5), _t(1, element=K.F32), _t(element=K.F32), dtype="f16"),
    _call("dequantize_nf4", _codes(9, 150), _t(9, 5, element=K.F32), dtype="bf16"),
    *(_call("gguf_dequantize", _codes(9, 3 * size), name) for name, size in _GGML.items()),
    *(_call("gguf_quantize", _t(9, 768), name) for name in _GGML_WRITTEN),
    *_SCALED_PRODUCTS,
    # packed weights: several steps of a strip, more rows than are multiplied side by side, groups shorter and longer than blocks
    *(_call("int4_weight_gemm", _t(m, 300), _CODES, _t(70, 300 // g + (300 % g > 0)), group_size=g, signed=g < 100, dtype="f32")
      for m in (1, 37) for g in (32, 64, 128, 256)),
    *(_call("int8_weight_gemm", _t(m, 300), _BYTES, _t(70), _t(70, element=K.S32), _t(70), activation="silu") for m in (1, 19)),
    *(_call("ternary_gemm", _t(m, 600), _CODES, _t(70, 5), group_size=128) for m in (3, 150)),
    *(
        _call("gguf_gemm", _t(m, 512), _codes(33, 512 // length * _GGML[t]), t, dtype=None if m == 1 else "f32")
        for m in (1, 20) for t, length in (("Q4_0", 32), ("Q8_0", 32), ("Q6_K", 256))
    ),
    *(_call("nf4_gemm", _t(m, 300), _CODES, _t(70, 5)) for m in (2, 40)),
    # steps of optimizers, norms of lists
    *(_call("adafactor_step", _t(40, 33), _t(40, 33), 0.1, 3, _t(40, 1, domain="positive"), _t(1, 33, domain="positive"), **w)
      for w in ({}, {"weight_decay": 0.1, "relative": False})),
    _call("adafactor_step", _t(500), _t(500), 0.1, 3, variance=_t(500, domain="positive")),
    *(_call("muon_newton_schulz", _t(*s), dtype=d) for s in ((40, 24), (2, 24, 40)) for d in ("bf16", "f32")),
    _call("adam8bit_step", _t(600), _t(600), _codes(600), _codes(600), _scale(3), _scale(3), 0.1, 2.0, weight_decay=0.01),
    _call("muon_step", _t(40, 24), _t(40, 24), _t(40, 24), 0.1, adjust_lr="match_rms_adamw"),
    _call("sparse_adam_step", _t(30, 9), _index(30, 70), _t(70, 9), _t(30, 9), _t(30, 9, domain="positive"), 0.1, 3),
    _call("rowwise_adagrad_step", _t(30, 9), _t(70, 9), _t(30, domain="positive"), 0.1, _index(30, 70), weight_decay=0.1),
    *(_call("grad_norm", [_t(3, 700), _t(70000), _t(), _t(0, 3), _t(9)], p=p) for p in (1.0, 2.0, 3.0, float("inf"))),
    _call("clip_grad_norm", [_t(3, 700), _t(70000), _t()], 1.0),
    _call("interp", _LONG, _t(40, domain="sorted"), _t(40)), _call("polymul", _t(30), _t(40)), _call("unwrap", _ROWS),
    # quantization by integers
    *(_call("quantize_dynamic", _X, axis=a, symmetric=s) for a in (None, -1, (0, 2)) for s in (True, False)),
    *(_call("quantize_per_group", _ROWS, group_size=16, dtype=d, symmetric=d[0] == "s") for d in ("s8", "u8", "s4", "u4")),
    _call("quantize_per_group", _t(5, 256), group_size=64, dtype="s4"),
    _call("quantize_blockwise", _t(150, 200), block=(128, 64)),
    _call("fake_quantize_per_group", _X, group_size=(2, 8), axis=(0, 1), quant_min=-8, quant_max=7),
    _call("dequantize_per_group", _t(5, 32, domain="shift", element=K.U8), _t(5, 2), group_size=32, codes="s4"),
    *(_call("quantize_int8_blockwise", _LONG, block_size=b, signed=s) for b, s in ((256, True), (4096, False))),
    _call("gptq_update", _t(9, 24), Tensor((24, 24), "positive", K.F32), group_size=10, quant_min=-8, quant_max=7),
)  # fmt: skip
