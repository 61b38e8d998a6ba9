"""Compactions on the CPU."""
