"""ONNX's own runner over `baracuda.onnx.backend`, as other backends use it: nodes, operators of PyTorch, light models."""

from __future__ import annotations

import re
import unittest
import warnings

import onnx.backend.test
import pytest

from baracuda.onnx import backend
from baracuda.runtime.cuda import device_count
from tests.conformance.onnx_cases import FAILING, cases, reason

#: What the runner itself cannot compare.
OF_THE_RUNNER = {"test_loop16_seq_none": "it asks a sequence's scalars for their length"}


def test_the_runner_passes(full: bool) -> None:
    """All that is served, on the devices that there are: some 1,900 tests on each."""
    if not full:
        pytest.skip("runs with --full")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = onnx.backend.test.BackendTest(backend, __name__)
        left_out = [*OF_THE_RUNNER, *(c.name for c in cases() if c.name in FAILING or reason(c))]
    runner.exclude(rf"^({'|'.join(map(re.escape, left_out))})_(cpu|cuda)$")
    for part in ("_ai_onnx_ml_", "_image_decoder_"):
        runner.exclude(part)
    result = unittest.TestResult()
    runner.test_suite.run(result)
    failed = [f"{case}: {text[-300:]}" for case, text in (*result.failures, *result.errors)]
    assert not failed, "\n".join(failed)
    assert result.testsRun - len(result.skipped) > 1900 * (1 + bool(device_count()))
