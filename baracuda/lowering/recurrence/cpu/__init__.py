"""Recurrences on the CPU."""
