"""The roofline plot: operations in a second over operations for each byte, both logarithmic, under what the device can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import atan, ceil, degrees, floor, log10

from baracuda.cli.bench.results import Results, Row
from baracuda.cli.report.markup import Markup, tag
from baracuda.cli.report.numbers import number, si

#: Operations for each byte below which a problem computes next to nothing: a copy, or a fill.
LEAST = 1 / 32
#: Bytes below which a problem's time is that of a launch.
LEAST_BYTES = 1e6
#: The mark of each element: a circle, a square, a diamond, a triangle.
MARKS = {"f32": "circle", "bf16": "square", "f16": "diamond", "f64": "triangle"}


@dataclass(frozen=True)
class Frame:
    """A drawing's size and its scales, in powers of ten."""

    width: int
    height: int
    text: int
    x: tuple[float, float]
    y: tuple[float, float]
    left: int = 52
    bottom: int = 40
    top: int = 12
    right: int = 20

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the plot lies in the drawing."""
        across = (log10(x) - self.x[0]) / (self.x[1] - self.x[0])
        up = (log10(y) - self.y[0]) / (self.y[1] - self.y[0])
        return (
            round(self.left + across * (self.width - self.left - self.right), 1),
            round(self.height - self.bottom - up * (self.height - self.top - self.bottom), 1),
        )


def rows_of(results: Sequence[Results]) -> list[tuple[Row, Results]]:
    """What can be drawn: what computes something, of more than a few bytes."""
    rows = [(row, r) for r in results for row in r.rows if row.nbytes >= LEAST_BYTES]
    return [(row, r) for row, r in rows if row.operations / row.nbytes >= LEAST]


def roofline(results: Sequence[Results], numbers: Mapping[str, int], title: str, place: int = 0) -> Markup | None:
    """The plot of one device's results, for wide and for narrow pages; None where there is nothing to draw. `numbers` are those
    of the families' colours, `place` that of the plot on its page."""
    points = rows_of(results)
    if not points:
        return None
    x = [row.operations / row.nbytes for row, _ in points]
    y = [row.operations / row.seconds for row, _ in points]
    copy = max(r.ceilings.copy_bandwidth for r in results)
    peaks: dict[str, float] = {}
    for r in results:
        for element, rate in r.ceilings.products.items():
            peaks[element] = max(peaks.get(element, 0.0), rate)
    across = (floor(log10(min(x)) - 0.1), ceil(log10(max(x)) + 0.1))
    up = (floor(log10(min(y)) - 0.1), ceil(log10(max([*y, *peaks.values()])) + 0.1))
    wide = _drawing(Frame(760, 470, 12, across, up), points, copy, peaks, numbers, title, place, "wide")
    narrow = _drawing(Frame(380, 430, 12, across, up), points, copy, peaks, numbers, title, place, "narrow")
    return tag("figure", wide, narrow, _legend(points, numbers), class_="plot")


def _drawing(
    frame: Frame,
    points: Sequence[tuple[Row, Results]],
    copy: float,
    peaks: Mapping[str, float],
    numbers: Mapping[str, int],
    title: str,
    place: int,
    class_: str,
) -> Markup:
    key = f"plot-{place}-{class_}"
    nodes = [tag("title", title, id=key), *_grid(frame), *_roofs(frame, copy, peaks)]
    nodes += [_point(frame, row, results, numbers[row.family]) for row, results in points]
    return tag(
        "svg", nodes, viewBox=f"0 0 {frame.width} {frame.height}", role="img", aria_labelledby=key, class_=f"roofline {class_}",
        xmlns="http://www.w3.org/2000/svg",
    )  # fmt: skip


def _grid(f: Frame) -> Iterator[Markup]:
    low, high = f.height - f.bottom, f.top
    for power in range(ceil(f.x[0]), floor(f.x[1]) + 1):
        x, _ = f.at(10.0**power, 10.0 ** f.y[0])
        yield tag("line", x1=x, x2=x, y1=low, y2=high, class_="grid")
        yield tag("text", number(10.0**power), x=x, y=low + f.text + 4, text_anchor="middle")
    for power in range(ceil(f.y[0]), floor(f.y[1]) + 1):
        _, y = f.at(10.0 ** f.x[0], 10.0**power)
        yield tag("line", x1=f.left, x2=f.width - f.right, y1=y, y2=y, class_="grid")
        yield tag("text", si(10.0**power), x=f.left - 6, y=y + 4, text_anchor="end")
    yield tag("text", "operations for each byte", x=(f.left + f.width - f.right) / 2, y=f.height - 6, text_anchor="middle")
    yield tag("text", "operations a second", x=f.left + 6, y=f.top + f.text)


def _roofs(f: Frame, copy: float, peaks: Mapping[str, float]) -> Iterator[Markup]:
    """The bandwidth's slope, up to the highest product rate, and a level line for each product rate."""
    left, right = 10.0 ** f.x[0], 10.0 ** f.x[1]
    top, bottom = max(peaks.values(), default=10.0 ** f.y[1]), 10.0 ** f.y[0]
    if copy:
        ends = [
            (max(left, bottom / copy), max(left, bottom / copy) * copy),
            (min(right, top / copy), min(right, top / copy) * copy),
        ]
        (x1, y1), (x2, y2) = (f.at(*end) for end in ends)
        what = f"copy bandwidth {copy / 1e9:,.0f} GB/s"
        yield tag("line", tag("title", what), x1=x1, y1=y1, x2=x2, y2=y2, class_="roof")
        slope = (y2 - y1) / (x2 - x1) if x2 != x1 else 0.0
        x, y = x1 + 0.35 * (x2 - x1), y1 + 0.35 * (y2 - y1) - 7
        turn = f"rotate({degrees(atan(slope)):.1f} {x:.1f} {y:.1f})"
        yield tag("text", what, x=round(x, 1), y=round(y, 1), transform=turn, text_anchor="middle", class_="roof-text")
    above = 0.0  # where the next higher level is, or the top of the page
    for element, rate in sorted(peaks.items(), key=lambda pair: -pair[1]):
        begin = min(max(rate / copy, left), right) if copy else left
        (x1, y), (x2, _) = f.at(begin, rate), f.at(right, rate)
        what = f"{element} product {si(rate)}"
        text_y = y - 5 if y - above > f.text + 6 else y + f.text + 2
        above = y
        yield tag("line", tag("title", what), x1=x1, y1=y, x2=x2, y2=y, class_="roof")
        yield tag("text", what, x=x2 - 4, y=text_y, text_anchor="end", class_="roof-text")


def _point(f: Frame, row: Row, results: Results, colour: int) -> Markup:
    x, y = f.at(row.operations / row.nbytes, row.operations / row.seconds)
    share = f", {results.ceilings.fraction(row):.0%} of its floor" if results.ceilings.floor(row) else ""
    label = tag("title", f"{row.name}: {row.ours[1]:,.1f} us, {si(row.operations / row.seconds)}op/s{share}")
    attributes: dict[str, object] = {"class_": f"point f-{colour}", "data_name": row.name}
    mark = MARKS.get(row.element, "circle")
    if mark == "circle":
        return tag("circle", label, cx=x, cy=y, r=3, **attributes)
    shape = {
        "square": "M-2.8-2.8h5.6v5.6h-5.6z",
        "diamond": "M0-3.8l3.8 3.8-3.8 3.8-3.8-3.8z",
        "triangle": "M0-3.6l3.6 6.4h-7.2z",
    }
    return tag("path", label, d=shape[mark], transform=f"translate({x} {y})", **attributes)


def _legend(points: Sequence[tuple[Row, Results]], numbers: Mapping[str, int]) -> Markup:
    families = {row.family for row, _ in points}
    marks = {MARKS.get(row.element, "circle"): row.element for row, _ in points}
    swatches = [
        tag("span", tag("i", class_=f"swatch b-{n}"), name.replace("_", " ")) for name, n in numbers.items() if name in families
    ]
    shapes = ", ".join(f"{mark}: {element}" for mark, element in marks.items())
    return tag("figcaption", tag("span", swatches, class_="legend"), tag("span", f"Marks: {shapes}.", class_="soft"))
