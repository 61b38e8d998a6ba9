"""HTML and SVG as strings: text is escaped, elements are not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

#: What no page may hold: control characters, halves of a surrogate pair, and what Unicode leaves undefined for good.
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


#: What stands inside an element: text, elements, or several of them; None is nothing.
Child = "Markup | str | float | Iterable[Markup | str] | None"

#: Elements that have no end tag.
_VOID = frozenset(["meta", "br", "hr"])


def tag(name: str, /, *children: Markup | str | float | Iterable[Markup | str] | None, **attributes: object) -> Markup:
    """An element. Attributes that are None or False are left out, True ones have no value; `class_` is class, and an underscore
    within a name is a hyphen."""
    words = [name]
    for key, value in attributes.items():
        if value is not None and value is not False:
            attribute = key.rstrip("_").replace("_", "-")
            words.append(attribute if value is True else f'{attribute}="{_escaped(value)}"')
    inside = "".join(_child(c) for c in children)
    return Markup(f"<{' '.join(words)}>" if name in _VOID else f"<{' '.join(words)}>{inside}</{name}>")


def _escaped(value: object) -> str:
    """Text as it stands within an element or an attribute: the one way from a value to the page."""
    return escape(_UNFIT.sub("\ufffd", str(value)))


def _child(child: Markup | str | float | Iterable[Markup | str] | None) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, (str, int, float)):
        return _escaped(child)
    return "".join(map(_child, child))


def table(
    head: Iterable[str], rows: Iterable[Iterable[Markup | str]], *, caption: str, text_columns: int = 1, class_: str = ""
) -> Markup:
    """A table that may be scrolled sideways; the columns after the first few hold numbers."""

    def cells(row: Iterable[Markup | str], heads: bool) -> Iterable[Markup]:
        for i, cell in enumerate(row):
            number = None if i < text_columns else "n"
            if heads:
                yield tag("th", cell, scope="col", class_=number)
            elif i == 0:
                yield tag("th", cell, scope="row")
            else:
                yield tag("td", cell, class_=number)

    top = tag("thead", tag("tr", cells(head, True)))
    body = tag("tbody", [tag("tr", cells(row, False)) for row in rows])
    element = tag("table", tag("caption", caption), top, body, class_=class_ or None)
    return tag("div", element, class_="scroll", tabindex="0", role="region", aria_label=caption)
