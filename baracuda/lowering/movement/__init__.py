"""Many strided copies into one tensor, as one launch."""
