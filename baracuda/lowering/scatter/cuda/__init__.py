"""Combinations by destination on a CUDA device."""
