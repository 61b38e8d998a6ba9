"""Recurrences on a CUDA device."""
