"""`baracuda warm`."""

from __future__ import annotations

import time

import click

from baracuda.cli.console import BROKEN, OK, console, progress


@click.command(
    "warm",
    help="""Fill the cache of compiled kernels ahead, so that a first call need not wait for a compiler.

    OPS are functions, or "all". Without shapes their kernels are those of the sizes that `baracuda bench` measures, forward and
    backward, in every element; with shapes, those of one call of each, as in `baracuda inspect`. No GPU is needed. What is in
    the cache already is not compiled again.

    \b
    Examples:
      baracuda warm all --target sm_90
      baracuda warm softmax layer_norm gelu --target sm_90 --dtype bf16
      baracuda warm scaled_dot_product_attention --shape 4x32x4096x128 --dtype bf16 --target sm_90
      BARACUDA_CACHE_DIR=~/for-the-cluster baracuda warm all --target sm_100
      baracuda warm all --device cpu
    """,
)
@click.argument("ops", nargs=-1, required=True)
@click.option("--target", default="", help="A GPU's architecture: sm_80, sm_90, sm_90:78 (multiprocessors), ...")
@click.option("--device", default="", type=click.Choice(["", "cpu"]), metavar="cpu", help="This machine's CPU instead.")
@click.option("--dtype", "dtypes", multiple=True, help="Only this element: f32, bf16, ...; with shapes, theirs.")
@click.option("--shape", "shapes", multiple=True, metavar="SHAPE", help="As in `baracuda inspect`.")
@click.option("--backward", is_flag=True, help="With shapes: of the backward.")
@click.option("--with", "options", multiple=True, metavar="NAME=VALUE", help="With shapes: any other argument.")
def command(
    ops: tuple[str, ...],
    target: str,
    device: str,
    dtypes: tuple[str, ...],
    shapes: tuple[str, ...],
    backward: bool,
    options: tuple[str, ...],
) -> int:
    """Compile and say what there is now."""
    from baracuda.cli.inspection import option_of, tensor_of
    from baracuda.cli.listing import element_of
    from baracuda.cli.warming import warm
    from baracuda.runtime.cache import cache_info

    if bool(target) is bool(device):
        raise click.UsageError("expected --target, such as sm_90, or --device cpu")
    if shapes and len(dtypes) > 1:
        raise click.UsageError("--dtype: expected one for all shapes, or one behind each: 8192:s64")
    tensors = [tensor_of(shape, element_of(dtypes[0] if dtypes else "f32")) for shape in shapes]
    before, started = cache_info(), time.monotonic()
    if before.path is None:
        return BROKEN  # which a warning has said
    with progress() as bar:
        task = bar.add_task("compiling", total=None)
        result = warm(
            ops,
            target or device,
            tensors=tensors,
            elements=dtypes,
            backward=backward,
            options=dict(map(option_of, options)),
            tell=lambda count, of: bar.update(task, completed=count, total=of),
        )
    after, where = cache_info(), console()
    for line in result.refused:
        where.print(line, markup=False)
    seconds = time.monotonic() - started
    where.print(f"{result.plans} plans, {result.kernels} kernels for {target or 'this CPU'} in {seconds:.1f} s", markup=False)
    added, size = after.entries - before.entries, after.bytes / 1e6
    where.print(f"{added} of them new; {after.entries} entries, {size:.1f} MB in {after.path}", markup=False)
    return OK
