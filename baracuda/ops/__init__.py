"""Families of ops: formulas, descriptors, args, plans. This is where an op is added."""

#: The modules that declare ops with `baracuda.ops.op.op`.
FAMILIES = (
    "unary", "activations", "comparisons", "binary_ops", "integer_ops", "ternary_ops", "conversions", "complex_ops", "special",
    "gammas", "special_orders", "special_incomplete", "special_library", "polynomials",
    "reductions", "arg_reductions", "masked", "statistics", "scans",
    "layer_norms", "channel_norms", "sync_batch_norms", "vector_norms", "fused_norms",
    "response_norms", "softmaxes", "sparse_softmaxes", "embedding", "indexing",
    "losses_pointwise", "losses_policy", "losses_classes", "losses_metric", "losses_regions", "advantages",
    "optimizers", "optimizers_adaptive", "affine_quantization",
)  # fmt: skip
