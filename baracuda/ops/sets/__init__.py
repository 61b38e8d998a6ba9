"""Sets: what is in tensors, each once."""
