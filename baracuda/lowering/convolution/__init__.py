"""Convolutions: windows of one tensor times weights, summed."""
