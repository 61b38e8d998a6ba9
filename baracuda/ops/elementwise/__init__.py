"""Functions of one element of each tensor."""
