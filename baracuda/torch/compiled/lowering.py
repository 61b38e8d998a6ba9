"""From a graph of PyTorch's compiler to a function: each node what serves it, values freed after their last use."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

import baracuda
from baracuda.torch.compiled import reports
from baracuda.torch.compiled.keys import KEY, KEYED
from baracuda.torch.compiled.only_compiled import only_compiled
from baracuda.torch.compiled.options import Options
from baracuda.torch.resolution import served


@dataclass(frozen=True)
class Lowered:
    """A graph as a function of its inputs and of the keys that it draws from.

    Attributes
    ----------
    function
        Of the inputs, each an argument, to a tuple.
    keys
        The device of each key, in the order of the draws; they follow the inputs.
    constants
        Tensors that it reads besides its inputs.
    writes
        Whether it writes to its inputs.
    source
        The function's text.
    """

    function: Callable[..., tuple[Any, ...]]
    keys: tuple[torch.device, ...]
    constants: tuple[Any, ...]
    writes: bool
    source: str


def lowered(module: GraphModule, options: Options) -> Lowered:
    """What computes a graph.

    Raises
    ------
    UnsupportedError
        Nothing serves an op of it, and `options.strict` says that then nothing is computed.
    """
    writer = _Writer(module, options)
    for node in module.graph.nodes:
        writer.write(node)
    reports.note(options.arithmetic, writer.served)
    return writer.finish()


class _Writer:
    def __init__(self, module: GraphModule, options: Options) -> None:
        self.module, self.options = module, options
        self.names: dict[Node, str] = {}
        self.inputs: list[str] = []
        self.keys: dict[int, tuple[str, torch.device]] = {}
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {}
        self.known: dict[Any, str] = {}
        self.served: set[str] = set()
        self.constants: list[Any] = []
        self.writes = False
        self.last = _last_uses(module.graph)

    def write(self, node: Node) -> None:
        name = self.names[node] = f"v{len(self.names)}"
        if node.op == "placeholder":
            self.inputs.append(name)
        elif node.op == "get_attr":
            self.constants.append(operator.attrgetter(node.target)(self.module))
            self.lines.append(f"{name} = {self._constant(self.constants[-1])}")
        elif node.op == "output":
            self.lines.append(f"return {self._text(tuple(node.args[0]))}")
        elif node.target is KEY:
            self.keys[node.args[0]] = name, node.args[1]
        else:
            function = self._constant(self._compute(node))
            given = [self._text(a) for a in node.args] + [f"{k}={self._text(v)}" for k, v in node.kwargs.items()]
            self.lines.append(f"{name} = {function}({', '.join(given)})")
        if dead := self.last.get(node):
            self.lines.append(f"del {', '.join(self.names[n] for n in dead)}")

    def finish(self) -> Lowered:
        drawn = [self.keys[number] for number in sorted(self.keys)]
        names = [*self.inputs, *(name for name, _ in drawn)]
        source = "\n    ".join([f"def graph({', '.join(names)}):", *self.lines]) + "\n"
        exec(source, self.scope)
        return Lowered(self.scope["graph"], tuple(d for _, d in drawn), tuple(self.constants), self.writes, source)

    def _compute(self, node: Node) -> Callable[..., Any]:
        target: Any = node.target
        if not isinstance(target, torch._ops.OpOverload):
            if isinstance(target, torch._ops.HigherOrderOperator):
                return self._unserved(target)
            return target  # type: ignore[no-any-return]  # of numbers: sizes, and what follows from them
        found = only_compiled(target) or KEYED.get(target) or served(target)
        if found is None or hasattr(found, "composed"):
            return self._unserved(target)
        self.served.add(str(target))
        self.writes |= target._schema.is_mutable
        return found

    def _unserved(self, target: Any) -> Callable[..., Any]:
        if self.options.strict:
            raise baracuda.UnsupportedError(
                f"{target}: no function of baracuda computes it; expected an op that is served, or options={{'strict': False}}"
            )
        return reports.by_pytorch(target)

    def _text(self, value: Any) -> str:
        if isinstance(value, Node):
            return self.names[value]
        if isinstance(value, (tuple, list)):
            inner = ", ".join(map(self._text, value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        if isinstance(value, slice):
            return f"slice({', '.join(map(self._text, (value.start, value.stop, value.step)))})"
        return self._constant(value)

    def _constant(self, value: Any) -> str:
        """The name of a value that the function's text cannot say."""
        key = (type(value), id(value))
        if key not in self.known:
            name = self.known[key] = f"c{len(self.scope)}"
            self.scope[name] = value
        return self.known[key]


def _last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """Which values nobody needs after a node."""
    found: dict[Node, list[Node]] = {}
    needed: set[Node] = set()
    for node in reversed(graph.nodes):
        own = [] if node.users else [node]
        dead = [n for n in (*own, *node.all_input_nodes) if n not in needed]
        needed.update(dead)
        if node.op == "call_function" and node.target is not KEY:
            found[node] = dead
    return found
