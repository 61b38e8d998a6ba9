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


def _strokes(count: int, height: int, width: int) -> np.ndarray:
    """White pictures with dark strokes, between -1 and 1, as rapidocr scales them."""
    picture = np.ones((count, 3, height, width), np.float32)
    for i in range(count):
        for k, (a, b, c, d) in enumerate(_noise((width // 6, 4), i + 1)):
            top, left = int(a * (height - 12)), 6 * k
            picture[i, :, top : top + 3 + int(b * 9), left : left + 1 + int(c * 3)] = np.float32(-1 + d * 0.3)
    return picture + (_noise(picture.shape, 77) - np.float32(0.5)) * np.float32(0.05)


def _lines() -> Iterator[np.ndarray]:
    both = _strokes(2, 48, 192)
    yield both
    yield both[1:]


def _page() -> Iterator[np.ndarray]:
    yield np.pad(_strokes(1, 48, 288), ((0, 0), (0, 0), (40, 72), (16, 16)), constant_values=1.0)


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
