"""Products of 8-bit integers on tensor cores: exact sums that wrap, so that every order has the same bits."""
