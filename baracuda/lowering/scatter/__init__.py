"""Stable orders by integer key, and what is summed over them: the backward of every indexed read."""
