"""Scans on a CUDA device."""
