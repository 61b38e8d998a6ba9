"""`baracuda.catalogue()`: what there is of every op of the field."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache

from baracuda.core.elements import ElementKind
from baracuda.core.op_table import Row, measured_ulp, table
from baracuda.frontends.families import function, ops
from baracuda.ops.op import Op
from baracuda.ops.op_plan import stem

#: Ops with plans written out by hand: their functions and plans.
_BY_HAND = {
    "softmax": "Softmax",
    "log_softmax": "Softmax",
    "rms_norm": "RMSNorm",
    "lerp": "BinaryParam",
    "alibi": "Alibi",
    "quantize_per_token": "QuantizePerToken",
    "dequantize_per_token": "DequantizePerToken",
}
_FLOATS = (ElementKind.F16, ElementKind.BF16, ElementKind.F32, ElementKind.F64)


@dataclass(frozen=True)
class Entry:
    """One op.

    Attributes
    ----------
    row
        Its line of the table: family, tier, names in other frameworks.
    function, backward
        Names of baracuda's functions; empty where there is none.
    plan
        Its plan class; its backward's is called the same with Backward before Plan.
    elements
        The elements that it takes.
    guarantee
        What its plans promise on every device.
    ulp
        The largest error measured of the elementary function that it is, by compute kind; empty for another op.
    doc
        The formula, in words.
    """

    row: Row
    function: str = ""
    backward: str = ""
    plan: str = ""
    elements: tuple[ElementKind, ...] = ()
    guarantee: str = ""
    ulp: tuple[tuple[str, float], ...] = ()
    doc: str = ""

    @property
    def present(self) -> bool:
        """Whether baracuda has it."""
        return bool(self.function)

    def names(self) -> tuple[str, ...]:
        """Every name it goes by."""
        r = self.row
        prefixes = {
            "torch": r.torch, "torch.nn.functional": r.nn_functional, "jax.lax": r.lax, "jax.numpy": r.jnp, "jax.nn": r.jax_nn,
            "scipy.special": r.scipy_special, "array_api": r.array_api, "onnx": r.onnx,
        }  # fmt: skip
        found = [f"{p}.{n}" for p, given in prefixes.items() for n in given.split(",") if n]
        return (r.op, *found)


def _declared(row: Row, op: Op) -> Entry:
    ulp = tuple((kind, measured_ulp()[row.op, kind]) for kind in ("f32", "f64") if (row.op, kind) in measured_ulp())
    return Entry(
        row,
        op.name,
        f"{op.name}_backward" if op.differentiable else "",
        f"{stem(op.name)}Plan",
        tuple(k for k in ElementKind if op.accepts(k) and k.bits >= 8),
        "same bits on every CPU and GPU",
        ulp,
        inspect.getdoc(function(op.name)) or "",
    )


@cache
def catalogue() -> tuple[Entry, ...]:
    """Every op of the field, in the order of the table; those that baracuda has say how.

    Examples
    --------
    >>> import baracuda
    >>> gelu = next(entry for entry in baracuda.catalogue() if entry.row.op == "gelu")
    >>> gelu.function, gelu.backward, "torch.nn.functional.gelu" in gelu.names()
    ('gelu', 'gelu_backward', True)
    """
    from baracuda.frontends import functional

    found = []
    for name, row in table().items():
        if name in ops():
            found.append(_declared(row, ops()[name]))
        elif name in _BY_HAND:
            doc = inspect.getdoc(getattr(functional, name)) or ""
            plan = f"{_BY_HAND[name]}Plan"
            found.append(Entry(row, name, f"{name}_backward", plan, _FLOATS, "same bits on every CPU and GPU", (), doc))
        else:
            found.append(Entry(row))
    return tuple(found)
