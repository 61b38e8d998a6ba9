"""Nests with scans along one axis."""
