"""The cases, with reference hashes, of every plan that is written out by hand."""

from __future__ import annotations

from functools import cache

from baracuda.cli.verify import attentions, plans, products
from baracuda.cli.verify.case import Case


@cache
def hashed() -> tuple[Case, ...]:
    """All of them, those of one group one after another."""
    return (*plans.hashed(), *products.hashed(), *attentions.hashed())
