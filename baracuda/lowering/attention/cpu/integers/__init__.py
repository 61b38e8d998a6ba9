"""Attention in integers on the CPU."""
