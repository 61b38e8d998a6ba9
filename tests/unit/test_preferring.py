"""The preference of calls that are given none: where it holds, where it does not, and that the cache of calls knows it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import baracuda as bc
from baracuda.backends.blas import BlasCall
from baracuda.core.preferred import preferred
from baracuda.frontends import call_cache
from baracuda.frontends.call_replay import PythonFunction

FAST, EXACT = bc.PlanPreference(fastest=True), bc.PlanPreference(require=["bit_stable_across_hardware"])
NOWHERE = bc.PlanPreference(backend=bc.BackendKind.CUFFT)
A = np.linspace(-1, 1, 48, dtype=np.float32).reshape(6, 8)
B = np.linspace(-2, 1, 40, dtype=np.float32).reshape(8, 5)

pytestmark = pytest.mark.cpu_only


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by an element with each product of BLAS."""
    seen: list[int] = []
    launch = BlasCall.launch

    def counted(self: BlasCall, *arguments: Any) -> None:
        seen.append(1)
        launch(self, *arguments)

    monkeypatch.setattr(BlasCall, "launch", counted)
    return seen


@pytest.fixture(params=["C", "Python"])
def matmul(request: pytest.FixtureRequest) -> Any:
    public = bc.matmul
    if request.param == "C":
        if isinstance(public, PythonFunction):
            pytest.skip("the C module was not compiled")
        public.forget()
        return public
    return call_cache.python_function(public.__wrapped__.cacheable)


def by_blas(products: list[int], function: Callable[..., Any], *arguments: Any, **keywords: Any) -> bool:
    """Whether a call takes BLAS."""
    before = len(products)
    y = function(*arguments, **keywords)
    assert np.allclose(y, A @ B, rtol=1e-5, atol=1e-5)
    return len(products) > before


def test_calls_are_told_apart(matmul: Any, products: list[int]) -> None:
    """Whichever was made first, and however often."""
    for _ in range(4):
        assert not by_blas(products, matmul, A, B)
        with bc.preferring(FAST):
            assert by_blas(products, matmul, A, B)
            with bc.preferring(EXACT):
                assert not by_blas(products, matmul, A, B)
                with bc.preferring(None):
                    assert not by_blas(products, matmul, A, B)
                    assert by_blas(products, matmul, A, B, preference=FAST)
            assert by_blas(products, matmul, A, B)
            assert not by_blas(products, matmul, A, B, preference=EXACT)
    known = matmul.cached_calls
    assert known == 5
    for _ in range(3):
        with bc.preferring(bc.PlanPreference(fastest=True)):  # equal to one that is known
            assert by_blas(products, matmul, A, B)
    assert matmul.cached_calls == known


def test_a_key_holds_its_preference(matmul: Any, products: list[int]) -> None:
    """No other preference comes to lie where one was whose calls are known."""
    from baracuda.core import preferred as module

    with bc.preferring(FAST):
        for _ in range(3):
            assert by_blas(products, matmul, A, B)
    for most in range(300):
        module._objects.clear()
        with bc.preferring(bc.PlanPreference(max_workspace=(1 << 20) + most)):
            assert not by_blas(products, matmul, A, B)


def test_an_error_takes_it_back() -> None:
    with pytest.raises(KeyError), bc.preferring(FAST):
        raise KeyError
    assert preferred() is None
    with bc.preferring(NOWHERE), pytest.raises(bc.UnsupportedError, match="the preference asks for cufft"):
        bc.matmul(A, B)
    assert np.allclose(bc.matmul(A, B), A @ B, rtol=1e-5, atol=1e-5)


def test_bad() -> None:
    with pytest.raises(bc.InvalidProblemError, match="preferring: 'fastest'; expected a PlanPreference or None"):
        bc.preferring("fastest")  # type: ignore[arg-type]

    def turns() -> Iterator[int]:
        yield 1

    with pytest.raises(bc.InvalidProblemError, match="is a generator"):
        bc.preferring(FAST)(turns)


def test_threads(matmul: Any, products: list[int]) -> None:
    """A thread begins without one, and what it sets is its own."""
    found: dict[str, Any] = {}
    inside, done = threading.Event(), threading.Event()

    def other() -> None:
        found["begins"] = preferred()
        with bc.preferring(EXACT):
            inside.set()
            done.wait(10)
            found["within"] = preferred()

    with bc.preferring(FAST):
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(10)
        assert by_blas(products, matmul, A, B)
        done.set()
        thread.join()
        assert preferred() == FAST
    assert found == {"begins": None, "within": EXACT}


def test_one_object_in_many_threads() -> None:
    """An object is entered by several at once, and by one again and again."""
    shared, wrong = bc.preferring(FAST), []

    @shared
    def within(depth: int) -> None:
        if preferred() != FAST:
            wrong.append(depth)
        if depth:
            with bc.preferring(EXACT):
                within(depth - 1)
                if preferred() != EXACT:
                    wrong.append(depth)

    def work() -> None:
        for _ in range(200):
            within(4)
        if preferred() is not None:
            wrong.append(-1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_tasks(matmul: Any, products: list[int]) -> None:
    """Tasks that take turns have each their own; one started within has it after the `with` is left."""

    async def turns(preference: bc.PlanPreference | None, found: list[bool]) -> None:
        with bc.preferring(preference):
            for _ in range(5):
                found.append(by_blas(products, matmul, A, B))
                await asyncio.sleep(0)

    @bc.preferring(FAST)
    async def decorated(found: list[bool]) -> str:
        for _ in range(3):
            await asyncio.sleep(0)
            found.append(by_blas(products, matmul, A, B))
        return "done"

    async def main() -> None:
        fast: list[bool] = []
        exact: list[bool] = []
        none: list[bool] = []
        *_, word = await asyncio.gather(turns(FAST, fast), turns(EXACT, exact), turns(None, none), decorated(fast))
        assert word == "done"
        assert fast == [True] * 8
        assert exact == none == [False] * 5
        late: list[bool] = []

        async def later() -> None:
            await asyncio.sleep(0)
            late.append(by_blas(products, matmul, A, B))

        with bc.preferring(FAST):
            task = asyncio.create_task(later())
        assert not by_blas(products, matmul, A, B)
        await task
        assert late == [True]

    asyncio.run(main())


def test_a_copied_context(matmul: Any, products: list[int]) -> None:
    """A context has the preference that it was copied with, when none is set any more."""
    for _ in range(3):
        assert not by_blas(products, matmul, A, B)
    with bc.preferring(FAST):
        context = contextvars.copy_context()
    for _ in range(3):
        assert context.run(by_blas, products, matmul, A, B)
        assert not by_blas(products, matmul, A, B)


def calls() -> dict[str, Callable[[], Any]]:
    """Calls that take products or attention on their way."""
    q = np.linspace(-1, 1, 2 * 4 * 8, dtype=np.float32).reshape(1, 2, 4, 8)
    y, lse = bc.scaled_dot_product_attention(q, q, q, saved=True)
    weight, target = np.ascontiguousarray(B.T), np.array([0, 1, 2, 3, 4, 0])
    return {
        "matmul": lambda: bc.matmul(A, B),
        "matmul_backward": lambda: bc.matmul_backward(A @ B, A, B),
        "linear": lambda: bc.linear(A, weight),
        "linear_backward": lambda: bc.linear_backward(A @ B, A, weight),
        "einsum": lambda: bc.einsum("ik,kj->ij", A, B),
        "einsum_backward": lambda: bc.einsum_backward(A @ B, "ik,kj->ij", A, B),
        "multi_dot": lambda: bc.multi_dot([A, B, weight]),
        "kron": lambda: bc.kron(A, B),
        "bilinear": lambda: bc.bilinear(A, A, np.ones((3, 8, 8), np.float32)),
        "grouped_mm": lambda: bc.grouped_mm([A, A], [B, B]),
        "linear_cross_entropy": lambda: bc.linear_cross_entropy(A, weight, target),
        "linear_cross_entropy_backward": lambda: bc.linear_cross_entropy_backward(np.ones((), np.float32), A, weight, target),
        "scaled_dot_product_attention": lambda: bc.scaled_dot_product_attention(q, q, q),
        "scaled_dot_product_attention_backward": lambda: bc.scaled_dot_product_attention_backward(q, q, q, q, y, lse),
        "sliding_window_attention": lambda: bc.sliding_window_attention(q, q, q, 2),
        "cov": lambda: bc.cov(A),
    }


@pytest.mark.parametrize("name", calls())
def test_whatever_takes_products_or_attention(name: str) -> None:
    """Forward, backward and in compositions; a wish that cannot be met shows that it arrived."""
    call = calls()[name]
    for _ in range(2):
        call()
        with bc.preferring(NOWHERE), pytest.raises(bc.UnsupportedError, match="the preference asks for cufft"):
            call()
    call()


def test_functions_of_one_arithmetic_take_no_notice() -> None:
    with bc.preferring(NOWHERE):
        assert np.array_equal(bc.softmax(A), bc.softmax.__wrapped__(A))
        assert np.array_equal(bc.add(A, A), A + A)


def test_recorded_calls_keep_theirs(products: list[int]) -> None:
    with bc.preferring(FAST):
        fast = bc.record(lambda a: bc.matmul(a, B), A)
    plain = bc.record(lambda a: bc.matmul(a, B), A)
    for _ in range(3):
        assert by_blas(products, fast, A)
        with bc.preferring(FAST):
            assert not by_blas(products, plain, A)
        with bc.preferring(EXACT):
            assert by_blas(products, fast, A)
