"""Quantization to integers and back."""
