"""CUDA C++: the prelude of every kernel, and the operations of the contract as statements."""
