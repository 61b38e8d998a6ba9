"""Valid calls of every public function, small enough to be made by the ten thousand.

Declared ops, their backward and double backward come from the cases in `tests/cases`, functions written by hand from the
examples in their docstrings and from `tests/robustness/by_hand.py`, plans from the trials of `baracuda verify`. A sample is made
without running any kernel.
"""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

import baracuda
from baracuda.cli.verify import values as data
from baracuda.cli.verify.plans import SUBJECTS, SubjectCase
from baracuda.core.descriptor import Descriptor
from baracuda.core.elements import Category, ElementKind
from baracuda.core.plan import Plan
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.ops.declaration.op import Op
from tests.cases.trial import ELEMENTS, Trial, cases, elements_of, sample, trials_of
from tests.robustness import by_hand

#: Functions that are no computation: they have tests of their own.
SERVICES = frozenset(
    ["cache_info", "catalogue", "clear_cache", "fuse", "get_num_threads", "profile", "record", "set_num_threads", "synchronize"]
)
#: Functions that move what NumPy makes an array of, and take their arguments as Python does.
MOVES = ("to_device", "to_host")
#: Functions that write an argument, by that argument's name.
IN_PLACE = {"kv_cache_append": ("cache",)}
#: Elements that samples of declared ops have, as many as there are.
_TRIED = (ElementKind.F32, ElementKind.BF16, ElementKind.S32, ElementKind.C64, ElementKind.F64)
_MOST_ELEMENTS = 3


@dataclass
class Call:
    """One call: a function with arguments.

    `written` are the keywords that it writes. Unless `function_like`, what is called takes its arguments as a dataclass does.
    """

    name: str
    function: Callable[..., Any]
    arguments: list[Any]
    keywords: dict[str, Any]
    written: frozenset[str] = frozenset()
    changes: list[str] = field(default_factory=list)
    function_like: bool = True

    def copied(self) -> Call:
        """The same call, whose arguments can be exchanged."""
        return replace(self, arguments=list(self.arguments), keywords=dict(self.keywords), changes=list(self.changes))


@dataclass(frozen=True)
class Sample:
    """How to make one valid call."""

    name: str
    make: Callable[[], Call]


# --- declared ops -----------------------------------------------------------------------------------------------------


def trials_of_op(op: Op) -> list[Trial]:
    """A few trials of an op: its first shapes and keywords in some elements, then others of its shapes and keywords. Those whose
    kernels other tests compile come first."""
    case = cases()[op.name]
    every = sorted((t for t in trials_of(op.name) if not t.special), key=lambda t: str(t) not in sample())
    known = {t.element for t in every if str(t) in sample()}
    tried = sorted([k for k in _TRIED if k in elements_of(op, case)] or elements_of(op, case), key=lambda k: k not in known)
    first = [next((t for t in every if t.element is k), None) for k in tried[:_MOST_ELEMENTS]]
    rest = [t for t in every if t.element is tried[0]][1:]
    small = [t for t in (*first, *rest) if t is not None and all(s is None or np.prod(s) <= 2200 for s in t.shapes)]
    return small[: _MOST_ELEMENTS + 3] or every[:1]


def _drawn(seed: str, shape: tuple[int, ...], kind: ElementKind) -> Any:
    values = data.normal(seed, shape)
    if kind.category is Category.COMPLEX:
        return (values + 1j * data.normal(f"{seed}/imaginary", shape)).astype(kind.numpy)
    if kind.is_float:
        return data.rounded(values, kind)
    return np.asarray(np.abs(values) * 2).astype(kind.numpy)


def _forward(trial: Trial) -> Call:
    return Call(trial.name, getattr(baracuda, trial.name), trial.tensors, dict(trial.keywords))


def _inexact(kind: ElementKind) -> bool:
    return kind.is_float or kind.category is Category.COMPLEX


def _backward(trial: Trial, order: int) -> Call:
    """The backward of a trial, of order 1 or 2, with gradients drawn for what is named like one."""
    op, tensors = trial.op, trial.tensors
    forward = describe_call(op, tensors, dict(trial.keywords))[0].forward
    function = getattr(baracuda, f"{op.name}{'_double' * (order - 1)}_backward")
    values: dict[str, Any] = dict(zip(op.signature.tensors, tensors, strict=False))
    for name, (shape, kind, _) in forward.results.items():
        if name in op.extra or name in op.saves:
            values[name] = _drawn(f"{trial}/{name}", shape, kind)
        if name not in op.extra and _inexact(kind):
            values[f"d{name}"] = _drawn(f"{trial}/d{name}", shape, kind)
    for name, (shape, kind) in forward.tensors.items():
        if _inexact(kind):
            values[f"dd{name}"] = _drawn(f"{trial}/dd{name}", shape, kind)
    names = [n for n, p in inspect.signature(function).parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    arguments = [values.get(n) for n in names]
    while arguments and arguments[-1] is None:
        arguments.pop()
    return Call(function.__name__, function, arguments, dict(trial.keywords))


def _declared() -> Iterator[Sample]:
    for name, op in ops().items():
        if name not in cases():
            continue
        trials = cache(partial(trials_of_op, op))
        for i in range(_MOST_ELEMENTS + 1):
            yield Sample(f"{name}#{i}", partial(_nth, trials, _forward, i))
        if not op.differentiable:
            continue
        for i in range(_MOST_ELEMENTS):
            yield Sample(f"{name}_backward#{i}", partial(_nth, trials, partial(_backward, order=1), i))
        yield Sample(f"{name}_double_backward#0", partial(_nth, trials, partial(_backward, order=2), 0))


def _nth(trials: Callable[[], list[Trial]], make: Callable[[Trial], Call], i: int) -> Call:
    known = trials()
    return make(known[i % len(known)])


# --- functions written by hand ----------------------------------------------------------------------------------------


class _Recorder:
    """The package, with a record of the calls that an example makes of one function."""

    def __init__(self, name: str) -> None:
        self._name, self.calls = name, list[Call]()

    def __getattr__(self, name: str) -> Any:
        value = getattr(baracuda, name)
        return partial(self._called, value) if name == self._name else value

    def _called(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        self.calls.append(Call(self._name, function, [_kept(a) for a in arguments], {k: _kept(v) for k, v in keywords.items()}))
        return function(*arguments, **keywords)


def _kept(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


@cache
def _examples(name: str) -> list[Call]:
    """The calls of a function in its own docstring. They run, because what they are given may be results of others."""
    recorder = _Recorder(name)
    names: dict[str, Any] = {"baracuda": recorder, "np": np}
    for example in doctest.DocTestParser().get_examples(getattr(baracuda, name).__doc__ or ""):
        source = example.source.replace("import numpy as np, baracuda", "").replace("import baracuda", "")
        exec(compile(source, name, "exec"), names)
    return recorder.calls


def _example(name: str, i: int) -> Call:
    return _examples(name)[i].copied()


def _by_hand(name: str, i: int) -> Call:
    arguments, keywords = by_hand.CALLS[name][i]()
    return Call(name, getattr(baracuda, name), list(arguments), dict(keywords), function_like=name not in MOVES)


def _written_by_hand() -> Iterator[Sample]:
    for name in dir(baracuda):
        function = getattr(baracuda, name)
        if name in SERVICES or not callable(function) or inspect.isclass(function) or name in ops():
            continue
        doc = function.__doc__ or ""
        count = doc.count(f"baracuda.{name}(") if ">>>" in doc and name.removesuffix("_backward") not in ops() else 0
        for i in range(min(count, 3)):
            yield Sample(f"{name}#example{i}", partial(_example, name, i))
        for i in range(len(by_hand.CALLS.get(name, ()))):
            yield Sample(f"{name}#hand{i}", partial(_by_hand, name, i))


# --- plans ------------------------------------------------------------------------------------------------------------

_STREAM = baracuda.Stream(baracuda.Device.cpu())


@cache
def _selected(plan: type[Plan[Any, Any]], descriptor: Descriptor) -> Plan[Any, Any]:
    return plan.select(_STREAM, descriptor)


class RunPlan:
    """A plan as a function of its tensors by name, of which it writes some, and of a stream and a workspace."""

    def __init__(self, plan: type[Plan[Any, Any]], descriptor: Descriptor, args: Callable[[Mapping[str, Any]], Any]) -> None:
        self.plan, self.descriptor, self.args = plan, descriptor, args

    def __call__(self, stream: Any = _STREAM, workspace: Any = ..., **tensors: Any) -> None:
        plan = _selected(self.plan, self.descriptor)
        size = plan.workspace_size()
        if workspace is ...:
            workspace = baracuda.Workspace.allocate(size) if size else None
        plan.run(stream, workspace, self.args(tensors))


def _plan(name: str, problem: Any) -> Call:
    tensors: dict[str, Any] = {**dict.fromkeys(s.name for s in problem.plan.tensors), **problem.inputs()}
    outputs = frozenset(s.name for s in problem.tensors() if s.written)
    d = problem.descriptor
    for spec in problem.tensors():
        if spec.written:
            tensors[spec.name] = np.zeros(spec.expected_shape(d), spec.expected_kind(d).numpy)
    return Call(name, RunPlan(problem.plan, d, problem.args), [], tensors, outputs, function_like=False)


def _of_op(name: str, op: Op) -> Call:
    return _plan(name, next(iter(trials_of_op(op)[0].cases())))


def _plans() -> Iterator[Sample]:
    for subject in SUBJECTS:
        shape = subject.shape(3, 10)
        yield Sample(
            f"plan of {subject.label}", partial(_plan, f"plan of {subject.label}", SubjectCase(subject, shape, ElementKind.F32))
        )
    for name, op in list(ops().items())[::4]:
        if name in cases():
            yield Sample(f"plan of {name}", partial(_of_op, f"plan of {name}", op))


def _descriptors() -> Iterator[Sample]:
    """Descriptors of the plans that are written out by hand, and what goes with them, as functions of their fields."""
    for subject in SUBJECTS:
        yield Sample(f"descriptor of {subject.label}", partial(_described, subject))
    preference = {"backend": None, "require": ("deterministic",), "max_workspace": 1 << 20, "fastest": False}
    for name, function, keywords in (
        ("PlanPreference", baracuda.PlanPreference, preference),
        ("Workspace", baracuda.Workspace, {"buffer": np.zeros(256, np.uint8)}),
    ):
        yield Sample(f"descriptor of {name}", partial(Call, name, function, [], dict(keywords), function_like=False))


def _described(subject: Any) -> Call:
    d = subject.describe(subject.shape(3, 10), ElementKind.F32)
    fields = {n: getattr(d, n) for n in inspect.signature(type(d)).parameters}
    return Call(f"descriptor of {subject.label}", partial(_select, subject.plan, type(d)), [], fields, function_like=False)


def _select(plan: type[Plan[Any, Any]], descriptor: type[Descriptor], *arguments: Any, **fields: Any) -> None:
    plan.select(_STREAM, descriptor(*arguments, **fields)).workspace_size()


@cache
def samples() -> tuple[Sample, ...]:
    """Every sample, in an order that does not change."""
    return (*_declared(), *_written_by_hand(), *_plans(), *_descriptors())


def without_sample() -> list[str]:
    """Public functions that have none."""
    known = {s.name.partition("#")[0] for s in samples()}
    functions = (n for n in dir(baracuda) if callable(getattr(baracuda, n)) and not inspect.isclass(getattr(baracuda, n)))
    return [n for n in functions if n not in known and n not in SERVICES]


__all__ = ["ELEMENTS", "IN_PLACE", "Call", "RunPlan", "Sample", "samples", "without_sample"]
