"""Many sentences: batches of like length, and their embeddings in the order of the sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import baracuda as bc
from baracuda_minilm.files import DTYPES, read_weights
from baracuda_minilm.model import Batch, MiniLM

#: Batches are filled up to a length that this divides: fewer shapes to make kernels for, and no bit changes.
MULTIPLE = 8


@dataclass(frozen=True)
class Sentences:
    """A batch, and the numbers of the sentences in it."""

    numbers: list[int]
    batch: Batch

    @property
    def shape(self) -> tuple[int, ...]:
        """(sentences, tokens)"""
        shape: tuple[int, ...] = self.batch.tokens.shape
        return shape


def batch_of(tokens: Sequence[Sequence[int]], device: bc.Device, dtype: Any) -> Batch:
    """Sentences of tokens, filled up, on a device."""
    lengths = np.array([len(ids) for ids in tokens], np.int32)
    padded = np.zeros((len(tokens), -(-max(lengths) // MULTIPLE) * MULTIPLE), np.int32)
    shares = np.zeros(padded.shape, dtype)
    for i, ids in enumerate(tokens):
        padded[i, : len(ids)] = ids
        shares[i, : len(ids)] = 1 / len(ids)
    return Batch(*(bc.to_device(x, device) for x in (padded, lengths, shares)))


class Encoder:
    """The model with its weights on a device, in "f32" or "bf16". With `fast`, products and attention are a library's where
    there is one, and their bits that library's. With `recorded`, each shape of batch is recorded when it first comes, and from
    then on costs the host of a GPU one launch: for many sentences."""

    def __init__(self, device: bc.Device, dtype: str = "f32", *, fast: bool = False, recorded: bool = False) -> None:
        self.device, self.dtype, self.recorded = device, DTYPES[dtype], recorded
        self._recordings: dict[tuple[int, ...], bc.Recording] = {}
        preference = bc.PlanPreference(fastest=True) if fast else None
        self.model = MiniLM(read_weights(device, dtype), preference=preference)

    def batches(self, tokens: Sequence[Sequence[int]], size: int = 32) -> list[Sentences]:
        """Sentences of tokens in batches of at most `size`, the short ones first."""
        order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
        groups = [order[first : first + size] for first in range(0, len(order), size)]
        return [Sentences(numbers, self.batch([tokens[i] for i in numbers])) for numbers in groups]

    def batch(self, tokens: Sequence[Sequence[int]]) -> Batch:
        """Sentences of tokens, filled up, on the device."""
        return batch_of(tokens, self.device, self.dtype)

    def run(self, batch: Batch) -> Any:
        """The embeddings of a batch, on the device."""
        if not self.recorded:
            return self.model(batch)
        tensors = batch.tokens, batch.lengths, batch.shares
        shape = batch.tokens.shape
        if shape not in self._recordings:
            self._recordings[shape] = bc.record(lambda *tensors_of_batch: self.model(Batch(*tensors_of_batch)), *tensors)
        return self._recordings[shape](*tensors)

    def embed(self, batches: Iterable[Sentences], watch: Callable[[int], None] = lambda count: None) -> np.ndarray[Any, Any]:
        """The embeddings of all sentences of the batches, by rising number; `watch` is told how many sentences each batch had.

        Nothing is waited for until all batches are launched.
        """
        results = []
        for one in batches:
            results.append((one.numbers, self.run(one.batch)))
            watch(len(one.numbers))
        numbers = [i for each, _ in results for i in each]
        values = np.concatenate([bc.to_host(embedded) for _, embedded in results])
        return values[np.argsort(numbers)]
