"""One formula over the elements of many tensors, as one launch."""
