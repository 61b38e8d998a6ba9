"""Products of floats with weights that are packed codes, as few bits each as they were quantized to."""
