"""Tensors made from nothing but a shape and numbers."""
