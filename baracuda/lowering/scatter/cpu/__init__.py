"""Combinations by destination on the CPU."""
