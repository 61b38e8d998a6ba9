"""On the CPU."""
