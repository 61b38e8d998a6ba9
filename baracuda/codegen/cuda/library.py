"""Libraries of C++ definitions, of which a kernel's source has those that it uses, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from baracuda.core.lazy import cached_property

_WORD = re.compile(r"[A-Za-z_]\w*")
#: What a definition defines, by how it begins.
_DEFINED = (
    re.compile(r"typedef [^;]*?(\w+);"),
    re.compile(r"(?:template <[^{]*?> )?struct (?:alignas\([^{]*?\) )?(\w+)"),
    re.compile(r"(?:template <[^{]*?>\s)?__device__ __forceinline__ [^({]*?(\w+)\("),
)


class Library:
    """Definitions at the top level of a text, each with the comment above it; those of one name (overloads, specialisations) stay
    together."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def definitions(self) -> list[tuple[str, str]]:
        """Each definition's name and text, in order."""
        return [(_name(text), text) for text in _pieces(self.text)]

    @cached_property
    def _uses(self) -> dict[str, set[str]]:
        """The names that the definitions of each name use."""
        names = {name for name, _ in self.definitions}
        uses: dict[str, set[str]] = {name: set() for name in names}
        for name, text in self.definitions:
            uses[name] |= names.intersection(_WORD.findall(_without_comments(text)))
        return uses

    def used_by(self, text: str) -> str:
        """The definitions that a text needs, in order."""
        needed: set[str] = set()
        waiting = [name for name in set(_WORD.findall(text)) if name in self._uses]
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += self._uses[name]
        chosen = [definition for name, definition in self.definitions if name in needed]
        return "".join("\n" + definition if definition.startswith("//") else definition for definition in chosen)


def _pieces(text: str) -> Iterator[str]:
    """A text cut behind each definition that ends at the top level."""
    piece, depth = "", 0
    for line in text.strip("\n").split("\n"):
        piece += line + "\n"
        code = _without_comments(line)
        depth += code.count("{") - code.count("}")
        if code.strip() and not depth and code.rstrip().endswith(("}", ";")):
            yield piece.lstrip("\n")
            piece = ""
    assert not piece.strip(), piece


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def _name(text: str) -> str:
    code = _without_comments(text).strip()
    for pattern in _DEFINED:
        if match := pattern.match(code):
            return match[1]
    raise AssertionError(f"no definition: {text}")
