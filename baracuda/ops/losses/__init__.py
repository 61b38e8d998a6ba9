"""Losses, of elements, rows, regions, policies and alignments."""
