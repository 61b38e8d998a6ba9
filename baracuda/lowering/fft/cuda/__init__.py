"""Fourier transforms on CUDA devices."""
