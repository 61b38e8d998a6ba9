"""What `baracuda demo` does: a text's sentences through a real model on every device, and what that took.

The model code is the example `baracuda_minilm`; every tensor operation in it is a plan of this library.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

import baracuda
from baracuda.cli.driver import examine
from baracuda.cli.environment import Environment, environment
from baracuda.core.device import Device, DeviceKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.version import ARITHMETIC_VERSION
from baracuda.frontends.profile import PlanTime
from baracuda.runtime.cuda import device_count
from baracuda.runtime.device_events import HeadStart

if TYPE_CHECKING:
    from baracuda_minilm.encoder import Encoder, Sentences

#: Sentences that are shown for each query.
NEAREST = 3
#: Batches, spread over the text, whose plans are timed one by one, and how long a GPU is kept busy while the host launches one.
PROFILED, HEAD_START = 8, 5e-3

#: Told what is being done, how much of it is done, and how much there is.
ProgressCallback = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Text:
    """Sentences: a name for messages, one sentence a line, what to look for among them, and the SHA-256 of the file."""

    name: str
    sentences: list[str]
    queries: list[str]
    sha256: str

    @staticmethod
    def of(raw: bytes, name: str, queries: Sequence[str] = ()) -> Text:
        """From the bytes of a file: a sentence for each line that is not blank. Without queries some of the sentences are taken.

        Raises `InvalidProblemError` where the bytes are not UTF-8, or hold no sentence.
        """
        try:
            lines = raw.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            byte = raw[error.start : error.start + 1].hex()
            raise InvalidProblemError(f"{name}: byte 0x{byte} at offset {error.start}; expected text in UTF-8") from None
        sentences = [line.strip() for line in lines if line.strip()]
        if not sentences:
            raise InvalidProblemError(f"{name}: {len(raw)} bytes and no sentence; expected one on each line")
        own = [sentences[i] for i in sorted({0, len(sentences) // 2, len(sentences) - 1})] if len(sentences) > 1 else []
        return Text(name, sentences, list(queries) or own, hashlib.sha256(raw).hexdigest())

    @staticmethod
    def shipped(queries: Sequence[str] = ()) -> Text:
        """The sentences that come with the example."""
        data = files("baracuda_minilm") / "data"
        chosen = queries or (data / "queries.txt").read_text("utf-8").splitlines()
        return Text.of((data / "sentences.txt").read_bytes(), "the sentences that come with baracuda", chosen)


@dataclass(frozen=True)
class Run:
    """The text on one device.

    Attributes
    ----------
    environment
        The device, and versions.
    sha256
        Of the bytes of the embeddings, one sentence after the other, little-endian.
    seconds
        From tokens on the device to embeddings on the host.
    profiled, plans
        How many sentences the plans were timed on, and their times.
    """

    environment: Environment
    sha256: str
    seconds: float
    profiled: int
    plans: list[PlanTime]


@dataclass
class Report:
    """What the demo found.

    Attributes
    ----------
    text, dtype, fast
        What was embedded, in which element, and whether libraries were allowed.
    tokens
        In all sentences, without what was left out.
    truncated
        The number of each sentence that is too long for the model, from 1, and how many of its tokens were left out.
    longest
        The most tokens that a sentence may have.
    no_gpu
        Why there is none, where one was looked for.
    expected
        The reference hash; None for another text, and where libraries were allowed.
    nearest
        For each query, cosines and sentences, the nearest first.
    runs
        One for each device.
    """

    text: Text
    dtype: str
    fast: bool
    tokens: int
    truncated: dict[int, int]
    longest: int
    no_gpu: str = ""
    expected: str | None = None
    nearest: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)

    @property
    def kept(self) -> bool:
        """Whether all devices gave the same bits, those of the reference where there is one. Libraries promise nothing."""
        digests = {run.sha256 for run in self.runs} | ({self.expected} if self.expected else set())
        return self.fast or len(digests) == 1

    def record(self) -> dict[str, Any]:
        """As it is written to JSON."""
        runs = []
        for run in self.runs:
            plans = [asdict(t) | {n: str(getattr(t, n)) for n in ("device", "backend", "guarantee")} for t in run.plans]
            runs.append(asdict(run) | {"plans": plans})
        own = {n: getattr(self, n) for n in ("dtype", "fast", "tokens", "truncated", "no_gpu", "expected", "nearest", "kept")}
        return {"text": self.text.name, "sentences": len(self.text.sentences), **own, "runs": runs}


def reference(text: Text, dtype: str) -> str | None:
    """The hash of the reproducible embeddings of a text; None where none is known."""
    held = json.loads((files("baracuda_minilm") / "data" / "reference.json").read_text("utf-8"))
    if held["arithmetic_version"] != ARITHMETIC_VERSION or held["text"] != text.sha256:
        return None
    digest: str = held["embeddings"][dtype]
    return digest


def devices(where: str) -> tuple[list[Device], str]:
    """The devices that "cpu", "cuda" or "all" names, and why there is no GPU among them ("" where one is, or none is asked for).

    Raises `UnsupportedError` where only a GPU will do and there is none.
    """
    missing = "" if where == "cpu" else why_no_gpu()
    if where == "cuda" and missing:
        raise UnsupportedError(f"no GPU: {missing}")
    chosen = [Device.cpu()] if where != "cuda" else []
    return [*chosen, *([Device.cuda(0)] if where != "cpu" and not missing else [])], missing


def why_no_gpu() -> str:
    """What is missing or broken, and what helps; "" if there is a GPU."""
    if device_count():
        return ""
    driver = examine()
    if not driver.found:
        return driver.problem.partition(":")[0]
    if driver.problem:
        return f"{driver.problem}; {driver.remedy}"
    return "there is a driver, but not the packages that use it: pip install 'baracuda[cuda]'"


def run(
    text: Text, where: str, dtype: str, *, fast: bool = False, size: int = 32, on_progress: ProgressCallback = lambda *_: None
) -> Report:
    """Embed a text on some devices.

    Parameters
    ----------
    where
        "cpu", "cuda", or "all" for both as far as they are there.
    dtype
        "f32" or "bf16".
    fast
        Prefer libraries where there are some; without it the bits are the same everywhere.
    size
        Sentences in a batch.

    Raises `UnsupportedError` where there is no such device, `FileNotFoundError` where the model is not installed.
    """
    from baracuda_minilm.encoder import Encoder
    from baracuda_minilm.files import LONGEST, Tokens

    chosen, missing = devices(where)
    tokens, left_out = Tokens().of([*text.sentences, *text.queries])
    count = len(text.sentences)
    truncated = {i + 1: n for i, n in enumerate(left_out[:count]) if n}
    report = Report(text, dtype, fast, sum(map(len, tokens[:count])), truncated, LONGEST, missing)
    report.expected = None if fast else reference(text, dtype)
    for device in chosen:
        on_progress(f"{device}: weights", 0, 1)
        encoder = Encoder(device, dtype, fast=fast)
        embedded, measured_run = _embedded(encoder, tokens, count, size, on_progress)
        report.runs.append(measured_run)
    report.nearest = nearest(text, embedded, device)
    return report


def _embedded(
    encoder: Encoder, tokens: list[list[int]], count: int, size: int, on_progress: ProgressCallback
) -> tuple[np.ndarray[Any, Any], Run]:
    """The embeddings of all sentences, of which the first `count` are the text."""
    device = encoder.device
    batches = encoder.batches(tokens, size)
    _each(list({b.shape: b for b in batches}.values()), encoder, on_progress, f"{device}: kernels")
    start = time.perf_counter()
    embedded = _each(batches, encoder, on_progress, f"{device}: embeddings")
    seconds = time.perf_counter() - start
    some = batches[:: -(-len(batches) // PROFILED)]
    with baracuda.profile() as profile:
        _each(some, encoder, on_progress, f"{device}: profile", ahead=True)
    digest = hashlib.sha256(np.ascontiguousarray(embedded[:count]).tobytes()).hexdigest()
    return embedded, Run(environment(device, ()), digest, seconds, sum(b.shape[0] for b in some), profile.times)


def _each(
    batches: list[Sentences], encoder: Encoder, on_progress: ProgressCallback, doing: str, *, ahead: bool = False
) -> np.ndarray[Any, Any]:
    """The embeddings of some batches. `ahead`: the host is to be ahead of a GPU, so that its waiting is not timed."""
    done, total = 0, sum(b.shape[0] for b in batches)

    def advance(count: int) -> None:
        nonlocal done
        done += count
        on_progress(doing, done, total)

    on_progress(doing, 0, total)
    return encoder.embed(_behind_work(batches, encoder.device) if ahead else batches, advance)


def _behind_work(batches: list[Sentences], device: Device) -> Iterator[Sentences]:
    """The batches, on a GPU each behind other work."""
    start = HeadStart(device) if device.kind is DeviceKind.CUDA else None
    for batch in batches:
        if start is not None:
            start.give(HEAD_START)
        yield batch


def nearest(text: Text, embedded: np.ndarray[Any, Any], device: Device) -> dict[str, list[tuple[float, str]]]:
    """For each query, whose embeddings come after those of the sentences, the cosines of the nearest sentences but itself."""
    if not text.queries:
        return {}
    values = baracuda.to_device(embedded.astype(np.float32), device)
    count = len(text.sentences)
    cosines = baracuda.to_host(baracuda.mm(values[count:], values[:count].T))
    neighbours = {}
    for query, row in zip(text.queries, cosines, strict=True):
        order = [i for i in np.argsort(-row, kind="stable").tolist() if text.sentences[i] != query]
        neighbours[query] = [(float(row[i]), text.sentences[i]) for i in order[:NEAREST]]
    return neighbours
