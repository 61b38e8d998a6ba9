"""Folds over windows on CUDA."""
