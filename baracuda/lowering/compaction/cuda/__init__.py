"""Compactions on CUDA."""
