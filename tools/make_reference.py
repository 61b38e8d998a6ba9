"""Write the hashes that `baracuda demo` compares with: `python tools/make_reference.py`.

To be run only where `ARITHMETIC_VERSION` has changed, or a problem of the demo: anything else that changes a hash is a bug.
"""

from __future__ import annotations

import json
from pathlib import Path

import baracuda.cli
from baracuda.cli.demo import execute
from baracuda.cli.problems import problems
from baracuda.core.device import Device
from baracuda.core.version import ARITHMETIC_VERSION

TARGET = Path(baracuda.cli.__file__).with_name("reference.json")


def main() -> None:
    digests = {str(problem): execute(problem, Device.cpu()).digest for problem in problems()}
    TARGET.write_text(json.dumps({"arithmetic_version": ARITHMETIC_VERSION, "sha256": digests}, indent=1) + "\n")


if __name__ == "__main__":
    main()
