"""Attention: the problem that both devices lower, and the order its sums are taken in.

For each batch element b and query head h, with the key head g = h // (heads / key_heads),

    s[i, j] = score(q[b, h, i, :] . k[b, g, j, :])           y[b, h, i, :] = sum over j of softmax(s[i, :])[j] * v[b, g, j, :]

`score` is a formula of one dot product, of tensors over (b, h, i, j) and of the coordinates: the scale, a bias, a soft cap, a
mask (which makes -inf). Keys that a query may see at all are told by a band and by lengths, so that whole tiles are skipped.

**Order** (contract rule 6). Everything is in the compute kind (f32; f64 for f64). Queries are cut into blocks of `QUERIES`,
keys into tiles of `KEYS`, both from 0. A block takes the tiles that its band meets, as if the block and the tile were whole, and
that begin before the keys' length, in rising order; the others are skipped. Per query, starting from m = -inf, l = +0 and
acc = +0:

1. t = the dot product, one chain of FMA in rising d from +0; s = score(t); outside the band, beyond the lengths: -inf;
2. m' = maximum(m, the tile's s), NaN winning; r = exp(m - m'), p = exp(s - m'); where m' is -inf, r = 1 and p = +0;
3. l = fma(l, r, the tile's sum of p), which is taken in adjacent pairs (0 with 1, 2 with 3, ... up to `KEYS`);
4. acc[d] = acc[d] * r, then fma(p, v[j, d], acc[d]) in rising j;
5. m = m'.

At the end y = acc / l and lse = m + log(l); of a query that sees nothing (m = -inf) y = +0 and lse = -inf.

A key or a query that is beyond its extent or its length counts, up to the end of its tile or block, as one whose q, k, v, dy,
p and dt are +0, whatever memory holds there: that every tile is a whole one is why padding changes no bit. Blocks of queries
that lie beyond the queries' length as a whole are skipped too.

Backward, with delta[i] = the chain of FMA over d of dy[i, d] * y[i, d], for each pair of a tile that is not skipped:
s as above (the same bits), p = exp(s - lse), +0 where lse is -inf; dp = the chain over d of dy[i, d] * v[j, d];
ds = p * (dp - delta); dt = ds through the derivative of score, +0 where a pair is masked. Then chains of FMA from +0:
dq[i, d] of dt * k[j, d] in rising j; dk[j, d] of dt * q[i, d] and dv[j, d] of p * dy[i, d] in rising i, the heads of a group
one after another. A gradient by a tensor of the score is `dbias`, stored for each pair, +0 for those that are masked or skipped,
and summed by a plan of its own.

**In integers** (`math` INT15, the default of 16-bit elements, or INT23). The same steps with products of integers of so many
bits in place of the chains (`baracuda/formula/integer_products.py` has the rule for E and the meaning of a P, its F and a scale):

- A row of q, k, v or dy (the elements of one head and one query or key) has one E, from all its elements, and the integers by it;
  the scale S = 2**(E - bits). A row with an element that is not finite has the scale NaN and integers of 0. A row beyond its
  extent or its length has integers of 0 and the scale 1.
- A dot product of two rows (q with k, dy with v): from t = +0, for each block of 128 of the depth, in rising order,
  t = fma(F * low, high, t), F being the block's exact P rounded to f32, low and high the smaller and the larger scale; NaN where
  a scale is.
- A sum over the rows of a tile (of p with v over 64 keys; of dt with k over 64 keys; of dt with q and of p with dy over 64
  queries), which belong to one row of the result: the weight of each, p or dt, is multiplied by its row's scale: w = p * S, one
  rounding, and +0 where p is 0 (so that a pair that is not seen never counts). All 64 w of the tile have one E_w, by the same
  rule, from the largest of them (NaN wins, and makes S_w NaN), and integers u by it; P[d] = sum of u * (integer of the row's
  element d) is exact, and the sum so far becomes fma(F, S_w, sum), S_w = 2**(E_w - bits): in the forward acc[d] =
  fma(F, S_w, acc[d] * r). Tiles rise as above, and in dk and dv the heads of a group follow one another.

Everything else (scores, exponentials, l, delta, lse) is as above, in f32. So a query's bits depend on the keys that it sees and
on nothing else, and a prefill, a decoding step and training agree.

**By tensor cores** (`math` BF16 or F16; elements of that kind, on a GPU). The same blocks, tiles and steps, with the bits of one
architecture:

- A chain is one of the tensor cores' instructions, 16 terms each, in rising order from +0, in f32; how an instruction rounds is
  the hardware's. That of a dot product goes over the depth, filled up with zeros, that of a sum over all 64 rows of each tile; in
  the forward acc[d] = acc[d] * r comes before a tile's. Weights (p; dt) are rounded to the element, to nearest even.
- Exponentials are 2**x as the device approximates it (`ex2.approx.ftz`): p = 2**fma(s, c, -(m' * c)), r = 2**fma(m, c, -(m' * c))
  and, backward, p = 2**fma(s, c, -(lse * c)), c = log2(e) in f32; m' * c is 0 where m' is -inf.
- m need not be the largest: m' = m where the tile's s are at most m + 5, and r = 1 there; else as above. So few tiles move it.
- l is kept in four parts: part i has the keys whose numbers modulo 8 are 2i and 2i + 1. For each l = fma(l, r, the sum of the
  tile's 16 p, before they are rounded, in adjacent pairs). At the end they are added in adjacent pairs, and y = acc * (1 / l).
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.elements import ElementKind
from baracuda.core.sku import MathPrecision
from baracuda.formula.expr import Expr
from baracuda.formula.graph import Graph
from baracuda.formula.integer_products import bits_of
from baracuda.lowering.nest.problem import Operand

#: Queries to a block and keys to a tile.
QUERIES, KEYS = 64, 64

#: The name of the dot product among the inputs of a score formula, and of its gradient among those of the derivative.
DOT, GRADIENT = "dot", "ds"


@dataclass(frozen=True)
class Band:
    """Which keys a query may see: i + offset - before <= j <= i + offset + after; None: no bound on that side.

    Causal attention is before=None, after=0; offset is the number of keys less that of queries where the last query sees
    the last key.
    """

    before: int | None = None
    after: int | None = None
    offset: int = 0


@dataclass(frozen=True)
class Attention:
    """A problem of attention, forward or backward.

    Attributes
    ----------
    batch, heads, key_heads, queries, keys, depth, value_depth
        Extents; heads is a multiple of key_heads.
    compute
        The kind of every value between loads and stores.
    score
        A graph of primitives over (batch, heads, queries, keys), every axis outer: inputs `dot` (compute kind; not a tensor)
        and the score's tensors, one output, `s`.
    slope
        For the backward: inputs `dot`, `ds` and the same tensors; outputs `ddot`, and `dbias` where that is stored.
    band
        Which pairs are considered at all.
    q, k, v, y
        Layouts over (batch, heads or key_heads, queries or keys, depth or value_depth). In the backward y is read.
    lse
        The log-sum-exp over (batch, heads, queries), in the compute kind; written by the forward where it is asked for (else
        None), read by the backward.
    query_lengths, key_lengths
        Number of queries and keys that there are in each batch element, s32 over (batch,); None: all.
    tensors
        The score's tensors in the order of its inputs, `dot` left out: layouts over (batch, heads, queries, keys).
    dy, dq, dk, dv, dbias
        For the backward; a gradient that is not wanted is None.
    math
        What products are taken in; None: chains in the compute kind.
    """

    batch: int
    heads: int
    key_heads: int
    queries: int
    keys: int
    depth: int
    value_depth: int
    compute: ElementKind
    score: Graph
    slope: Graph | None
    band: Band
    q: Operand
    k: Operand
    v: Operand
    y: Operand
    lse: Operand | None
    query_lengths: Operand | None
    key_lengths: Operand | None
    tensors: tuple[Operand, ...]
    dy: Operand | None = None
    dq: Operand | None = None
    dk: Operand | None = None
    dv: Operand | None = None
    dbias: Operand | None = None
    math: MathPrecision | None = None

    @property
    def bits(self) -> int:
        """The bits of the integers that products are taken in; 0: none are, and sums are chains."""
        return bits_of(self.math)

    @property
    def params(self) -> tuple[Expr, ...]:
        """The parameters of the score, then those that only its derivative has: the order in which their values are given."""
        params = dict.fromkeys(self.score.params)
        return tuple(params | dict.fromkeys(self.slope.params if self.slope is not None else ()))

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Those that are there, in the order of a program's addresses: q k v, lengths, score tensors, then y lse (both
        written by the forward, read by the backward), dy, dq dk dv dbias."""
        every = (self.q, self.k, self.v, self.query_lengths, self.key_lengths, *self.tensors)
        every += (self.y, self.lse, self.dy, self.dq, self.dk, self.dv, self.dbias)
        return tuple(o for o in every if o is not None)
