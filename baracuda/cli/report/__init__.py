"""One self-contained HTML page from the files that `baracuda bench` and `baracuda verify` write."""
