"""On CUDA devices."""
