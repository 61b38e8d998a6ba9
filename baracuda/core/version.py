"""The version of the canonical arithmetic."""

from __future__ import annotations

#: Changes whenever the bits of any formula kernel change, and only then.
ARITHMETIC_VERSION = 3
