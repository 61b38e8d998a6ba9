"""Matrix products on a CUDA device."""
