"""`baracuda verify` as a library: the guarantees of every plan, proved on this machine."""
