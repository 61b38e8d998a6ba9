"""The page: what was read, put together."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from baracuda import __version__
from baracuda.cli.bench.results import KIND, WHERE, Results, geometric_mean
from baracuda.cli.files import read_json
from baracuda.cli.report import bars, colours, tables
from baracuda.cli.report.markup import Markup, tag
from baracuda.cli.report.numbers import ratio
from baracuda.cli.report.roofline import roofline
from baracuda.cli.report.style import style
from baracuda.cli.schema import check
from baracuda.core.errors import InvalidProblemError
from baracuda.core.op_table import measured_ulp

#: What stands first in every certificate, and what is read of one.
CERTIFICATE = "baracuda verify"
_CERTIFICATE = {
    **dict.fromkeys(("plans", "cases", "checks", "elements", "differing_elements", "broken_promises"), int),
    "environment": WHERE,
    "kept": bool,
    "complete": bool,
    "promises": {str: str},
    "families": {str: {str: {"cases": int, "broken": int}}},
    "broken": [{"message": str}],
}


@dataclass
class Inputs:
    """What the files hold: results and the names of their files, and certificates."""

    results: list[Results] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    certificates: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def devices(self) -> list[tuple[str, list[Results]]]:
        """The results of each device, GPUs first."""
        grouped: dict[str, list[Results]] = {}
        for r in sorted(self.results, key=lambda r: r.environment.get("kind") == "cpu"):
            grouped.setdefault(r.environment["device"], []).append(r)
        return list(grouped.items())


def read(paths: Sequence[Path]) -> Inputs:
    """The files' contents; a directory stands for those of its JSON files that the commands wrote, in the order of their names.
    Of a problem that was measured against the same rivals in several files of a device, the first counts.

    Raises `InvalidProblemError` for a file that none of the commands wrote, and where there is none.
    """
    inputs = Inputs()
    for path in paths:
        if path.is_dir():
            for file in sorted(path.glob("*.json")):
                _take(inputs, file)
        elif not _take(inputs, path):
            raise InvalidProblemError(
                f"{path}: neither results nor a certificate; expected a file of `baracuda bench` or `verify`"
            )
    if not (inputs.results or inputs.certificates):
        raise InvalidProblemError(f"{', '.join(map(str, paths))}: no results; expected files of `baracuda bench` or `verify`")
    _count_once(inputs.results)
    return inputs


def _count_once(results: Sequence[Results]) -> None:
    """Leave out of each file what one before it has with all of its rivals."""
    seen: dict[tuple[str, str, str], set[str]] = {}
    for r in results:
        rows = []
        for row in r.rows:
            rivals = seen.get((r.environment["device"], row.suite, row.name))
            if rivals is None or not rivals >= row.ratios.keys():
                seen.setdefault((r.environment["device"], row.suite, row.name), set()).update(row.ratios)
                rows.append(row)
        r.rows = rows


def _take(inputs: Inputs, path: Path) -> bool:
    """Add a file; whether it is one of ours."""
    held = read_json(path)
    if not isinstance(held, dict) or (held.get("kind") != KIND and held.get("certificate") != CERTIFICATE):
        return False
    try:
        if held.get("kind") == KIND:
            inputs.results.append(Results.of(held))
            inputs.names.append(path.name)
        else:
            check(held, _CERTIFICATE, "certificate")
            inputs.certificates.append(held)
    except InvalidProblemError as error:
        raise InvalidProblemError(f"{path}: {error}") from error
    return True


def page(inputs: Inputs) -> str:
    """The whole page."""
    names = list(dict.fromkeys(row.family for r in inputs.results for row in r.rows))
    palette = colours.families(sorted(names))
    sections = [s for s in _sections(inputs, colours.numbers(palette)) if s is not None]
    links = [tag("li", tag("a", title, href=f"#{key}")) for key, title, _ in sections]
    devices = " and ".join(name for name, _ in inputs.devices) or "no device"
    sheet = style(list(palette.values()))
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(sheet)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"baracuda on {devices}"),
        tag("style", sheet),
    ]
    body = [
        tag("header", tag("h1", f"baracuda {__version__} on {devices}"), tag("nav", tag("ul", links), aria_label="Contents")),
        tag("main", [tag("section", tag("h2", title, id=key), content) for key, title, content in sections]),
    ]
    return f"<!DOCTYPE html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"


def _policy(sheet: Markup) -> str:
    """Nothing is loaded or run, and no style counts but this sheet."""
    digest = b64encode(sha256(sheet.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


_Section = tuple[str, str, list[Markup]]


def _sections(inputs: Inputs, numbers: Mapping[str, int]) -> Iterator[_Section | None]:
    if inputs.results:
        yield "summary", "Summary", [_tiles(name, results) for name, results in inputs.devices]
        yield "roofline", "Roofline", list(_rooflines(inputs, numbers))
        yield "rivals", "Against other libraries", list(_rivals(inputs, numbers))
    if inputs.certificates:
        yield "bits", "The same bits", [tables.certificate(c) for c in inputs.certificates]
    yield "ulp", "Errors of the elementary functions", [tables.errors(measured_ulp())]
    if inputs.results:
        yield "measured", "Every measurement", list(tables.measured(inputs.results))
        yield "where", "Where", [tables.where(inputs.results, inputs.names), tag("p", _METHOD, class_="soft")]


_METHOD = (
    "Values are checked before anything is timed; outputs are poisoned first. Contenders take turns, each first in its turn; a "
    "time is the median of all rounds, its spread goes from the least 20th percentile of a pass to the greatest 80th. On a GPU "
    "events stand around each call and the device never waits for the host. Sets of tensors take turns, so that caches are cold. "
    "The floor of a problem is the longer of the times that its bytes take at the copy bandwidth and its operations at the "
    "product rate of the same run; a fused multiplication and addition counts two operations."
)


_ROOFLINE = (
    "Each mark is a problem: how many operations its formula asks for, for each byte that it must move, and how many it did in a "
    "second. The sloping line is the measured copy bandwidth, level lines are measured matrix products. Problems that compute "
    "next to nothing, copies and fills, and those of less than a megabyte are left out."
)


def _tiles(device: str, results: Sequence[Results]) -> Markup:
    """The figures that say most."""
    rows = [(row, r) for r in results for row in r.rows]
    shares = [r.ceilings.fraction(row) for row, r in rows if r.ceilings.floor(row) and row.nbytes > 50e6]
    tiles = [tag("li", tag("b", f"{len(rows):,}"), f"problems, {len({row.op for row, _ in rows})} ops")]
    if shares:
        tiles.append(tag("li", tag("b", f"{median(shares):.0%}"), "of the floor, the median of problems of 50 MB or more"))
    for rival in bars.rivals(results):
        values = [row.ratios[rival].median for row, _ in rows if rival in row.ratios and row.ratios[rival].median > 0]
        tiles.append(tag("li", tag("b", ratio(geometric_mean(values))), f"times the speed of {rival}, mean of {len(values):,}"))
    return tag("div", tag("h3", device), tag("ul", tiles, class_="tiles"))


def _rooflines(inputs: Inputs, numbers: Mapping[str, int]) -> Iterator[Markup]:
    for place, (device, results) in enumerate(inputs.devices):
        drawing = roofline(results, numbers, f"Roofline of {device}", place)
        if drawing is not None:
            yield tag("h3", device)
            yield drawing
    yield tag("p", _ROOFLINE, class_="soft")


def _rivals(inputs: Inputs, numbers: Mapping[str, int]) -> Iterator[Markup]:
    caption = (
        "The rival's time over ours, in one run: above 1 we are faster. A thin line goes from the least to the greatest problem."
    )
    yield tag("p", caption, class_="soft")
    for device, results in inputs.devices:
        for rival in bars.rivals(results):
            yield tag("h3", f"{rival} on {device}")
            busy = bars.disturbed(results, rival)
            if busy:
                warning = f"{busy} problems were timed while other processes used the processors; their ratios say little."
                yield tag("p", warning, class_="broken")
            yield bars.chart(bars.bars(results, rival), rival, numbers)
