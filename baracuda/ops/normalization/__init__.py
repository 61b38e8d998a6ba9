"""Normalizations of rows and channels."""
