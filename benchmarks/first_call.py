"""One first call, in a process of its own: `python -m benchmarks.first_call CASE`, a JSON object with `function`, `tensors` (a
shape and a NumPy or ml_dtypes type each), `options`, `device` and `after`, functions that are called before.

Nothing is imported here that `import baracuda` might otherwise have to pay for.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np


def main() -> None:
    case = json.loads(sys.argv[1])
    bf16 = any(kind == "bfloat16" for _, kind in case["tensors"])
    if bf16:
        import ml_dtypes
    kinds = {"bfloat16": ml_dtypes.bfloat16} if bf16 else {}
    arrays = [None if shape is None else np.zeros(shape, kinds.get(kind, kind)) for shape, kind in case["tensors"]]
    plain = np.zeros((8, 128), np.float32)
    options = {n: tuple(v) if isinstance(v, list) else v for n, v in case["options"].items()}
    started = time.perf_counter()
    import baracuda

    if case["device"] == "cuda":
        device = baracuda.Device.cuda(0)
        plain, arrays = baracuda.to_device(plain, device), [a if a is None else baracuda.to_device(a, device) for a in arrays]
    ready = time.perf_counter()
    for name in case["after"]:
        getattr(baracuda, name)(*(plain,) * (2 if name == "add" else 1))
    baracuda.synchronize()
    before, cpu = time.perf_counter(), time.process_time()
    getattr(baracuda, case["function"])(*arrays, **options)
    baracuda.synchronize()
    call, cpu = time.perf_counter() - before, time.process_time() - cpu
    print(json.dumps({"import": 1e3 * (ready - started), "call": 1e3 * call, "cpu": 1e3 * cpu}))


if __name__ == "__main__":
    main()
