"""Attention on the CPU."""
