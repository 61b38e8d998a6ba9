"""Models that packages of PyPI bring, with inputs as those packages make them: what is computed, and where the files lie."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

#: Where a package's model lies within it.
FILES = {
    "magika": ("magika", "models/standard_v3_3/model.onnx"),
    "silero_vad": ("silero_vad", "data/silero_vad.onnx"),
    "cls": ("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
    "rec": ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx"),
    "det": ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx"),
}
Run = Callable[[dict[str, Any]], list[Any]]


def path(name: str) -> Path | None:
    """The file, if the package is installed; the package itself is not imported."""
    package, inside = FILES[name]
    spec = importlib.util.find_spec(package)
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    return next((p for p in (Path(place) / inside for place in places) if p.is_file()), None)


def outputs(name: str, run: Run) -> Iterator[Any]:
    """What a model gives for its inputs, call after call; `run` takes inputs by name."""
    if name == "silero_vad":
        yield from _speech(run)
        return
    for x in {"magika": _files, "cls": _lines, "rec": _lines, "det": _page}[name]():
        yield from run({"bytes" if name == "magika" else "x": x})


def _files() -> Iterator[np.ndarray]:
    """The first and last 1,024 bytes of a text, as magika reads a file, 256 where there are none; alone and among others."""
    texts = [
        b"import os\n\n\ndef main() -> None:\n    print(os.getcwd())\n" * 40,
        b'{"name": "box", "sizes": [1, 2, 3], "open": true}\n',
        b"<!DOCTYPE html><html><head><title>t</title></head><body><p>text</p></body></html>" * 9,
    ]
    rows = np.full((len(texts), 2048), 256, np.int32)
    for row, text in zip(rows, texts, strict=True):
        text = text.strip()
        first, last = np.frombuffer(text[:1024], np.uint8), np.frombuffer(text[-1024:], np.uint8)
        row[: len(first)] = first
        row[2048 - len(last) :] = last
    yield rows
    yield rows[1:2]


def _noise(shape: tuple[int, ...], key: int) -> np.ndarray:
    """Numbers from 0 to 1 that are the same everywhere."""
    state = np.arange(int(np.prod(shape)), dtype=np.uint64) + np.uint64(key << 32)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return ((state >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)).reshape(shape)


#: Letters of 5 by 7 dots, a row a number.
_LETTERS = {
    "A": (14, 17, 17, 31, 17, 17, 17), "B": (30, 17, 17, 30, 17, 17, 30), "C": (14, 17, 16, 16, 16, 17, 14),
    "D": (30, 17, 17, 17, 17, 17, 30), "E": (31, 16, 16, 30, 16, 16, 31), "R": (30, 17, 17, 30, 20, 18, 17),
    "U": (17, 17, 17, 17, 17, 17, 14), "N": (17, 25, 21, 19, 17, 17, 17), "O": (14, 17, 17, 17, 17, 17, 14),
    "X": (17, 10, 4, 4, 4, 10, 17), " ": (0,) * 7,
}  # fmt: skip


def _written(text: str, height: int, width: int) -> np.ndarray:
    """Dark letters on white, (3, height, width), scaled to -1 to 1, with some noise."""
    dots = np.concatenate([np.unpackbits(np.uint8([_LETTERS[c]]).T, axis=1)[:, 2:] for c in text], axis=1)
    scale = (height - 8) // 7
    ink = dots.repeat(scale, axis=0).repeat(scale - 1, axis=1)
    picture = np.ones((3, height, width), np.float32)
    picture[:, 4 : 4 + ink.shape[0], 6 : 6 + ink.shape[1]] -= np.float32(1.7) * ink
    return picture + (_noise(picture.shape, len(text)) - np.float32(0.5)) * np.float32(0.1)


def _lines() -> Iterator[np.ndarray]:
    both = np.stack([_written("BARACUDA", 48, 256), _written("ONNX ABC", 48, 256)])
    yield both
    yield both[1:]


def _page() -> Iterator[np.ndarray]:
    page = np.ones((1, 3, 192, 320), np.float32)
    page[0, :, 32:80, 32:288] = _written("BARACUDA", 48, 256)
    page[0, :, 112:160, 32:288] = _written("ONNX ABC", 48, 256)
    yield page


def _speech(run: Run) -> Iterator[Any]:
    """One second of a hum with noise in chunks, each with the last state and the last 64 samples."""
    phase = np.cumsum(np.float32(0.06) + np.float32(0.02) * (_noise((16,), 5).repeat(1000) - np.float32(0.5)), dtype=np.float32)
    triangle = np.abs(phase % np.float32(2) - np.float32(1)) - np.float32(0.5)
    wave = triangle * np.float32(0.4) + (_noise((16000,), 6) - np.float32(0.5)) * np.float32(0.1)
    state, before = np.zeros((2, 1, 128), np.float32), np.zeros((1, 64), np.float32)
    for at in range(0, 8 * 512, 512):
        x = np.concatenate([before, wave[None, at : at + 512]], axis=1)
        before = x[:, -64:]
        share, state = run({"input": x, "state": state, "sr": np.asarray(16000, np.int64)})
        yield share
    yield state
