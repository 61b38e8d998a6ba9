"""baracuda: every primitive an ML framework needs, forward and backward, with the same bits on every device."""
