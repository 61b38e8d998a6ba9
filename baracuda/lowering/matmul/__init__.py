"""Matrix products of any axes, with an epilogue."""
