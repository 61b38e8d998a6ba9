"""Suppression on the CPU."""
