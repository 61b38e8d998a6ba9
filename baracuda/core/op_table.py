"""The table of all ops of the field, with their names in each framework: `baracuda/catalogue/ops.tsv`, as data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

_CATALOGUE = Path(__file__).resolve().parent.parent / "catalogue"


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
def _lines() -> tuple[list[str], dict[str, list[str]]]:
    """The names of the columns, and the cells of each op."""
    names, *rows = (line.split("\t") for line in _text("ops").splitlines())
    return names, {cells[0]: cells for cells in rows}


def row(op: str) -> Row | None:
    """The row of an op; None where there is none."""
    names, ops = _lines()
    return _row(names, ops[op]) if op in ops else None


def _row(names: list[str], cells: list[str]) -> Row:
    named = dict(zip(names, cells, strict=True))
    return Row(**{f.name: int(named[f.name]) if f.name == "tier" else named[f.name] for f in fields(Row)})  # type: ignore[arg-type]


@cache
def table() -> dict[str, Row]:
    """Every row by the name of its op."""
    names, ops = _lines()
    return {op: _row(names, cells) for op, cells in ops.items()}


def _text(name: str) -> str:
    return (_CATALOGUE / f"{name}.tsv").read_text(encoding="utf-8")


@cache
def measured_ulp() -> dict[tuple[str, str], float]:
    """The largest error found, in ULP, by function and compute kind ("f32", "f64")."""
    text = _text("ulp")
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
    text = _text("names")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {name: Alias(name, op, reason) for name, op, reason in rows}
