"""Finding ops: the catalogue by family, element, backend, promise, and by name in any framework."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.op_table import Alias, aliases, table
from baracuda.core.sku import PROMISES, BackendKind
from baracuda.frontends.catalogue import Entry, catalogue
from baracuda.ops.declaration.formula_plan import FormulaPlan

#: How a full name begins, for each way that people write it.
PREFIXES = {
    "baracuda.": "",
    "F.": "torch.nn.functional.",
    "nn.functional.": "torch.nn.functional.",
    "special.": "torch.special.",
    "Tensor.": "torch.Tensor.",
    "jnp.": "jax.numpy.",
    "np.": "jax.numpy.",
    "numpy.": "jax.numpy.",
    "lax.": "jax.lax.",
    "nn.": "jax.nn.",
    "scipy.special.": "jax.scipy.special.",
    "scipy.linalg.": "jax.scipy.linalg.",
    "xp.": "array_api.",
}


@dataclass(frozen=True)
class ListedOp:
    """An op of the catalogue with what its plans run on and promise."""

    entry: Entry
    backends: tuple[BackendKind, ...]
    promises: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """As it is written to JSON."""
        e = self.entry
        return {
            "op": e.row.op,
            "family": e.row.family,
            "tier": e.row.tier,
            "present": e.present,
            "function": e.function,
            "backward": e.backward,
            "plan": e.plan,
            "elements": [str(k) for k in e.elements],
            "backends": [str(b) for b in self.backends],
            "promises": list(self.promises),
            "ulp": dict(e.ulp),
            "names": names_of(e),
            "doc": e.doc,
        }


def listed(entry: Entry) -> ListedOp:
    """An entry with its backends and promises, which follow from its plan."""
    plan = getattr(baracuda, entry.plan) if entry.present and entry.plan else None
    if plan is not None and issubclass(plan, FormulaPlan):
        return ListedOp(entry, (BackendKind.FORMULA_CPU, BackendKind.FORMULA_CUDA), tuple(PROMISES))
    return ListedOp(entry, tuple(getattr(plan, "backends", ())), tuple(getattr(plan, "promises", ())))


def find(
    name: str = "",
    *,
    family: str = "",
    element: str = "",
    backend: str = "",
    promises: tuple[str, ...] = (),
    absent: bool = False,
) -> list[ListedOp]:
    """The ops that fit.

    Parameters
    ----------
    name
        An op's name; its name in a framework (`torch.nn.functional.gelu`, `F.gelu`, `jnp.tanh`, `lax.erf`); or, without a dot
        and where no op is called just so, a part of names.
    family, element, backend, promises
        Only ops of this family, that take this element (`bf16`, `float32`), have this backend and make these promises.
    absent
        Whether ops that baracuda does not have yet are among them; they always are where `name` is exactly theirs.

    Raises `InvalidProblemError` for an element or a family that there is none of.
    """
    families = dict.fromkeys(e.row.family for e in catalogue())
    if family and family not in families:
        raise InvalidProblemError(f"family {family!r}; expected one of {', '.join(families)}")
    kind = element_of(element) if element else None
    exact = named(name) if name else ()
    entries = exact
    if not exact or ("." not in name and name not in table()):  # "norm" is torch's name of one op, and a part of many
        entries = tuple(dict.fromkeys([*exact, *(e for e in catalogue() if name.lower() in e.row.op)]))
    matches = []
    for entry in entries:
        if not (entry.present or absent or entry in exact) or (family and entry.row.family != family):
            continue
        if kind is not None and kind not in entry.elements:
            continue
        one = listed(entry)
        if (not backend or backend in map(str, one.backends)) and set(promises) <= set(one.promises):
            matches.append(one)
    return matches


def element_of(name: str) -> ElementKind:
    for kind in ElementKind:
        if name in (kind.label, kind.numpy.name):
            return kind
    raise InvalidProblemError(f"element {name!r}; expected one of {', '.join(map(str, ElementKind))}, or NumPy's name of one")


def full(name: str) -> str:
    """A name with the usual abbreviations written out."""
    for prefix, long in PREFIXES.items():
        if name.startswith(prefix):
            return long + name.removeprefix(prefix)
    return name


def named(name: str) -> tuple[Entry, ...]:
    """The entries whose op, or whose name in a framework, is exactly this; none where there is no such name."""
    by_op = {e.row.op: e for e in catalogue()}
    full_name = full(name)
    if full_name in by_op:
        return (by_op[full_name],)
    for candidate in (full_name, name):
        alias = aliases().get(candidate)
        if alias is not None and alias.op in by_op:
            return (by_op[alias.op],)
        matches = [e for e in catalogue() if candidate in e.names()]
        if matches:
            return tuple(matches)
    last = name.lower()
    ops = dict.fromkeys(a.op for a in _by_last_part().get(last, ()) if a.op in by_op)
    return tuple(by_op[op] for op in ops)


def out_of_scope(name: str) -> Alias | None:
    """The name where it is known to be no op, with the reason."""
    alias = aliases().get(full(name)) or aliases().get(name)
    return alias if alias is not None and not alias.op else None


def near(name: str, count: int = 6) -> list[str]:
    """Names of ops that look like this one, the likeliest first."""
    last = full(name).rpartition(".")[2].lower().rstrip("_")
    known = {e.row.op: e.row.op for e in catalogue()}
    for part, entries in _by_last_part().items():
        known.setdefault(part, entries[0].op)
    matches = get_close_matches(last, [k for k, op in known.items() if op], count * 2, 0.6)
    return list(dict.fromkeys(known[m] for m in matches))[:count]


def names_of(entry: Entry) -> list[str]:
    """Every name that an op has in a framework."""
    own = [n for n in entry.names() if n != entry.row.op]
    return list(dict.fromkeys([*own, *(a.name for a in _by_op().get(entry.row.op, ()))]))


@cache
def _by_last_part() -> dict[str, list[Alias]]:
    return _grouped((a.name.rpartition(".")[2].lower(), a) for a in aliases().values())


@cache
def _by_op() -> dict[str, list[Alias]]:
    return _grouped((a.op, a) for a in aliases().values())


def _grouped(pairs: Iterator[tuple[str, Alias]]) -> dict[str, list[Alias]]:
    groups: dict[str, list[Alias]] = {}
    for key, alias in pairs:
        groups.setdefault(key, []).append(alias)
    return groups


def elements_summary(elements: tuple[ElementKind, ...]) -> str:
    """Elements in a few words: groups that are complete by their name, the others one by one."""
    groups = {
        "floats": ("f16", "bf16", "f32", "f64"),
        "ints": ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"),
        "complex": ("complex64", "complex128"),
        "fp8": ("f8e4m3", "f8e5m2"),
    }
    labels = [str(k) for k in elements]
    words = []
    for word, members in groups.items():
        if all(m in labels for m in members):
            words.append(word)
            labels = [label for label in labels if label not in members]
    return " ".join([*words, *labels])
