"""Writes docs/performance.md, docs/performance-families.md and the performance table of the README from the committed results.

python -m tools.make_performance
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from baracuda.cli.bench.results import KIND, Results, Row, geometric_mean

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
#: What the sentence encoder's contenders are.
_DEMO = (
    "*reproducible* has the bits of every other machine, *fast* takes cuBLASLt and cuDNN, *recorded* is launched as one graph by "
    "`baracuda.record`; tokens are on the device, the clock stops when the last embedding is there"
)
START, END = "<!-- performance -->", "<!-- /performance -->"
#: The GPU whose results the tables show.
GPU = "h200"
#: Calls that move less than this are too short to say anything about bandwidth.
LARGE_BYTES = 50e6
#: A rival that returns a view of its argument takes no time: below this ratio nothing was computed.
NOTHING = 0.01

Measured = list[tuple[Row, Results]]
Table = Sequence[Sequence[str]]


def load(pattern: str) -> list[tuple[str, Results]]:
    """The results of every file of `baracuda bench` of such a name."""
    records = ((path.name, _record(path)) for path in sorted(RESULTS.glob(f"{pattern}.json")))
    return [(name, Results.of(record)) for name, record in records if record.get("kind") == KIND]


@cache
def _record(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def of_suite(suite: str, device: str) -> Measured:
    """Every row of a suite, whatever it was run with."""
    return [pair for pair in rows(load(f"*-{device}*")) if pair[0].suite == suite]


def rows(files: Iterable[tuple[str, Results]]) -> Measured:
    """Every row, with the results that it stands in; of a problem in several files, the first by name, with all its rivals."""
    by_name: dict[tuple[str, str], tuple[Row, Results]] = {}
    for _, results in files:
        for row in results.rows:
            by_name.setdefault((row.suite, row.name), (row, results))
    return list(by_name.values())


def ratios(measured: Measured, rival: str) -> list[float]:
    medians = (row.ratios[rival].median for row, _ in measured if rival in row.ratios)
    return [r for r in medians if r > NOTHING]


def markdown(head: Sequence[str], body: Table) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])


def share(row: Row, results: Results) -> str:
    """How near a row is to its floor."""
    return f"{results.ceilings.fraction(row):.0%}" if results.ceilings.floor(row) else ""


def figure(row: Row | None, rival: str) -> str:
    return f"{row.ratios[rival].median:.2f}" if row is not None and rival in row.ratios else ""


def figures(measured: Measured, rival: str) -> list[str]:
    """Mean, least, and how many are below 0.95."""
    against = ratios(measured, rival)
    if not against:
        return ["", "", ""]
    return [f"{geometric_mean(against):.2f}", f"{min(against):.2f}", str(sum(r < 0.95 for r in against))]


def grouped(measured: Measured, key: Callable[[Row], str]) -> dict[str, Measured]:
    groups: dict[str, Measured] = {}
    for row, results in measured:
        groups.setdefault(key(row), []).append((row, results))
    return groups


def certificate() -> str:
    """What `baracuda verify` found on the GPU: in everything, and last in one case of each op."""
    return " ".join(_certificate(f"{name}-{GPU}.json") for name in ("verify", "verify-quick"))


def _certificate(name: str) -> str:
    record: dict[str, Any] = json.loads((RESULTS / name).read_text())
    extent = "one case of each op" if record["selection"]["quick"] else "everything"
    where, promises = record["environment"], record["promises"].values()
    differing = ", ".join(sorted({broken["plan"] for broken in record["broken"]})) or "none"
    return (
        f"`baracuda verify` on {where['device']}, driver {where['driver']}, {where['date']}, "
        f"arithmetic version {where['versions']['arithmetic']}, {extent}{'' if record['complete'] else ', stopped early'}: "
        f"{record['plans']} plans, {record['cases']:,} cases, "
        f"{record['checks']:,} checks of {len(promises)} promises, among them the reference hashes that every machine must meet; "
        f"{record['elements']:,} elements, of which {record['differing_elements']:,} differ (plans: {differing})."
    )


def median_share(measured: Measured) -> str:
    shares = [r.ceilings.fraction(row) for row, r in measured if row.nbytes > LARGE_BYTES and r.ceilings.floor(row)]
    return f"{median(shares):.0%}" if shares else ""


# --- the README -------------------------------------------------------------------------------------------------------


def suites(device: str) -> Table:
    """One line a suite; one a guarantee and an element where plans of several were measured."""

    def line(row: Row) -> str:
        return f"{row.suite}, {row.variant}, {row.element}" if row.variant in ("reproducible", "fastest") else row.suite

    body = []
    for suite in ("seeds", "families", "large", "gemm", "attention"):
        for name, measured in grouped(of_suite(suite, device), line).items():
            eager, compiled = ratios(measured, "torch"), ratios(measured, "torch.compile")
            cells = [f"{geometric_mean(shares):.2f}" if shares else "" for shares in (eager, compiled)]
            body.append([name, str(len(measured)), median_share(measured), *cells])
    return body


def seeds_table() -> str:
    """The large contiguous shapes of the plans written out by hand: one line an op, bf16 and f32 side by side."""
    measured = [pair for pair in rows(load(f"seeds-{GPU}*")) if pair[0].shape_class in ("square", "attention")]
    body = []
    for op, rows_of_op in grouped(measured, lambda row: row.op).items():
        by = {row.element: (row, r) for row, r in rows_of_op}
        cells = [c for e in ("bf16", "f32") for c in ((share(*by[e]), figure(by[e][0], "torch")) if e in by else ("", ""))]
        body.append([op, *cells])
    head = ["op", "bf16: of floor", "bf16: times torch eager", "f32: of floor", "f32: times torch eager"]
    return markdown(head, body)


#: Functions that give back their argument in PyTorch, and copy it here.
NO_WORK = frozenset(["conj", "positive", "real", "resolve_conj", "resolve_neg"])


def calls() -> str:
    """What calls cost the host, as ratios of PyTorch's own time."""
    body = []
    for path in sorted(RESULTS.glob("calls-*.json"), reverse=True):
        record = _record(path)
        measured = [r for r in record["microseconds"] if r["name"] not in NO_WORK]
        for kind_of_tensors, tensors in (("ours", "PyTorch's"), ("arrays", "NumPy's" if "cpu" in path.name else "our own")):
            by_name = {r["name"]: r[kind_of_tensors] / r["torch"] for r in measured if r[kind_of_tensors] is not None}
            forward = [v for n, v in by_name.items() if not n.endswith("_backward")]
            backward = [v for n, v in by_name.items() if n.endswith("_backward")]
            above = sorted(((v, n) for n, v in by_name.items() if v > 1.5), reverse=True)
            means = (f"{geometric_mean(part):.2f}" for part in (list(by_name.values()), forward, backward))
            names = ", ".join(f"{n} {v:.1f}" for v, n in above)
            body.append([record["environment"]["device"], tensors, str(len(by_name)), *means, names or "none"])
    return markdown(["device", "tensors", "functions", "all", "forward", "backward", "above 1.5"], body)


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate:,.0f}"


def encoder(device: str) -> str:
    """Sentences a second of the sentence encoder: one line an element and a size of batches."""
    runs = json.loads((RESULTS / f"encoder-{device}.json").read_text())["rows"]
    names = list(dict.fromkeys(name for run in runs for name in run["sentences_per_second"]))
    body = [[run["dtype"], str(run["batch"]), *(_rate(run["sentences_per_second"].get(name)) for name in names)] for run in runs]
    return markdown(["element", "batch", *names], body)


def readme() -> str:
    files = load(f"seeds-{GPU}*")
    head = ["suite", "problems", "of floor, median", "times torch eager, mean", "times torch.compile, mean"]
    parts = [f"{files[0][1].heading}.", markdown(head, suites(GPU))]
    on_cpu = suites("cpu")
    if on_cpu:
        where = load("*-cpu*")[0][1].heading
        parts += [f"{where}, PyTorch with as many threads, results made in each call:", markdown(head, on_cpu)]
    encoders = [
        f"Sentences a second of all-MiniLM-L6-v2 on the GPU ({_DEMO}):",
        encoder(GPU),
        "and on the CPU:",
        encoder("cpu"),
    ]
    sentence = "The plans written out by hand on the GPU, 8192×8192, ALiBi 8×8×1024×1024; every operand counted once:"
    rival = "a ratio to PyTorch's own function (of a backward: to `torch.autograd.grad`)"
    costs = f"What a call costs the host on 1,024 elements, as {rival}:"
    return "\n\n".join([*parts, sentence, seeds_table(), costs, calls(), *encoders, f"The same bits: {certificate()}"])


# --- docs/performance.md ----------------------------------------------------------------------------------------------


def every(measured: Measured) -> str:
    """One line a problem."""
    rivals = sorted({rival for row, _ in measured for rival in row.ratios})
    head = ["problem", "plan", "µs", "spread", "of floor", *(f"times {rival}" for rival in rivals)]
    body = []
    for row, results in measured:
        low, middle, high = row.ours
        times = [f"{middle:,.1f}", f"{low:,.1f} to {high:,.1f}", share(row, results)]
        body.append([row.name, row.schedule or row.backend, *times, *(figure(row, rival) for rival in rivals)])
    return markdown(head, body)


def performance() -> str:
    parts = [
        "# Performance",
        "Written by `python -m tools.make_performance` from `benchmarks/results`. The columns are explained there.",
    ]
    for suite in ("seeds", "gemm", "attention", "demo", "launch", "large"):
        measured = of_suite(suite, GPU)
        if measured:
            parts += [f"## {suite}", f"{measured[0][1].heading}.", every(measured)]
    head = [
        "run",
        "problems",
        "elements",
        "into given results: mean",
        "least",
        "below 0.95",
        "new results: mean",
        "least",
        "below 0.95",
    ]
    body = []
    for name, results in load("seeds-cpu*"):
        measured = [(row, results) for row in results.rows]
        elements = ", ".join(sorted({row.element for row in results.rows}))
        with_out, fresh = figures(measured, "torch out="), figures(measured, "torch")
        body.append([f"[{name}](../benchmarks/results/{name})", str(len(measured)), elements, *with_out, *fresh])
    parts += ["## CPU", "PyTorch's time over ours, as many threads each, on a shared machine.", markdown(head, body)]
    return "\n\n".join([*parts, "## Bits", certificate()]) + "\n"


# --- docs/performance-families.md -------------------------------------------------------------------------------------


def by_family(measured: Measured, rival: str) -> str:
    head = ["family", "problems", "of floor, median", f"times {rival}", "least", "below 0.95"]
    groups = {"all": measured, **grouped(measured, lambda row: row.family)}
    return markdown(head, [[name, str(len(of)), median_share(of), *figures(of, rival)] for name, of in groups.items()])


def each_op(measured: Measured, compiled: Measured) -> str:
    fast = {row.name: row for row, _ in compiled}
    body = []
    for op, rows_of_op in grouped(measured, lambda row: row.op).items():
        cells = [op]
        for element in ("f32", "bf16"):
            row, results = next(((row, r) for row, r in rows_of_op if row.element == element), (None, None))
            near = share(row, results) if row is not None and results is not None else ""
            quick = fast.get(row.name) if row is not None else None
            cells += [near, figure(row, "torch"), figure(quick, "torch.compile")]
        body.append(cells)
    head = ["op", *(f"{e}: {what}" for e in ("f32", "bf16") for what in ("of floor", "times eager", "times compiled"))]
    return markdown(head, body)


def families() -> str:
    gpu = load(f"families-{GPU}*")
    measured = [pair for pair in rows(gpu) if pair[0].suite == "families"]
    compiled = [pair for pair in measured if "torch.compile" in pair[0].ratios]
    cpu = load("families-cpu*")
    gains = ratios(compiled, "torch.compile")
    against = (
        f"geometric mean {geometric_mean(gains):.2f}, median {median(gains):.2f}, {sum(r < 0.95 for r in gains)} below 0.95"
        if gains
        else "not measured"
    )
    return "\n\n".join([
        "# Performance of the declared ops",
        "Written by `python -m tools.make_performance` from `benchmarks/results/families-*.json`. A problem is an op, forward\n"
        "or backward, in one element; *of floor* is the least time that its bytes and operations take over its time, *times* is\n"
        "PyTorch's time over ours, a geometric mean over problems: that of its function where it has one, else of what its user\n"
        "would write in several calls.",
        f"## {GPU.upper()}\n\n{gpu[0][1].heading}.",
        by_family(measured, "torch"),
        f"Against torch.compile, {len(gains)} problems: {against}. Where a function takes more than about thirty operations,\n"
        "16-bit elements are bound by arithmetic: PyTorch's approximate instructions are faster there, and not the same on\n"
        "every device. The backward of `frac`, `round` and other such ops is a constant or a copy in PyTorch, which returns the\n"
        "gradient itself or a broadcast of it.",
        f"## CPU\n\n{cpu[0][1].heading}, PyTorch with as many threads.",
        by_family(rows(cpu), "torch"),
        f"## Bits\n\n{certificate()}",
        f"## Each op on {GPU.upper()}",
        each_op(measured, compiled),
    ]) + "\n"  # fmt: skip


def main() -> None:
    """Write all three."""
    text = (ROOT / "README.md").read_text()
    before, rest = text.split(START)
    after = rest.split(END)[1]
    (ROOT / "README.md").write_text(f"{before}{START}\n{readme()}\n{END}{after}")
    (ROOT / "docs" / "performance.md").write_text(performance())
    (ROOT / "docs" / "performance-families.md").write_text(families())


if __name__ == "__main__":
    main()
