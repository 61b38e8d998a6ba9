"""`baracuda report`: HTML that parses, loads nothing, can be read on any page, and says what the files say."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from baracuda.cli import main
from baracuda.cli.bench.results import FRESH, OURS, Ceilings, Ratio, Results, Row
from baracuda.cli.report import bars, colours
from baracuda.cli.report.markup import Markup, table, tag
from baracuda.cli.report.numbers import micro, number, ratio, si
from baracuda.cli.report.page import Inputs, page, read
from baracuda.cli.report.roofline import roofline
from baracuda.cli.report.style import STEPS, VERDICTS, left, style, width
from baracuda.core.errors import InvalidProblemError
from baracuda.core.op_table import measured_ulp

VOID = {"meta", "br", "hr"}
ENVIRONMENT = {
    "kind": "cuda",
    "device": "GPU <1>",
    "threads": None,
    "driver": "1.2",
    "date": "2026-01-01",
    "versions": {"torch": "2.1"},
}


def row(op: str, family: str, micros: float, times: float, element: str = "f32", **more: Any) -> Row:
    us = {OURS: (0.9 * micros, micros, 1.1 * micros), "torch": (micros * times,) * 3}
    ratios = {"torch": Ratio((times, times, times))}
    fields = {"nbytes": 1 << 28, "operations": 2.0**29, "checked": "float64 oracle", "backend": "formula-cuda", **more}
    return Row("families", op, family, element, "large", (8192, 8192), us, ratios=ratios, **fields)


ROWS = [row("exp", "unary", 70.125, 1.25), row("softmax", "softmax", 80.0, 3.5), row("softmax", "softmax", 40.0, 2.0, "bf16")]
CERTIFICATE = {
    "certificate": "baracuda verify", "environment": ENVIRONMENT, "complete": True, "kept": False, "plans": 12, "cases": 345,
    "checks": 6789, "elements": 1234567, "differing_elements": 8, "broken_promises": 1, "promises": {"value": "what it says"},
    "families": {"unary": {"value": {"cases": 40, "broken": 1, "elements": 5, "differing": 8, "skipped": 0}}},
    "broken": [{"message": "value broken: exp: case"}],
}  # fmt: skip


def results(*rows: Row) -> Results:
    ceilings = Ceilings(4e12, {"f32": 5e13, "bf16": 7e14})
    return Results(ENVIRONMENT, ("families",), {"before": {"clocks.sm": 1980.0}}, ceilings, list(rows), complete=True)


class Page(HTMLParser):
    """Elements, their attributes and text; raises where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> within {self.open}"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        wanted = {k.replace("_", "-").rstrip("-"): v for k, v in attributes.items()}
        return [a for t, a in self.elements if t == tag and all(a.get(k) == v for k, v in wanted.items())]


@pytest.fixture
def text() -> str:
    return page(Inputs([results(*ROWS)], ["families-gpu.json"], [CERTIFICATE]))


def test_the_page_parses_and_has_every_figure(text: str) -> None:
    parsed = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert parsed.all("html", lang="en")
    assert len(parsed.all("svg")) == 2  # for wide pages and for narrow ones
    assert all(a["role"] == "img" and a["aria-labelledby"] in parsed.ids for a in parsed.all("svg"))
    assert len(set(parsed.ids)) == len(parsed.ids)
    links = [str(a["href"]) for a in parsed.all("a")]
    assert links == ["#summary", "#roofline", "#rivals", "#bits", "#ulp", "#measured", "#where"]
    assert {link[1:] for link in links} <= set(parsed.ids)
    assert parsed.all("meta", name="viewport")
    captions = sum(t == "caption" for t, _ in parsed.elements)
    assert captions == len(parsed.all("table")) > 0


def test_nothing_is_loaded_from_anywhere(text: str) -> None:
    without = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<script|<link|<img|<iframe|\bsrc=", without)


def test_the_numbers_are_those_of_the_files(text: str) -> None:
    parsed = Page(text)
    by_op = {a["data-op"]: float(str(a["data-ratio"])) for a in parsed.all("tr") if "data-op" in a}
    assert by_op["exp"] == 1.25
    assert by_op["softmax"] == pytest.approx((3.5 * 2.0) ** 0.5, abs=1e-4)
    values = {float(str(a["value"])) for a in parsed.all("data")}
    assert values == {70.125, 80.0, 40.0, 1.25, 3.5, 2.0}
    words = " ".join(parsed.words)
    assert "1 promises are broken: 12 plans, 345 cases, 6,789 checks, 1,234,567 elements , of which 8 differ" in words.replace(
        "elements, ", "elements , "
    )
    assert "39 of 40" in words
    assert "value broken: exp: case" in words
    for error in measured_ulp().values():
        assert f"{error:.3f}" in words
    assert "clocks.sm 1980" in words
    assert "96%" in words  # 2^28 bytes at 4 TB/s are 67.1 us, of 70.1


def test_the_first_measurement_of_a_problem_counts(tmp_path: Path) -> None:
    again = row("exp", "unary", 90.0, 1.5)
    compiled = replace(again, ratios={"torch.compile": Ratio((1.1, 1.1, 1.1))})
    for name, rows in (("a", ROWS), ("b", [again, row("log", "unary", 50.0, 1.0)]), ("c", [compiled])):
        (tmp_path / f"{name}.json").write_text(json.dumps(results(*rows).record()))
    seen = [[(r.op, r.ours[1]) for r in result_files.rows] for result_files in read([tmp_path]).results]
    assert seen == [[("exp", 70.125), ("softmax", 80.0), ("softmax", 40.0)], [("log", 50.0)], [("exp", 90.0)]]


def test_what_is_text_stays_text(text: str) -> None:
    assert "GPU <1>" not in text
    assert "GPU &lt;1&gt;" in text
    assert tag("p", "a < b & c", title='"x"') == '<p title="&quot;x&quot;">a &lt; b &amp; c</p>'
    assert tag("p", [tag("b", "x"), "<"], None, class_="a", hidden=True, id=None) == '<p class="a" hidden><b>x</b>&lt;</p>'
    assert isinstance(tag("br"), Markup)
    assert "<td>&lt;</td>" in table(["a", "b"], [["x", "<"]], caption="c", text_columns=2)


def test_the_roofline_has_a_mark_for_each_problem() -> None:
    copies = row("copy", "unary", 60.0, 1.0, operations=1.0)
    small = row("small", "unary", 5.0, 1.0, nbytes=100, operations=1e5)
    drawn = roofline([results(*ROWS, copies, small)], {"unary": 0, "softmax": 1}, "Roofline")
    assert drawn is not None
    parsed = Page(drawn)
    marks = [a["data-name"] for t, a in parsed.elements if "data-name" in a]
    assert sorted(map(str, marks)) == sorted([r.name for r in ROWS] * 2)
    assert len(parsed.all("line", class_="roof")) == 2 * 3
    for circle in parsed.all("circle"):
        assert 0 <= float(str(circle["cx"])) <= 760
        assert 0 <= float(str(circle["cy"])) <= 470
    assert roofline([results(copies)], {}, "nothing") is None


def test_bars_are_sorted_and_grow_with_the_logarithm() -> None:
    op_bars = bars.bars([results(*ROWS)], "torch")
    assert [(b.op, b.problems, b.least, b.most) for b in op_bars] == [("softmax", 2, 2.0, 3.5), ("exp", 1, 1.25, 1.25)]
    two = [bars.Bar("a", "unary", 4.0, 4.0, 4.0, 1), bars.Bar("b", "unary", 0.5, 0.5, 0.5, 1)]
    chart = Page(bars.chart(two, "torch", {"unary": 3}))
    drawn = [str(a["class"]) for a in chart.all("i") if str(a["class"]).startswith("bar ")]
    third, rest = round(STEPS / 3), round(2 * STEPS / 3)  # from 1/2 to 4: 1 is a third of the way
    assert drawn[-2:] == [f"bar b-3 l{third} w{rest}", f"bar b-3 l0 w{third}"]
    many = [bars.Bar(f"op{i}", "unary", 2.0, 2.0, 2.0, 1) for i in range(bars.SHOWN + 1)]
    assert Page(bars.chart(many, "torch", {"unary": 0})).all("details")


def test_a_rival_against_fresh_results_is_counted() -> None:
    one = Row(
        "seeds",
        "exp",
        "unary",
        "f32",
        "large",
        (4,),
        {OURS: (1.0,) * 3, FRESH: (2.0,) * 3},
        ratios={"torch": Ratio((3.0,) * 3, FRESH)},
    )
    assert bars.rivals([results(one)]) == ["torch"]
    assert [b.mean for b in bars.bars([results(one)], "torch")] == [pytest.approx(3.0)]


def test_every_colour_can_be_told_from_the_page() -> None:
    names = [f"family{i}" for i in range(40)]
    for pair in colours.families(names).values():
        for colour, ground in zip(pair, (colours.LIGHT, colours.DARK), strict=True):
            assert colours.contrast(colour, ground["page"]) >= 3.0
    for ground, verdicts in zip((colours.LIGHT, colours.DARK), VERDICTS, strict=True):
        for name in ("text", "soft", "accent"):
            assert colours.contrast(ground[name], ground["page"]) >= 4.5
            assert colours.contrast(ground[name], ground["card"]) >= 4.5
        assert all(colours.contrast(v, ground["page"]) >= 4.5 for v in verdicts)
    assert colours.contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert colours.oklch(0.627955, 0.257683, 29.2339) == "#ff0000"


def test_numbers_for_people() -> None:
    assert [si(v) for v in (5.12e13, 1e9, 40, 0.5)] == ["51.2 T", "1 G", "40 ", "0.5 "]
    assert [number(v) for v in (100.0, 1.0, 0.01)] == ["100", "1", "0.01"]
    assert [micro(v) for v in (1234.5, 12.34, 1.234)] == ["1,234", "12.3", "1.23"]
    assert [ratio(v) for v in (123.4, 12.34, 1.234)] == ["123", "12.3", "1.23"]


#: What would run, load or change something if it came to stand in the page as it is.
HOSTILE = (
    "</style></title><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='x' }*{--c:url(//x)}/*\x00\ud800 javascript:"
)
KINDS: dict[str, Any] = {"results": json.loads(json.dumps(results(*ROWS).record())), "certificate": CERTIFICATE}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value within a JSON value, and with None at its end that of every name of an object."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in inner:
        yield (*path, step)
        yield from places(part, (*path, step))
        if isinstance(value, dict):
            yield (*path, step, None)


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(value: Any, path: tuple[Any, ...], to: Any) -> Any:
    """A JSON value with what stands at a place, or the name there, another one."""
    copied = json.loads(json.dumps(value))
    *way, last = path if path[-1] is not None else path[:-1]
    holder = at(copied, tuple(way))
    if path[-1] is None:
        holder[to] = holder.pop(last)
    else:
        holder[last] = to
    return copied


def harmless(html: str) -> None:
    """Fails where a page has an element, an attribute, a class or a rule that pages of ours do not have."""
    parsed = Page(html.encode().decode())  # it can be written
    assert not {t for t, _ in parsed.elements} & {"script", "img", "iframe", "object", "embed", "link", "base", "form"}
    names = {name for _, attributes in parsed.elements for name in attributes}
    assert not {n for n in names if n.startswith("on")} | (names & {"style", "src", "srcdoc", "action"})
    assert all(str(a["href"]).startswith("#") for _, a in parsed.elements if "href" in a)
    classes = {c for _, a in parsed.elements for c in str(a.get("class") or "").split()}
    assert all(re.fullmatch(r"[a-z]+(-text)?|[fb]-\d+|[lw]\d+", c) for c in classes)
    (sheet,) = re.findall(r"<style>(.*?)</style>", html, re.S)
    colours_used = len(re.findall(r"\.f-\d", sheet)) // 2  # by day and by night
    assert sheet == style(list(colours.families(map(str, range(colours_used))).values()))


TEXTS = [(k, p) for k, value in KINDS.items() for p in places(value) if p[-1] is None or isinstance(at(value, p), str)]


@pytest.mark.parametrize(("kind", "path"), TEXTS, ids=lambda v: ".".join(map(str, v)) if isinstance(v, tuple) else v)
def test_no_text_of_a_file_becomes_more_than_text(kind: str, path: tuple[Any, ...], tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_text(json.dumps(changed(KINDS[kind], path, HOSTILE)))
    try:
        html = page(read([file]))
    except InvalidProblemError:  # a name that must be there
        return
    harmless(html)


def test_every_text_at_once_and_the_name_of_the_file(tmp_path: Path) -> None:
    names = dict.fromkeys(("op", "family", "element", "schedule", "checked", "variant", "suite"), HOSTILE)
    file = tmp_path / "<img src=x onerror=alert(3)>.json"
    file.write_text(json.dumps(results(*(replace(r, **names) for r in ROWS)).record()))
    harmless(page(read([file])))


def test_the_policy_allows_this_style_sheet_and_nothing_else(text: str) -> None:
    (policy,) = (str(a["content"]) for a in Page(text).all("meta", http_equiv="Content-Security-Policy"))
    sheet = text[text.index("<style>") + 7 : text.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert text.index("Content-Security-Policy") < text.index("<title>")
    harmless(text)


def test_every_place_and_width_has_its_rule() -> None:
    sheet = style([])
    for percent in (0.0, 0.1, 33.3, 100.0, -5.0, 250.0):
        assert re.search(rf"\.{left(percent)}\{{left:[0-9.]+%\}}", sheet)
        assert re.search(rf"\.{width(percent)}\{{width:[0-9.]+%\}}", sheet)
    assert f".{left(50.0)}{{left:50%}}" in sheet


@pytest.mark.parametrize(
    "wrong",
    [None, [], {}, "text", True, -1, float("nan"), 10**400, 1e300, {"a": 1}],
    ids=["null", "list", "object", "text", "true", "negative", "nan", "huge", "large", "filled object"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_value_anywhere_is_an_error_with_a_name_or_does_not_matter(kind: str, wrong: Any, tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    messages = []
    for path in places(KINDS[kind]):
        if path[-1] is None:
            continue
        file.write_text(json.dumps(changed(KINDS[kind], path, wrong)))
        try:
            Page(page(read([file])))
        except InvalidProblemError as error:
            messages.append(str(error))
    assert len(messages) > 5
    assert all(m.startswith(str(file)) and "\n" not in m for m in messages)


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"", b"1" * 10_000, b"null", b'"baracuda bench"',
        b'{"kind": ["baracuda bench"]}', b'{"kind": "baracuda bench"}', b'{"certificate": "baracuda verify"}',
    ],
)  # fmt: skip
def test_a_file_that_is_none_of_ours_is_a_line(raw: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(raw)
    for arguments in (["report", str(file)], ["bench", "launch", "--quick", "--compare", str(file)]):
        assert main(arguments) == 1
        said = capsys.readouterr().err
        assert said.startswith("InvalidProblemError: ")
        assert said.count("\n") == 1


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "families-gpu.json").write_text(json.dumps(results(*ROWS).record()))
    (folder / "certificate.json").write_text(json.dumps(CERTIFICATE))
    (folder / "something-else.json").write_text("{}")
    out = tmp_path / "page" / "report.html"
    assert main(["report", str(folder), "--out", str(out)]) == 0
    assert "3 measurements, 1 certificates" in capsys.readouterr().out
    Page(out.read_text())
    with pytest.raises(InvalidProblemError, match="neither results nor a certificate"):
        read([folder / "something-else.json"])
    (tmp_path / "no.json").write_text("no")
    with pytest.raises(InvalidProblemError, match="expected JSON"):
        read([tmp_path / "no.json"])
    with pytest.raises(InvalidProblemError, match="no results"):
        read([out.parent])


def test_the_committed_results_make_a_page() -> None:
    inputs = read([Path(__file__).resolve().parents[2] / "benchmarks" / "results"])
    assert inputs.results
    Page(page(inputs))
