"""Attention in products of 16-bit floats by the tensor cores of a GPU, each sum one chain of their instructions."""
