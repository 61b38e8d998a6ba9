"""Products whose elements tensor cores take as they are: 8-bit integers, and 16-bit floats where a product is pinned."""
