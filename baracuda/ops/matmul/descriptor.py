"""The descriptor of a product of two tensors: which axes are summed, which are batches, and what is done to the sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from baracuda.core.descriptor import Descriptor
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.lazy import cached_property
from baracuda.core.spec import check_axis, check_shape
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.promotion import part
from baracuda.ops.matmul.epilogue import ACTIVATIONS

Shape = tuple[int, ...]
_BATCH = "BCDEFGHI"
#: What a scale of blocks is of, and how many elements of k, or rows, a block has.
Blocks = Literal["none", "rows", "squares"]
SCALED_BLOCK = 128
#: Attributes that are the shapes of tensors which the product, or its result, is scaled or shifted by.
_FACTORS = ("a_scale", "b_scale", "a_zero", "b_sum", "b_zero", "a_sum", "y_scale", "y_zero")
#: Of these, the first is not there without the second.
_TOGETHER = (("a_zero", "b_sum"), ("b_sum", "a_zero"), ("b_zero", "a_sum"), ("a_sum", "b_zero"), ("y_zero", "y_scale"))


@dataclass(frozen=True)
class MatmulDescriptor(Descriptor):
    """y = activation(alpha * (a_scale * b_scale * (a @ b)) + beta * c + bias), the product summed over any axes of a and b.

    Each axis of a, b and y has a label, one character. A label of a and b that y lacks is summed over, in the order of its
    axes in a; one that all three have is a batch; one that y and a single factor have is free. `MatmulDescriptor.matmul` makes
    the labels of a matrix product, so that "bmk" and "bnk" is a product by the transpose of b, without a view of it.

    Attributes
    ----------
    a_shape, b_shape
        The factors' shapes. Axes of one label have one extent; a batch axis may have extent 1 in one factor.
    a_axes, b_axes, y_axes
        The labels. Each label of y is in a or in b, and each of a and b in the other or in y.
    a_element, b_element, element
        What a, b and the results store. a and b must compute in one kind.
    activation
        One of `ACTIVATIONS`; "none" for none.
    c_shape
        The shape of a tensor that is added, which broadcasts to y's; None: no such tensor. It has y's element.
    alpha, beta
        Factors of the product and of c, given to the kernel at run time. With beta = 0, c is not read.
    bias_axis
        The axis of y, numbered from its end (-1, -2, ...), that a vector of y's element is added along; None: none is.
    a_scale, b_scale
        Shapes, which broadcast to y's, of f32 tensors that the product is multiplied by: () for one scale, (m, 1) for one a
        row. They make up for quantized factors.
    a_blocks, b_blocks
        What such a scale is of, where it is not of rows of the result: "rows", blocks of `SCALED_BLOCK` elements of k in a row of
        a or a column of b; "squares", such blocks of as many rows or columns. The shapes are then (blocks of k, rows), and
        (blocks of rows, blocks of k up to a multiple of 4), as cuBLASLt has them, which alone takes them.
    a_zero, b_sum, b_zero, a_sum
        Shapes, which broadcast to y's, of s32 tensors for factors of integers with zero points: from the product, as an
        integer, a_zero * b_sum and b_zero * a_sum are subtracted first. A factor's sums are those of its elements over k.
    y_scale, y_zero
        Shapes, which broadcast to y's, of the f32 scale and the s32 zero point of a y of 8-bit integers: the codes
        rint(value / y_scale) + y_zero, limited to y's element, are stored.
    saves
        Whether what the activation is applied to is stored too, as `z`.
    gradient
        The companion: y = (alpha * product + ...) * activation'(z), with z read instead.
    conjugate_a, conjugate_b
        Whether a factor, of complex elements, is conjugated.
    """

    numbers = (("alpha", (1,)), ("beta", (0, 1)))

    a_shape: Shape
    b_shape: Shape
    a_axes: str
    b_axes: str
    y_axes: str
    a_element: ElementKind
    b_element: ElementKind
    element: ElementKind
    activation: str = "none"
    c_shape: Shape | None = None
    alpha: complex = 1.0
    beta: complex = 1.0
    bias_axis: int | None = None
    a_scale: Shape | None = None
    b_scale: Shape | None = None
    a_blocks: Blocks = "none"
    b_blocks: Blocks = "none"
    a_zero: Shape | None = None
    b_sum: Shape | None = None
    b_zero: Shape | None = None
    a_sum: Shape | None = None
    y_scale: Shape | None = None
    y_zero: Shape | None = None
    saves: bool = False
    gradient: bool = False
    conjugate_a: bool = False
    conjugate_b: bool = False

    @staticmethod
    def matmul(
        a_shape: Shape,
        b_shape: Shape,
        element: ElementKind,
        *,
        a_transposed: bool = False,
        b_transposed: bool = False,
        **fields: object,
    ) -> MatmulDescriptor:
        """The product of the last two axes, the others broadcast; a transposed factor has those two exchanged.

        Fields are those of the class; a_element and b_element are `element` unless given.
        """
        for name, shape in (("a", a_shape), ("b", b_shape)):
            check_shape(name, shape, 2)
        left = _BATCH[len(_BATCH) - len(a_shape) + 2 :] + ("km" if a_transposed else "mk")
        right = _BATCH[len(_BATCH) - len(b_shape) + 2 :] + ("nk" if b_transposed else "kn")
        batch = max(left[:-2], right[:-2], key=len)
        elements = {"a_element": element, "b_element": element, **fields}
        return MatmulDescriptor(a_shape, b_shape, left, right, batch + "mn", element=element, **elements)  # type: ignore[arg-type]

    def validate(self) -> None:
        for name, shape, axes in (("a", self.a_shape, self.a_axes), ("b", self.b_shape, self.b_axes)):
            check_shape(name, shape)
            if len(axes) != len(shape) or len(set(axes)) != len(axes):
                raise InvalidProblemError(f"{name}_axes: {axes!r}; expected {len(shape)} different labels for shape {shape}")
        a, b, y = set(self.a_axes), set(self.b_axes), set(self.y_axes)
        if len(y) != len(self.y_axes) or y - a - b or (a ^ b) - y:
            raise InvalidProblemError(
                f"y_axes: {self.y_axes!r}; expected every label of {self.a_axes!r} and {self.b_axes!r} that only one of them "
                "has, and otherwise labels of theirs, each once"
            )
        self._check_extents()
        self._check_elements()
        self._check_epilogue()

    def _check_extents(self) -> None:
        a, b = dict(zip(self.a_axes, self.a_shape, strict=True)), dict(zip(self.b_axes, self.b_shape, strict=True))
        for label in a.keys() & b.keys():
            broadcast = label in self.y_axes and 1 in (a[label], b[label])
            if a[label] != b[label] and not broadcast:
                what = "broadcast" if label in self.y_axes else "contract"
                raise InvalidProblemError(
                    f"shapes {self.a_shape} and {self.b_shape} do not {what}: axis {self.a_axes.index(label)} of a has extent "
                    f"{a[label]}, axis {self.b_axes.index(label)} of b {b[label]}"
                )
        check_shape("y", self.y_shape)

    def _check_elements(self) -> None:
        for name, kind in (("a", self.a_element), ("b", self.b_element), ("y", self.element)):
            if kind.category is Category.BOOL or kind.bits < 8:
                raise UnsupportedError(f"{name}: no matrix product of {kind}; expected a float, an integer or a complex element")
        if self.a_element.compute is not self.b_element.compute:
            raise InvalidProblemError(
                f"a has element {self.a_element}, b {self.b_element}; expected elements of one kind of number"
            )
        both = Category.COMPLEX in (self.element.category, self.a_element.category)
        widens = self.a_element.is_integer and self.element.is_float and self.a_scale is not None
        if self.y_scale is not None and self.element not in (ElementKind.S8, ElementKind.U8):
            raise InvalidProblemError(f"y: element {self.element} with a scale; expected s8 or u8")
        if (self.has_a_zero or self.has_b_zero) and not self.a_element.is_integer:
            raise InvalidProblemError(f"the factors are {self.a_element}; expected integers, which have zero points")
        same = (self.element.compute.category is self.a_element.compute.category) or widens
        if (both and self.element is not self.a_element) or (not same and not widens):
            raise InvalidProblemError(
                f"y: element {self.element} for factors of {self.a_element}; expected the same kind of number"
            )
        if (self.conjugate_a or self.conjugate_b) and not both:
            raise InvalidProblemError(f"conjugate: the factors are {self.a_element}; expected complex elements")

    def _check_epilogue(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise InvalidProblemError(f"activation: {self.activation!r}; expected one of {', '.join(ACTIVATIONS)}")
        if self.activation != "none" and not self.element.is_float:
            raise UnsupportedError(f"activation: {self.activation} of {self.element}; expected a float element")
        if self.gradient and (self.activation == "none" or self.saves):
            raise InvalidProblemError("gradient: expected an activation to differentiate, and no z to save")
        shapes = {"c": self.c_shape} | {name: getattr(self, name) for name in _FACTORS}
        if self.of_blocks:
            self._check_blocks()
            del shapes["a_scale"], shapes["b_scale"]
        for name, shape in shapes.items():
            if shape is not None and not _broadcasts(shape, self.y_shape):
                raise InvalidProblemError(f"{name}: shape {shape} does not broadcast to {self.y_shape}")
        for name, needed in (
            ("a_zero", "b_sum"),
            ("b_sum", "a_zero"),
            ("b_zero", "a_sum"),
            ("a_sum", "b_zero"),
            ("y_zero", "y_scale"),
        ):
            if shapes[name] is not None and shapes[needed] is None:
                raise InvalidProblemError(f"{name}: shape {shapes[name]} without {needed}; expected both")
        if self.bias_axis is not None:
            check_axis("bias_axis", self.bias_axis, len(self.y_shape))
            if self.bias_axis >= 0:
                raise InvalidProblemError(f"bias_axis: {self.bias_axis}; expected an axis numbered from the end, -1 for the last")
        for name, number in (("alpha", self.alpha), ("beta", self.beta)):
            if isinstance(number, complex) and self.element.category is not Category.COMPLEX:
                raise InvalidProblemError(f"{name}: {number!r} for element {self.element}; expected a real number")
            if self.element.is_integer and number != int(number.real):
                raise InvalidProblemError(f"{name}: {number!r} for element {self.element}; expected a whole number")

    def _check_blocks(self) -> None:
        for name, kind, axes, shape in (
            ("a_scale", self.a_blocks, self.a_axes, self.a_shape), ("b_scale", self.b_blocks, self.b_axes, self.b_shape),
        ):  # fmt: skip
            found = getattr(self, name)
            if len(self.summed) != 1 or kind == "none":
                raise InvalidProblemError(
                    f"{name}: blocks of {kind}, {self.summed!r} summed; expected those of both, and of one axis"
                )
            k = self.extents[self.summed]
            rows, blocks = prod(n for n, x in zip(shape, axes, strict=True) if x != self.summed), -(-k // SCALED_BLOCK)
            expected = (blocks, rows) if kind == "rows" else (-(-rows // SCALED_BLOCK), -(-blocks // 4) * 4)
            if found != expected:
                raise InvalidProblemError(f"{name}: shape {found}; expected {expected}")

    # --- what follows from the fields ---------------------------------------------------------------------------------

    @cached_property
    def extents(self) -> dict[str, int]:
        """The extent of each label."""
        extents: dict[str, int] = {}
        for label, n in (*zip(self.a_axes, self.a_shape, strict=True), *zip(self.b_axes, self.b_shape, strict=True)):
            extents[label] = n if extents.get(label, 1) == 1 else extents[label]
        return extents

    @cached_property
    def y_shape(self) -> Shape:
        return tuple(self.extents[label] for label in self.y_axes)

    @cached_property
    def summed(self) -> str:
        """The labels that are summed over, in order."""
        return "".join(label for label in self.a_axes if label not in self.y_axes)

    @cached_property
    def accumulator(self) -> ElementKind:
        """The kind that sums are taken in."""
        kind = self.a_element.compute
        return part(kind) if kind.category is Category.COMPLEX else kind

    @property
    def conjugates(self) -> bool:
        """Whether gradients conjugate: whether elements are complex."""
        return self.element.category is Category.COMPLEX

    @property
    def exchanged(self) -> frozenset[str]:
        """The factors read with their real and imaginary parts exchanged, which is i times the conjugate. The conjugates of
        both make the conjugate of the product."""
        both = self.conjugate_a and self.conjugate_b
        return frozenset(n for n, c in (("a", self.conjugate_a), ("b", self.conjugate_b)) if c and not both)

    @property
    def bias_shape(self) -> Shape:
        assert self.bias_axis is not None
        return (self.y_shape[self.bias_axis],)

    scale_element, zero_element = ElementKind.F32, ElementKind.S32

    #: Whether scales are of blocks of k.
    of_blocks = property(lambda self: self.a_blocks != "none" or self.b_blocks != "none")
    has_c = property(lambda self: self.c_shape is not None)
    has_bias = property(lambda self: self.bias_axis is not None)
    has_a_scale = property(lambda self: self.a_scale is not None)
    has_b_scale = property(lambda self: self.b_scale is not None)
    has_a_zero = property(lambda self: self.a_zero is not None)
    has_b_zero = property(lambda self: self.b_zero is not None)
    has_y_scale = property(lambda self: self.y_scale is not None)
    has_y_zero = property(lambda self: self.y_zero is not None)

    @cached_property
    def parameters(self) -> dict[str, float]:
        """The numbers that the kernel is given at run time."""
        parameters: dict[str, float] = {}
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            parameters[name] = value.real
            if self.conjugates:
                parameters[f"{name}.im"] = value.imag
        return parameters

    @property
    def epilogue(self) -> str:
        """What is done to the product, in a word; empty for nothing."""
        words = ["zeros"] * (self.has_a_zero or self.has_b_zero) + ["scales"] * (self.has_a_scale or self.has_b_scale)
        words += ["c"] * self.has_c + ["bias"] * self.has_bias
        if self.activation != "none":
            words.append(f"d{self.activation}" if self.gradient else self.activation)
        words += ["codes"] * self.has_y_scale
        return "+".join(words)


def _broadcasts(shape: Sequence[int], to: Sequence[int]) -> bool:
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))


def labelled(a: TensorRef, b: TensorRef, a_axes: str, b_axes: str, y_axes: str, **fields: Any) -> MatmulDescriptor:
    """The descriptor of a product of two tensors whose axes have these labels."""
    given = {"element": a.kind, "a_element": a.kind, "b_element": b.kind} | fields
    return MatmulDescriptor(a.shape, b.shape, a_axes, b_axes, y_axes, **given)
