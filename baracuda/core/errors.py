"""The named errors. Whenever one is raised, no output has been written."""

from __future__ import annotations


class Error(Exception):
    """Base of every error that baracuda raises on purpose."""


class UnsupportedError(Error, NotImplementedError):
    """The request is well formed, but nothing here can carry it out."""


class InvalidProblemError(Error, ValueError):
    """The descriptor, or a tensor held against it, is wrong."""


class OutOfRangeError(InvalidProblemError, IndexError):
    """An axis or an index is none of those that there are."""


class BufferTooSmallError(Error, ValueError):
    """A tensor's buffer ends before its shape and strides do."""

    def __init__(self, name: str, needed: int, got: int) -> None:
        super().__init__(f"{name}: its shape and strides reach {needed} bytes, its buffer has {got}")
        self.needed = needed
        self.got = got


class WorkspaceTooSmallError(Error, ValueError):
    """The caller's workspace is smaller than `Plan.workspace_size()`."""

    def __init__(self, needed: int, got: int) -> None:
        super().__init__(f"workspace: the plan needs {needed} bytes, got {got}")
        self.needed = needed
        self.got = got


class MisalignedOperandError(Error, ValueError):
    """A pointer is not a multiple of its element's size."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory of that size left."""

    def __init__(self, needed: int, where: object) -> None:
        super().__init__(f"{needed} bytes are not to be had on {where}")
        self.needed = needed


class BackendError(Error, RuntimeError):
    """A library or driver call failed."""

    def __init__(self, library: str, status: object, detail: str = "") -> None:
        super().__init__(f"{library} returned {status}" + (f": {detail}" if detail else ""))
        self.library = library
        self.status = status
