"""Makes the reference hashes of the plans that are written out by hand: `python -m tests.kernels.hashes --write`, on a CPU.

`baracuda verify` compares with them, on every device.
"""

from __future__ import annotations

import argparse
import json

from baracuda.cli.verify import reference, written
from baracuda.cli.verify.bits import digests
from baracuda.cli.verify.machine import Host, Machine
from baracuda.cli.verify.problem import Problem, Session
from baracuda.core.version import ARITHMETIC_VERSION


def hashes(machine: Machine, case: Problem) -> str:
    """The hashes of a problem's outputs on a machine, on the kernels for its layout."""
    return digests(Session(machine, case).run(bound=True))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kernels.hashes", description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", required=True, help="write the reference file")
    parser.parse_args()
    stored = {"arithmetic_version": ARITHMETIC_VERSION, "cases": {str(c): hashes(Host(), c) for c in written.hashed()}}
    reference.path_of("plans.json").write_text(json.dumps(stored, indent=0) + "\n")
    print(f"{len(stored['cases'])} problems written")


if __name__ == "__main__":
    main()
