"""Bars of how many times as long each rival takes, for every op, on a logarithmic scale around 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log2

from baracuda.cli.bench.results import DISTURBED, Results, geometric_mean
from baracuda.cli.report.markup import Markup, tag
from baracuda.cli.report.numbers import ratio
from baracuda.cli.report.style import left, width

#: The widest scale, in powers of two.
LEAST, MOST = -4, 6
#: The narrowest bar, in percent.
_THIN = 0.4
#: Bars that are shown without being asked for.
SHOWN = 40


@dataclass(frozen=True)
class Bar:
    """One op against one rival: the geometric mean over its problems, between the least and the greatest."""

    op: str
    family: str
    mean: float
    least: float
    most: float
    problems: int


def bars(results: Sequence[Results], rival: str) -> list[Bar]:
    """Every op that a rival was timed on, the best for us first."""
    grouped: dict[tuple[str, str], list[float]] = {}
    for r in results:
        for row in r.rows:
            value = row.ratios[rival].median if rival in row.ratios else 0.0
            if value > 0.0:
                name = f"{row.op}, host: {row.variant}" if row.suite == "launch" else row.op
                grouped.setdefault((name, row.family), []).append(value)
    op_bars = [Bar(op, fam, geometric_mean(v), min(v), max(v), len(v)) for (op, fam), v in grouped.items()]
    return sorted(op_bars, key=lambda bar: -bar.mean)


def rivals(results: Sequence[Results]) -> list[str]:
    """Everybody who was timed besides us."""
    return sorted({label for r in results for row in r.rows for label in row.ratios})


def disturbed(results: Sequence[Results], rival: str) -> int:
    """How many of the problems were timed while others used the processors."""
    return sum(rival in row.ratios and row.disturbance > DISTURBED for r in results for row in r.rows)


def chart(op_bars: Sequence[Bar], rival: str, numbers: Mapping[str, int]) -> Markup:
    """The bars of one rival: by family, then by op, those beyond the first ones folded away. `numbers` are those of the families'
    colours."""
    low = max(min(-1, floor(log2(min(b.mean for b in op_bars)))), LEAST)
    high = min(max(1, ceil(log2(max(b.mean for b in op_bars)))), MOST)
    families = _by_family(op_bars)
    mean = geometric_mean(b.mean for b in op_bars)
    slower = sum(b.mean < 0.95 for b in op_bars)
    caption = f"{len(op_bars)} ops, geometric mean {ratio(mean)}; {slower} below 0.95"
    children = [tag("p", caption, class_="soft"), _list(families, f"{rival}: time over ours, by family", low, high, numbers)]
    shown, folded = (op_bars, []) if len(op_bars) <= SHOWN else (op_bars[: SHOWN // 2], op_bars[SHOWN // 2 :])
    least = sorted(op_bars, key=lambda b: b.mean)[: SHOWN // 2][::-1] if folded else []
    if len(op_bars) > 1:
        children.append(_list(shown, f"{rival}: time over ours, {'the highest' if folded else 'by op'}", low, high, numbers))
    if folded:
        children.append(_list(least, f"{rival}: time over ours, the lowest", low, high, numbers))
        every = tag("summary", f"All {len(op_bars)} ops against {rival}")
        children.append(tag("details", every, _list(op_bars, f"{rival}: time over ours, by op", low, high, numbers)))
    return tag("div", children)


def _by_family(op_bars: Sequence[Bar]) -> list[Bar]:
    grouped: dict[str, list[Bar]] = {}
    for bar in op_bars:
        grouped.setdefault(bar.family, []).append(bar)
    family_bars = []
    for family, of in grouped.items():
        means = [b.mean for b in of]
        problems = sum(b.problems for b in of)
        family_bars.append(Bar(family.replace("_", " "), family, geometric_mean(means), min(means), max(means), problems))
    return sorted(family_bars, key=lambda bar: -bar.mean)


def _list(listed: Sequence[Bar], caption: str, low: int, high: int, numbers: Mapping[str, int]) -> Markup:
    """A table whose second column is drawn."""
    ticks = [
        tag("span", _tick(p), class_=f"{left(_place(2.0**p, low, high))}{' keep' if p % 2 == 0 else ''}")
        for p in range(low, high + 1)
    ]
    scale = tag("th", tag("div", ticks, class_="ticks"), scope="col", aria_label="bar")
    head = tag("tr", tag("th", "op", scope="col"), scale, tag("th", "times", scope="col", class_="n"))
    rows = [_row(bar, low, high, numbers) for bar in listed]
    return tag("table", tag("caption", caption), tag("thead", head), tag("tbody", rows), class_="bars")


def _tick(power: int) -> str:
    return str(2**power) if power >= 0 else f"1/{2**-power}"


def _place(value: float, low: int, high: int) -> float:
    """Where a ratio lies on the scale, in percent."""
    return 100.0 * (min(max(log2(value), low), high) - low) / (high - low)


def _row(bar: Bar, low: int, high: int, numbers: Mapping[str, int]) -> Markup:
    one, end = _place(1.0, low, high), _place(bar.mean, low, high)
    spread = ""
    if bar.problems > 1:
        a, b = _place(bar.least, low, high), _place(bar.most, low, high)
        spread = tag("i", class_=f"range {left(a)} {width(max(b - a, _THIN))}")
    caption = f"{bar.op}: {ratio(bar.mean)}"
    if bar.problems > 1:
        caption += f", {ratio(bar.least)} to {ratio(bar.most)} on {bar.problems} problems"
    inside = [
        tag("i", class_=f"one {left(one)}"),
        tag("i", class_=f"bar b-{numbers[bar.family]} {left(min(one, end))} {width(max(abs(end - one), _THIN))}"),
        spread,
    ]
    cell = tag("td", tag("div", inside, class_="track", title=caption))
    return tag(
        "tr", tag("th", bar.op, scope="row"), cell, tag("td", ratio(bar.mean), class_="n"), data_ratio=repr(round(bar.mean, 4)),
        data_op=bar.op,
    )  # fmt: skip
