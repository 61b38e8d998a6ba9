"""Convolutions in integers on tensor cores, with the digits of x made once for all windows."""
