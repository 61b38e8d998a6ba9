"""Repeated calls of functions, without Python in between; see calls.c."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

INTERFACE: int

class Call:
    def __init__(
        self,
        *,
        launches: tuple[tuple[Any, tuple[Any, ...], tuple[tuple[int, int], ...], Any], ...],
        results: tuple[tuple[str, tuple[int, ...], tuple[int, ...], int, Any, Callable[[Any], Any]], ...],
        returned: tuple[int, ...],
        like: int,
        scratch: int,
        scratch_on: Callable[[Any], Any] | None,
        cuda: bool,
        renumber: Callable[[tuple[Any, ...], dict[str, Any]], list[tuple[bytes, Any]]] | None,
        rebuild: Callable[[tuple[Any, ...]], Any] | bool | None,
        program: bool = False,
        numbers: tuple[tuple[float, float, tuple[tuple[int, int, int], ...]] | None, ...] = (),
        held: Any = None,
    ) -> None: ...

class Function:
    __wrapped__: Callable[..., Any]
    cached_calls: int
    followed: int
    def __init__(
        self,
        *,
        function: Callable[..., Any],
        record: Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any], tuple[Any, ...]], tuple[Any, Call | None, Any]],
        positions: tuple[str | None, ...],
        numbers: tuple[str, ...],
        specials: dict[str, tuple[float, ...]],
        writes: bool,
        most: int = 0,
    ) -> None: ...
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def forget(self) -> None: ...

class Operator:
    function: Callable[..., Any] | None
    __wrapped__: Callable[..., Any]
    def __init__(
        self, otherwise: Callable[..., Any], *, reflected: bool = False, in_place: bool = False, indexing: bool = False
    ) -> None: ...
    def __call__(self, *operands: Any) -> Any: ...

def configure(
    *,
    plain: frozenset[type],
    start_threads: Callable[[], None],
    stream_of: Callable[[Any], int],
    preferred: ContextVar[Any],
) -> None: ...
def use_arrays(
    array: type, fields: tuple[Any, ...], layout_of: Callable[[Any], tuple[int, int, int, int, bool, int]]
) -> None: ...
def view(array: Any, start: int, shape: tuple[int, ...], strides: tuple[int, ...], readonly: bool, /) -> Any: ...
def memory(nbytes: int) -> Any: ...
def as_numpy(array: Any, dtype: Any) -> Any: ...
def use_torch(capsule: Any, tensor: type, parameter: type, is_neg: Any, is_conj: Any, is_grad_enabled: Any) -> bool: ...
def use_reports(address: int, raise_pending: Callable[[], None]) -> None: ...
def use_graphs(
    make: Callable[[int, Callable[[int], None]], tuple[int, Any] | None] | None, launch: int, is_capturing: int, /
) -> None: ...
def watch(change: int) -> int: ...
def watch_thread(change: int) -> int: ...
