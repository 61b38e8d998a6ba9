"""Recurrences: states over lanes that steps update one after another, and sums along chains of lanes."""
