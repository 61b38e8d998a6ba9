"""The elementary functions as formulas over primitives; importing this package registers them."""

from baracuda.formula.elementary import error_function, exponential, hyperbolic, logarithm, power, root, rounding, trigonometric

__all__ = ["error_function", "exponential", "hyperbolic", "logarithm", "power", "root", "rounding", "trigonometric"]
