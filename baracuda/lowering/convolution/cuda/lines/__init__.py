"""Convolutions on tensor cores of elements that these take as they are, whose windows are gathered from lines of channels."""
