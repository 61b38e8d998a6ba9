"""Stable orders on a CUDA device."""
