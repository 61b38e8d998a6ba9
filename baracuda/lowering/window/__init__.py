"""Folds over windows."""
