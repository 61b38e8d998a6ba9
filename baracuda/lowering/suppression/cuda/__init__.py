"""Suppression on CUDA."""
