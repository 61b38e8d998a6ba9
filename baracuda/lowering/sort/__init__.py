"""Stable orders: of rows by elements of any kind, and by integer keys."""
