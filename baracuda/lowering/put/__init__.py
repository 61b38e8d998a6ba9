"""Elements put where an index says, the last one of a destination staying: the writes of indexed assignment."""
