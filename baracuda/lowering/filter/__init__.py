"""Recursive filters: rows whose elements are made of those before."""
