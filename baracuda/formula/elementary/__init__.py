"""The elementary functions as formulas over primitives. A module registers its functions when it is imported, and
`baracuda.formula.expand` imports it when one of them is asked for: a process needs few."""

#: The functions that each module registers.
REGISTERED = {
    "error_function": "erf erfc",
    "exponential": "exp exp10 exp2 exp_moderate expm1",
    "hyperbolic": "sigmoid tanh",
    "hyperbolic_sine": "cosh sinh",
    "inverse_hyperbolic": "acosh asinh atanh",
    "inverse_trigonometric": "acos asin atan atan2",
    "logarithm": "log log10 log1p log2 logit",
    "power": "pow power_of_positive",
    "remainder": "fmod remainder",
    "root": "cbrt hypot root rsqrt",
    "rounding": "code_f8e4m3 code_f8e5m2 nearest_integer round_to_bf16 round_to_f16 round_to_f8e4m3 round_to_f8e5m2 "
    "stored_bf16 stored_f16",
    "softplus": "softplus",
    "special_airy": "airy_ai",
    "special_bessel": "i0 i0e i0e_slope i1 i1e",
    "special_bessel_j": "bessel_j0 bessel_j1",
    "special_bessel_second": "bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1",
    "special_confluent": "hyp1f1",
    "special_digamma": "digamma trigamma",
    "special_gamma": "gamma lgamma",
    "special_gamma_ratios": "binomial pochhammer zeta_reflection",
    "special_incomplete_beta": "betainc betainc_by_a betainc_by_b betainc_by_x",
    "special_incomplete_gamma": "igamma igamma_by_a igamma_by_x igammac",
    "special_integrals": "dawsn exp1 expi spence",
    "special_normal": "erfcx inverse_mills log_ndtr ndtr",
    "special_quantile": "erfinv ndtri",
    "special_sinc": "sinc",
    "special_waves": "cosine_integral fresnel_c fresnel_s sine_integral",
    "trigonometric": "cos sin tan",
}
