"""`baracuda list`."""

from __future__ import annotations

from typing import Any

import click
from rich.markup import escape

from baracuda.cli.console import BROKEN, OK, console, table
from baracuda.cli.files import as_json
from baracuda.core.sku import PROMISES, BackendKind

BACKENDS = tuple(map(str, BackendKind))


@click.command(
    "list",
    help="""Find ops by family, element, backend, guarantee, or by name in any framework.

    NAME is an op's name or a part of it, or its name elsewhere: torch.nn.functional.gelu, F.gelu, jnp.tanh, lax.erf, onnx.Gelu.
    The exit status is 1 where nothing fits.

    \b
    Examples:
      baracuda list
      baracuda list torch.nn.functional.gelu
      baracuda list --family softmax --dtype bf16
      baracuda list norm --guarantee batch_invariant
      baracuda list --backend formula-cuda --json > ops.json
    """,
)
@click.argument("name", default="")
@click.option("--family", default="", help="Only this family.")
@click.option("--dtype", "element", default="", help="Only ops that take this element: f32, bfloat16, complex64, ...")
@click.option(
    "--backend", default="", type=click.Choice(["", *map(str, BackendKind)]), metavar="BACKEND", help="Only this backend."
)
@click.option("--guarantee", "promises", multiple=True, type=click.Choice(list(PROMISES)), help="Only ops that promise this.")
@click.option("--all", "absent", is_flag=True, help="Ops that baracuda does not have yet as well.")
@click.option("--json", "to_stdout", is_flag=True, help="Print everything known of each op, as JSON.")
def command(name: str, family: str, element: str, backend: str, promises: tuple[str, ...], absent: bool, to_stdout: bool) -> int:
    """Find and print."""
    from baracuda.cli.listing import elements_summary, find, near, out_of_scope

    entries = find(name, family=family, element=element, backend=backend, promises=promises, absent=absent)
    if to_stdout:
        click.echo(as_json([one.record() for one in entries]), nl=False)
        return OK if entries else BROKEN
    where = console()
    if not entries:
        known = out_of_scope(name) if name else None
        if known is not None:
            where.print(f"{known.name} is no op: {known.reason or 'out of scope'}", markup=False)
        else:
            where.print("nothing fits" + (f" {name!r}" if name else ""), markup=False)
            similar = near(name) if name else []
            if similar:
                where.print(f"near it: {', '.join(similar)}", markup=False)
        return BROKEN
    rich_table = table(
        ("op", "left"), ("family", "left"), ("function, backward", "left"), ("elements", "left"), ("promises", "left")
    )
    for one in entries:
        e = one.entry
        functions = ", ".join(n for n in (e.function, e.backward) if n) if e.present else "[dim]not yet[/dim]"
        letters = "".join(PROMISES[p] for p in one.promises)
        rich_table.add_row(e.row.op, e.row.family, functions, elements_summary(e.elements), letters)
    where.print(rich_table)
    if len(entries) == 1:
        _details(entries[0].record())
    else:
        where.print(
            f"\n{len(entries)} ops; promises: {', '.join(f'{letter} {p}' for p, letter in PROMISES.items())}", markup=False
        )
    return OK


def _details(record: dict[str, Any]) -> None:
    """Everything else that is known of the one op that was found."""
    where = console()
    where.print(f"\n{record['doc']}\n", markup=False)
    ulp = ", ".join(f"{kind} {error:.2f}" for kind, error in record["ulp"].items())
    rows = {"plan": record["plan"], "backends": ", ".join(record["backends"]), "ULP": ulp, "names": ", ".join(record["names"])}
    for what, text in rows.items():
        if text:
            where.print(f"[bold]{what}[/bold] {escape(text)}")
