"""Stable orders by integer key."""
