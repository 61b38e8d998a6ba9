"""Reads at indices, combinations by destination, interpolation."""
