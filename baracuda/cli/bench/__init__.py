"""Measuring speed: problems of a suite, this library and its rivals in turns, results as JSON, and comparing two of them."""
