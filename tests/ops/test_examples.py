"""The examples in the docstrings of declared ops run as written."""

from __future__ import annotations

import doctest

import pytest

from baracuda.frontends.families import function, ops

pytestmark = pytest.mark.cpu_only


@pytest.mark.parametrize("name", [n for n, op in ops().items() if ">>>" in op.doc])
def test_example(name: str) -> None:
    (example,) = doctest.DocTestFinder().find(function(name), name, globs={})
    assert doctest.DocTestRunner().run(example).failed == 0
