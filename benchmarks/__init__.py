"""Speed, measured against PyTorch and against the device's own copy bandwidth."""
