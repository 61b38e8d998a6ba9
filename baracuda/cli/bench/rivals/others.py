"""CuPy and JAX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from baracuda.cli.bench.benchmark import Invocation
from baracuda.cli.bench.place import Place, Tensor
from baracuda.cli.bench.rivals.library import Function, Library, NoRivalError, Results, arguments, as_tuple, named
from baracuda.core.op_table import table
from baracuda.frontends.array import to_host


class CuPy(Library):
    """CuPy, on the default stream; it has no gradients. Names are those of NumPy and SciPy."""

    label = "cupy"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.cupy = import_module("cupy")

    def tensor(self, ours: Tensor) -> Any:
        return self.cupy.asarray(ours)

    def host(self, result: Any, span: tuple[slice, ...]) -> np.ndarray[Any, Any]:
        values: np.ndarray[Any, Any] = result[span].get()
        return values

    def functions(self, op: str) -> Iterator[Function]:
        if op in table():
            yield from named(self.cupy, table()[op].jnp)
            yield from named(import_module("cupyx.scipy.special"), table()[op].scipy_special)

    def call(self, function: Function, invocation: Invocation, tensors: Mapping[str, Any]) -> Results:
        if invocation.wrt:
            raise NoRivalError("CuPy has no gradients")
        operands, words = arguments(invocation, tensors), dict(invocation.keywords)
        return lambda: as_tuple(function(*operands, **words))


class Jax(Library):
    """JAX, compiled. It has streams of its own, so that every call waits for its result, on a GPU too: a call of less than some
    tens of microseconds looks longer there than it is. Tensors are copies."""

    label = "jax"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.jax = import_module("jax")
        self.jax.config.update("jax_enable_x64", True)
        kind = "cpu" if place.on_cpu else "gpu"
        try:
            self.on = self.jax.devices(kind)[place.device.index]
        except (RuntimeError, IndexError) as error:
            raise NoRivalError(f"the installed JAX has no {kind}: {error}") from error

    def tensor(self, ours: Tensor) -> Any:
        return self.jax.device_put(to_host(ours), self.on)

    def host(self, result: Any, span: tuple[slice, ...]) -> np.ndarray[Any, Any]:
        return np.asarray(result[span])

    def functions(self, op: str) -> Iterator[Function]:
        if op in table():
            row = table()[op]
            special = import_module("jax.scipy.special")
            places = ((self.jax.nn, row.jax_nn), (self.jax.numpy, row.jnp), (self.jax.lax, row.lax), (special, row.scipy_special))
            for module, names in places:
                yield from named(module, names)

    def call(self, function: Function, invocation: Invocation, tensors: Mapping[str, Any]) -> Results:
        operands, words = arguments(invocation, tensors), dict(invocation.keywords)

        def forward(*arrays: Any) -> Any:
            return as_tuple(function(*arrays, **words))

        wait = self.jax.block_until_ready
        if not invocation.wrt:
            compiled = self.jax.jit(forward)
            return lambda: wait(compiled(*operands))
        at = [i for i, n in enumerate(invocation.tensors) if n in invocation.wrt]
        if [invocation.tensors[i] for i in at] != list(invocation.wrt):
            raise NoRivalError("the gradients are in another order than the tensors")

        def backward(arrays: tuple[Any, ...], cotangents: tuple[Any, ...]) -> Any:
            def of(*chosen: Any) -> Any:
                every = list(arrays)
                for i, x in zip(at, chosen, strict=True):
                    every[i] = x
                return forward(*every)[: len(cotangents)]

            results, pull = self.jax.vjp(of, *(arrays[i] for i in at))
            return pull(tuple(d.reshape(r.shape) for d, r in zip(cotangents, results, strict=True)))

        compiled = self.jax.jit(backward)
        dys = tuple(tensors[f"d{n}"] for n in invocation.results)
        return lambda: wait(compiled(tuple(operands), dys))
