"""Recursive filters on the CPU."""
