"""Calls that are made again: what must not be taken for the same call, and what must stay as it was."""

from __future__ import annotations

import gc
import inspect
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from baracuda.frontends import call_cache
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call_replay import PythonFunction

X = np.linspace(-1, 1, 12, dtype=np.float32)


def both(name: str) -> list[Any]:
    """A function in C, where that is there, and in Python."""
    public = getattr(baracuda, name)
    python = call_cache.python_function(public.__wrapped__.cacheable)
    return [public, python] if not isinstance(public, PythonFunction) else [python]


def warmed(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """The result of a call that was made before."""
    for _ in range(3):
        result = function(*arguments, **keywords)
    assert function.cached_calls
    return result


@pytest.mark.parametrize("function", both("add"))
def test_an_output_that_overlaps_is_refused_after_one_that_does_not(function: Any) -> None:
    memory, other = np.zeros(20, np.float32), np.zeros(12, np.float32)
    warmed(function, memory[:12], X, out=other)
    with pytest.raises(baracuda.Error) as refused:
        function.__wrapped__(memory[:12], X, out=memory[4:16])
    for _ in range(2):
        with pytest.raises(baracuda.Error) as caught:
            function(memory[:12], X, out=memory[4:16])
        assert str(caught.value) == str(refused.value)
    assert not memory.any()
    function(memory[:12], X, out=memory[:12])  # the same elements: allowed
    assert np.array_equal(memory[:12], X)


@pytest.mark.parametrize("function", both("hypot"))
def test_a_view_of_an_operand_as_the_output_is_kept(function: Any) -> None:
    memory, other, before = np.arange(13, dtype=np.float32), np.full(13, 2, np.float32), function.cached_calls
    for _ in range(3):
        want = function.__wrapped__(memory.copy(), other)
        function(memory, other, out=memory[:])
        assert np.array_equal(memory, want)
    assert function.cached_calls == before + 1


@pytest.mark.parametrize("function", both("add"))
def test_an_operand_that_is_written_by_another_name_is_kept(function: Any) -> None:
    x = torch.arange(12.0)
    for _ in range(3):
        function(x, x, out=x.detach())
    assert function.cached_calls
    assert torch.equal(x, torch.arange(12.0) * 8)


@pytest.mark.parametrize("function", both("add"))
def test_an_output_that_may_not_be_written_is_refused(function: Any) -> None:
    out = np.zeros(12, np.float32)
    warmed(function, X, X, out=out)
    out.flags.writeable = False
    with pytest.raises(baracuda.Error, match="read-only"):
        function(X, X, out=out)
    tensor = torch.zeros(12)
    warmed(function, X, X, out=tensor)
    tensor.requires_grad_()
    with pytest.raises(baracuda.Error, match="requires grad"):
        function(X, X, out=tensor)
    assert not tensor.detach().any() or torch.equal(tensor.detach(), torch.from_numpy(X + X))


@pytest.mark.parametrize("function", both("cast"))
@pytest.mark.parametrize(
    "dtype", ["f16", np.float16, np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), torch.float16], ids=repr
)
def test_elements_by_any_name_are_kept(function: Any, dtype: Any) -> None:
    x = np.linspace(-1, 1, 701 + len(repr(dtype)), dtype=np.float32)
    kept = function.cached_calls
    first, *again = (function(x, dtype=dtype) for _ in range(4))
    assert function.cached_calls > kept
    assert all(a.dtype == first.dtype and (a == first).all() for a in again)
    assert function(x, dtype=torch.float64).dtype == np.float64


@pytest.mark.parametrize("function", both("mul"))
def test_operands_may_share_memory_or_not(function: Any) -> None:
    y = X * 2
    assert np.array_equal(warmed(function, X, y), X * y)
    assert np.array_equal(function(X, X), X * X)
    assert np.array_equal(warmed(function, y, y), y * y)
    assert np.array_equal(function(X, y), X * y)
    assert np.array_equal(function(y[:6], y[3:9]), y[:6] * y[3:9])
    assert np.array_equal(function(y[3:9], y[:6]), y[:6] * y[3:9])


@pytest.mark.parametrize("function", both("concat"))
@pytest.mark.parametrize("count", [36, 41, 200, 1000])
def test_lists_of_many_tensors(function: Any, count: int) -> None:
    """Whose key outgrows the room for those of few: told apart by layouts and by what overlaps, and kept."""
    memory = np.arange(4 * count + 8, dtype=np.float32)
    parts = [memory[4 * i : 4 * i + 3] for i in range(count)]
    assert (warmed(function, parts) == np.concatenate(parts)).all()
    kept = function.cached_calls
    moved = [memory[4 * i + 4 : 4 * i + 7] for i in range(count)]
    assert (function(moved) == np.concatenate(moved)).all()
    assert function.cached_calls == kept
    for changed in ([*parts[:-1], memory[:4]], [*parts[:-1], parts[0]], parts[::-1], parts[:-1]):
        for _ in range(3):
            assert (function(changed) == np.concatenate(changed)).all()
    with pytest.raises(baracuda.Error, match="none in common"):
        function(parts, out=memory[2 : 3 * count + 2])


@pytest.mark.parametrize("function", both("add"))
def test_values_that_pytorch_changes_when_they_are_read(function: Any) -> None:
    z = torch.view_as_complex(torch.randn(5, 2, dtype=torch.float64))
    warmed(function, z, z)
    assert torch.equal(function(z.conj(), z), z.conj() + z)
    imaginary = z.conj().imag
    assert imaginary.is_neg()
    warmed(function, z.imag, z.imag)
    assert torch.equal(function(imaginary, imaginary), imaginary + imaginary)


@pytest.mark.parametrize("function", both("add"))
def test_alignment_and_strides_are_told_apart(function: Any) -> None:
    memory = np.zeros(200, np.uint8)
    start = -memory.ctypes.data % 16
    for offset in (0, 4, 8, 12):
        x = memory[start + offset : start + offset + 48].view(np.float32)
        x[...] = X
        for view in (x, x[::-1], x[::2], np.broadcast_to(x[:1], 12)):
            for _ in range(3):
                assert np.array_equal(function(view, view), view + view)


def test_types_of_numbers_are_told_apart() -> None:
    n = np.arange(4)
    for function in both("mul"):
        for _ in range(3):
            assert [function(n, v).dtype for v in (2, 2.0, True)] == [
                baracuda.mul.__wrapped__(n, v).dtype for v in (2, 2.0, True)
            ]
        with pytest.raises(baracuda.Error, match=r"1000000000000000000000"):
            function(n, 10**21)


@pytest.mark.parametrize("function", both("leaky_relu"))
def test_numbers_of_the_next_call_are_checked(function: Any) -> None:
    warmed(function, X, 0.1)
    with pytest.raises(baracuda.Error, match="negative_slope"):
        function(X, "no")
    assert np.array_equal(function(X, 0.5), np.where(X > 0, X, X * np.float32(0.5)))


@pytest.mark.parametrize("size", [12, 40_000])  # results of the larger are allocated in Python, where threads take turns
@pytest.mark.parametrize("function", both("mul"))
def test_threads_with_numbers_of_their_own(function: Any, size: int) -> None:
    wrong: list[tuple[int, float]] = []
    x = np.linspace(-1, 1, size, dtype=np.float32)
    warmed(function, x, 0.5)

    def work(number: int) -> None:
        for i in range(400):
            factor = float(number * 1000 + i)
            if not np.array_equal(function(x, factor), x * np.float32(factor)):
                wrong.append((number, factor))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("make", [lambda: X.copy(), lambda: torch.from_numpy(X.copy())], ids=["numpy", "torch"])
def test_nothing_is_held_or_let_go(make: Callable[[], Any]) -> None:
    """Objects that calls touch have the references that they had before, and memory that results gave back serves again."""
    x, words = make(), {"axis": -1}
    for _ in range(3):
        baracuda.softmax(x, **words)
    gc.collect()
    things = [x, None, -1, X.dtype, words, np.ndarray, torch.Tensor, baracuda.softmax]
    before = [sys.getrefcount(t) for t in things]
    for _ in range(2000):
        baracuda.softmax(x, **words)
    gc.collect()
    assert all(abs(sys.getrefcount(t) - b) < 100 for t, b in zip(things, before, strict=True))
    y = baracuda.softmax(x, axis=-1)
    copy = np.asarray(y).copy()
    del x
    for _ in range(200):
        baracuda.softmax(make(), axis=-1)
    assert np.array_equal(np.asarray(y), copy)


def test_a_result_outlives_the_cache() -> None:
    x = torch.from_numpy(X.copy())
    y = warmed(baracuda.exp, x)
    expected = y.clone()
    baracuda.exp.forget()
    gc.collect()
    assert baracuda.exp.cached_calls == 0
    assert torch.equal(y, expected)
    assert torch.equal(y.add_(1), expected + 1)


def test_a_public_function_is_one_to_python() -> None:
    for function in (baracuda.gelu, baracuda.matmul, baracuda.cov, baracuda.gelu_backward):
        assert callable(function)
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__name__ in repr(function)
        assert function.__doc__ == function.__wrapped__.__doc__
        assert inspect.signature(function) == inspect.signature(function.__wrapped__)
        assert function.__module__ == "baracuda"
        assert {function: 1}[function] == 1
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = baracuda.gelu.no_such_thing


def test_who_watches_sees_every_call() -> None:
    warmed(baracuda.gelu, X)
    with baracuda.profile() as seen:
        baracuda.gelu(X)
        baracuda.gelu(X)
    assert [t.runs for t in seen.times] == [2]


def test_bad_arguments_are_refused_by_the_function_itself() -> None:
    warmed(baracuda.add, X, X)
    for arguments, keywords in (((), {}), ((X,), {}), ((X, X, X), {}), ((X, X), {"dim": 0}), ((X, "x"), {}), ((X, object()), {})):
        with pytest.raises(baracuda.Error):
            baracuda.add(*arguments, **keywords)
    with pytest.raises(baracuda.Error):
        baracuda.add(X, x=X, other=[[1], [2, [3]]])
    deep: list[Any] = [X]
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises((baracuda.Error, RecursionError)):
        baracuda.add(X, deep)


@pytest.mark.parametrize("function", both("add"))
def test_an_error_names_the_parameter(function: Any) -> None:
    crooked = np.zeros(50, np.uint8)[1:49].view(np.float32)
    for _ in range(3):
        with pytest.raises(baracuda.MisalignedOperandError) as caught:
            function(X, crooked)
        assert str(caught.value).startswith(list(inspect.signature(baracuda.add).parameters)[1])


#: Numbers, those with code of their own among them, of functions that are no declared ops.
NUMBERS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 1.0, 0.5, float("inf"), 2.5, 0.0]


@pytest.mark.parametrize("python", [False, True])
def test_numbers_in_any_order_give_what_the_function_gives(python: bool) -> None:
    a, q = X.reshape(4, 3), np.linspace(-1, 1, 48, dtype=np.float32).reshape(1, 2, 4, 6)
    index = np.array([0, 2, 2])
    y, lse = baracuda.scaled_dot_product_attention(q, q, q, saved=True)
    calls: dict[str, Callable[[Any, float], Any]] = {
        "cdist": lambda f, n: f(a, a + 1, p=n),
        "cdist_backward": lambda f, n: f(a @ a.T, a, a + 1, p=n),
        "index_add": lambda f, n: f(a, index, a[:3], alpha=n),
        "scaled_dot_product_attention": lambda f, n: f(q, q, q, softcap=n, scale=n + 0.5),
        "scaled_dot_product_attention_backward": lambda f, n: f(y, q, q, q, y, lse, softcap=n),
        "addmm": lambda f, n: f(a[:, :3], a, a.T[:, :3], alpha=n, beta=n - 1),
        "addmm_backward": lambda f, n: f(a, a, a, a.T[:, :3], alpha=n, beta=n - 1),
        "lerp": lambda f, n: f(a, a + 1, n),
        "pow": lambda f, n: f(a, n),
        "vector_norm": lambda f, n: f(a, p=n, axis=1),
        "pairwise_distance": lambda f, n: f(a, a + 1, p=n),
        "rms_norm": lambda f, n: f(a, eps=n),
        "clamp": lambda f, n: f(a, -n, n),
    }
    for name, call in calls.items():
        public = getattr(baracuda, name)
        plain = public.__wrapped__
        function = call_cache.python_function(plain.cacheable) if python else public
        for number in NUMBERS:
            results: list[Any] = []
            for chosen in (function, plain):
                try:
                    result = call(chosen, number)
                    results.append([r.tobytes() for r in (result if isinstance(result, tuple) else (result,)) if r is not None])
                except baracuda.Error as error:
                    results.append(str(error))
            assert results[0] == results[1], (name, number)


def test_a_number_that_launches_know_by_another_name_is_not_kept() -> None:
    def scaled(x: Any, scale: float) -> Any:
        return baracuda.mul(x, scale)  # whose kernel is given `b`

    known = Cacheable(scaled, (None, "scale"), ("scale",), {}, lambda arguments, keywords: {"scale": arguments[1]})
    for function in (call_cache.call_cached(known), call_cache.python_function(known)):
        for scale in (2.0, 3.0, 2.0):
            np.testing.assert_array_equal(function(X, scale), X * np.float32(scale))
        assert not function.cached_calls


def test_who_watches_before_anything_is_called_sees_every_call() -> None:
    """In a process of its own: the functions are imported while somebody watches."""
    program = (
        "import numpy as np, baracuda\n"
        "with baracuda.profile() as profile:\n"
        "    for _ in range(3):\n"
        "        baracuda.softmax(np.ones((3, 4), np.float32))\n"
        "print([(t.op, t.runs) for t in profile.times])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[('softmax', 3)]"
