"""Tests: `unit` runs no kernel, `kernels` runs on any device (`--device cpu` or `cuda`), `gpu` needs a GPU."""
