"""Shapes and layouts: views, and what copies elements to other places."""
