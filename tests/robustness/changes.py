"""What is done to a valid call: each thing that a caller may get wrong, or do unusually, a function of a generator and a call.

A change returns what it did, in words, or None where it does not apply.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

import baracuda
from baracuda.core.parameters import Choice, Domain, Either, Flag, Number, Several, Whole
from baracuda.frontends.function import Function
from tests.robustness.samples import Call

Array = Any
Change = Callable[[Random, Call], "str | None"]

#: Elements that a tensor is given in place of its own.
_DTYPES: tuple[Any, ...] = (
    np.float32, ml_dtypes.bfloat16, np.int64, np.float64, np.bool_, np.complex64,
)  # fmt: skip
_STRANGE: tuple[Any, ...] = (
    object, "U3", "S2", "M8[s]", ">f4", ">i8", np.longdouble, [("a", "f4"), ("b", "i4")], ml_dtypes.int4, ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3fn, np.int8, np.uint64, np.complex128, np.float16, np.uint8,
)  # fmt: skip
#: What stands in place of anything.
_JUNK: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63, -(2**63) - 1, 2**100, 0.5, -0.0, 1e308, math.nan, math.inf, -math.inf, 1j,
    complex(math.nan, 1), "x", "", "float32", b"x", (), (0,), (0, 0), (0, 1), (-1,), [], [0], [None], {}, {"x": 1}, print,
    np.float32(0.5), np.int64(3), np.bool_(True), np.float64(math.nan), range(2), slice(None), ..., NotImplemented, frozenset(),
)  # fmt: skip


@dataclass(frozen=True)
class Alias:
    """In place of a tensor to write: the memory of another argument, moved by some elements."""

    of: Any
    shift: int


@dataclass
class Place:
    """Where an argument stands: in a list or dict, or in a sequence that stands in one."""

    container: Any
    key: Any
    inner: int | None = None

    @property
    def value(self) -> Any:
        held = self.container[self.key]
        return held if self.inner is None else held[self.inner]

    def put(self, value: Any) -> None:
        if self.inner is not None:
            held = list(self.container[self.key])
            held[self.inner] = value
            value = tuple(held) if isinstance(self.container[self.key], tuple) else held
        self.container[self.key] = value

    def __str__(self) -> str:
        return f"{self.key}" if self.inner is None else f"{self.key}[{self.inner}]"


def places(call: Call) -> Iterator[Place]:
    """Every argument, and every member of one that is a list or tuple."""
    for container, keys in ((call.arguments, range(len(call.arguments))), (call.keywords, list(call.keywords))):
        for key in keys:
            value = container[key]  # type: ignore[index]
            if type(value) in (list, tuple) and any(isinstance(v, np.ndarray) for v in value):
                yield from (Place(container, key, i) for i in range(len(value)))
            else:
                yield Place(container, key)


def _tensors(call: Call) -> list[Place]:
    return [p for p in places(call) if isinstance(p.value, np.ndarray)]


def _others(call: Call) -> list[Place]:
    return [p for p in places(call) if not isinstance(p.value, np.ndarray)]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 40 else f"{text[:37]}..."


def _of_tensor(change: Callable[[Random, Array], tuple[str, Array] | None], variants: int = 0) -> Change:
    """A change of one tensor. Where it needs code of its own, a function has so many `variants` of it."""

    def changed(rng: Random, call: Call) -> str | None:
        if variants:
            rng = Random(f"{call.name}/{rng.randrange(variants)}")
        tensors = _tensors(call)
        if not tensors:
            return None
        place = rng.choice(tensors)
        done = change(rng, place.value)
        if done is None:
            return None
        place.put(done[1])
        return f"{place}: {done[0]}"

    return changed


# --- shapes -----------------------------------------------------------------------------------------------------------


def _rank(rng: Random, x: Array) -> tuple[str, Array] | None:
    ways: list[tuple[str, Callable[[], Array]]] = [
        ("an axis more", lambda: x[None]),
        ("an axis more at the end", lambda: x[..., None]),
        ("0-d", lambda: x.reshape(-1)[:1].reshape(()) if x.size else np.zeros((), x.dtype)),
        ("flat", lambda: x.reshape(-1)),
        ("nine axes", lambda: x.reshape((1,) * (9 - x.ndim) + x.shape)),
    ]
    if x.ndim and x.shape[0]:
        ways.append(("an axis fewer", lambda: x[0]))
    name, make = rng.choice(ways)
    return name, make()


def _extent(rng: Random, x: Array) -> tuple[str, Array] | None:
    if not x.ndim:
        return None
    axis = rng.randrange(x.ndim)
    n = x.shape[axis]
    at: list[Any] = [slice(None)] * x.ndim
    ways = ["0", "1", "one fewer", "twice"]
    if 1 in x.shape:
        ways.append("repeated")
    way = rng.choice(ways)
    if way == "twice":
        return f"extent {2 * n} on axis {axis}", np.concatenate([x, x], axis)
    if way == "repeated":
        axis = rng.choice([a for a, m in enumerate(x.shape) if m == 1])
        return f"extent 3 on axis {axis}", np.repeat(x, 3, axis)
    at[axis] = slice({"0": 0, "1": 1, "one fewer": max(n - 1, 0)}[way])
    return f"extent {way} on axis {axis}", np.ascontiguousarray(x[tuple(at)])


def _turned(rng: Random, x: Array) -> tuple[str, Array] | None:
    if x.ndim < 2:
        return None
    a, b = rng.sample(range(x.ndim), 2)
    return f"axes {a} and {b} exchanged", np.ascontiguousarray(np.swapaxes(x, a, b))


def _empty(rng: Random, x: Array) -> tuple[str, Array] | None:
    return "no elements", np.zeros(tuple(0 for _ in x.shape) or (0,), x.dtype)


# --- layouts ----------------------------------------------------------------------------------------------------------


def _layout(rng: Random, x: Array) -> tuple[str, Array] | None:
    if not x.ndim:
        return None
    way, axis = rng.choice(["column order", "negative", "every second", "zero strides", "inner gap"]), rng.randrange(x.ndim)
    if way == "column order":
        return way, np.asfortranarray(x)
    if way == "negative":
        return f"{way} stride on axis {axis}", np.flip(np.ascontiguousarray(np.flip(x, axis)), axis)
    if way == "zero strides":
        first = np.take(x, [0], axis) if x.shape[axis] else x
        return f"{way} on axis {axis}", np.broadcast_to(first, x.shape)
    wide = np.repeat(x, 2, axis if way == "every second" else x.ndim - 1)
    at: list[Any] = [slice(None)] * x.ndim
    at[axis if way == "every second" else x.ndim - 1] = slice(None, None, 2)
    return way, wide[tuple(at)]


def _misaligned(rng: Random, x: Array) -> tuple[str, Array] | None:
    if x.itemsize == 1 or not x.size:
        return None
    shifted: Array = np.ndarray(x.shape, x.dtype, bytearray(x.nbytes + 1), 1)
    shifted[...] = x
    return "an address between two elements", shifted


# --- elements and values ----------------------------------------------------------------------------------------------


def _element(rng: Random, x: Array) -> tuple[str, Array] | None:
    strange = rng.random() < 0.3
    dtype = np.dtype(rng.choice(_STRANGE if strange else _DTYPES))
    try:
        with np.errstate(all="ignore"):
            real = x.real if x.dtype.kind == "c" and dtype.kind != "c" else x
            return f"element {dtype}", real.astype(dtype)
    except (TypeError, ValueError):
        return f"element {dtype}, zeros", np.zeros(x.shape, dtype)


def _is_float(x: Array) -> bool:
    return x.dtype.kind in "fc" or "float" in x.dtype.name


def _values(rng: Random, x: Array) -> tuple[str, Array] | None:
    if not x.size or (x.dtype.kind not in "iu" and not _is_float(x)):
        return None
    y = x.copy()
    flat = y.reshape(-1)
    at = rng.randrange(flat.size)
    if _is_float(x):
        value: Any = rng.choice([math.nan, math.inf, -math.inf, 0.0, -0.0, 1e30, -1.0])
    else:
        limits = np.iinfo(x.dtype)
        near = [int(flat.max()) + 1, int(flat.min()) - 1, 0, 5, 100]
        value = rng.choice([limits.min, limits.max, *(v for v in near if limits.min <= v <= limits.max)])
    everywhere = rng.random() < 0.3
    with np.errstate(all="ignore"):
        flat[... if everywhere else at] = value
    return f"{value} {'everywhere' if everywhere else f'at {at}'}", y


def _order(rng: Random, x: Array) -> tuple[str, Array] | None:
    """For offsets and lengths: descending, all alike, not from 0."""
    if x.ndim != 1 or x.dtype.kind not in "iu" or x.size < 2:
        return None
    way = rng.choice(["descending", "all alike", "not from the first", "beyond"])
    orders = {"descending": x[::-1].copy(), "all alike": np.full_like(x, x[-1]), "not from the first": x + 1, "beyond": x * 3}[
        way
    ]
    return way, orders


# --- what is no tensor ------------------------------------------------------------------------------------------------


def _replaced(rng: Random, call: Call) -> str | None:
    tensors = _tensors(call)
    if not tensors:
        return None
    place = rng.choice(tensors)
    x = place.value
    ways: list[Callable[[], Any]] = [
        lambda: rng.choice([1, 2.0, -1, 1j, True, math.nan, math.inf, 2**70]),
        lambda: rng.choice(_JUNK),
        lambda: None,
        lambda: x.tolist(),
        lambda: np.ma.masked_array(x),
        lambda: memoryview(np.zeros(3)),
        lambda: x.flat[0] if x.size else None,
        lambda: [x],
    ]
    value = rng.choice(ways)()
    place.put(value)
    return f"{place}: {type(value).__name__} {_short(value)}"


def _misplaced(rng: Random, call: Call) -> str | None:
    """Two tensors of a call exchanged."""
    tensors = _tensors(call)
    if len(tensors) < 2:
        return None
    one, other = rng.sample(tensors, 2)
    first, second = one.value, other.value
    one.put(second)
    other.put(first)
    return f"{one} and {other} exchanged"


def _shared(rng: Random, call: Call) -> str | None:
    """One tensor in two places."""
    tensors = _tensors(call)
    if len(tensors) < 2:
        return None
    one, other = rng.sample(tensors, 2)
    other.put(one.value)
    return f"{other}: the same as {one}"


# --- options ----------------------------------------------------------------------------------------------------------


def of_domain(rng: Random, domain: Domain | None) -> Any:
    """A value of a domain, or one close to it."""
    if isinstance(domain, Either):
        return of_domain(rng, rng.choice(domain.domains))
    if isinstance(domain, Choice):
        return rng.choice(domain.choices)
    if isinstance(domain, Flag):
        return rng.random() < 0.5
    if isinstance(domain, Whole):
        return rng.choice([-2, -1, 0, 1, 2, 3, 5])
    if isinstance(domain, Number):
        return rng.choice([0.0, 0.25, 1.0, 2.0, -1.0, 1e-6])
    if isinstance(domain, Several):
        return tuple(of_domain(rng, domain.each) for _ in range(domain.count or rng.randrange(3)))
    return None


def _domains(call: Call) -> dict[str, Domain]:
    declaration = getattr(call.function, "declaration", None) or getattr(call.function, "binding", None)
    return dict(getattr(declaration, "domains", {}))


def _keywords(call: Call) -> list[str]:
    """Options of a function by its signature."""
    try:
        known = inspect.signature(call.function).parameters.values()
    except (TypeError, ValueError):
        return []
    count = len(call.arguments)
    free = [p.name for i, p in enumerate(known) if p.kind is p.KEYWORD_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and i >= count)]
    return [n for n in free if n not in ("out", "preference")]


def _option(rng: Random, call: Call) -> str | None:
    known = _keywords(call)
    if not known:
        return None
    name = rng.choice(known)
    within = rng.random() < 0.5
    value = of_domain(rng, _domains(call).get(name)) if within else rng.choice(_JUNK)
    if name == "wrt" and within:
        return _wrt(rng, call)
    call.keywords[name] = value
    return f"{name}={_short(value)}"


def _junk(rng: Random, call: Call) -> str | None:
    """An argument that is no tensor, replaced."""
    candidates = _others(call)
    if not candidates:
        return None
    place = rng.choice(candidates)
    value = rng.choice(_JUNK)
    place.put(value)
    return f"{place}={_short(value)}"


def _nudged(rng: Random, call: Call) -> str | None:
    """A number or a tuple of numbers among the arguments, off by a little."""
    candidates = [p for p in _others(call) if type(p.value) in (int, float) or (type(p.value) is tuple and p.value)]
    if not candidates:
        return None
    place = rng.choice(candidates)
    value = place.value
    if isinstance(value, tuple):
        value = rng.choice([value[:-1], (*value, 1), value[::-1], (value[0],) * len(value), list(value)])
    else:
        value = rng.choice([value + 1, value - 1, -value, value * 2, value * 40])
    place.put(value)
    return f"{place}={_short(value)}"


def _preference(rng: Random, call: Call) -> str | None:
    if "preference" not in inspect.signature(call.function).parameters:
        return None
    value = rng.choice([baracuda.PlanPreference(), *_JUNK])
    call.keywords["preference"] = value
    return f"preference={_short(value)}"


def _bounds(rng: Random, call: Call) -> str | None:
    if "bounds" not in inspect.signature(call.function).parameters:
        return None
    value = rng.choice(["clamp", "clamp", "clamp", "check", "wrap", None, 1])
    call.keywords["bounds"] = value
    return f"bounds={value!r}"


def _wrt(rng: Random, call: Call) -> str | None:
    parameters = inspect.signature(call.function).parameters
    if "wrt" not in parameters:
        return None
    names = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    one = rng.choice(names)
    value = rng.choice([(one,), [one], (one, one), (), one, (one, "nothing"), (1,), None, tuple(names), {one}, (None,), 7])
    call.keywords["wrt"] = value
    return f"wrt={_short(value)}"


# --- arguments --------------------------------------------------------------------------------------------------------


def _misspelt(rng: Random, call: Call) -> str | None:
    known = _keywords(call) or ["axis"]
    name = rng.choice(known)
    word = rng.choice([name + "s", name[:-1] or "z", name.upper(), "nonsense", "dim", "keepdim"])
    value = call.keywords.pop(name, 1)
    call.keywords[word] = value
    return f"{word}={_short(value)}"


def _too_many(rng: Random, call: Call) -> str | None:
    value = rng.choice([1, None, "x", 0.5, -1])
    call.arguments += [value] * rng.choice([1, 1, 2, 12])
    return f"{len(call.arguments)} positional arguments"


def _too_few(rng: Random, call: Call) -> str | None:
    if call.arguments and rng.random() < 0.7:
        call.arguments.pop()
        return "one positional argument fewer"
    if call.keywords:
        name = rng.choice(sorted(call.keywords))
        del call.keywords[name]
        return f"{name} left out"
    return None


def _named(rng: Random, call: Call) -> str | None:
    """Positional arguments by name, once or twice."""
    names = [n for n, p in inspect.signature(call.function).parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    if not call.arguments or len(names) < len(call.arguments):
        return None
    i, twice = len(call.arguments) - 1, rng.random() < 0.3
    call.keywords[names[i]] = call.arguments[i] if twice else call.arguments.pop()
    return f"{names[i]} by name{', and by position' if twice else ''}"


def _result(call: Call) -> Array:
    """A tensor as the call's first result, or as its first tensor where the call gives none."""
    like: Any = None
    try:
        if isinstance(call.function, Function):  # without a kernel
            shape, kind, _ = next(iter(call.function.describe(*call.arguments, **call.keywords).results.values()))
            return np.full(shape, 7, kind.numpy)
        result = call.function(*call.arguments, **call.keywords)
        like = result[0] if isinstance(result, tuple) else result
    except Exception:
        like = None
    if not isinstance(like, np.ndarray):
        like = next((p.value for p in _tensors(call)), np.zeros(3, np.float32))
    return np.full(like.shape, 7, like.dtype)


# --- results ----------------------------------------------------------------------------------------------------------


def _out(rng: Random, call: Call) -> str | None:
    """A tensor to write, from what the call gives."""
    if "out" not in inspect.signature(call.function).parameters or "out" in call.keywords:
        return None
    tensors = _tensors(call)
    y = _result(call)
    way = rng.choice(
        ["right", "right", "right", "shape", "element", "layout", "read-only", "alias", "alias", "tuple", "junk", "zero"]
    )
    value: Any = y
    if way == "shape":
        value = (_extent(rng, y) or _rank(rng, y) or ("", y))[1].copy()
    elif way == "element":
        value = y.astype(rng.choice(_DTYPES))
    elif way == "layout":
        value = (_layout(rng, y) or ("", y))[1]
        value = value if value.flags.writeable else y
    elif way == "read-only":
        value.flags.writeable = False
    elif way == "zero":
        value = np.lib.stride_tricks.as_strided(y, y.shape, (0,) * y.ndim) if y.size else y
    elif way == "alias" and tensors:
        value = Alias(rng.choice(tensors).value, rng.choice([0, 0, 1, -1]))
    elif way == "tuple":
        value = rng.choice([(y,), (y, None), (y, y), (None,), [y], (y, 1)])
    elif way == "junk":
        value = rng.choice(_JUNK)
    call.keywords["out"] = value
    return f"out: {way} {_short(value) if way == 'junk' else ''}".strip()


# --- together ---------------------------------------------------------------------------------------------------------

#: Every change, with how often it is chosen.
CHANGES: tuple[tuple[str, Change, int], ...] = (
    ("rank", _of_tensor(_rank), 4),
    ("extent", _of_tensor(_extent), 6),
    ("axes exchanged", _of_tensor(_turned), 2),
    ("empty", _of_tensor(_empty), 1),
    ("layout", _of_tensor(_layout, variants=4), 5),
    ("misaligned", _of_tensor(_misaligned), 1),
    ("element", _of_tensor(_element, variants=5), 4),
    ("values", _of_tensor(_values), 5),
    ("offsets", _of_tensor(_order), 2),
    ("no tensor", _replaced, 4),
    ("tensors exchanged", _misplaced, 1),
    ("one tensor twice", _shared, 1),
    ("option", _option, 6),
    ("junk", _junk, 2),
    ("nudged", _nudged, 2),
    ("preference", _preference, 1),
    ("bounds", _bounds, 3),
    ("wrt", _wrt, 3),
    ("misspelt", _misspelt, 1),
    ("too many", _too_many, 1),
    ("too few", _too_few, 1),
    ("by name", _named, 1),
    ("out", _out, 5),
)
#: Those that Python itself answers where what is called is a class.
_SIGNATURE = frozenset(["misspelt", "too many", "too few", "by name"])
#: How often a call has how many changes.
_COUNTS = ((0, 1), (1, 6), (2, 2), (3, 1))


def changed(rng: Random, call: Call) -> Call:
    """The call with none to three changes."""
    call = call.copied()
    known = [c for c in CHANGES if call.function_like or c[0] not in _SIGNATURE]
    (count,) = rng.choices([c for c, _ in _COUNTS], [w for _, w in _COUNTS])
    tries = 0
    while len(call.changes) < count and tries < 20:
        tries += 1
        ((name, change, _),) = rng.choices(known, [w for _, _, w in known])
        try:
            done = change(rng, call)
        except (ValueError, TypeError, AttributeError, IndexError):  # an array of a strange element that NumPy will not change
            done = None
        if done is not None:
            call.changes.append(f"{name}: {done}")
    return call
