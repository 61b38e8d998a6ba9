"""Sampling on CUDA."""
