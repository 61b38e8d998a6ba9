"""Elementary functions by primitives; importing this package registers them."""
