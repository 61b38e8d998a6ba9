"""Elementwise nests on a CUDA device."""
