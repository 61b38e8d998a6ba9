"""Ops over lists of tensors: all items in one launch, or in as few as the words of a launch have room for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from baracuda.core.call_recorder import current as current_recorder
from baracuda.core.call_recorder import note_writes
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.layout import has_internal_overlap
from baracuda.core.tensor import TensorRef, tensor_mut
from baracuda.frontends import views
from baracuda.frontends.arrays import all_adopted, current_stream, empty_like, finish, writable
from baracuda.frontends.binding import BoundArguments
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call import NUMBERS, describe, device_of
from baracuda.frontends.function import Function, cacheable_of, describe_bound, op_binding
from baracuda.ops.declaration.op import Op
from baracuda.ops.optimizers.lists import Form, check_apart, form_of, goes_together, is_flat, launches

#: What a tensor of a call is: one for each item, or one for all.
Lists = dict[str, "list[Any]"]


class ListFunction:
    """An op over lists, as the cache of calls sees it: it returns the new tensors, result by result, in one tuple, or None where
    all are given or the call is in place."""

    def __init__(self, op: Op, in_place: bool) -> None:
        self.op, self.in_place = op, in_place
        self.__name__ = op.name
        self.binding = op_binding(op)

    @property
    def cacheable(self) -> Cacheable:
        """What the cache of calls needs to know."""
        return cacheable_of(self, self.op, self.binding)._replace(writes=self.in_place)

    def __call__(self, *arguments: Any, out: Any = None, **keywords: Any) -> Any:
        call = self.binding.bind(arguments, keywords)
        return _Items(self.op, call, out, self.in_place).run()


class _Items:
    """One call: its tensors item by item."""

    def __init__(self, op: Op, call: BoundArguments, out: Any, in_place: bool) -> None:
        self.op, self.call = op, call
        names = op.signature.tensors
        given = {n: v for n, v in zip(names, call.tensors, strict=True) if v is not None}
        self.numbers = {n: v for n, v in given.items() if isinstance(v, NUMBERS)}
        self.lists: Lists = {n: list(all_adopted(v, n)) for n, v in given.items() if isinstance(v, (list, tuple))}
        self.single = {n: v for n, v in given.items() if n not in self.numbers and n not in self.lists}
        self.count = _count(op, self.lists)
        self.refs = {n: [describe(t, f"{n}[{i}]") for i, t in enumerate(v)] for n, v in self.lists.items()}
        self.shared = {n: describe(v, n) for n, v in self.single.items()}
        for n, ref in self.shared.items():
            if prod(ref.shape) != 1:
                raise InvalidProblemError(f"{n}: shape is {ref.shape}; expected a list, or one element for all items")
        devices = {r.device for refs in self.refs.values() for r in refs} | {r.device for r in self.shared.values()}
        if len(devices) > 1:
            raise InvalidProblemError(f"{op}: tensors on {', '.join(sorted(map(str, devices)))}; expected one device")
        self.out, self.in_place = out, in_place
        self.made: list[Any] = []

    # --- results ------------------------------------------------------------------------------------------------------

    def _targets(self, results: Sequence[str]) -> dict[str, list[Any]]:
        """What is given for each result."""
        if self.in_place:
            return {n: self.lists[self._replaced(n)] for n in results}
        out = _outputs(self.out, len(results))
        if len(out) > len(results):
            raise InvalidProblemError(f"out: {len(out)} lists; expected at most {len(results)}: {', '.join(results)}")
        found = {}
        for n, members in zip(results, out, strict=False):
            if members is None:
                continue
            if not isinstance(members, (tuple, list)) or len(members) != self.count:
                got = f"{len(members)} tensors" if isinstance(members, (tuple, list)) else repr(type(members).__name__)
                raise InvalidProblemError(f"out: {got} for {n}; expected a list of {self.count}")
            found[n] = list(members)
        return found

    def _replaced(self, result: str) -> str:
        """The tensor that a result takes the place of: of new_param param, of another op's result its first one."""
        name = result.removeprefix("new_")
        if name in self.lists:
            return name
        if result == "y" or name not in self.op.signature.tensors:
            first = self.op.signature.tensors[0]
            if len(self.op.results) <= 1 and first in self.lists:
                return first
        raise InvalidProblemError(f"{self.op}: {result} takes the place of no list; expected out in place of in_place")

    # --- the call -----------------------------------------------------------------------------------------------------

    def run(self) -> Any:
        if not self.count:
            return ()
        forms: dict[Any, Form | None] = {}
        groups: dict[Form, list[int]] = {}
        alone: list[int] = []
        described = [self._form(i, forms) for i in range(self.count)]
        results = self._results(next(f for f in described if f is not None) if any(described) else None)
        targets = self._targets(results)
        written: dict[str, list[TensorRef]] = {n: [] for n in results}
        fresh: dict[str, list[Any]] = {n: [] for n in results if n not in targets}
        for i, form in enumerate(described):
            shape, like = self._whole(i)
            kinds = self._result_kinds(i, form)
            for n in results:
                if n in targets:
                    ref = tensor_mut(targets[n][i], name=f"{self._called(n)}[{i}]")
                    if ref.shape != shape or ref.kind is not kinds[n]:
                        raise InvalidProblemError(
                            f"{self._called(n)}[{i}]: {ref.kind} of shape {ref.shape}; expected {kinds[n]} of {shape}"
                        )
                    if has_internal_overlap(ref.shape, ref.strides):
                        raise InvalidProblemError(f"{self._called(n)}[{i}]: strides {ref.strides} visit an address twice")
                else:
                    made = empty_like(self.lists[like][i], shape, kinds[n])
                    fresh[n].append(made)
                    ref = tensor_mut(writable(made))
                written[n].append(ref)
            refs = [r[i] for r in self.refs.values() if r[i].shape == shape] + [w[i] for w in written.values()]
            if form is not None and is_flat(refs):
                groups.setdefault(form, []).append(i)
            else:
                alone.append(i)
        self._check(written)
        recorder = current_recorder()
        some = self.lists[next(iter(self.lists))][0]
        device = device_of(some)
        stream = current_stream(some, device)
        note_writes(w for refs in written.values() for w in refs)
        for form, items in groups.items():
            if recorder is not None:
                recorder.whole += form.descriptor.whole_numbers
            self._launch(form, items, written, device, stream)
        for i in alone:
            self._alone(i, results, written)
        finish(some, stream)
        new = tuple(t for members in fresh.values() for t in members)
        return new or None

    def _called(self, result: str) -> str:
        return self._replaced(result) if self.in_place else f"out for {result}"

    def _whole(self, i: int) -> tuple[tuple[int, ...], str]:
        """The shape of an item, and a list that has it there."""
        name = max(self.refs, key=lambda n: len(self.refs[n][i].shape))
        return self.refs[name][i].shape, name

    def _form(self, i: int, known: dict[Any, Form | None]) -> Form | None:
        """What an item's formula is; None where its tensors do not go with others."""
        shape, _ = self._whole(i)
        tensors = []
        for n, refs in self.refs.items():
            ref = refs[i]
            if ref.shape != shape and prod(ref.shape) != 1:
                return None
            tensors.append((n, ref.kind, ref.shape != shape, False))
        tensors += [(n, ref.kind, True, True) for n, ref in self.shared.items()]
        key = tuple(tensors)
        if key not in known:
            numbers = {**self.numbers, **self.call.numbers}
            known[key] = form_of(self.op, tensors, numbers, self.call.options) if goes_together(self.op) else None
        return known[key]

    def _own(self, i: int) -> dict[str, Any]:
        """The tensors, and numbers in their place, of one item."""
        return {**{n: v[i] for n, v in self.lists.items()}, **self.single, **self.numbers}

    def _bound(self, i: int) -> BoundArguments:
        own = self._own(i)
        return BoundArguments(tuple(own.get(n) for n in self.op.signature.tensors), self.call.numbers, self.call.options)

    def _results(self, form: Form | None) -> list[str]:
        """The names of the results."""
        if form is not None:
            return list(form.results)
        return list(describe_bound(self.op, self._bound(0))[0].results)

    def _result_kinds(self, i: int, form: Form | None) -> Mapping[str, Any]:
        if form is not None:
            return form.results
        shape, _ = self._whole(i)
        described = describe_bound(self.op, self._bound(i))[0].results
        for n, (own, _, _) in described.items():
            if own != shape:
                raise UnsupportedError(
                    f"{self.op}: {n} of item {i} has shape {own}; expected {shape}, that of the item's tensors"
                )
        return {n: kind for n, (_, kind, _) in described.items()}

    def _check(self, written: Mapping[str, Sequence[TensorRef]]) -> None:
        """Raise where what is written is read or written elsewhere."""
        tensors: list[tuple[TensorRef, str, int | None, bool, bool]] = []
        for n, refs in self.refs.items():
            tensors += [(r, f"{n}[{i}]", i, r.shape == self._whole(i)[0], False) for i, r in enumerate(refs)]
        tensors += [(r, n, None, False, False) for n, r in self.shared.items()]
        for n, targets in written.items():
            called = self._called(n)
            tensors += [(r, f"{called}[{i}]", i, True, True) for i, r in enumerate(targets)]
        check_apart(tensors)

    def _launch(
        self, form: Form, items: Sequence[int], written: Mapping[str, Sequence[TensorRef]], device: Any, stream: Any
    ) -> None:
        sizes, kept = [], []
        for i in items:
            if size := prod(self._whole(i)[0]):
                sizes.append(size)
                kept.append(i)
        if not sizes:
            return
        addresses: dict[str, list[int]] = {n: [refs[i].pointer for i in kept] for n, refs in self.refs.items()}
        addresses |= {n: [ref.pointer] for n, ref in self.shared.items()}
        addresses |= {n: [refs[i].pointer for i in kept] for n, refs in written.items()}
        for program, pointers in launches(device, form, sizes, addresses):
            program.call(pointers, 0, stream.handle, form.descriptor.parameters)

    def _alone(self, i: int, results: Sequence[str], written: Mapping[str, Sequence[TensorRef]]) -> None:
        shape, like = self._whole(i)
        if 0 in shape:
            return
        own = self._own(i)
        words = {**self.call.numbers, **self.call.options}
        views.run(self.op, own, self.lists[like][i], tuple(written[n][i] for n in results), **words)


def _outputs(out: Any, results: int) -> Sequence[Any]:
    """What is given for each result: of a single one it may be the list itself."""
    if out is None:
        return ()
    listed = isinstance(out, (tuple, list))
    if results == 1 and not (listed and len(out) == 1 and isinstance(out[0], (tuple, list))):
        return (out,)
    return out if listed else (out,)


def list_call(op: Op, arguments: Sequence[Any], keywords: Mapping[str, Any], in_place: bool, out: Any = None) -> Any:
    """The results of an op over lists: a list, or a tuple of lists."""
    function = _function(op, in_place)
    words = dict(keywords)
    if out is not None:
        words["out"] = out
    return function(*arguments, **words)


def _function(op: Op, in_place: bool | None) -> Any:
    """An op over lists as a function whose calls are kept; where that is None, the op's own."""
    function = op.derived.get(("lists", in_place))
    if function is None:
        from baracuda.frontends.call_cache import cached

        made = Function(op) if in_place is None else ListFunction(op, in_place)
        function = op.derived["lists", in_place] = cached(made)
    return function


def op_of(function: Any) -> Op:
    """The op that a public function is of."""
    if isinstance(function, Op):
        return function
    found = getattr(function, "op", None)
    name = getattr(function, "__name__", "")
    if not isinstance(found, Op) or name.endswith("_backward"):
        raise InvalidProblemError(
            f"function: {function!r}; expected a function of this library that is one formula over elements"
        )
    return found


def multi_tensor_apply(function: Callable[..., Any], *tensors: Any, out: Any = None, in_place: bool = False, **words: Any) -> Any:
    """A function of this library over lists of tensors: item i of each list together, all of them in one launch.

        multi_tensor_apply(baracuda.adamw_step, params, grads, exp_avgs, exp_avg_sqs, lr, step, in_place=True)

    is `adamw_step` of each parameter with its gradient and state. `function` is one that computes element by element: a step of
    an optimizer (`sgd_step`, `adamw_step`, `lion_step`, ...), `ema_update`, `cast`, `add`, `mul`, `sqrt`, `lerp`, ... Its tensors
    come in its own order, or by name: a list of tensors for each, of one length; what is no list, a number or a tensor of one
    element, such as lr or step, is that of all items; a list may also have one element for each item. Numbers and options are
    given by name and may change from call to call without another compilation.

    Results are lists of new tensors, one list or a tuple of several; `out` takes what is written instead, a list for each result
    (or one for the only one), which may be that of the tensors that it replaces. With in_place=True each result called new_x
    takes the place of x, and the only result of another function that of its first tensor; these lists are returned. Tensors of
    one item have one shape, those of one list any shapes and elements; items of the same elements, whose tensors are dense and
    lie in one order of memory, go together in one launch, up to as many as its 32 KiB of words have addresses for (on a GPU about
    4,000 addresses in all: AdamW of 1,000 parameters), any other item is a call of its own. A function that is more than a
    formula over elements, such as `lamb_step`, is called item by item. An element's bits do not depend on the list that it stands
    in. Calls like an earlier one, with tensors anywhere, are made of the same launches, and may be recorded in graphs.

    Raises `InvalidProblemError` for lists of several lengths, shapes that do not fit, and where what is written shares memory
    with anything but the very tensor that it takes the place of; then nothing is written.

    Source: torch._foreach_add and its like, apex's multi_tensor_apply.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> params, grads = ([np.ones(shape, np.float32) for shape in (2, (1, 3))] for _ in range(2))
    >>> _ = baracuda.multi_tensor_apply(baracuda.sgd_step, params, grads, 0.25, in_place=True)
    >>> [p.tolist() for p in params]
    [[0.75, 0.75], [[0.75, 0.75, 0.75]]]
    >>> [x.tolist() for x in baracuda.multi_tensor_apply(baracuda.mul, params, 2.0)]
    [[1.5, 1.5], [[1.5, 1.5, 1.5]]]
    """
    op = op_of(function)
    if in_place and out is not None:
        raise InvalidProblemError("out: given beside in_place=True; expected one of them")
    if not isinstance(in_place, bool):
        raise InvalidProblemError(f"in_place: {in_place!r}; expected True or False")
    return applied(op, tensors, words, out, in_place)


def applied(op: Op, tensors: Sequence[Any], words: Mapping[str, Any], out: Any = None, in_place: bool = False) -> Any:
    """The lists of results of an op over lists."""
    if not goes_together(op):
        return _item_by_item(op, tensors, words, out, in_place)
    new = list_call(op, tensors, words, in_place, out)
    return _as_lists(op, tensors, words, new, out, in_place)


def _item_by_item(op: Op, tensors: Sequence[Any], words: Mapping[str, Any], out: Any, in_place: bool) -> Any:
    """The same of an op that is more than a formula over elements: a call for each item, which is kept as any other."""
    names = op.signature.tensors
    given, lists = _given(op, tensors, words)
    rest = {n: v for n, v in words.items() if n not in names}
    count, replaced = _count(op, lists), _replaced_by_name(op, lists)
    if in_place and not replaced:
        raise InvalidProblemError(f"{op}: no result takes the place of a list; expected out in place of in_place")
    into = replaced if in_place else list(_outputs(out, max(len(replaced), 1)))
    for i, members in enumerate(into):
        if members is not None and (not isinstance(members, (list, tuple)) or len(members) != count):
            raise InvalidProblemError(f"out[{i}]: {type(members).__name__}; expected a list of {count}")
    function, found = _function(op, None), []
    for i in range(count):
        item = {n: v[i] if n in lists else v for n, v in given.items()}
        targets = {"out": tuple(None if members is None else members[i] for members in into)} if into else {}
        results = function(*(item.get(n) for n in names), **rest, **targets)
        found.append(results if isinstance(results, tuple) else (results,))
    columns = [list(c) for c in zip(*found, strict=True)] if found else [[] for _ in replaced or [[]]]
    returned = [
        given_ if given_ is not None else new for given_, new in zip([*into, *[None] * len(columns)], columns, strict=False)
    ]
    return returned[0] if len(returned) == 1 else tuple(returned)


def _given(op: Op, tensors: Sequence[Any], words: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Sequence[Any]]]:
    """What stands for each tensor of an op, by position or by name, and the lists among it."""
    names = op.signature.tensors
    given = dict(zip(names, tensors, strict=False)) | {n: v for n, v in words.items() if n in names}
    return given, {n: v for n, v in given.items() if isinstance(v, (list, tuple))}


def _replaced_by_name(op: Op, lists: Mapping[str, Any]) -> list[Any]:
    """The lists whose place results called new_x take, which are those of x."""
    return [lists[n] for n in (r.removeprefix("new_") for r in op.results) if n in lists]


def _count(op: Op, lists: Mapping[str, Sequence[Any]]) -> int:
    """How many items some lists have."""
    if not lists:
        names = ", ".join(op.signature.tensors)
        raise InvalidProblemError(f"{op}: no list among {names}; expected a list of tensors for one at least")
    first = next(iter(lists))
    for n, members in lists.items():
        if len(members) != len(lists[first]):
            raise InvalidProblemError(f"{n}: {len(members)} tensors; expected {len(lists[first])}, as many as {first} has")
    return len(lists[first])


def _as_lists(op: Op, tensors: Sequence[Any], words: Mapping[str, Any], new: Any, out: Any, in_place: bool) -> Any:
    """The results list by list, of those that are new and those that were given."""
    _, lists = _given(op, tensors, words)
    count = len(next(iter(lists.values())))
    if in_place:
        found: list[Any] = _replaced_by_name(op, lists) or [next(iter(lists.values()))]
    else:
        rest = list(new or ())
        names = [r for r in op.results if r.removeprefix("new_") in lists or not r.startswith("new_")] or ["y"]
        into = _outputs(out, len(names))
        found = []
        for i in range(len(names)):
            if i < len(into) and into[i] is not None:
                found.append(into[i])
            else:
                found.append(rest[:count])
                rest = rest[count:]
    return found[0] if len(found) == 1 else tuple(found)
