"""Folds over windows on the CPU."""
