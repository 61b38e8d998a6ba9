"""Programs on a GPU: PyTorch's tensors and arrays of our own, streams, and PyTorch's own graphs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.frontends.program import Program

GPU = baracuda.Device.cuda(0)
LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "torch": lambda a: torch.from_numpy(a).cuda(),
    "own": lambda a: baracuda.to_device(a, GPU),
}


def values(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def on_host(x: Any) -> np.ndarray[Any, Any]:
    return x.cpu().numpy() if isinstance(x, torch.Tensor) else baracuda.to_host(x)


def model(weight: Any, bias: Any) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        hidden = baracuda.linear(x, weight, bias, activation="gelu")
        for _ in range(6):
            hidden = baracuda.softmax(baracuda.add(baracuda.mul(hidden, 1.5), bias))
        attended = baracuda.scaled_dot_product_attention(hidden, hidden, hidden)
        return attended, (attended[0], baracuda.sum(hidden, axis=-1), x, None)

    return run


def same(got: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for g, e in zip(got, expected, strict=True):
            same(g, e)
    elif expected is None:
        assert got is None
    else:
        assert tuple(got.shape) == tuple(expected.shape)
        assert on_host(got).tobytes() == on_host(expected).tobytes()


@pytest.mark.parametrize("library", LIBRARIES)
def test_has_the_bits_of_the_function_and_of_the_cpu(library: str) -> None:
    place = LIBRARIES[library]
    weight, bias = values(48, 64), values(48, seed=1)
    held = [place(weight), place(bias)]
    program, function = Program(model(*held), held=held), model(*held)
    for seed in range(4):
        x = values(2, 3, 17, 64, seed=seed)
        same(program(place(x)), function(place(x)))
        assert program.why is None
        same(program(place(x))[0], model(weight, bias)(x)[0])
    assert program.kept == 1


@pytest.mark.parametrize("library", LIBRARIES)
def test_arguments_and_held_tensors_are_written(library: str) -> None:
    place = LIBRARIES[library]
    weight, total = place(values(8, 8)), place(values(8, seed=2))

    def step(x: Any, state: Any) -> Any:
        baracuda.add(state, x, out=state)
        return baracuda.matmul(weight, state)

    program = Program(step, held=[weight], writes=True)
    state, x = baracuda.mul(total, 1.0), place(values(8, seed=3))
    for i in range(4):
        same(program(x, state), step(x, total))
        same(state, total)
        baracuda.mul(weight, float(i), out=weight)
    assert program.why is None


def test_a_thousand_launches() -> None:
    def run(x: Any) -> Any:
        first = x
        for i in range(500):
            x = baracuda.sub(baracuda.mul(x, 1.0 + i / 64), first)
        return x

    x = torch.linspace(0, 1, 20000, device="cuda")
    program = Program(run)
    for k in (1, 2, 3):
        same(program(x * k), run(x * k))
    assert program.why is None


def test_streams_of_pytorch() -> None:
    program = Program(lambda x: baracuda.exp(baracuda.mul(x, 0.5)))
    x = torch.ones(1 << 22, device="cuda")
    program(x)
    stream = torch.cuda.Stream()
    for _ in range(3):
        with torch.cuda.stream(stream):
            y = torch.full((1 << 22,), 2.0, device="cuda")
            got = program(y)
        stream.synchronize()
        same(got, baracuda.exp(torch.ones_like(y)))
    assert program.why is None


def test_inside_a_graph_of_pytorch() -> None:
    weight, bias = LIBRARIES["torch"](values(48, 64)), LIBRARIES["torch"](values(48, seed=1))
    run = model(weight, bias)
    program = Program(run, held=[weight, bias])
    x = LIBRARIES["torch"](values(2, 3, 17, 64))
    program(x)
    program(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = program(x)
    for seed in range(3):
        x.copy_(torch.from_numpy(values(2, 3, 17, 64, seed=seed)))
        graph.replay()
        same(y, run(x))


@pytest.mark.parametrize("library", LIBRARIES)
def test_addresses_that_come_again(library: str) -> None:
    """Then programs are launched as graphs: on other values, with results that are kept and that are not, on other streams."""
    weight, bias = LIBRARIES[library](values(48, 64)), LIBRARIES[library](values(48, seed=1))
    run = model(weight, bias)
    program = Program(run, held=[weight, bias])
    x = LIBRARIES[library](values(2, 3, 17, 64))
    kept = []
    for seed in range(30):
        baracuda.mul(x, 1.0 + seed / 8, out=x)
        if seed % 3 == 0:
            kept.append(program(x))
            same(kept[-1], run(x))
        else:
            same(program(x), run(x))
        if seed == 20:
            baracuda.mul(weight, 0.5, out=weight)
    assert program.why is None
    if library == "torch":
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(8):
                same(program(x), run(x))


def test_threads() -> None:
    weight, bias = LIBRARIES["torch"](values(48, 64)), LIBRARIES["torch"](values(48, seed=1))
    run = model(weight, bias)
    program = Program(run, held=[weight, bias])
    inputs = [LIBRARIES["torch"](values(2, 3, 17, 64, seed=i)) for i in range(4)]
    expected = [on_host(run(x)[0]) for x in inputs]
    wrong: list[int] = []

    def work(i: int) -> None:
        for _ in range(10):
            if on_host(program(inputs[i])[0]).tobytes() != expected[i].tobytes():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: baracuda.mul(x, x.tolist()[0]), "it reads values on the host"),
        (lambda x: (baracuda.exp(x), baracuda.full((2,), 1.0)), "it computes on cpu, cuda:0"),
        (lambda x: baracuda.exp(x.cpu()), "PyTorch computes aten._to_copy.default"),
        (lambda x: baracuda.add(x, torch.ones(5, device="cuda")), "PyTorch computes aten.ones.default"),
    ],
)
def test_refusals(function: Callable[[Any], Any], why: str) -> None:
    program, x = Program(function), torch.linspace(0, 1, 5, device="cuda")
    for _ in range(4):
        same(program(x), function(x))
        assert program.why == why


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_value_that_is_read(library: str) -> None:
    def function(x: Any) -> Any:
        y = baracuda.mul(x, 2.0)
        return baracuda.neg(y) if bool(baracuda.any(baracuda.gt(x, 2.0))) else y

    program = Program(function)
    for k in (1, 1, 4, 4, 4, 1, 1):
        x = LIBRARIES[library](np.linspace(0, k, 7, dtype=np.float32))
        same(program(x), function(x))
        assert program.why is None


def test_what_is_held_may_be_anywhere_where_it_is_not_read() -> None:
    weight = torch.ones(5, device="cuda")
    program = Program(lambda x: baracuda.mul(x, weight), held=[weight, torch.ones(5), np.ones(3)])
    for k in range(3):
        same(program(torch.full((5,), float(k), device="cuda")), torch.full((5,), float(k)))
    assert program.why is None


def test_recordings_of_pytorch() -> None:
    x = torch.linspace(0, 1, 5, device="cuda")
    recorded = baracuda.record(lambda x: baracuda.softmax(baracuda.mul(x, 2.0)), x)
    for k in (1, 2):
        same(recorded(x * k), baracuda.softmax(baracuda.mul(x * k, 2.0)))
