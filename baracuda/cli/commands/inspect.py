"""`baracuda inspect`."""

from __future__ import annotations

import ast
from typing import Any

import click

from baracuda.cli.console import OK, console, table
from baracuda.cli.files import as_json


@click.command(
    "inspect",
    help="""Show the kernels that a call of OP runs, without running it, and without a GPU.

    A shape is given for each tensor of the function, in order, or once for all of them; a tensor may have an element of its own
    behind a colon, ".T" exchanges the last two axes in memory, "scalar" stands for no axes, and "-" leaves a tensor out.

    \b
    Examples:
      baracuda inspect softmax --shape 8192x8192 --dtype bf16 --target sm_90
      baracuda inspect softmax --backward --shape 8192x8192 --target sm_90 --source
      baracuda inspect cross_entropy --shape 8192x32000 --shape 8192:s64 --target sm_80
      baracuda inspect sum --shape 4096x4096 --axis 0 --asm
      baracuda inspect matmul --shape 512x256 --shape 256x128.T --target sm_90 --ptx
      baracuda inspect group_norm --shape 8x64x32x32 --with num_groups=8
    """,
)
@click.argument("op")
@click.option("--shape", "shapes", multiple=True, required=True, metavar="SHAPE", help="8192x8192, 8192:s64, scalar or -.")
@click.option("--dtype", default="f32", show_default=True, help="The element of tensors that have none of their own.")
@click.option("--backward", is_flag=True, help="Of its backward, which takes cotangents first.")
@click.option("--axis", default="", help="The axis, or several: -1, or 0,2.")
@click.option("--with", "options", multiple=True, metavar="NAME=VALUE", help="Any other argument.")
@click.option("--target", default="cpu", show_default=True, help="cpu, or a GPU: sm_80, sm_90, sm_90:78 (multiprocessors), ...")
@click.option("--summary", "what", flag_value="summary", default=True, help="Schedules, geometry, registers, memory (default).")
@click.option("--source", "what", flag_value="source", help="CUDA C++ or LLVM IR.")
@click.option("--ptx", "what", flag_value="ptx", help="PTX.")
@click.option("--sass", "what", flag_value="sass", help="A GPU's machine code, by nvdisasm or cuobjdump.")
@click.option("--asm", "what", flag_value="asm", help="A processor's machine code.")
@click.option("--json", "what", flag_value="json", help="All but what takes a compiler, as JSON.")
def command(
    op: str,
    shapes: tuple[str, ...],
    dtype: str,
    backward: bool,
    axis: str,
    options: tuple[str, ...],
    target: str,
    what: str,
) -> int:
    """Find and print."""
    from baracuda.cli.inspection import inspected, option_of, tensor_of, text_of
    from baracuda.cli.listing import element_of
    from baracuda.core.errors import InvalidProblemError

    op_options = dict(map(option_of, options))
    if axis:
        try:
            op_options["axis"] = ast.literal_eval(axis)
        except (ValueError, SyntaxError):
            raise InvalidProblemError(f"axis: {axis!r}; expected an integer, or several with commas") from None
    tensors = [tensor_of(shape, element_of(dtype)) for shape in shapes]
    plans = inspected(op, tensors, target, backward=backward, options=op_options)
    kernels = [kernel for plan in plans for kernel in plan.kernels]
    if what == "json":
        click.echo(as_json([plan.record() for plan in plans]), nl=False)
    elif what == "summary":
        _summary(plans)
    else:
        mark = "//" if what in ("source", "ptx", "sass") and target != "cpu" else ";" if what == "source" else "#"
        for i, kernel in enumerate(kernels, 1):
            click.echo(f"{mark} kernel {i} of {len(kernels)}: {kernel.schedule}; {kernel.geometry}; {kernel.target}")
            click.echo(text_of(kernel, what))
    return OK


def _summary(plans: list[Any]) -> None:
    where, number = console(), 0
    for plan in plans:
        where.print(plan.plan, markup=False)
        where.print(f"backend {plan.backend}, {plan.workspace_bytes} bytes of workspace", markup=False)
        if not plan.kernels:
            where.print("no generated kernels\n")
            continue
        rich_table = table(
            ("", "right"), ("schedule", "left"), ("launch", "left"), ("registers", "right"), ("static shared", "right"),
            ("local", "right"), ("lines", "right"),
        )  # fmt: skip
        for kernel in plan.kernels:
            number += 1
            resources = kernel.resources
            sizes = (
                ("", "", "")
                if resources is None
                else map(str, (resources.registers, resources.shared_bytes, resources.local_bytes))
            )
            geometry = kernel.geometry + (", once in a process" if kernel.once else "")
            rich_table.add_row(str(number), kernel.schedule, geometry, *sizes, str(kernel.source.count("\n")))
        where.print(rich_table)
        where.print()
