"""Nests without reductions: every element by itself."""
