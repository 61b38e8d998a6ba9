"""Recurrent networks: steps over time, each with sums over what all lanes had before it."""
