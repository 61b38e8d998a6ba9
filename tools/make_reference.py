"""Write the hashes that `baracuda demo` compares with: `python tools/make_reference.py`.

To be run only where `ARITHMETIC_VERSION` has changed, or the sentences that come with the demo: anything else that changes a hash
is a bug. The README states the same hashes.
"""

from __future__ import annotations

import json
from pathlib import Path

import baracuda_minilm
from baracuda.cli.demo import Text, run
from baracuda.core.version import ARITHMETIC_VERSION

TARGET = Path(baracuda_minilm.__file__).parent / "data" / "reference.json"


def main() -> None:
    text = Text.shipped()
    embeddings = {dtype: run(text, "cpu", dtype).runs[0].sha256 for dtype in ("f32", "bf16")}
    record = {"arithmetic_version": ARITHMETIC_VERSION, "text": text.sha256, "embeddings": embeddings}
    TARGET.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
