"""Products with packed weights on CUDA."""
