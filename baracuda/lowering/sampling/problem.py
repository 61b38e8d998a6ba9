"""Sampling as a problem: of each row of logits one element is drawn, of those that filters leave, each as likely as its weight.

*Order.* All of it is what one row says; rows know nothing of each other. For a row of n logits, widened to f32, those above the
largest finite number counted as that:

1. NaN and -inf are out. If nothing is left, the token is -1. M is the largest logit.
2. x = logit / temperature, held within the finite numbers; where the temperature is not above 0 or there is none, x is the logit,
   and in the former case only logits equal to M are left. m is that of M, and v = m - x, rounded.
3. e = exp(-min(v, 80)), at most 1; the weight is w = rint(e * 2**31), a whole number. Of probabilities instead of logits those
   not above 0 are out and e = p / M. Sums of weights are exact, so there is no order of them to choose.
4. `nsigma`: with q = rint(2**12 * (M - logit)) of the logits that are at most 1024 below M, c of them, S1 the sum of q and S2
   that of its squares: in f64 var = (S2 - S1 * (S1 / c)) / max(c - 1, 1), and sigma = sqrt(max(var, 0)) * 2**-12 rounded to f32.
   What is left has M - logit <= nsigma * sigma in f32; only what equals M where nsigma is not above 0.
5. `min_p`: what is left has w >= min(ceil(min_p * 2**31), 2**31); all where min_p is not above 0.
6. `k`: what is left has x >= the k-th largest x of what 4 and 5 left; all where k < 1 or there are no more than k.
7. `p`: W is the sum of the weights left by 6, or with `joint` by 5; T = ceil(p * W), in f64, within 1 ... W. What is left has
   x >= t, the largest t with which the weights of those add up to T; all where p is not below 1. With `typical`
   mu = R / W / 2 in f64, rounded to f32, where R is the sum of rint(e * min(v, 80) * 2**32) over what 6 left, so mu is the
   entropy less log(sum(e)); what is left has |v - mu| <= t, the smallest t with which the weights of those add up to T.
8. W is now the sum of the weights left, and r = word * W >> 64, where word is the row's 64 random bits; 0 where the temperature
   is not above 0. The token is the first i of which the weights up to i and itself add up to more than r.

The bits are those of element 0 of a draw of the row's key; where there is one key, of that which the row's number is folded into
(`baracuda.ops.random.draws` and `keys`).

So filters keep all elements equal to the last one they keep, and the number of an element matters in 8 alone. What is given out
beside the token is v of the token and W, NaN and 0 where the token is -1, and whether each element is left.

Thresholds are found by histograms of the order-preserving bits of x or |v - mu|, whose counts and sums are whole numbers; how,
and how often the row is read, is a schedule's matter.
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.elements import ElementKind

#: The order of the operands: logits, the key of each row, what filters have for each row, and the results.
LOGITS, KEYS, TEMPERATURE, K, P, MIN_P, NSIGMA, TOKEN, BELOW, TOTAL, KEPT = range(11)
OPERANDS = 11
#: What numbers in the place of operands are called.
NAMES = {TEMPERATURE: "temperature", K: "k", P: "p", MIN_P: "min_p", NSIGMA: "nsigma"}
#: Elements of a row at most.
LIMIT = 1 << 30


@dataclass(frozen=True)
class Sampling:
    """The problem.

    Attributes
    ----------
    kind
        That of the logits.
    rows, length
        How many rows there are, and elements to each.
    logits
        The steps from row to row and along a row.
    unit
        Whether the latter is 1 and code may rely on it.
    key
        The steps of keys from row to row, and from the first word of a key to the second.
    folded, bits, stream
        Whether there is one key; "philox" or "threefry"; the stream that is drawn from.
    given
        The step from row to row of what filters have, by operand, where that is a tensor.
    numbers
        The operands in whose place there is a number, in order; what is neither is no filter.
    kept
        The steps of the marks of what is left, None where they are not wanted.
    measured
        Whether BELOW and TOTAL are wanted.
    typical, joint, probabilities
        As above.
    """

    kind: ElementKind
    rows: int
    length: int
    logits: tuple[int, int]
    unit: bool
    key: tuple[int, int]
    given: tuple[tuple[int, int], ...]
    numbers: tuple[int, ...]
    kept: tuple[int, int] | None
    measured: bool
    typical: bool = False
    joint: bool = False
    probabilities: bool = False
    folded: bool = False
    bits: str = "philox"
    stream: int = 0

    def has(self, operand: int) -> bool:
        """Whether there is something for each row."""
        return operand in self.numbers or any(o == operand for o, _ in self.given)

    @property
    def tempered(self) -> bool:
        """Whether x is another number than the logit."""
        return self.has(TEMPERATURE)

    @property
    def searches(self) -> bool:
        """Whether a threshold is found among the elements."""
        return self.has(K) or self.has(P)
