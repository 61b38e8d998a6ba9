#: Of `int launch(const uint64_t *block)`.
ADDRESS: int
