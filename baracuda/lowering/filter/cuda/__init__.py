"""Recursive filters on CUDA devices."""
