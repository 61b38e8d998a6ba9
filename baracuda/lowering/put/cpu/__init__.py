"""Puts on the CPU."""
