"""The descriptors of scaled dot product attention: extents, what a query may see, and how a score is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from baracuda.core.descriptor import Descriptor
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.lazy import cached_property
from baracuda.core.spec import check_element, check_shape
from baracuda.formula.graph import Graph
from baracuda.lowering.attention.problem import Band
from baracuda.ops.declaration.formula_plan import FLOATS

Shape = tuple[int, ...]

#: The names of the tensors that a formula of the caller's own may read.
OTHERS = ("first", "second", "third", "fourth")
#: Every tensor that a score may read, in the order of the plan's args.
SCORE_TENSORS = ("bias", "mask", "slopes", *OTHERS)


@dataclass(frozen=True)
class AttentionDescriptor(Descriptor):
    """y[b, h, i] = the sum over j of softmax over j of score(q[b, h, i] . k[b, g, j]) times v[b, g, j].

    g = h // (heads / key_heads) is the key head that query head h shares with its neighbours.

    Attributes
    ----------
    batch, heads, key_heads, queries, keys, depth, value_depth
        Extents: q is (batch, heads, queries, depth), k (batch, key_heads, keys, depth), v (batch, key_heads, keys, value_depth).
        heads is a multiple of key_heads; a tensor that lies otherwise in memory is given as a view.
    element
        What q, k, v and y store: f16, bf16, f32 or f64.
    scale
        The factor of the dot product; None: 1 / sqrt(depth).
    causal
        Whether query i sees keys up to i + offset only.
    window
        How many keys before and after the key at i + offset query i sees beside it, None for no bound on a side; None: all.
    offset
        Which key stands at query 0: 0 aligns the first ones, keys - queries the last ones. It matters with causal and window.
    softcap
        Scores become softcap * tanh(score / softcap), after the scale and before what follows; 0: they do not.
    bias_shape, bias_element
        Of a tensor that is added: four axes, each whole or 1; None: no such tensor.
    mask_shape
        Of a tensor of bool, true where a query may see a key: four axes, each whole or 1; None: no such tensor.
    slopes_shape, slopes_element
        Of slopes that are multiplied by j - i and added (ALiBi): (heads,) or (batch, heads); None: no such tensor.
    query_lengths, key_lengths
        Whether the number of queries and of keys of each batch element is given, as s32 of shape (batch,). What is beyond is
        not read; the rows of y beyond are +0.
    lse
        Whether the logarithm of each query's sum of exponentials is stored too: (batch, heads, queries), in f32, or f64 for f64.
    formula
        A formula of the caller's own from the scaled dot product to the score, which takes the place of softcap, bias, mask and
        slopes (`baracuda.ops.attention.score.custom`).
    others
        Shape and element of each tensor that it reads: four axes, each whole or 1.
    """

    numbers = (("scale", (1,)), ("softcap", (0,)))

    batch: int
    heads: int
    key_heads: int
    queries: int
    keys: int
    depth: int
    value_depth: int
    element: ElementKind
    scale: float | None = None
    causal: bool = False
    window: tuple[int | None, int | None] | None = None
    offset: int = 0
    softcap: float = 0.0
    bias_shape: Shape | None = None
    bias_element: ElementKind = ElementKind.F32
    mask_shape: Shape | None = None
    slopes_shape: Shape | None = None
    slopes_element: ElementKind = ElementKind.F32
    query_lengths: bool = False
    key_lengths: bool = False
    lse: bool = False
    formula: Graph | None = None
    others: tuple[tuple[Shape, ElementKind], ...] = ()

    def validate(self) -> None:
        check_shape("q", self.q_shape)
        check_shape("k", self.k_shape)
        check_shape("v", self.v_shape)
        check_element("element", self.element, FLOATS)
        if self.heads != 0 and (self.key_heads == 0 or self.heads % self.key_heads):
            raise InvalidProblemError(f"key_heads: {self.key_heads}; expected a divisor of the {self.heads} heads")
        if self.scale is not None and not _is_number(self.scale):
            raise InvalidProblemError(f"scale: {self.scale!r}; expected a number or None")
        if not _is_number(self.softcap) or self.softcap < 0:
            raise InvalidProblemError(f"softcap: {self.softcap!r}; expected a number above 0, or 0 for none")
        self._check_band()
        for name, shape in (("bias", self.bias_shape), ("mask", self.mask_shape)):
            self._check_broadcast(name, shape)
        for name, (shape, element) in zip(OTHERS, self.others, strict=False):
            self._check_broadcast(name, shape)
            if element.category is Category.COMPLEX or element.bits < 8 or (element.is_float and element.bits < 16):
                raise UnsupportedError(f"{name}: {element} in a score; expected a float of 16 bits or more, an integer or bool")
        for name, kind in (("bias", self.bias_element), ("slopes", self.slopes_element)):
            check_element(name, kind, FLOATS)
        if self.slopes_shape not in (None, (self.heads,), (self.batch, self.heads)):
            raise InvalidProblemError(
                f"slopes: shape {self.slopes_shape}; expected {(self.heads,)} or {(self.batch, self.heads)}, one for each head"
            )
        if len(self.others) > len(OTHERS) or (self.others and self.formula is None):
            raise InvalidProblemError(f"others: {len(self.others)} tensors; expected at most {len(OTHERS)}, of a formula")
        options = self.softcap or self.bias_shape is not None or self.mask_shape is not None or self.slopes_shape is not None
        if self.formula is not None and options:
            raise InvalidProblemError("formula: beside softcap, bias, mask or slopes; expected them inside the formula")

    def _check_band(self) -> None:
        if isinstance(self.offset, bool) or not isinstance(self.offset, int):
            raise InvalidProblemError(f"offset: {self.offset!r}; expected an int")
        if self.window is None:
            return
        sides = [n for n in self.window if n is not None]
        if len(self.window) != 2 or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in sides):
            raise InvalidProblemError(f"window: {self.window!r}; expected (before, after), each 0 or more, or None for no bound")

    def _check_broadcast(self, name: str, shape: Shape | None) -> None:
        if shape is None:
            return
        check_shape(name, shape, 4, 4)
        if any(n not in (1, whole) for n, whole in zip(shape, self.pair_shape, strict=True)):
            raise InvalidProblemError(f"{name}: shape {shape} does not broadcast to {self.pair_shape}")

    # --- what follows from the fields ---------------------------------------------------------------------------------

    q_shape = property(lambda self: (self.batch, self.heads, self.queries, self.depth))
    k_shape = property(lambda self: (self.batch, self.key_heads, self.keys, self.depth))
    v_shape = property(lambda self: (self.batch, self.key_heads, self.keys, self.value_depth))
    y_shape = property(lambda self: (self.batch, self.heads, self.queries, self.value_depth))
    lse_shape = property(lambda self: (self.batch, self.heads, self.queries))
    lengths_shape = property(lambda self: (self.batch,))

    @property
    def pair_shape(self) -> Shape:
        """The space that scores lie in."""
        return (self.batch, self.heads, self.queries, self.keys)

    @property
    def compute(self) -> ElementKind:
        """The kind of every value between loads and stores."""
        return self.element.compute

    @property
    def factor(self) -> float:
        """The scale, in numbers."""
        return self.scale if self.scale is not None else 1.0 / sqrt(max(1, self.depth))

    @cached_property
    def band(self) -> Band:
        """The pairs that are considered at all."""
        before, after = self.window or (None, None)
        if self.causal:
            after = 0
        return Band(before, after, self.offset if (before, after) != (None, None) else 0)

    @property
    def length_element(self) -> ElementKind:
        return ElementKind.S32

    @property
    def mask_element(self) -> ElementKind:
        return ElementKind.BOOL

    @property
    def slopes_axes(self) -> tuple[int, ...]:
        """The axes of the space of scores that the slopes lie along."""
        assert self.slopes_shape is not None
        return (1,) if len(self.slopes_shape) == 1 else (0, 1)

    has_bias = property(lambda self: self.bias_shape is not None)
    has_mask = property(lambda self: self.mask_shape is not None)
    has_slopes = property(lambda self: self.slopes_shape is not None)
    has_first = property(lambda self: len(self.others) > 0)
    has_second = property(lambda self: len(self.others) > 1)
    has_third = property(lambda self: len(self.others) > 2)
    has_fourth = property(lambda self: len(self.others) > 3)
    first_shape = property(lambda self: self.others[0][0])
    second_shape = property(lambda self: self.others[1][0])
    third_shape = property(lambda self: self.others[2][0])
    fourth_shape = property(lambda self: self.others[3][0])
    first_element = property(lambda self: self.others[0][1])
    second_element = property(lambda self: self.others[1][1])
    third_element = property(lambda self: self.others[2][1])
    fourth_element = property(lambda self: self.others[3][1])

    @property
    def score_tensors(self) -> dict[str, ElementKind]:
        """The tensors that the score reads, in order, with what they store."""
        return {n: getattr(self, f"{n}_element") for n in SCORE_TENSORS if getattr(self, f"has_{n}")}

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers that the kernel is given at run time."""
        return {"scale": self.factor, "softcap": self.softcap}


@dataclass(frozen=True)
class AttentionBackwardDescriptor(AttentionDescriptor):
    """The gradients of an attention's tensors, given that of y, y itself and its log-sum-exp.

    Attributes
    ----------
    wrt
        Whose gradients are wanted: some of q, k, v, and at most one tensor of the score, whose gradient is stored for each pair
        of a query and a key, as `dbias`.
    """

    lse: bool = True
    wrt: tuple[str, ...] = ("q", "k", "v")

    def validate(self) -> None:
        super().validate()
        known = ("q", "k", "v", *(n for n, kind in self.score_tensors.items() if kind.is_float))
        if not self.wrt or len(set(self.wrt)) != len(self.wrt) or any(n not in known for n in self.wrt):
            raise InvalidProblemError(f"wrt: {self.wrt!r}; expected some of {', '.join(known)}, each once")
        if len(set(self.wrt) - {"q", "k", "v"}) > 1:
            raise UnsupportedError(f"wrt: {self.wrt!r}; expected at most one tensor beside q, k and v")
        if not self.lse:
            raise InvalidProblemError("lse: False; expected True, because the gradient reads it")

    @property
    def pair(self) -> str | None:
        """The tensor of the score whose gradient is stored for each pair."""
        return next((n for n in self.wrt if n not in ("q", "k", "v")), None)

    @property
    def dbias_element(self) -> ElementKind:
        """What the gradient for each pair is stored as: where it is summed afterwards, without a rounding before."""
        assert self.pair is not None
        shape: Sequence[int] = getattr(self, f"{self.pair}_shape")
        kind: ElementKind = getattr(self, f"{self.pair}_element")
        return kind if tuple(shape) == self.pair_shape else self.compute

    wants_dq = property(lambda self: "q" in self.wrt)
    wants_dk = property(lambda self: "k" in self.wrt)
    wants_dv = property(lambda self: "v" in self.wrt)
    wants_dbias = property(lambda self: self.pair is not None)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
