"""Four-bit codes in the words of 32 bits that kernels of others read: GPTQ, AWQ and Marlin.

All are codes w (k, n) of a weight with k inputs and n outputs, of which eight make a word, code c in bits 4c to 4c + 3:

gptq     word (i, j) of (k / 8, n) has the codes w[8i + c, j]
awq      word (i, j) of (k, n / 8) has the codes w[i, 8j + p], p = 0, 2, 4, 6, 1, 3, 5, 7 for c = 0 ... 7
marlin   word (i, 128 t + 4 u + v) of (k / 16, 2 n), 0 <= u < 32, 0 <= v < 4, has the codes w[16 i + r, 64 t + 16 v + s] with
         r = 2 (u mod 4) + (c >> 2) + 8 (c & 1) and s = u // 4 + 8 ((c >> 1) & 1): what the threads of a warp hold of the
         16 x 8 factors of a tensor core's product of four tiles of 16 x 16, halves in the order 0, 2, 4, 6, 1, 3, 5, 7
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula.expr import Expr, cast
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Stored

Layout = Literal["gptq", "awq", "marlin"]
_S32, _U32, _S8, _U8 = ElementKind.S32, ElementKind.U32, ElementKind.S8, ElementKind.U8
_INTERNAL: dict[str, Any] = {"family": "quantization", "takes": "int", "differentiable": False}
_NAMES = tuple("abcdefgh")


class _Tiles(NamedTuple):
    """Where the codes lie: what k and n are multiples of, the words of such a tile along both, the place (row, column) of each of
    the eight codes of its first word, and axes of the words: extent, and by how many rows and columns of codes, and words
    along the last axis of the words, a step goes."""

    rows: int
    columns: int
    words: tuple[int, int]
    places: tuple[tuple[int, int], ...]
    steps: tuple[tuple[int, int, int, int], ...] = ()


_INTERLEAVED = (0, 2, 4, 6, 1, 3, 5, 7)
_TILES = {
    "gptq": _Tiles(8, 1, (1, 1), tuple((c, 0) for c in range(8))),
    "awq": _Tiles(1, 8, (1, 1), tuple((0, p) for p in _INTERLEAVED)),
    "marlin": _Tiles(
        16, 64, (1, 128), tuple(((c >> 2) + 8 * (c & 1), 8 * (c >> 1 & 1)) for c in range(8)),
        ((8, 0, 1, 16), (4, 2, 0, 4), (4, 0, 16, 1)),
    ),
}  # fmt: skip


def _joined(a: Own, b: Own, c: Own, d: Own, e: Own, f: Own, g: Own, h: Own) -> Stored:
    total: Expr | None = None
    for i, code in enumerate((a, b, c, d, e, f, g, h)):
        part = (cast(code, _S32) & 15) << 4 * i
        total = part if total is None else total | part
    assert total is not None
    return Stored(total, _S32)


def _apart(q: Own, *, signed: bool) -> tuple[Stored, ...]:
    word = cast(q, _S32)
    if signed:
        return tuple(Stored(word << (28 - 4 * i) >> 28, _S8) for i in range(8))
    return tuple(Stored(word >> 4 * i & 15, _U8) for i in range(8))


_JOINED = Op(_joined, Rule.EACH, name="joined_codes", **_INTERNAL)
_APART = Op(_apart, Rule.EACH, name="codes_of_words", results=_NAMES, **_INTERNAL)


def _codes(t: TensorRef, tiles: _Tiles) -> tuple[Any, ...]:
    """The codes (k, n) as eight views, of the tiles along both axes and the steps within one."""
    (k, n), (down, right) = t.shape, t.strides
    shape = (k // tiles.rows, n // tiles.columns, *(s[0] for s in tiles.steps))
    strides = (tiles.rows * down, tiles.columns * right, *(i * down + j * right for _, i, j, _ in tiles.steps))
    return tuple(view(t, i * down + j * right, shape, strides) for i, j in tiles.places)


def _words(t: TensorRef, tiles: _Tiles) -> Any:
    (rows, columns), (down, right) = t.shape, t.strides
    shape = (rows // tiles.words[0], columns // tiles.words[1], *(s[0] for s in tiles.steps))
    return view(t, 0, shape, (tiles.words[0] * down, tiles.words[1] * right, *(w * right for *_, w in tiles.steps)))


@composed(x="k n : s8 u8 s16 u16 s32 u32 s64 u64")
def pack_int4_layout(do: Steps, x: TensorRef, *, layout: Layout, inverse: bool = False, signed: bool = False) -> Any:
    """Four-bit codes x (k, n), inputs by outputs, as words (s32) of eight codes in the layout of other libraries' kernels.

    Word (i, j) has in bits 4c to 4c + 3, for c = 0 ... 7,

    - "gptq", words (k / 8, n): the code x[8i + c, j];
    - "awq", words (k, n / 8): the code x[i, 8j + p] with p = 0, 2, 4, 6, 1, 3, 5, 7;
    - "marlin", words (k / 16, 2n), for j = 128 t + 4 u + v: the code x[16 i + r, 64 t + 16 v + s] with
      r = 2 (u mod 4) + (c >> 2) + 8 (c & 1) and s = u // 4 + 8 ((c >> 1) & 1).

    k and n are multiples of what a word, or a tile of Marlin's (16 x 64), takes. Of a code the low four bits count. With
    `inverse` x are such words (s32 or u32) and the result is the codes: u8, or with `signed` s8.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> words = baracuda.pack_int4_layout(np.arange(8, dtype=np.uint8).reshape(1, 8), layout="awq")
    >>> hex(int(words[0, 0]))
    '0x75316420'
    >>> baracuda.pack_int4_layout(words, layout="awq", inverse=True).tolist()
    [[0, 1, 2, 3, 4, 5, 6, 7]]
    """
    tiles, (k, n) = _TILES[layout], x.shape
    rows, columns = tiles.words if inverse else (tiles.rows, tiles.columns)
    if k % rows or n % columns:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected multiples of {rows} and {columns} in the layout {layout}")
    shape = (k // rows, n // columns)
    if not inverse:
        words = do.rows((shape[0] * tiles.words[0], shape[1] * tiles.words[1]), _S32)
        if 0 not in words.shape:
            do.run(_JOINED, dict(zip(_NAMES, _codes(x, tiles), strict=True)), _words(words, tiles))
        return words
    if x.kind not in (_S32, _U32):
        raise InvalidProblemError(f"x: element is {x.kind}; expected s32 or u32, that of words")
    codes = do.rows((shape[0] * tiles.rows, shape[1] * tiles.columns), _S8 if signed else _U8)
    if 0 not in codes.shape:
        do.run(_APART, {"q": _words(x, tiles)}, _codes(codes, tiles), signed=signed)
    return codes
