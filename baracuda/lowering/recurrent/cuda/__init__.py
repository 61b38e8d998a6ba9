"""Recurrent networks on a GPU."""
