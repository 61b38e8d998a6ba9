"""Fourier transforms along one axis."""
