"""A colour for each family, of one lightness on a light page and of another on a dark one, so that every one can be seen."""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, radians, sin

#: Background and text of the page, light and dark.
LIGHT = {"page": "#ffffff", "card": "#f6f7f9", "text": "#1a1d21", "soft": "#555d68", "line": "#d4d9e0", "accent": "#0b57d0"}
DARK = {"page": "#14171a", "card": "#1d2125", "text": "#e7eaee", "soft": "#a8b1bc", "line": "#383f47", "accent": "#8ab4f8"}
#: Lightness and chroma of the families' colours on either.
_ON_LIGHT, _ON_DARK = (0.55, 0.13), (0.76, 0.12)
#: The angle that keeps any number of hues apart.
_GOLDEN = 137.508


def families(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The colour of each family on a light page and on a dark one."""
    palette = {}
    for i, name in enumerate(names):
        hue = (25.0 + i * _GOLDEN) % 360.0
        palette[name] = (oklch(*_ON_LIGHT, hue), oklch(*_ON_DARK, hue))
    return palette


def numbers(palette: Iterable[str]) -> dict[str, int]:
    """The number of each family: the page's classes are named by it, because a family's name comes from a file."""
    return {name: number for number, name in enumerate(palette)}


def oklch(lightness: float, chroma: float, hue: float) -> str:
    """A colour of OKLCH (Ottosson, A perceptual color space for image processing, 2020) in sRGB, as #rrggbb, with less chroma
    where sRGB has not so much."""
    while True:
        a, b = chroma * cos(radians(hue)), chroma * sin(radians(hue))
        long, medium, short = (
            (lightness + x * a + y * b) ** 3
            for x, y in ((0.3963377774, 0.2158037573), (-0.1055613458, -0.0638541728), (-0.0894841775, -1.2914855480))
        )
        linear = (
            4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
        )
        if all(-1e-4 <= v <= 1.0001 for v in linear) or chroma < 1e-3:
            return "#" + "".join(f"{round(255 * _gamma(min(max(v, 0.0), 1.0))):02x}" for v in linear)
        chroma *= 0.95


def _gamma(v: float) -> float:
    return 12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2: from 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
