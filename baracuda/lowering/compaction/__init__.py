"""Elements that a mask marks, in order: where they are, packed one behind the other, and back from there."""
