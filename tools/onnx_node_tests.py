"""The node tests of the package `onnx` on this library: how many pass, by operator.

    python -m tools.onnx_node_tests [--only PART] [--failures FILE]
"""

from __future__ import annotations

import argparse
import collections
import time
import warnings

from typing import Any

import numpy as np


def _compare(expected: Any, found: Any, case: Any) -> None:
    from onnx.backend.test.runner import Runner

    assert len(expected) == len(found)
    for e, f in zip(expected, found, strict=True):
        if isinstance(e, (list, tuple)):
            _compare(e, f, case)
        elif e is not None or f is not None:
            Runner.assert_similar_outputs([e], [f], rtol=case.rtol, atol=case.atol)


def main() -> None:
    """Run them and print a table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="a part of the tests' names")
    options.add_argument("--failures", default="", help="a file for what failed, and how")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    import onnx
    from onnx.backend.test.case.node import collect_testcases

    from baracuda.onnx import backend
    from baracuda.onnx.exceptions import reason

    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0])
    failures: list[str] = []
    begin = time.perf_counter()
    for case in collect_testcases(None):
        if given.only not in case.name:
            continue
        name = case.name.removeprefix("test_")
        operator = case.model.graph.node[0].op_type if len(case.model.graph.node) == 1 else name.split("_")[0] + " (several)"
        if reason(case):
            counts[operator][2] += 1
            continue
        try:
            with np.errstate(all="ignore"):
                prepared = backend.prepare(case.model)
                for inputs, outputs in case.data_sets:
                    found = prepared.run(list(inputs))
                    outputs = [onnx.numpy_helper.to_array(o) if isinstance(o, onnx.TensorProto) else o for o in outputs]
                    _compare(outputs, list(found), case)
            counts[operator][0] += 1
        except Exception as e:
            counts[operator][1] += 1
            lines = [line for line in str(e).strip().splitlines() if line.strip()]
            failures.append(f"{case.name}: {type(e).__name__}: {' | '.join(lines[:6])[:400]} {getattr(e, '__notes__', '')}")
    for operator, (passed, failed, left_out) in sorted(counts.items()):
        if failed:
            print(f"{operator:40s} {passed:5d} passed {failed:5d} failed {left_out:5d} left out")
    total = np.sum(list(counts.values()), axis=0) if counts else (0, 0, 0)
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} left out, {time.perf_counter() - begin:.0f} s")
    if given.failures:
        with open(given.failures, "w") as file:
            file.write("\n".join(failures) + "\n")


if __name__ == "__main__":
    main()
