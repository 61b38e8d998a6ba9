"""The examples in the docstrings of declared ops and compositions run as written."""

from __future__ import annotations

import doctest
import inspect

import pytest

import baracuda
from baracuda.frontends.families import compositions, ops

pytestmark = pytest.mark.cpu_only


@pytest.mark.parametrize(
    "name",
    [
        *(n for n, op in ops().items() if ">>>" in op.doc),
        *(n for n, c in compositions().items() if n not in ops() and ">>>" in (c.body.__doc__ or "")),
    ],
)
def test_example(name: str) -> None:
    (example,) = doctest.DocTestFinder().find(inspect.unwrap(getattr(baracuda, name)), name, globs={})
    assert doctest.DocTestRunner().run(example).failed == 0
