"""Integer products on the CPU."""
