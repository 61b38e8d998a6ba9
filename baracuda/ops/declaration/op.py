"""What an op is: a formula, the elements it takes, and the names of its results. One decorator declares it.

    @op()
    def softcap(x: Expr, *, cap: Annotated[Scalar, Above(0), Finite()] = 30.0) -> Expr:
        '''cap * tanh(x / cap): a soft limit of the logits.'''
        return cap * tanh(x / cap)

From that declaration follow the plans and their args, the function `baracuda.softcap` and its backward, both devices'
kernels, the catalogue row and the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.lazy import cached_property
from baracuda.core.op_table import row
from baracuda.core.sku import OpCategory
from baracuda.formula.expr import Expr
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, Shape, Signature, Space, Value, signature

Formula = Callable[..., Any]

_CATEGORIES = {
    "float": frozenset([Category.FLOAT]),
    "int": frozenset([Category.SIGNED, Category.UNSIGNED]),
    "bool": frozenset([Category.BOOL]),
    "complex": frozenset([Category.COMPLEX]),
    "any": frozenset(Category),
}


def categories(words: str) -> frozenset[Category]:
    """The categories of elements that the words of the table name, such as "float,int"."""
    return frozenset[Category]().union(*(_CATEGORIES[word] for word in words.split(",")))


class Op:
    """One op of the library. Made by the decorator `op`; hashable by identity.

    Attributes
    ----------
    name, category
        As in the catalogue, from which family, elements and whether there is a gradient are taken unless given.
    formula, signature
        The Python function over expressions, and what its parameters mean.
    rule
        How the inputs' elements make the one it computes in.
    takes
        The categories of elements it is defined on.
    results
        Names of its results; one is `y`.
    rows
        Whether it runs along rows, that is, takes `axis`; `axis` is then the default (None: all axes), or tells it by the
        rank.
    axis_option
        Whether `axis` is a parameter of its function; else rows run along the op's own axes, whatever the caller says.
    keepdims
        The default of `keepdims` for results that do not vary along the rows; None: they always keep them.
    saves
        Results of the forward pass that the backward reads.
    extra
        Results that the function returns only where `saved=True` asks for them. They are stored in the kind the op computes
        in (f32 for 16-bit floats).
    constants
        Float tensors without a gradient unless it is asked for by name.
    literals
        For a scalar, or a tensor that a Python number stands for, the numbers that are constants of the formula; others are
        parameters at run time.
    byte_floats
        Whether it takes 8-bit floats, as casts do.
    places
        Tensors whose axes do not lie at the end of the iteration space, with where they lie, given the space's rank and the
        row axes. One that has the space's rank lies as it is.
    space
        For an op whose iteration space is not what its tensors broadcast to: where their axes lie, given the shapes of those
        that are given and the options. A tensor with an axis that is read at an index comes to the formula as a `Table`.
    bounds
        For an op that reads at indices, or whose target is a class: the tensors of indices and what they must be in, given
        shapes, options and numbers, of an op with rows their axes as "axis". The function checks them unless `bounds="clamp"`.
    wide
        Results that are stored in the kind the op computes in.
    library
        Whether a library computes it, for some elements at least, because it has no formula yet.
    ordered
        Pairs of numbers of which the first may not be above the second.
    positions
        The parameters that may follow the tensors by position, in PyTorch's order; None: the axes, then all others in the order
        of the formula's signature.
    crosswise
        Whether `axis` names the axes that PyTorch's dim leaves out, so that dim= is refused.
    rowless
        For an op that runs along rows: whether `axis` may name none, so that each element is a row of its own. As in NumPy, a
        reduction then gives x.
    vectors
        Tensors that lie along the axes of the rows and may be given, where these are several, as a vector of as many elements,
        the last axis fastest.
    stored
        For a saved result whose element an option says, that option: a backward call takes it from the tensor that it is given.
    straight
        Tensors and results of integers that have a gradient all the same, straight through a rounding: that of the real number
        that they stand for, in the element of the op's floats.
    unread
        Tensors that the function of the backward does not take, since it reads no element of them: they have the shape of the
        first gradient of a result, and its element or, where one is given, that one.
    once
        Whether only its first derivative is right: its formula, or that of its backward, goes through steps that differentiation
        does not see, such as a search or a rounding.
    check
        Raises where the tensors' shapes and elements, by name, and the row axes are not what the op asks for beyond
        broadcasting, given the options and numbers.
    """

    def __init__(
        self,
        formula: Formula,
        rule: Rule,
        *,
        name: str = "",
        family: str = "",
        takes: str = "",
        results: Sequence[str] = (),
        rows: bool = False,
        axis: int | tuple[int, ...] | Callable[[int], int | tuple[int, ...]] | None = -1,
        axis_option: bool = True,
        keepdims: bool | None = None,
        saves: Sequence[str] = (),
        extra: Sequence[str] = (),
        constants: Sequence[str] = (),
        literals: Mapping[str, Sequence[float]] | None = None,
        byte_floats: bool = False,
        places: Mapping[str, Callable[[int, tuple[int, ...]], tuple[int, ...]]] | None = None,
        differentiable: bool | None = None,
        element_option: bool = False,
        wide: Sequence[str] = (),
        ordered: Sequence[tuple[str, str]] = (),
        rowless: bool = False,
        positions: Sequence[str] | None = None,
        crosswise: bool = False,
        vectors: Sequence[str] = (),
        stored: Mapping[str, str] | None = None,
        straight: Sequence[str] = (),
        unread: Mapping[str, ElementKind | None] | None = None,
        once: bool = False,
        library: bool = False,
        check: Callable[[Mapping[str, tuple[Shape, ElementKind]], tuple[int, ...], Mapping[str, Any]], None] | None = None,
        space: Callable[[Mapping[str, Shape], Mapping[str, Any]], Space] | None = None,
        bounds: Callable[[Mapping[str, Shape], Mapping[str, Any]], Sequence[tuple[str, IndexBound]]] | None = None,
    ) -> None:
        self.name = name or formula.__name__.rstrip("_")
        known = row(self.name)
        self.formula, self.rule = formula, rule
        self.category = OpCategory(family or (known.family if known else "fused"))
        self.takes = categories(takes or (known.dtypes if known else "any"))
        self.results, self.saves = tuple(results), tuple(saves)
        self.extra = tuple(extra)
        self.rows, self.axis, self.axis_option, self.keepdims = rows, axis, axis_option, keepdims
        self.constants = frozenset(constants)
        self.literals = dict(literals or {})
        self.byte_floats = byte_floats
        self.places = dict(places or {})
        self.differentiable = (known is None or known.backward == "yes") if differentiable is None else differentiable
        self.element_option = element_option
        self.wide, self.check, self.library = frozenset(wide), check, library
        self.once, self.ordered, self.rowless = once, tuple(ordered), rowless
        self.positions, self.crosswise = None if positions is None else tuple(positions), crosswise
        self.space, self.bounds = space, bounds
        self.vectors, self.straight = frozenset(vectors), frozenset(straight)
        self.stored, self.unread = dict(stored or {}), dict(unread or {})
        self.signature: Signature = signature(formula)
        clash = {*(self.results or ("y",))} & {*self.signature.tensors}
        if clash:
            raise InvalidProblemError(f"{self.name}: {', '.join(clash)} is a tensor and a result; expected different names")
        self.given_backward: Formula | None = None
        self.given_again: Formula | None = None
        #: What is made of the op once and lives as long as it does, by name: plan classes, the binding of its function.
        self.derived: dict[Any, Any] = {}
        self.module = formula.__module__
        self.doc = formula.__doc__ or ""

    def backward(self, formula: Formula) -> Formula:
        """Decorator: use this formula of the gradients instead of the derived one. It takes the gradients of the results
        (`dy`), the op's own tensors, the saved results, and returns {"dx": ...}, or NotImplemented for the derived ones."""
        self.given_backward = formula
        if unread := self.unread.keys() & set(self.backward_tensors):
            raise InvalidProblemError(f"{self}: its backward reads {', '.join(unread)}; expected what it takes")
        return formula

    def backward_again(self, formula: Formula) -> Formula:
        """Decorator: differentiate this formula of the gradients for second derivatives, where the one that is computed tells
        cases apart by tensors whose slopes would get lost with it."""
        self.given_again = formula
        return formula

    def __call__(self, *tensors: Value, **keywords: Any) -> Any:
        """The formula itself, for use inside other formulas."""
        return self.formula(*tensors, **keywords)

    @cached_property
    def backward_tensors(self) -> tuple[str, ...]:
        """Names that a given backward formula reads, besides scalars and options."""
        return signature(self.given_backward).tensors if self.given_backward is not None else ()

    def accepts(self, kind: ElementKind) -> bool:
        """Whether the op is defined on an element."""
        return kind.category in self.takes and (self.byte_floats or not (kind.is_float and kind.bits < 16))

    def needs_extents(self, name: str) -> bool:
        """Whether a tensor that may not be left out cannot be a number either, because the shape of the problem follows from its
        axes."""
        return self.space is not None or self.bounds is not None or (bool(self.places) and name not in self.places)

    def is_literal(self, name: str, value: complex) -> bool:
        """Whether a number is a constant of the formula: whether code depends on it."""
        return value in self.literals.get(name, ())

    def __repr__(self) -> str:
        return self.name


#: Every op by name, in order of declaration.
OPS: dict[str, Op] = {}


def op(rule: Rule = Rule.COMMON, **keywords: Any) -> Callable[[Formula], Op]:
    """Declare an op and register it under its name; the keywords are those of `Op`."""

    def declare(formula: Formula) -> Op:
        declared = Op(formula, rule, **keywords)
        if declared.name in OPS:
            raise InvalidProblemError(f"{declared.name}: declared twice")
        OPS[declared.name] = declared
        return declared

    return declare


def map_parts(function: Callable[[Expr], Expr], value: Value) -> Value:
    """Apply to an expression, or to both parts of a complex value."""
    from baracuda.formula.complex import Complex

    if isinstance(value, Complex):
        return Complex(function(value.re), function(value.im))
    return function(value)
