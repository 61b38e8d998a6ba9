"""Arrays of our own, on the CPU and on CUDA devices: the class, and how arrays come to be and where they lie."""

from baracuda.frontends.array.array import Array, new_array, of
from baracuda.frontends.array.memory import empty
from baracuda.frontends.array.placing import to_device, to_host

__all__ = ["Array", "empty", "new_array", "of", "to_device", "to_host"]
