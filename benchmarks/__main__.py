"""`baracuda bench` with more of PyTorch than the catalogue's names lead to: `python -m benchmarks families --rival torch`.

The options are those of `baracuda bench`. PyTorch's side of the declared ops is what the tests compare with (`tests/cases`),
that of the plans written out by hand is `benchmarks/rivals.py`.
"""

from __future__ import annotations

import sys

from baracuda.cli.app import run
from benchmarks.tables import TABLES

if __name__ == "__main__":
    sys.exit(run(["bench", *sys.argv[1:]], TABLES))
