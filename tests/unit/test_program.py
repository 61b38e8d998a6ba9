"""Programs: kept calls of whole functions have the functions' bits, views and refusals."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.frontends import program as module
from baracuda.frontends.program import Program

LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda a: a,
    "torch": torch.from_numpy,
    "own": lambda a: baracuda.to_device(a, baracuda.Device.cpu()),
}
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)


@pytest.fixture(params=[True, False], ids=["c", "python"])
def in_c(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of either kind."""
    if not request.param:
        monkeypatch.setattr(module, "native", None)


def of(library: str, array: np.ndarray[Any, Any] = X) -> Any:
    return LIBRARIES[library](array.copy())


def values(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x)


def assert_same(got: Any, expected: Any) -> None:
    assert type(got) is type(expected)
    if isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        for g, e in zip(got, expected, strict=True):
            assert_same(g, e)
    elif isinstance(expected, dict):
        assert list(got) == list(expected)
        assert_same(list(got.values()), list(expected.values()))
    elif hasattr(expected, "shape"):
        assert tuple(got.shape) == tuple(expected.shape)
        assert got.dtype == expected.dtype
        assert strides(got) == strides(expected)
        assert values(got).tobytes() == values(expected).tobytes()
    else:
        assert got == expected


def strides(x: Any) -> tuple[int, ...]:
    s = x.stride() if isinstance(x, torch.Tensor) else x.strides
    return tuple(s if n > 1 else 0 for n, s in zip(x.shape, s, strict=True))


def checked(function: Callable[..., Any], *calls: tuple[Any, ...], **options: Any) -> Program:
    """The program of a function, all of whose calls gave what the function gives, from the second one on without it."""
    ran: list[int] = []

    def counted(*arguments: Any) -> Any:
        ran.append(1)
        return function(*arguments)

    program = Program(counted, **options)
    for i, arguments in enumerate(calls):
        assert_same(program(*arguments), function(*arguments))
        assert program.why is None
        assert len(ran) == 1 or i == 0
    return program


RESULTS: dict[str, Callable[[Any], Any]] = {
    "one": lambda x: baracuda.exp(x),
    "two": lambda x: (baracuda.exp(x), baracuda.neg(x)),
    "tuple of one": lambda x: (baracuda.exp(x),),
    "transposed": lambda x: baracuda.exp(x).T,
    "row": lambda x: baracuda.exp(x)[1],
    "every other": lambda x: baracuda.exp(x)[1::2, ::3],
    "two views of one": lambda x: (lambda y: (y[:2], y[2:], y.T))(baracuda.exp(x)),
    "same twice": lambda x: (lambda y: (y, y))(baracuda.exp(x)),
    "view of a view's memory": lambda x: (lambda y: (y, y[0]))(baracuda.exp(x)),
    "argument": lambda x: x,
    "view of an argument": lambda x: (x.T, x[1:, 2]),
    "argument among others": lambda x: (baracuda.exp(x), x, None),
    "nested": lambda x: (baracuda.exp(x), (None, [baracuda.neg(x), 3, "a"]), {"b": x[0], "c": (1.5, True)}),
    "constants": lambda x: (x.shape[0], None, (2, 3)),
    "empty": lambda x: (baracuda.exp(x[:0]), baracuda.exp(x)),
    "scalar": lambda x: baracuda.sum(x),
    "as bits": lambda x: baracuda.bitcast(baracuda.exp(x), "s32"),
    "as bits and not": lambda x: (lambda y: (y, baracuda.bitcast(y, "u8")))(baracuda.exp(x)),
    "argument as smaller elements": lambda x: (baracuda.bitcast(x, "u8")[1:, 4:8], baracuda.view_as_complex(x[:, 2:4])),
    "argument as bits": lambda x: baracuda.bitcast(x, "u32"),
    "expanded": lambda x: baracuda.broadcast_to(baracuda.exp(x[0]), (3, 6)),
    "of nothing": lambda x: baracuda.add(baracuda.full((6,), 2.0, like=x), x),
    "bool": lambda x: (baracuda.gt(x, 0.0), baracuda.gt(x, 0.0)[0]),
    "half": lambda x: baracuda.cast(x, dtype="f16")[1:],
}


@pytest.mark.usefixtures("in_c")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", RESULTS)
def test_results(name: str, library: str) -> None:
    x, y = of(library), of(library, X * 2)
    checked(RESULTS[name], (x,), (x,), (y,))


@pytest.mark.parametrize("library", LIBRARIES)
def test_results_share_what_the_functions_do(library: str) -> None:
    program = Program(lambda x: (lambda y: (y, y[0], x, x[0]))(baracuda.exp(x)))
    x = of(library)
    for _ in range(3):
        y, row, same, view = program(x)
        assert same is x
        y[0, 1], x[0, 2] = 7, 9
        assert float(row[1]) == 7
        assert float(view[2]) == 9
    first, second = Program(lambda x: (lambda y: (y, y))(baracuda.exp(x)))(x)
    assert first is second


def test_results_of_kept_calls_are_new() -> None:
    program, x = Program(lambda x: baracuda.exp(x)[1:]), of("numpy")
    a, b = program(x), program(x)
    kept = b.copy()
    program(x)
    b[:] = 5
    assert (program(x) == kept).all()
    assert not np.shares_memory(a, b)


def test_pytorch_tensors_are_ordinary() -> None:
    x = torch.from_numpy(X).clone().requires_grad_()
    program = Program(lambda x: (baracuda.exp(x), x.T, baracuda.exp(x).expand(2, 4, 6), baracuda.exp(x)[1:, 1:]))
    for _ in range(3):
        exp, transposed, expanded, part = program(x)
        assert not any(t.requires_grad for t in (exp, expanded, part))
        assert expanded.stride() == (0, 6, 1)
        assert part.stride() == (6, 1)
        assert part.untyped_storage().nbytes() >= 4 * 24
        assert transposed.data_ptr() == x.data_ptr()
        assert transposed.grad_fn is None
        exp.add_(1)
        exp.resize_(3)
        torch.save(part, "/dev/null")


@pytest.mark.usefixtures("in_c")
@pytest.mark.parametrize("library", LIBRARIES)
def test_held_tensors_are_read_where_they_are(library: str) -> None:
    x, weight, bias = of(library), of(library, X.T), of(library, X[:, 0])

    def function(x: Any) -> Any:
        return baracuda.add(baracuda.matmul(x, weight), bias), weight, bias[1:]

    program = checked(function, (x,), (x,), held=[weight, bias])
    weight[1], bias[0] = 3, 5
    assert_same(program(x), function(x))
    assert program(x)[1] is weight


def test_what_is_held_lives_as_long_as_the_program() -> None:
    weight = torch.ones(24).reshape(4, 6)
    known = weakref.ref(weight)
    program = Program((lambda w: lambda x: baracuda.add(x, w))(weight), held=[weight])
    del weight
    for _ in range(3):
        assert (program(torch.zeros(4, 6)) == 1).all()
    del program
    gc.collect()
    assert known() is None


@pytest.mark.usefixtures("in_c")
@pytest.mark.parametrize("library", LIBRARIES)
def test_arguments_are_written(library: str) -> None:
    def function(x: Any, total: Any) -> Any:
        baracuda.add(total, x, out=total)
        y = baracuda.mul(total, x)
        baracuda.mul(total, 2.0, out=total)
        return y, total

    ours, theirs, x = of(library), of(library), of(library, X + 1)
    program = Program(function, writes=True)
    for _ in range(4):
        assert_same(program(x, ours), function(x, theirs))
        assert values(ours).tobytes() == values(theirs).tobytes()
    assert program.why is None
    refused = Program(function)
    for _ in range(3):
        refused(x, of(library))
        assert refused.why == "it writes to argument 1; expected writes=True"


def test_held_tensors_are_written() -> None:
    total = np.zeros(6, np.float32)
    program = Program(lambda x: baracuda.add(total, x, out=total), held=[total], writes=True)
    for _ in range(4):
        assert program(X[1]) is total
    assert program.why is None
    assert (total == X[1] * 4).all()
    refused = Program(program.function, held=[total])
    refused(X[1])
    assert refused.why == "it writes to a tensor that is held; expected writes=True"


@pytest.mark.usefixtures("in_c")
def test_checks_of_values() -> None:
    table = np.arange(12, dtype=np.float32).reshape(4, 3)

    def function(index: Any, total: Any) -> Any:
        baracuda.add(total, 1.0, out=total)
        return baracuda.embedding(index, table)

    plain = Program(lambda index: baracuda.embedding(index, table), held=[table])
    writing, total = Program(function, held=[table], writes=True), np.zeros(2, np.float32)
    good, bad = np.array([0, 3]), np.array([0, 4])
    for _ in range(3):
        assert_same(plain(good), table[good])
        assert_same(writing(good, total), table[good])
    assert plain.why is writing.why is None
    for _ in range(2):
        with pytest.raises(baracuda.InvalidProblemError, match="index 4 at"):
            plain(bad)
        with pytest.raises(baracuda.InvalidProblemError, match="index 4 at"):
            writing(bad, total)
    assert (total == 5).all()


@pytest.mark.usefixtures("in_c")
def test_layouts_are_told_apart() -> None:
    program = Program(lambda x, y: baracuda.add(baracuda.mul(x, y), y))
    for n in (1, 2, 5, 2, 1, 5):
        x, y = np.ones((n, 3), np.float32), np.arange(3 * n, dtype=np.float32).reshape(n, 3)
        assert_same(program(x, y), x * y + y)
    assert program.kept == 3
    x = np.ones((3, 5), np.float32).T
    assert_same(program(x, y), program.function(x, y))
    assert_same(program(x, y.astype(np.float64)), program.function(x, y.astype(np.float64)))
    assert_same(program(y, y), program.function(y, y))
    assert program.kept == 6
    program.forget()
    assert program.kept == 0


@pytest.mark.usefixtures("in_c")
def test_layouts_are_bounded() -> None:
    program = Program(lambda x: baracuda.neg(x))
    for n in range(1, 150):
        x = np.ones(n, np.float32)
        assert_same(program(x), -x)
        assert program.kept <= module.MOST_LAYOUTS


def test_numbers_and_lists() -> None:
    program = Program(lambda xs, factor: [baracuda.mul(x, factor) for x in xs])
    for factor in (2.0, 3.0, 2.0):
        for xs in ([X, X[0]], (X,)):
            assert_same(program(xs, factor), [x * np.float32(factor) for x in xs])
    assert program.kept == 4


@pytest.mark.usefixtures("in_c")
def test_two_calls_make_the_same_launches() -> None:
    program = Program(chain(3), twice=True)
    for k in range(4):
        assert_same(program(X + k), chain(3)(X + k))
        assert program.why == (None if k else "it is kept from the second call on")
    assert program.kept == 1
    reading = Program(lambda x: baracuda.mul(x, float(x[0, 0])), twice=True)
    for k in range(5):
        assert_same(reading(X + k), (X + k) * (X + k)[0, 0])
        assert reading.kept == 0
    assert reading.why == "what it launches changes from call to call"


def test_no_arguments() -> None:
    table = np.arange(6, dtype=np.float32)
    checked(lambda: (baracuda.exp(table), baracuda.full((2,), 1.0)), (), (), held=[table])


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "values of a tensor": (lambda x: baracuda.mul(x, x[0].tolist()[0]), "it reads values on the host"),
    "values in NumPy": (lambda x: baracuda.mul(x, float(x.numpy()[0, 0])), "it reads values on the host"),
    "a value of another tensor": (lambda x: baracuda.mul(x, float(ELSEWHERE[0])), "it reads values on the host"),
    "PyTorch's sum": (lambda x: baracuda.add(x, x.sum()), "PyTorch computes aten.sum.default"),
    "PyTorch in place": (lambda x: baracuda.exp(x).add_(1), "PyTorch computes aten.add_.Tensor"),
    "a copy of PyTorch's": (lambda x: baracuda.exp(x.T.contiguous()), "PyTorch computes aten.clone.default"),
    "PyTorch's random numbers": (lambda x: baracuda.add(x, torch.rand(6)), "PyTorch computes aten.rand.default"),
    "other memory": (lambda x: baracuda.add(x, ELSEWHERE), "it uses memory of neither its tensors nor its results"),
    "other memory returned": (lambda x: ELSEWHERE, "it returns a tensor that no function of this library made"),
    "size by values": (lambda x: baracuda.nonzero(x), "it reads on the host how large its result is"),
    "strange result": (lambda x: {1, 2}, "it returns a builtins.set"),
    "another library's": (
        lambda x: np.from_dlpack(x),
        "it returns argument 0 in another library, or as elements of another size",
    ),
}
ELSEWHERE = torch.ones(6)


@pytest.mark.usefixtures("in_c")
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    function, why = REFUSED[name]
    program = Program(function)
    torch.manual_seed(0)
    for _ in range(5):
        x = of("torch")
        result = program(x)
        assert program.why == why
        if name != "PyTorch's random numbers":
            assert_same(result, function(of("torch")))
    assert program.kept == 0


@pytest.mark.usefixtures("in_c")
@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("library", ["torch", "own"])
def test_a_value_that_is_read_is_the_same_in_kept_calls(library: str, fuse: bool) -> None:
    ran: list[int] = []

    def function(x: Any, flag: Any) -> Any:
        ran.append(1)
        y = baracuda.mul(x, 2.0)
        if bool(baracuda.any(baracuda.gt(flag, 0.0))):
            return baracuda.neg(y)
        return y, int(baracuda.sum(flag))

    program, x = Program(function, fuse=fuse), of(library)
    flags = [of(library, np.full(3, v, np.float32)) for v in (1, -1, 2)]
    for flag in (0, 0, 2, 0, 1, 1, 1, 2, 2, 2):
        assert_same(program(x, flags[flag]), function(x, flags[flag]))
        assert program.why is None
    assert len(ran) == 10 + 1 + 2 * 2  # besides: the first, and one missed and one recorded for each change
    for i in range(40):
        assert_same(program(x, flags[i % 2]), function(x, flags[i % 2]))
    assert program.why == "values that it reads on the host change from call to call"


def test_a_value_that_is_read_after_a_write() -> None:
    def function(x: Any, total: Any) -> Any:
        baracuda.add(total, x, out=total)
        return baracuda.mul(x, float(total[0]))

    program, ours, theirs = Program(function, writes=True), torch.zeros(6), torch.zeros(6)
    for _ in range(4):
        assert_same(program(of("torch")[0], ours), function(of("torch")[0], theirs))
        assert torch.equal(ours, theirs)
    assert program.why == "it reads values on the host"


def test_tensors_of_numbers_are_the_functions_own() -> None:
    def function(x: Any) -> Any:
        return baracuda.add(x, torch.tensor([1.0, 2, 3, 4, 5, 6])), torch.tensor(3)

    checked(function, (of("torch"),), (of("torch"),))


def test_an_argument_that_is_held() -> None:
    weight = np.ones(6, np.float32)
    program = Program(lambda x: baracuda.add(x, weight), held=[weight])
    assert_same(program(weight[:]), weight * 2)
    assert program.why == "an argument lies in the memory of a tensor that is held"


def test_unknown_layouts() -> None:
    program = Program(lambda x: baracuda.exp(x))
    z = torch.view_as_complex(torch.randn(5, 2))
    for _ in range(3):
        assert torch.equal(program(z.conj()), baracuda.exp(z.conj()))
    assert program.why is not None
    assert "whose layout is not known at once" in program.why


def test_memory_of_pytorch_is_scratch() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        kept = torch.empty(8, 6)
        baracuda.exp(x, out=kept[:4])
        baracuda.neg(x, out=kept[4:])
        return baracuda.sum(kept, axis=0)

    x = of("torch")
    checked(function, (x,), (x,), (of("torch", X + 1),))


def test_under_the_mode_of_pytorch_programs() -> None:
    import baracuda.torch

    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.GELU(), torch.nn.Linear(5, 3)).requires_grad_(False)
    x = of("torch")
    with baracuda.torch.reproducible():
        expected = model(x)
        program = Program(model, held=list(model.parameters()))
        for _ in range(3):
            assert torch.equal(program(x), expected)
    assert program.why is None
    assert torch.equal(program(x), expected)


def chain(count: int) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        first = x
        for i in range(count):
            x = baracuda.sub(baracuda.mul(x, 1.0 + i / 64), first)
        return x

    return function


@pytest.mark.usefixtures("in_c")
def test_a_thousand_launches() -> None:
    x = np.linspace(0, 1, 20000, dtype=np.float32)
    checked(chain(500), (x,), (x,), (x / 2,))


def test_memory_that_dies_is_used_again() -> None:
    """While it is recorded, a program holds no more than the function does."""
    owners: list[weakref.ref[Any]] = []

    def function(x: Any) -> Any:
        for _ in range(10):
            x = baracuda.add(x, 1.0)
            owners.append(weakref.ref(x.base))
            assert sum(o() is not None for o in owners) <= 2
        return x

    x = np.zeros(1 << 16, np.float32)
    program = Program(function)
    for _ in range(3):
        assert (program(x) == 10).all()
    assert program.why is None


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_nothing_of_the_first_call_is_kept(library: str) -> None:
    program = Program(lambda x: (lambda y: (y, y[1:], y[:0], x[1:], None))(baracuda.exp(x)))
    x = of(library, np.zeros((300, 400), np.float32))
    results = program(x)
    known = [weakref.ref(t) for t in (x, *results[:4])]
    del x, results
    gc.collect()
    assert not any(k() is not None for k in known)


def test_threads() -> None:
    program = Program(chain(20))
    inputs = [np.linspace(i, i + 1, 50000, dtype=np.float32) for i in range(4)]
    expected = [chain(20)(x) for x in inputs]
    wrong: list[int] = []

    def work(i: int) -> None:
        for _ in range(20):
            if not np.array_equal(program(inputs[i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_programs_in_programs() -> None:
    inner = Program(lambda x: (baracuda.exp(x), x))
    outer = Program(lambda x: baracuda.add(*inner(baracuda.neg(x))))
    for _ in range(3):
        assert_same(outer(X), baracuda.add(baracuda.exp(-X), -X))
    assert outer.why is None


def test_preferences_are_part_of_what_is_kept() -> None:
    program = Program(lambda a, b: baracuda.matmul(a, b))
    a = np.random.default_rng(0).standard_normal((64, 300)).astype(np.float32)
    for preference in (baracuda.PlanPreference(), baracuda.PlanPreference(fastest=True)):
        with baracuda.preferring(preference):
            for _ in range(2):
                assert_same(program(a, a.T), baracuda.matmul(a, a.T))
    assert program.kept == 2


def test_errors_are_the_functions() -> None:
    program = Program(lambda x, y: baracuda.matmul(x, y), name="two")
    for _ in range(2):
        with pytest.raises(baracuda.Error, match="do not contract"):
            program(X, X)
    assert repr(program) == "<program two>"


def scrambled(seed: int, library: str) -> tuple[Callable[..., Any], list[Any]]:
    """A function of many steps in any order: views, results that die, memory that is written again, results that are views."""
    held = of(library, np.random.default_rng(seed).standard_normal((96, 256)).astype(np.float32))

    def function(x: Any, state: Any) -> Any:
        rng = np.random.default_rng(seed)
        known = [x, held, baracuda.exp(x)]
        fresh: list[Any] = [known[-1]]
        for _ in range(40):
            a, b = (known[i] for i in rng.integers(len(known), size=2))
            match int(rng.integers(8)):
                case 0:
                    made = baracuda.add(a, b)
                case 1:
                    made = baracuda.mul(a[::-1] if library == "numpy" else a, 0.5)
                case 2:
                    made = baracuda.softmax(baracuda.sub(a, b), axis=int(rng.integers(2)))
                case 3:
                    made = baracuda.matmul(baracuda.tanh(a).T[:96], b[:96])
                case 4:
                    made = baracuda.add(a, baracuda.sum(b, axis=0))
                case 5:
                    made = fresh[int(rng.integers(len(fresh)))]
                    baracuda.add(made, a, out=made) if made is not a else None
                case 6:
                    made = baracuda.concat([a[48:], b[:48]], axis=0)
                case _:
                    baracuda.add(state, a[0], out=state)
                    made = baracuda.add(a, state)
            known.append(made)
            fresh.append(made)
            if len(known) > 6:
                gone = known.pop(int(rng.integers(2, len(known))))
                fresh = [f for f in fresh if f is not gone]
            if not fresh:
                fresh = [baracuda.neg(x)]
        return known[-1], [known[-2][3:9], known[-1].T, known[0][0]], known[int(rng.integers(len(known)))], state

    return function, [held]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_programs_of_many_steps(seed: int, fuse: bool, library: str) -> None:
    function, held = scrambled(seed, library)
    program = Program(function, held=held, writes=True, fuse=fuse)
    for k in range(3):
        x, states = of(library, np.full((96, 256), k, np.float32)), [of(library, np.ones(256, np.float32)) for _ in range(2)]
        assert_same(program(x, states[0]), function(x, states[1]))
        assert program.why is None
