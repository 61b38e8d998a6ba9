"""Numbers for people."""

from __future__ import annotations

_UNITS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def si(value: float) -> str:
    """With a prefix: 51.2 T."""
    for size, unit in _UNITS:
        if value >= size:
            return f"{_short(value / size)} {unit}"
    return f"{_short(value)} "


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def number(value: float) -> str:
    """Without zeros at its end: 0.01, 1, 100."""
    return f"{value:,.0f}" if value >= 1 else f"{value:.6f}".rstrip("0")


def micro(value: float) -> str:
    """Microseconds, with three digits or more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(value: float) -> str:
    """A ratio with as many digits as matter."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
