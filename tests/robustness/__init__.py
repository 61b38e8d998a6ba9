"""Attacks on the public surface: bad calls next to protected memory, threads, forks, kills and damaged files."""
