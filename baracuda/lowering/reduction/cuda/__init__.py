"""Reductions on a CUDA device."""
