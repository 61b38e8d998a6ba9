"""The coefficients of the elementary and special functions, made by tools/coefficients*.py."""
