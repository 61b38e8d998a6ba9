"""Stable orders on the CPU."""
