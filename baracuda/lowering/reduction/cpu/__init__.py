"""Reductions on the CPU."""
