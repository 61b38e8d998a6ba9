"""Attention in integers on a CUDA device: digits of 8 bits, multiplied on tensor cores."""
