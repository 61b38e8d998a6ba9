"""Orders: sorting, selection, search."""
