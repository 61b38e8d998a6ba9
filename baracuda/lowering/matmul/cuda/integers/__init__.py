"""Integer products on a CUDA device: the digits of both factors, and the kernels that multiply them on tensor cores."""
