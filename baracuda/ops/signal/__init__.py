"""Windows, filters and spectra of signals."""
