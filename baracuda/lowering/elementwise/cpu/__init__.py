"""Elementwise nests on the CPU."""
