"""Polynomials, by recurrences and by coefficients."""
