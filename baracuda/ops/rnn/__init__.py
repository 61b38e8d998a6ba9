"""Recurrent networks, packed sequences, and chains of tags."""
