"""A graph over an iteration space: what elementwise problems, reductions and scans share."""
