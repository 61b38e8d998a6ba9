"""A generator of keys: an object with a state, for who does not want to hand keys on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core import locks
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import quoted
from baracuda.frontends.call import public
from baracuda.frontends.creating import example_of

_BITS = 64


class Generator:
    """Keys one after another: key i is `rng_fold_in(rng_key(seed), i)`, and i, the offset, counts the keys there were.

    It may stand wherever a function takes a `key`: each such call uses the next one, on the device and in the library of the
    call's first tensor. So two calls draw different numbers, and the same program with the same seed draws the same ones, on
    every device. A function whose backward draws again (`dropout`) needs the same key twice: take it with `key()`.

    Parameters
    ----------
    seed : int
        Counts modulo 2**64.
    offset : int
        How many keys there were.
    device, like
        Where keys are where no tensor says it, as of `rng_key`.

    A generator can be copied and pickled; threads may share one, and then share its keys. A captured graph draws the same numbers
    each time it is launched: write a key into a tensor that it reads.

    Examples
    --------
    >>> import baracuda
    >>> generator = baracuda.Generator(7)
    >>> first = baracuda.randn(generator, 3)
    >>> state = generator.state()
    >>> second = baracuda.randn(generator, 3)
    >>> bool((first == second).any())
    False
    >>> generator.set_state(state)
    >>> bool((baracuda.randn(generator, 3) == second).all())
    True
    """

    def __init__(self, seed: int = 0, offset: int = 0, *, device: Any = None, like: Any = None) -> None:
        self._where = {"device": device, "like": like}
        self._lock = locks.lock()
        self._seed = self._offset = 0
        #: The seed's key by where it is.
        self._first: dict[int, Any] = {}
        self.set_state({"seed": seed, "offset": offset})

    @property
    def seed(self) -> int:
        """What all keys follow from."""
        return self._seed

    @property
    def offset(self) -> int:
        """How many keys there were."""
        return self._offset

    def key(self, *, device: Any = None, like: Any = None) -> Any:
        """The next key, a tensor of two u32: NumPy's, or on a device or in the library of `like`."""
        where = self._where if device is None and like is None else {"device": device, "like": like}
        place = id(example_of(**where))  # which is kept
        with self._lock:
            seed, offset, first = self._seed, self._offset, self._first.get(place)
            self._offset = (offset + 1) % (1 << _BITS)
        if first is None:
            first = public("rng_key")(seed, **where)
            with self._lock:
                if seed == self._seed:
                    self._first[place] = first
        return public("rng_fold_in")(first, offset)

    def split(self, num: int = 2) -> list[Generator]:
        """So many generators whose keys are independent of one another and of this one's; it uses one key."""
        words = public("rng_split")(self.key(device="cpu"), num).tolist()
        return [Generator(high << 32 | low, **self._where) for high, low in words]

    def state(self) -> dict[str, int]:
        """What `set_state` takes: the seed and the offset, whole numbers that any format keeps."""
        with self._lock:
            return {"seed": self._seed, "offset": self._offset}

    def set_state(self, state: Mapping[str, int]) -> None:
        """Go on where another one, or this one earlier, was.

        Raises `InvalidProblemError` for what is no state.
        """
        known = isinstance(state, Mapping) and set(state) == {"seed", "offset"}
        if not known or any(isinstance(v, bool) or not hasattr(v, "__index__") for v in state.values()):
            raise InvalidProblemError(f"state: {quoted(state)}; expected whole numbers called seed and offset")
        seed, offset = (int(state[n].__index__()) % (1 << _BITS) for n in ("seed", "offset"))
        with self._lock:
            if seed != self._seed:
                self._first.clear()
            self._seed, self._offset = seed, offset

    def called(self, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """A function by its name, with the next key in the generator's place."""
        others = (*arguments, *keywords.values())
        like = next((v for v in others if hasattr(v, "shape") and hasattr(v, "dtype")), None)
        key = self.key() if like is None else self.key(like=like)
        given = [key if v is self else v for v in arguments]
        return public(name)(*given, **{n: key if v is self else v for n, v in keywords.items()})

    def __getstate__(self) -> dict[str, Any]:
        device = self._where["device"]
        return {**self.state(), "device": None if device is None else str(device)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Generator.__init__(self, state["seed"], state["offset"], device=state["device"])

    def __repr__(self) -> str:
        return f"Generator(seed={self._seed}, offset={self._offset})"
