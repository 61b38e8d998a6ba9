"""Nests with reductions along rows, along columns, or both."""
