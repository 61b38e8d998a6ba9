"""Scans on the CPU."""
