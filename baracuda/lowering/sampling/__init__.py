"""One element drawn from each row of logits, of those that filters leave."""
