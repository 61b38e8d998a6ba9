"""A call made again has the bits of the function itself, whatever its tensors hold: every public function, several samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.frontends import call_cache
from baracuda.frontends.call_replay import PythonFunction
from baracuda.frontends.creating import CreatingFunction
from tests.robustness.samples import IN_PLACE, Call, Sample, samples

#: Functions whose calls cannot be kept, with the reason.
NEVER = {
    "array_equal": "its result is a number of Python's",
    "ctc_loss": "it reads lengths on the host",
    "ctc_loss_backward": "it reads lengths on the host",
    "flex_attention": "a formula among its arguments",
    "flex_attention_backward": "a formula among its arguments",
    "intersect1d": "it reads a size on the host",
    "setdiff1d": "it reads a size on the host",
    "setxor1d": "it reads a size on the host",
    "union1d": "it reads a size on the host",
    "unique": "it reads a size on the host",
    "unique_consecutive": "it reads a size on the host",
    "grouped_mm": "it reads offsets on the host",
    "grouped_mm_backward": "it reads offsets on the host",
    "scaled_grouped_mm": "it reads offsets on the host",
    "scaled_grouped_mm_backward": "it reads offsets on the host",
    "kv_cache_append": "it writes an argument",
    "rnnt_loss": "it reads lengths on the host",
    "rnnt_loss_backward": "it reads lengths on the host",
    "rope_scaling_tables": "no tensor among its arguments",
    "varlen_attention": "it reads offsets on the host",
    "varlen_attention_backward": "it reads offsets on the host",
    "view_as_complex": "its result is a view of an argument",
    "view_as_real": "its result is a view of an argument",
    "einsum": "its result may be a view of an argument",
    "view_as_complex_backward": "its result is a view of an argument",
    "view_as_real_backward": "its result is a view of an argument",
    "bitcast": "its result is a view of an argument",
    "nested_to_padded": "it reads lengths on the host",
    "padded_to_nested": "it reads lengths on the host",
    "pack_padded_sequence": "it reads lengths on the host",
    "pack_padded_sequence_backward": "it reads lengths on the host",
    "nms": "it reads a size on the host",
    "batched_nms": "it reads a size on the host",
    "roi_pool": "it reads on the host how large regions are",
    "roi_pool_backward": "it reads on the host how large regions are",
    "ps_roi_pool": "it reads on the host how large regions are",
    "ps_roi_pool_backward": "it reads on the host how large regions are",
    "reduce_window": "a formula may be among its arguments",
    "pad_packed_sequence": "it reads a size on the host",
    "repeat_interleave": "it reads counts on the host",
    "trim_zeros": "it reads a size on the host",
    "trim_zeros_backward": "it reads a size on the host",
    "shape": "its results are numbers of Python's",
}


def _rolled(value: Any, by: int) -> Any:
    """The same tensor with its elements in other places."""
    if isinstance(value, np.ndarray) and value.size and value.dtype != object:
        moved = value.copy(order="K")
        moved[...] = np.roll(value, by)
        return moved
    if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
        return getattr(value, "_make", type(value))(_rolled(v, by) for v in value)
    return value


def _bits(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _bits(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_bits(v) for v in value]
    return (value.dtype, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _results(function: Callable[..., Any], call: Call, by: int) -> Any:
    arguments = [_rolled(a, by) for a in call.arguments]
    keywords = {k: _rolled(v, by) for k, v in call.keywords.items()}
    try:
        return _bits(function(*arguments, **keywords)), [_bits(keywords.get(k)) for k in sorted(call.written)]
    except baracuda.Error as error:  # an order that means something, of offsets for instance
        return type(error), str(error)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every sample, of the C module's calls and of its counterpart's in Python; without --full the first of each op, forward and
    every third backward, and half as many: those are of elements whose kernels other tests compile. All examples."""
    every = [s for s in samples() if not s.name.startswith(("plan of ", "descriptor of "))]
    full = metafunc.config.getoption("--full")
    first = [s for s in every if s.name.endswith("#0")]
    chosen = {s.name for s in first if "_backward#" not in s.name}
    chosen |= {s.name for s in [s for s in first if "_backward#" in s.name][::3]}
    native = [s for s in every if full or s.name in chosen or s.name.endswith("#hand0") or "#example" in s.name]
    python = {s.name for s in native[:: 1 if full else 2]}
    both = [(s, p) for s in native for p in (False, True) if not p or s.name in python]
    metafunc.parametrize(("sample", "python"), both, ids=[f"{s.name}-{'python' if p else 'native'}" for s, p in both])


def test_bits_of_a_repeated_call(sample: Sample, python: bool) -> None:
    call = sample.make()
    public = call.function
    if not hasattr(public, "cached_calls"):
        pytest.skip("no function whose calls are kept")
    plain = public.__wrapped__
    creates = isinstance(public, CreatingFunction)  # whose calls have a tensor before their arguments
    if python:
        known = getattr(plain, "cacheable", None)
        assert known is not None
        public = call_cache.python_function(known)
        assert isinstance(public, PythonFunction)
        public = CreatingFunction(public) if creates else public
    elif call_cache.native is None:
        pytest.skip("the C module was not compiled")
    plain = CreatingFunction(plain) if creates else plain
    public.forget()
    for by in (0, 1, 3, 0):
        assert _results(public, call, by) == _results(plain, call, by), (sample.name, by)
    name = sample.name.partition("#")[0]
    returned = _results(plain, call, 0)[0]
    if name not in NEVER and name not in IN_PLACE and isinstance(returned, (list, tuple)):
        assert public.cached_calls or _has_nothing(returned) or _launches_nothing(plain, call), (
            f"{sample.name}: its calls are not kept"
        )


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [a for v in value for a in _arrays(v)]
    return [value] if isinstance(value, np.ndarray) else []


def _launches_nothing(function: Callable[..., Any], call: Call) -> bool:
    """Whether results are views of an argument, or there is no tensor that a call could be known by."""
    given = _arrays([*call.arguments, *call.keywords.values()])
    made = _arrays(function(*call.arguments, **call.keywords))
    return not given or any(np.may_share_memory(x, y) for x in made for y in given)


def _has_nothing(returned: Any) -> bool:
    """Whether results have no elements, so that nothing is launched for them."""
    return not returned[2] if isinstance(returned, tuple) else all(map(_has_nothing, returned))
