"""The table of all ops of the field, with their names in each framework: `baracuda/catalogue/ops.tsv`, as data."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Row:
    """One op of the table.

    Attributes
    ----------
    op, family, tier, kind
        Its name, its family, how much it is needed (1 is most), and whether it is a primitive or a composite.
    backward
        Whether it has a gradient: "yes" or "no".
    dtypes
        The element categories it is defined on: float, int, bool, complex, or any.
    torch, nn_functional, lax, jnp, jax_nn, scipy_special, array_api, onnx
        Its names there, separated by commas.
    note
        What else there is to say.
    """

    op: str
    family: str
    tier: int
    kind: str
    backward: str
    dtypes: str
    torch: str
    nn_functional: str
    lax: str
    jnp: str
    jax_nn: str
    scipy_special: str
    array_api: str
    onnx: str
    note: str


@cache
def table() -> dict[str, Row]:
    """Every row by the name of its op."""
    text = files("baracuda").joinpath("catalogue", "ops.tsv").read_text(encoding="utf-8")
    names = [f.name for f in fields(Row)]
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    found = (Row(**{n: int(r[n]) if n == "tier" else r[n] for n in names}) for r in rows)  # type: ignore[arg-type]
    return {row.op: row for row in found}


@cache
def measured_ulp() -> dict[tuple[str, str], float]:
    """The largest error found, in ULP, by function and compute kind ("f32", "f64")."""
    text = files("baracuda").joinpath("catalogue", "ulp.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {(name, kind): float(error) for name, kind, error in rows}


@dataclass(frozen=True)
class Alias:
    """A public name of a framework: the op that it is, or, where it is none, why not."""

    name: str
    op: str
    reason: str


@cache
def aliases() -> dict[str, Alias]:
    """Every public name of the frameworks (`torch.erf`, `jax.lax.erf`, `onnx.Erf`) by its full name."""
    text = files("baracuda").joinpath("catalogue", "names.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {name: Alias(name, op, reason) for name, op, reason in rows}
