"""Operators whose results' shapes depend on values: what is known of these without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Rule = Callable[[Mapping[str, Any], Callable[[], Any]], list[Any]]
DYNAMIC: dict[str, Rule] = {}
