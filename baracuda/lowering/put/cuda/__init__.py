"""Puts on CUDA."""
