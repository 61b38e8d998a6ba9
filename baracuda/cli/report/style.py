"""The page's style sheet: one column on a phone, light and dark, and for print always light."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.cli.report.colours import DARK, LIGHT
from baracuda.cli.report.markup import Markup

_RULES = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:66rem;padding:1.25rem 1rem 4rem;background:var(--page);color:var(--text);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .25rem}
h2{font-size:1.25rem;margin:2.5rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.5rem 0 .25rem}
p{margin:.5rem 0;max-width:46rem}
a{color:var(--accent)}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:.75rem 0}
.soft,caption,.words{color:var(--soft);font-size:.875rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;padding:0;margin:1rem 0;list-style:none}
.tiles li{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem}
.tiles b{display:block;font-size:1.4rem;line-height:1.2}
figure{margin:.5rem 0}
svg{display:block;width:100%;height:auto}
svg text{font:12px system-ui,sans-serif;fill:var(--soft)}
svg .roof-text{fill:var(--text)}
.narrow{display:none}
.grid{stroke:var(--line);stroke-width:1}
.roof{stroke:var(--text);stroke-width:1.5}
.point{fill:var(--c);fill-opacity:.75;stroke:var(--page);stroke-width:.4}
.legend{display:flex;flex-wrap:wrap;gap:.125rem .75rem;font-size:.8125rem}
.legend span{white-space:nowrap}
.swatch{display:inline-block;width:.75rem;height:.75rem;margin-right:.3rem;vertical-align:-.05rem;background:var(--c)}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.25rem 0}
th,td{padding:.2rem .6rem .2rem 0;text-align:left;vertical-align:top}
thead th{border-bottom:1px solid var(--line);vertical-align:bottom}
tbody th{font-weight:400}
.scroll tbody tr+tr>*{border-top:1px solid var(--line)}
.n{text-align:right;white-space:nowrap}
.bars{width:100%;table-layout:fixed;margin:.75rem 0}
.bars th:first-child{width:34%;overflow-wrap:anywhere;font-size:.8125rem;line-height:1.25}
.bars th:last-child,.bars td:last-child{width:3.75rem;padding-right:0}
.track,.ticks{position:relative;height:1rem}
.track i{position:absolute;top:0;bottom:0}
.ticks span{position:absolute;transform:translateX(-50%);font-weight:400;font-size:.75rem;color:var(--soft)}
.bar{background:var(--c);border-radius:1px}
.track .one{width:1px;background:var(--soft);top:-.2rem;bottom:-.2rem}
.track .range{top:45%;bottom:45%;background:var(--text)}
.measured{display:flex;align-items:center;gap:.5rem;justify-content:flex-end}
.gauge{position:relative;width:6rem;height:.6rem}
.gauge{background:linear-gradient(to right,transparent 49.5%,var(--soft) 49.5% 50.5%,transparent 50.5%)}
.error{display:block;height:100%;background:var(--accent)}
.over{background:var(--bad)}
.kept{color:var(--good)}
.broken{color:var(--bad)}
.words{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .75rem}
.words dt{font-weight:600}
.words dd{margin:0}
details{margin:.5rem 0}
summary{cursor:pointer;padding:.3rem 0;color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
@media (max-width:40rem){.wide,.ticks span:not(.keep){display:none}.narrow{display:block}.gauge{width:3rem}
.bars th:first-child{width:42%}}
@media print{body{max-width:none;padding:0;font-size:10pt}nav,details:not([open]){display:none}h2,h3{break-after:avoid}
figure,.tiles li,tr{break-inside:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.scroll{overflow:visible}a{color:inherit}}
"""
#: Verdicts, light and dark: good and bad.
VERDICTS = (("#0a6b2d", "#b3261e"), ("#6dd58c", "#f2b8b5"))


#: Places and widths are classes, in steps of a part of the whole, because a page without inline styles needs no leave for them.
STEPS = 500
_PLACES = "".join(f".l{i}{{left:{100 * i / STEPS:g}%}}.w{i}{{width:{100 * i / STEPS:g}%}}" for i in range(STEPS + 1))


def left(percent: float) -> str:
    """The class of what begins at so many percent of the width around it."""
    return f"l{_step(percent)}"


def width(percent: float) -> str:
    """The class of what is as wide as so many percent of what is around it."""
    return f"w{_step(percent)}"


def _step(percent: float) -> int:
    return round(min(max(percent, 0.0), 100.0) * STEPS / 100)


def style(families: Sequence[tuple[str, str]]) -> Markup:
    """The style sheet of a page with these families' colours, light and dark. Nothing in it comes from a file."""
    light, dark = _variables(LIGHT, VERDICTS[0]), _variables(DARK, VERDICTS[1])
    colours = ["".join(f".f-{n},.b-{n}{{--c:{pair[i]}}}" for n, pair in enumerate(families)) for i in (0, 1)]
    night = f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}{colours[1]}}}"
    return Markup(f":root{{color-scheme:light dark;{light}}}{_RULES}{_PLACES}{colours[0]}{night}")


def _variables(colours: Mapping[str, str], verdicts: tuple[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in {**colours, "good": verdicts[0], "bad": verdicts[1]}.items())
