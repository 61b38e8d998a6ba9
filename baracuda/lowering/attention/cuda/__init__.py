"""Attention on a CUDA device."""
