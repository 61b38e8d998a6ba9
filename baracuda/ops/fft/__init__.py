"""Fourier and cosine transforms."""
