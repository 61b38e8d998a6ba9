"""Attention twice over, independent of the lowering: in float64 with torch, and by the written order of sums in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from baracuda.core.elements import ElementKind as K
from baracuda.formula import canonical
from baracuda.formula import functions as f
from baracuda.formula.exact_fma import fma32, fma64
from baracuda.formula.expand import expand
from baracuda.formula.expr import input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.attention.problem import KEYS, QUERIES
from baracuda.ops.attention.descriptor import AttentionDescriptor
from baracuda.ops.attention.score import score_graph, slope_graph

Tensor = torch.Tensor
Array = np.ndarray[Any, np.dtype[Any]]


def considered(d: AttentionDescriptor, query_lengths: Any = None, key_lengths: Any = None) -> Array:
    """Which pairs the band and the lengths leave, (batch, 1, queries, keys)."""
    i, j = np.arange(d.queries)[:, None], np.arange(d.keys)[None, :]
    band = d.band
    keep = np.ones((d.batch, 1, d.queries, d.keys), bool)
    if band.after is not None:
        keep &= j <= i + band.offset + band.after
    if band.before is not None:
        keep &= j >= i + band.offset - band.before
    for b in range(d.batch):
        keep[b] &= (i < _length(query_lengths, b, d.queries)) & (j < _length(key_lengths, b, d.keys))
    return keep


def _length(lengths: Any, b: int, whole: int) -> int:
    return whole if lengths is None else max(0, min(int(lengths[b]), whole))


def reference(d: AttentionDescriptor, t: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """y and lse in float64, by the whole matrix of scores; differentiable."""
    group = d.heads // d.key_heads
    k, v = (t[n].repeat_interleave(group, 1) for n in "kv")
    s = (t["q"] @ k.transpose(-1, -2)) * d.factor
    if d.softcap:
        s = d.softcap * torch.tanh(s / d.softcap)
    if "bias" in t:
        s = s + t["bias"]
    if "slopes" in t:
        slopes = t["slopes"] if t["slopes"].ndim == 2 else t["slopes"][None]
        s = s + slopes[..., None, None] * (torch.arange(d.keys)[None] - torch.arange(d.queries)[:, None])
    keep = torch.from_numpy(considered(d, t.get("query_lengths"), t.get("key_lengths"))).expand(s.shape)
    if "mask" in t:
        keep = keep & t["mask"]
    some = keep.any(-1, keepdim=True)
    p = torch.softmax(s.masked_fill(~keep, -torch.inf).masked_fill(~some, 0.0), -1).masked_fill(~keep, 0.0)
    return p @ v, torch.logsumexp(s.detach().masked_fill(~keep, -torch.inf), -1)


# --- the written order ------------------------------------------------------------------------------------------------


class Emulation:
    """The order of sums, on whole arrays of the compute kind, one pair of a block and a tile after another."""

    dbias: Array

    def __init__(self, d: AttentionDescriptor, tensors: Mapping[str, Array]) -> None:
        self.d, self.t = d, tensors
        self.dtype = d.compute.numpy
        self.fma = fma64 if d.compute is K.F64 else fma32
        self.keep = np.broadcast_to(considered(d, tensors.get("query_lengths"), tensors.get("key_lengths")), d.pair_shape)
        group = d.heads // d.key_heads
        self.q = self._whole("q", 1, "query_lengths")
        self.k, self.v = (np.repeat(self._whole(n, 1, "key_lengths"), group, 1) for n in "kv")
        self.dot = self._dots(self.q, self.k)
        self.s = np.where(self.keep, self._formula(score_graph(d), {"dot": self.dot})["s"], self.dtype.type(-np.inf))

    def _whole(self, name: str, axis: int, lengths: str) -> Array:
        """A tensor in the compute kind, +0 beyond the lengths."""
        x = np.array(self.t[name]).astype(self.dtype)
        for b in range(self.d.batch):
            x[b, :, _length(self.t.get(lengths), b, x.shape[2]) :] = 0
        return x

    def _dots(self, a: Array, b: Array) -> Array:
        """a @ b.T over the last two axes, one chain in rising d for each element."""
        total = np.zeros((*a.shape[:3], b.shape[2]), self.dtype)
        for n in range(a.shape[3]):
            total = self.fma(a[..., :, None, n], b[..., None, :, n], total)
        return total

    def _weighted(self, total: Array, weights: Array, rows: Array) -> Array:
        """total + weights @ rows, the rows of one tile: a chain over a whole one in rising order for each element."""
        assert QUERIES == KEYS
        for j in range(KEYS):
            there = j < rows.shape[-2]
            weight = weights[..., j, None] if there else np.zeros((*weights.shape[:-1], 1), self.dtype)
            row = rows[..., None, j, :] if there else np.zeros(rows.shape[-1], self.dtype)
            total = self.fma(weight, row, total)
        return total

    def _formula(self, graph: Graph, values: Mapping[str, Array]) -> dict[str, Array]:
        d, inputs = self.d, dict(values)
        for name in d.score_tensors:
            x = self.t[name]
            inputs[name] = x.reshape((1,) * (2 - x.ndim) + x.shape + (1, 1)) if name == "slopes" else x
        read = {p.name for p in graph.inputs}
        ports = canonical.run(graph, {n: x for n, x in inputs.items() if n in read}, d.pair_shape, (False,) * 4, d.parameters)
        return {n: np.broadcast_to(x, d.pair_shape) for n, x in ports.items()}

    def _function(self, name: str, x: Array) -> Array:
        """An elementary function of each element."""
        kind = self.d.compute
        graph = Graph((Port("x", kind),), ((Port("y", kind), getattr(f, name)(input_("x", kind))),))
        return canonical.run(expand(graph), {"x": x}, x.shape, (False,) * x.ndim)["y"]

    def tiles(self, b: int, first: int) -> list[int]:
        """The first keys of the tiles that a block takes."""
        d, band = self.d, self.d.band
        if first >= _length(self.t.get("query_lengths"), b, d.queries):
            return []
        i = np.arange(first, first + QUERIES)[:, None] + band.offset
        starts = []
        for at in range(0, _length(self.t.get("key_lengths"), b, d.keys), KEYS):
            j = np.arange(at, at + KEYS)[None]
            inside = np.ones((QUERIES, KEYS), bool)
            if band.after is not None:
                inside &= j <= i + band.after
            if band.before is not None:
                inside &= j >= i - band.before
            if inside.any():
                starts.append(at)
        return starts

    def _padded(self, x: Array, count: int, fill: float = 0.0) -> Array:
        """An array with `count` elements along its last axis but one where that is an axis of vectors, else its last."""
        return np.concatenate([x, np.full((*x.shape[:-1], count - x.shape[-1]), fill, self.dtype)], -1)

    def forward(self) -> tuple[Array, Array]:
        """y in the compute kind, and lse."""
        d = self.d
        y, lse = np.zeros(d.y_shape, self.dtype), np.zeros(d.lse_shape, self.dtype)
        for b in range(d.batch):
            for first in range(0, d.queries, QUERIES):
                rows = slice(first, min(first + QUERIES, d.queries))
                m = np.full((d.heads, rows.stop - first), -np.inf, self.dtype)
                total, sums = np.zeros_like(m), np.zeros((*m.shape, d.value_depth), self.dtype)
                for at in self.tiles(b, first):
                    s = self._padded(self.s[b, :, rows, at : at + KEYS], KEYS, -np.inf)
                    v = self.v[b, :, at : at + KEYS]
                    with np.errstate(all="ignore"):
                        now = np.maximum(m, s.max(-1))
                        nothing = now == -np.inf
                        factor = np.where(nothing, self.dtype.type(1), self._function("exp", m - now))
                        p = np.where(nothing[..., None], self.dtype.type(0), self._function("exp", s - now[..., None]))
                        pairs = p
                        while pairs.shape[-1] > 1:
                            pairs = pairs[..., ::2] + pairs[..., 1::2]
                        total = self.fma(total, factor, pairs[..., 0])
                        sums = self._weighted(sums * factor[..., None], p[..., : v.shape[-2]], v)
                    m = now
                with np.errstate(all="ignore"):
                    seen = m != -np.inf
                    y[b, :, rows] = np.where(seen[..., None], sums / total[..., None], self.dtype.type(0))
                    lse[b, :, rows] = np.where(seen, m + self._function("log", total), self.dtype.type(-np.inf))
        return y, lse

    def backward(self, y: Array, lse: Array, dy: Array) -> tuple[Array, Array, Array]:
        """dq, dk, dv in the compute kind; y, lse and dy as they are stored. Leaves dbias, for each pair, in `dbias`."""
        d, zero = self.d, self.dtype.type(0)
        self.t = {**self.t, "dy": dy, "y": y}
        dy, y = self._whole("dy", 1, "query_lengths"), self._whole("y", 1, "query_lengths")
        delta = np.zeros(d.lse_shape, self.dtype)
        for n in range(d.value_depth):
            delta = self.fma(dy[..., n], y[..., n], delta)
        with np.errstate(all="ignore"):
            p = self._function("exp", np.where(lse[..., None] == -np.inf, self.dtype.type(-np.inf), self.s - lse[..., None]))
            ds = p * (self._dots(dy, self.v) - delta[..., None])
        slopes = self._formula(slope_graph(d), {"dot": self.dot, "ds": ds})
        dt, self.dbias = (np.where(self.keep, slopes.get(n, zero), zero) for n in ("ddot", "dbias"))
        p = np.where(self.keep, p, zero)
        dq, dk, dv = (np.zeros(x.shape, self.dtype) for x in (self.q, self.t["k"], self.t["v"]))
        for b in range(d.batch):
            for h in range(d.heads):
                g = h // (d.heads // d.key_heads)
                for first in range(0, d.queries, QUERIES):
                    for at in self.tiles(b, first):
                        self._pair(dq[b, h], dk[b, g], dv[b, g], (b, h), first, at, dt, p, dy)
        return dq, dk, dv

    def _pair(
        self, dq: Array, dk: Array, dv: Array, where: tuple[int, int], first: int, at: int, dt: Array, p: Array, dy: Array
    ) -> None:
        rows, keys = slice(first, min(first + QUERIES, self.d.queries)), slice(at, min(at + KEYS, self.d.keys))
        dt, p = dt[where][rows, keys], p[where][rows, keys]
        dq[rows] = self._weighted(dq[rows], dt, self.k[where][keys])
        dk[keys] = self._weighted(dk[keys], dt.T, self.q[where][rows])
        dv[keys] = self._weighted(dv[keys], p.T, dy[where][rows])
