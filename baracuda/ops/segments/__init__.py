"""Segments of rows: softmax and reductions over them, and their selection."""
