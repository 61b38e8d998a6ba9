"""Attention, and what is done to its queries, scores and results."""
