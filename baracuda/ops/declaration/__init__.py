"""What an op is declared with: formulas with a signature, promotion, descriptors, plans."""
