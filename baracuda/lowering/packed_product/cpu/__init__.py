"""Products with packed weights on the CPU."""
