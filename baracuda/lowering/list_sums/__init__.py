"""One number for each of many tensors, in few launches."""
