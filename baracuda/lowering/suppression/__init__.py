"""Candidates in order, of which each one that stays removes those behind it that it conflicts with."""
