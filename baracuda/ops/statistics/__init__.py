"""Averages, distances and covariances."""
