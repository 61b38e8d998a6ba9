"""One step of training: pairs of sentences that mean the same, told apart from all others of the batch, and AdamW.

Henderson et al. 2017: the scores are the products of every embedding of the one side with every one of the other; the loss is
the cross entropy of each row with its own pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import baracuda as bc
from baracuda_minilm.model import Batch, MiniLM, Tape, Weights

#: What cosines are multiplied by.
SCALE = 20.0


def loss_and_gradients(model: MiniLM, batch: Batch, device: bc.Device, scale: float = SCALE) -> tuple[Any, Weights]:
    """The mean cross entropy of n pairs, and its gradients. Sentences 0 to n-1 of the batch belong to n to 2n-1."""
    tape: Tape = []
    y = model(batch, tape)
    n = y.shape[0] // 2
    left, right = y[:n], y[n:]
    scores = bc.mul(bc.mm(left, right.T), scale)
    pairs = bc.to_device(np.arange(n), device)
    loss, *saved = bc.cross_entropy(scores, pairs, axis=1, saved=True, bounds="clamp")
    dloss = bc.to_device(np.full(loss.shape, scale, loss.dtype), device)
    dscores = bc.cross_entropy_backward(dloss, scores, pairs, None, *saved, axis=1)
    dy = bc.to_device(np.empty(y.shape, y.dtype), device)
    bc.mm(dscores, right, out=dy[:n])
    bc.mm(dscores.T, left, out=dy[n:])
    return loss, model.backward(dy, batch, tape)


class AdamW:
    """AdamW in place; Loshchilov and Hutter 2019. Of a table whose first rows alone have gradients, these alone move."""

    def __init__(self, weights: Weights, device: bc.Device, lr: float = 2e-5, weight_decay: float = 0.01) -> None:
        self.weights, self.device, self.lr, self.weight_decay, self.steps = weights, device, lr, weight_decay, 0
        self._moments: dict[str, tuple[Any, Any]] = {}

    def step(self, grads: Weights) -> None:
        """Move the weights by one step."""
        self.steps += 1
        for name, grad in grads.items():
            rows = grad.shape[0]
            moving = tuple(tensor[:rows] for tensor in (self.weights[name], *self.moments(name)))
            bc.adamw_step(moving[0], grad, *moving[1:], self.lr, self.steps, weight_decay=self.weight_decay, out=moving)

    def moments(self, name: str) -> tuple[Any, Any]:
        """The running means of a weight's gradients and of their squares, in f32."""
        if name not in self._moments:
            zeros = np.zeros(self.weights[name].shape, np.float32)
            self._moments[name] = (bc.to_device(zeros, self.device), bc.to_device(zeros.copy(), self.device))
        return self._moments[name]
