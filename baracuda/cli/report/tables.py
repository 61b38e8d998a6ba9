"""The tables of the page: the certificate, the errors in units in the last place, every measured problem, and where it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from baracuda.cli.bench.results import Results, Row
from baracuda.cli.report.markup import Markup, table, tag
from baracuda.cli.report.numbers import micro, ratio
from baracuda.cli.report.style import width

#: Broken promises that are listed.
LISTED = 50


def certificate(record: Mapping[str, Any]) -> Markup:
    """What one run of `baracuda verify` proved."""
    e = record["environment"]
    all_kept, complete = record["kept"], record["complete"]
    verdict = "Every promise is kept" if all_kept else f"{record['broken_promises']:,} promises are broken"
    verdict_text = (
        f"{verdict}: {record['plans']:,} plans, {record['cases']:,} cases, {record['checks']:,} checks, {record['elements']:,} "
        f"elements, of which {record['differing_elements']:,} differ. {e['device']}, {e['date']}."
    )
    children = [tag("p", tag("strong", verdict_text), class_="kept" if all_kept else "broken")]
    if not complete:
        children.append(tag("p", "The run was stopped before everything was tried.", class_="broken"))
    promises = list(record["promises"])
    rows = []
    for family, tallies in record["families"].items():
        cells: list[Markup | str] = [family.replace("_", " ")]
        for promise in promises:
            t = tallies.get(promise)
            if not t or not t["cases"]:
                cells.append("")
            elif t["broken"]:
                cells.append(tag("b", f"{t['cases'] - t['broken']:,} of {t['cases']:,}", class_="broken"))
            else:
                cells.append(f"{t['cases']:,}")
        rows.append(cells)
    children.append(table(["family", *promises], rows, caption=f"Cases in which each promise was kept, {e['device']}"))
    children.append(
        tag("dl", [part for p in promises for part in (tag("dt", p), tag("dd", record["promises"][p]))], class_="words")
    )
    if record["broken"]:
        listed = [tag("li", check["message"]) for check in record["broken"][:LISTED]]
        children.append(tag("ol", listed, class_="broken"))
    return tag("div", children)


def errors(ulp: Mapping[tuple[str, str], float]) -> Markup:
    """The largest error of every elementary function; 0.5 would be correct rounding."""
    names = list(dict.fromkeys(name for name, _ in ulp))
    rows = [[name, *(_error(ulp.get((name, kind))) for kind in ("f32", "f64"))] for name in names]
    return table(
        ["function", "f32", "f64"],
        rows,
        caption="Largest error measured, in units in the last place: 0.5 is correct rounding, red is above 1",
        class_="ulp",
    )


def _error(value: float | None) -> Markup:
    if value is None:
        return tag("span", "")
    bar = tag("i", class_=f"error {'over ' if value > 1 else ''}{width(value * 50)}")
    return tag("span", tag("span", f"{value:.3f}"), tag("span", bar, class_="gauge", aria_hidden="true"), class_="measured")


def measured(results: Sequence[Results]) -> Iterator[Markup]:
    """Every problem, a folded table for each suite."""
    for suite in dict.fromkeys(row.suite for r in results for row in r.rows):
        problems = [(row, r) for r in results for row in r.rows if row.suite == suite]
        rivals = sorted({label for row, _ in problems for label in row.ratios})
        head = ["problem", "plan", "checked with", "µs", "spread", "of floor", *(f"{label} / ours" for label in rivals)]
        rows = [_cells(row, r, rivals) for row, r in problems]
        measurements = table(head, rows, caption=f"{suite}: every problem", text_columns=3)
        yield tag("details", tag("summary", f"{suite}: {len(problems)} problems"), measurements)


def _cells(row: Row, r: Results, rivals: Sequence[str]) -> list[Markup | str]:
    low, middle, high = row.ours
    floor = f"{r.ceilings.fraction(row):.0%}" if r.ceilings.floor(row) else ""
    cells: list[Markup | str] = [
        row.name,
        row.schedule or row.backend,
        row.checked,
        tag("data", micro(middle), value=repr(middle)),
    ]
    cells += [f"{micro(low)} to {micro(high)}", floor]
    for label in rivals:
        cells.append(
            tag("data", ratio(row.ratios[label].median), value=repr(row.ratios[label].median)) if label in row.ratios else ""
        )
    return cells


def where(results: Sequence[Results], names: Sequence[str]) -> Markup:
    """Where and when each file was made."""
    children = []
    for name, r in zip(names, results, strict=True):
        failed = f", {len(r.failed)} failed" if r.failed else ""
        facts = {
            "device": r.heading,
            "problems": f"{len(r.rows):,}{failed}{'' if r.complete else '; stopped before everything was measured'}",
            "versions": ", ".join(f"{package} {v}" for package, v in r.environment["versions"].items()),
            "clocks": "; ".join(
                f"{when}: {', '.join(f'{k} {v:g}' for k, v in rates.items())}" for when, rates in r.clocks.items() if rates
            ),
        }
        words = [part for what, text in facts.items() if text for part in (tag("dt", what), tag("dd", text))]
        children.append(tag("div", tag("h3", name), tag("dl", words, class_="words")))
    return tag("div", children)
