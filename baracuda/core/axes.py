"""The two kinds of axes of an iteration space."""

from __future__ import annotations

import enum


class Axes(enum.IntFlag):
    """Which axes of the iteration space a value varies along.

    A reduction divides the iteration space in two: the *inner* axes, which it runs over, and the *outer* axes, which it
    keeps. A pointwise formula has outer axes only.
    """

    NONE = 0
    INNER = 1
    OUTER = 2
    FULL = 3
