"""Which of PyTorch's operators the mode does not compute as PyTorch does, with reasons, by the names of its own samples."""

from __future__ import annotations

_DRAWS = "its numbers are drawn, and ours are others than PyTorch's"
_EMPTY = "memory that holds anything"
_TIES = "which of equal elements is named is left open; ours is the first"
_LATER = "a family that is not there yet"
_BOUNDED = "a number that has no meaning is refused"

#: By name, or the beginning of a name that ends in a dot.
EXCEPTIONS = {
    **dict.fromkeys(
        (
            "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "nn.functional.alpha_dropout",
            "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
            "nn.functional.feature_alpha_dropout.with_train", "nn.functional.fractional_max_pool2d",
            "nn.functional.fractional_max_pool3d", "nn.functional.multi_head_attention_forward", "nn.functional.rrelu",
            "nn.functional.scaled_dot_product_attention", "normal", "normal.in_place", "normal.number_mean", "rand_like",
            "randint", "randint_like", "randn", "randn_like", "uniform",
        ), _DRAWS,
    ),
    **dict.fromkeys(("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"), _EMPTY),
    **dict.fromkeys(("argsort", "kthvalue", "mode", "sort", "topk"), _TIES),
    **dict.fromkeys(
        (
            "cholesky", "cholesky_inverse", "cholesky_solve", "geqrf", "linalg.", "logdet", "lu", "lu_solve", "lu_unpack",
            "matrix_exp", "norm.nuc", "ormqr", "pca_lowrank", "pinverse", "qr", "sparse.", "svd", "svd_lowrank", "to_sparse",
            "triangular_solve",
        ), _LATER,
    ),
    **dict.fromkeys(
        (
            "_native_batch_norm_legit", "native_batch_norm", "native_group_norm", "native_layer_norm", "nn.functional.batch_norm",
            "nn.functional.group_norm", "nn.functional.hardshrink", "nn.functional.instance_norm", "nn.functional.layer_norm",
            "nn.functional.multi_margin_loss",
        ), _BOUNDED,
    ),
    **dict.fromkeys(
        (
            "special.chebyshev_polynomial_t", "special.chebyshev_polynomial_u", "special.chebyshev_polynomial_v",
            "special.chebyshev_polynomial_w", "special.hermite_polynomial_h", "special.hermite_polynomial_he",
            "special.laguerre_polynomial_l", "special.legendre_polynomial_p", "special.shifted_chebyshev_polynomial_t",
            "special.shifted_chebyshev_polynomial_u", "special.shifted_chebyshev_polynomial_v",
            "special.shifted_chebyshev_polynomial_w",
        ), "a degree for each element; a number is served",
    ),
    "_segment_reduce.lengths": "lengths that do not fill the axis are refused",
    "_segment_reduce.offsets": "offsets that do not reach the end of the axis are refused",
    "_upsample_bilinear2d_aa": "a size that does not follow from the scales is refused",
    "addbmm": "alpha and beta that are not whole, of integers",
    "baddbmm": "alpha and beta that are not whole, of integers",
    "chalf": "complex numbers of 16-bit halves",
    "hash_tensor": "a hash that is not written down",
    "native_dropout_backward": "of integers, which have no gradient",
    "nn.functional.linear_cross_entropy.": "an operator of torch.nn's own, which is not in the core list",
    "nn.functional.pad.replicate_negative": "all of an axis cut off, and then repeated",
    "scatter": "a number that is not whole, into integers",
}  # fmt: skip


def reason(name: str) -> str | None:
    """Why an operator may be computed otherwise; None where it may not."""
    return next((why for n, why in EXCEPTIONS.items() if name == n or (n.endswith(".") and name.startswith(n))), None)
