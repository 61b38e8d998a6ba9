"""Families of ops, a folder each: formulas, descriptors, args, plans. This is where an op is added."""

#: The modules that declare ops with `op`, and those that declare compositions of ops with `composed`.
FAMILIES = (
    "elementwise.unary", "elementwise.activations", "elementwise.comparisons", "elementwise.binary_ops",
    "elementwise.integer_ops", "elementwise.ternary_ops", "elementwise.conversions", "elementwise.complex_ops",
    "special.functions", "special.gammas", "special.orders", "special.incomplete", "special.library", "polynomials.evaluation",
    "reductions.reductions", "reductions.arg_reductions", "reductions.masked", "statistics.statistics", "scans.scans",
    "normalization.layer_norms", "normalization.channel_norms", "normalization.sync_batch_norms", "normalization.vector_norms",
    "normalization.fused_norms", "normalization.response_norms",
    "softmax.softmaxes", "softmax.sparse", "indexing.embedding", "indexing.indexing",
    "losses.pointwise", "losses.policy", "losses.classes", "losses.metric", "losses.regions", "losses.advantages",
    "optimizers.optimizers", "optimizers.adaptive", "quantization.affine", "attention.score_biases",
    "reductions.diagonals", "normalization.local_response", "statistics.covariances", "statistics.distances", "statistics.pairs",
    "statistics.differences", "statistics.integrals", "statistics.slopes", "polynomials.arithmetic", "losses.multilabel_margins",
    "indexing.interpolation", "normalization.global_response", "normalization.group_norms", "losses.linear_losses",
    "indexing.bags", "indexing.writes", "indexing.tuple_writes", "indexing.masks", "indexing.replaced", "indexing.dynamic",
    "indexing.numbering", "indexing.choices", "segments.softmax", "segments.reduce", "reductions.equality", "attention.rotary",
    "shapes.reshaping", "shapes.axes", "shapes.joins", "shapes.blocks", "shapes.pieces", "shapes.flips", "shapes.triangles",
    "shapes.repeats", "shapes.broadcasting", "shapes.diagonals", "shapes.slices", "shapes.pads", "shapes.crops",
    "shapes.edits", "shapes.bits", "shapes.nested", "shapes.rearranging", "shapes.queries",
    "creation.fills", "creation.ranges", "creation.matrices", "creation.grids", "creation.triangle_indices",
    "sorting.orders", "sorting.several_keys", "sorting.searches", "sets.uniques", "sets.sets",
    "statistics.quantiles", "statistics.medians", "statistics.modes", "statistics.histograms",
    "convolution.forward", "convolution.transposed", "convolution.general", "convolution.gradients", "convolution.columns",
    "convolution.local", "convolution.quantized", "convolution.sparse", "convolution.deformed",
    "random.keys", "random.uniforms", "random.continuous", "random.discrete", "random.dropouts", "random.choices",
)  # fmt: skip
