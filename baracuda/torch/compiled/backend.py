"""The backend that `torch.compile` finds by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from typing import Any

import torch
from torch._dynamo import trace_rules
from torch._dynamo.backends import registry
from torch._dynamo.backends.common import aot_autograd
from torch.utils._python_dispatch import _disable_current_modes

import baracuda
from baracuda.torch.compiled.execution import running
from baracuda.torch.compiled.lowering import lowered
from baracuda.torch.compiled.options import Options, options_of
from baracuda.torch.compiled.partition import partition
from baracuda.torch.compiled.tracing import as_in_eager, table
from baracuda.torch.mode import Arithmetic


def baracuda_backend(
    module: torch.fx.GraphModule, examples: Sequence[Any], *, options: Mapping[str, Any] | None = None, mode: Any = None
) -> Callable[..., Any]:
    """A graph of `torch.compile(model, backend="baracuda", options=...)`, forward and backward, as functions of this library.

    Its bits are those that the program has under `baracuda.torch.reproducible()`.

    Parameters
    ----------
    options
        What `Options` has: `arithmetic` and `strict`.
    mode
        Not taken: it names what PyTorch's own backend does.

    Raises
    ------
    UnsupportedError
        Nothing serves an op of the graph, and `strict` is not False. The call that had it compiled raises.
    """
    if mode not in (None, "default"):
        raise baracuda.InvalidProblemError(f"torch.compile: mode {mode!r} with the backend baracuda; expected None")
    chosen = options_of(options)
    compiler = partial(_compiled, options=chosen, preference=chosen.preference)
    compile_ = aot_autograd(
        fw_compiler=compiler,
        bw_compiler=compiler,
        inference_compiler=compiler,
        decompositions=table(),
        partition_fn=partition,
        keep_inference_input_mutations=True,
    )
    try:
        with _disable_current_modes(), as_in_eager():
            return compile_(module, examples)  # type: ignore[no-any-return]
    except baracuda.UnsupportedError as error:
        return partial(_raise, str(error))


@cache
def _of_mode(strict: bool, arithmetic: Arithmetic | None) -> Callable[..., Any]:
    return partial(baracuda_backend, options={"strict": strict, "arithmetic": arithmetic})


@contextmanager
def under_mode(strict: bool, arithmetic: Arithmetic | None) -> Iterator[None]:
    """Whatever is compiled meanwhile is compiled by this backend, with these options, and of the ops of an eager program."""
    if torch._C._dynamo.eval_frame.get_eval_frame_callback() not in (None, False):  # within what is being compiled
        yield
        return
    rewrites = {n: False for n in ("enable_dynamo_decompositions",) if hasattr(torch._dynamo.config, n)}
    stance = torch.compiler.set_stance("default", force_backend=_of_mode(strict, arithmetic))
    with stance, torch._dynamo.config.patch(rewrites) if rewrites else nullcontext():
        yield


def _compiled(module: torch.fx.GraphModule, examples: Sequence[Any], *, options: Options, preference: Any) -> Any:
    return running(lowered(module, options), preference)


def _raise(message: str, *_: Any) -> Any:
    """The compiler wraps what a backend raises; the call has the error itself."""
    raise baracuda.UnsupportedError(message)


trace_rules.add("baracuda")  # what this library does is no part of anybody's program
if "baracuda" not in registry._BACKENDS:  # where this is not the entry point being loaded
    registry.register_backend(baracuda_backend, name="baracuda")
