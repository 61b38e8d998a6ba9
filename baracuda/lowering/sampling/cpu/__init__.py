"""Sampling on the CPU."""
