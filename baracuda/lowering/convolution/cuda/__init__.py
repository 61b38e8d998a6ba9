"""The lowering of convolutions to CUDA C++."""
