"""Recurrent networks on the CPU."""
