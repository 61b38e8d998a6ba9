"""Scaled dot product attention, forward and backward."""
